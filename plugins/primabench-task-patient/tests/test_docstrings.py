"""Every example in a docstring runs, and every public function says what goes in and what comes out."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import primabench_task_patient
import pytest

MODULES = [m.name for m in pkgutil.walk_packages(primabench_task_patient.__path__, "primabench_task_patient.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    assert sum(len(t.examples) for n in MODULES for t in finder.find(importlib.import_module(n))) > 10


@pytest.mark.parametrize("name", MODULES)
def test_public_functions_are_documented(name):
    module = importlib.import_module(name)
    for found in vars(module).values():
        if inspect.isfunction(found) and found.__module__ == name and not found.__name__.startswith("_"):
            assert found.__doc__, f"{name}.{found.__name__}"
