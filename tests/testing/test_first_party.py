"""What we ship passes the checks that we ship."""

from __future__ import annotations

import pytest

from primabench_core.testing import parametrize_with_checks

pytestmark = pytest.mark.filterwarnings("default")  # libraries of baselines and sources warn on their own account


@parametrize_with_checks("primabench-metrics")
def test_metrics(check):
    check()


@parametrize_with_checks("primabench-task-singlecell")
def test_single_cell(check):
    check()


@parametrize_with_checks("primabench-recipes")
def test_recipes(check):
    check()
