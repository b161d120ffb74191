"""The examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import primabench_metrics
import pytest

MODULES = [m.name for m in pkgutil.walk_packages(primabench_metrics.__path__, "primabench_metrics.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
