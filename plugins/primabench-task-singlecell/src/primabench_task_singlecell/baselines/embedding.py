"""Baselines of embedding quality: chance, components of expression, and the types themselves."""

from __future__ import annotations

from primabench_core import EvalData
from primabench_task_singlecell.baselines import integration


def perfect(solution: EvalData, *, seed: int = 0) -> EvalData:
    """A place for each type; runs inside the runner."""
    return integration.perfect(solution, seed=seed)


def random(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Numbers drawn by a hash of seed and id."""
    return integration.random(train, test, seed=seed)


def components(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """The first fifty principal components of expression."""
    return integration.unintegrated(train, test, seed=seed)
