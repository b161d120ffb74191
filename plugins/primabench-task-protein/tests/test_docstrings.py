"""Examples in docstrings run."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import primabench_task_protein
import pytest

MODULES = sorted(m.name for m in pkgutil.walk_packages(primabench_task_protein.__path__, "primabench_task_protein."))


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


def test_every_public_name_is_there() -> None:
    assert all(hasattr(primabench_task_protein, name) for name in primabench_task_protein.__all__)
    with pytest.raises(AttributeError):
        _ = primabench_task_protein.nothing
