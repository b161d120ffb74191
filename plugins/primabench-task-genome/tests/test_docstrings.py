"""Examples in docstrings run."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import primabench_task_genome
import pytest

MODULES = sorted(m.name for m in pkgutil.walk_packages(primabench_task_genome.__path__, "primabench_task_genome."))


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


def test_every_public_name_is_there_and_has_an_example() -> None:
    for name in primabench_task_genome.__all__:
        value = getattr(primabench_task_genome, name)
        assert name in ("SequenceBatches",) or ">>>" in (value.__doc__ or ""), name
    with pytest.raises(AttributeError):
        _ = primabench_task_genome.nothing
