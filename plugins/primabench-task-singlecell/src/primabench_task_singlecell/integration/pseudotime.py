"""Whether a trajectory survives integration: pseudotime on the integrated graph against the stored one."""

from __future__ import annotations

from typing import Any

import numpy as np
from primabench_metrics.correlation import spearman

from primabench_core.spec import Outcome
from primabench_core.state.rows import Rows
from primabench_task_singlecell.baselines.features import one_thread
from primabench_task_singlecell.integration.defined import defined
from primabench_task_singlecell.integration.pairs import Floats
from primabench_task_singlecell.integration.work import GRAPH, panel_of

COMPONENTS = 10
DIGITS = 9
"""Decimals of a pseudotime: cells that look alike in the graph are equal, whatever rounding makes of them."""
STATIONARY = 0.9994
"""Eigenvalues above this one are of the stationary state."""


@defined
def trajectory_conservation(state: Rows, *, k: int = 15, search: str = "exact") -> Outcome:
    """(Spearman of stored pseudotime and pseudotime on the integrated graph + 1)/2 (Luecken et al. 2022).

    Diffusion pseudotime (Haghverdi et al. 2016) runs on the symmetric graph of k neighbours of the cells that have a
    stored pseudotime, from the cell with the smallest one. Cells without a path to it are the farthest of all, and
    equal; scib gives them 0.

    Args:
        state: Rows with a representation of cells and ``pseudotime``.
        k: Neighbours of the graph.
        search: ``exact`` neighbours, or ``approximate`` ones (flagged in the result).

    Returns:
        Value in [0, 1], the number of cells without a path in ``values``; ``constant_truth`` or ``constant_prediction``
        where a side does not vary, ``too_few_items`` for k cells or fewer.
    """
    if "pseudotime" not in state.truth:
        return Outcome.undefined("not_applicable", "the truth has no curated pseudotime", n=state.n)
    panel = panel_of(state)
    if panel.kind == GRAPH and state.n_excluded:
        return Outcome.undefined("not_applicable", "a graph cannot be cut to the cells with a pseudotime", n=state.n)
    stored: Any = np.asarray(state.truth["pseudotime"], np.float64)
    graph = panel.graph(k, search)
    first = np.lexsort((panel.ranks, stored))[0]
    found, lost = diffusion_pseudotime(graph, int(first), panel.ranks)
    rho = spearman(Rows(state.n, {"value": found}, {"value": stored}))
    if rho.value is None:
        return Outcome.undefined(rho.reason, rho.detail, n=state.n, values={"n_without_path": lost})
    marks = panel.marks(search)
    values = {"n_without_path": lost, **marks.get("values", {})}
    return Outcome((rho.value + 1) / 2, n=state.n, flags=marks.get("flags", ()), values=values)


def diffusion_pseudotime(graph: Any, root: int, ranks: Any) -> tuple[Floats, int]:
    """Distance of each cell to the root in the space of diffusion components, over its largest value.

    Args:
        graph: (n, n) symmetric CSR of weights.
        root: The first cell.
        ranks: (n,) an order of the cells that the solver's start vector follows.

    Returns:
        (n,) float64, 2 for cells without a path to the root, and the number of these.
    """
    from scipy.sparse.csgraph import connected_components

    n = graph.shape[0]
    _, part = connected_components(graph, directed=False)
    reached = np.flatnonzero(part == part[root])
    found = np.full(n, 2.0)
    found[reached] = 0.0
    if len(reached) > 2:
        inside = graph[reached][:, reached]
        at = int(np.searchsorted(reached, root))
        found[reached] = _pseudotime(inside, at, np.argsort(np.argsort(ranks[reached])))
    return found, n - len(reached)


def _pseudotime(graph: Any, root: int, ranks: Any) -> Floats:
    from scipy.sparse import diags

    degree = np.asarray(graph.sum(axis=1)).ravel()
    density = diags(1 / degree)
    kernel = density @ graph @ density
    mass = diags(1 / np.sqrt(np.asarray(kernel.sum(axis=1)).ravel()))
    values, vectors = _leading((mass @ kernel @ mass).tocsr(), ranks)
    moving = values < STATIONARY
    weights = values[moving] / (1 - values[moving])
    squares = np.square((vectors[:, moving] - vectors[root, moving]) * weights).sum(axis=1)
    distance = np.sqrt(squares)
    largest = distance.max()
    time: Floats = np.round(distance / largest, DIGITS) if largest > 0 else distance
    return time


def _leading(transitions: Any, ranks: Any) -> tuple[Floats, Floats]:
    """The largest eigenvalues and their vectors."""
    from scipy.sparse.linalg import eigsh

    n = transitions.shape[0]
    with one_thread():
        if n <= 10 * COMPONENTS:
            values, vectors = np.linalg.eigh(transitions.toarray())
            return values[-COMPONENTS:], vectors[:, -COMPONENTS:]
        start = np.random.default_rng(0).standard_normal(n)[ranks]
        values, vectors = eigsh(transitions, COMPONENTS, which="LM", v0=start, tol=1e-10)
    return values, vectors
