"""The checks that every plugin runs, and the examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys

import primabench_board
import pytest

from primabench_core.testing import parametrize_with_checks


@parametrize_with_checks("primabench-board")
def test_the_plugin(check):
    check()


MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(primabench_board.__path__, "primabench_board.")
    if ".migrations" not in name
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name):
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


def test_the_hook_is_light():
    """Asking for the commands of plugins loads no database, no template and no terminal library."""
    code = (
        "import primabench_board.hooks, sys; print(sorted({'sqlalchemy', 'jinja2', 'rich', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
