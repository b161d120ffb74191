"""Baselines of embedding quality: chance, components of expression (of genes matched by name), the types themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from primabench_core import EvalData, UsageError
from primabench_task_singlecell.baselines import integration
from primabench_task_singlecell.baselines.features import expression
from primabench_task_singlecell.integration.components import leading


def perfect(solution: EvalData, *, seed: int = 0) -> EvalData:
    """A place for each type; runs inside the runner."""
    return integration.perfect(solution, seed=seed)


def random(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Numbers drawn by a hash of seed and id."""
    return integration.random(train, test, seed=seed)


def components(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """The first fifty principal components of expression."""
    return integration.unintegrated(train, test, seed=seed)


def matched_genes(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Genes of all domains matched by name whatever the case, standardised inside each; first fifty components.

    A gene ``species:NAME`` is measured in its species alone, another one in every domain.

    Raises:
        UsageError: no gene has the same name in all domains.
    """
    domain = np.asarray(test["domain"][:], object)
    measured = _measured(test.coords["genes"], sorted(set(domain)))
    shared = sorted(set.intersection(*(set(columns) for columns in measured.values())))
    if not shared:
        raise UsageError(
            "No gene has the same name in all domains.", remedy="a model of your own with a map of orthologues"
        )
    matrix = expression(test)
    found = np.empty((test.n, len(shared)))
    for name, columns in measured.items():
        rows = np.flatnonzero(domain == name)
        part = matrix[rows]
        for place, gene in enumerate(shared):
            found[rows, place] = np.asarray(part[:, columns[gene]].sum(axis=1)).ravel()
        found[rows] = _standardised(found[rows])
    return integration.embedded(test, leading(found))


def _measured(genes: tuple[str, ...], domains: list[str]) -> dict[str, dict[str, list[int]]]:
    """For each domain the columns of its genes by name in upper case; names that differ in case alone are one."""
    found: dict[str, dict[str, list[int]]] = {name: {} for name in domains}
    for column, gene in enumerate(genes):
        owner, colon, name = gene.partition(":")
        for domain in [owner] if colon and owner in found else domains:
            found[domain].setdefault((name if colon and owner in found else gene).upper(), []).append(column)
    return found


def _standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean 0 and deviation 1 of each column; columns that do not vary become 0."""
    spread = values.std(axis=0)
    return np.asarray((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0), np.float64)
