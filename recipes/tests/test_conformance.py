"""The conformance checks of the recipes, one test each."""

from __future__ import annotations

import pytest

from primabench_core.testing import parametrize_with_checks

pytestmark = pytest.mark.filterwarnings("default")  # libraries of baselines and sources warn on their own account


@parametrize_with_checks("primabench-recipes")
def test_conformance(check):
    check()
