"""kBET: whether the batches around a cell are as frequent as in the whole, by a chi-squared test a cell."""

from __future__ import annotations

from typing import Any

import numpy as np

from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_sum
from primabench_core.state.rows import Rows
from primabench_task_singlecell.integration.defined import defined
from primabench_task_singlecell.integration.lisi import summed_by_class
from primabench_task_singlecell.integration.pairs import Ints, scan
from primabench_task_singlecell.integration.work import Panel, panel_of, symmetric

GRAPH_K = 50
"""Neighbours of the graph whose components decide which cells are tested."""
FEWEST, LEAST_CELLS = 10, 10
SHARE = 0.75
ALPHA = 0.05


@defined
def kbet(state: Rows, *, alpha: float = ALPHA) -> Outcome:
    """Mean over types of the share of cells whose neighbourhood has the batches of the type (Buttner et al. 2019).

    The rule of scib for each type: k0 = min(70, max(10, floor(mean cells a batch / 4))). The type's part of the
    symmetric graph of 50 neighbours (all where there are fewer) is cut into components; cells in components of at least
    3 k0 are tested, and if these are less than 75 % of the type (where it is in several components), all are rejected.
    The neighbourhood of a cell is the cell and its k0 - 1 nearest cells among those tested; it is rejected where the
    chi-squared test of its batches against those of the tested cells has p < alpha. Every cell is tested, and
    neighbours are exact Euclidean ones, where scib walks a graph and R kBET draws a tenth of the cells; see
    ``values["definition"]``.

    Args:
        state: Rows with coordinates of cells, ``label`` and ``batch``.
        alpha: Level of the test.

    Returns:
        Value in [0, 1], 1 for no rejection; each type in ``per_unit`` (none with fewer than 10 cells, one batch, or one
        batch among those tested);
        ``single_batch`` or ``too_few_items`` if no type has a value, ``not_applicable`` for a graph.
    """
    panel = panel_of(state)
    batch, label = panel.batch(), panel.labels("label")
    graph = symmetric(
        panel.scanned(GRAPH_K).neighbours.first(min(GRAPH_K, panel.n - 1)).index
    )  # read here alone: not kept
    found: dict[str, float | None] = {}
    k0s: dict[str, int] = {}
    for code, name in enumerate(label.classes):
        rows = np.flatnonzero(label.codes == code)
        sizes = np.bincount(batch.codes[rows])
        sizes = sizes[sizes > 0]
        if len(rows) < LEAST_CELLS or len(sizes) < 2:
            found[str(name)] = None
            continue
        k0 = k0s[str(name)] = min(70, max(FEWEST, int(sizes.mean()) // 4))
        tested = _tested(graph, rows, k0)
        if not len(tested):
            found[str(name)] = 0.0
        elif np.ptp(batch.codes[tested]) == 0:
            found[str(name)] = None
        else:
            near = _inside(panel, tested, k0 - 1)
            found[str(name)] = accepted(batch.codes[near], batch.codes[tested], alpha)
    return _over_types(panel, found, k0s)


def _over_types(panel: Panel, found: dict[str, float | None], k0s: dict[str, int]) -> Outcome:
    values = np.asarray([v for v in found.values() if v is not None])
    if not len(values):
        reason = "single_batch" if panel.n >= LEAST_CELLS else "too_few_items"
        return Outcome.undefined(reason, "no label has ten cells and two batches", n=panel.n, per_unit=found)
    return Outcome(
        exact_sum(values) / len(values),
        n=panel.n,
        per_unit=found,
        n_undefined=len(found) - len(values),
        coverage=len(values) / len(found),
        values={"k0": k0s, "definition": "scib's k0 and components; exact Euclidean neighbours inside the label"},
    )


def _tested(graph: Any, rows: Ints, k0: int) -> Ints:
    """The cells of a type that are tested; none where too few lie in large components."""
    from scipy.sparse.csgraph import connected_components

    count, component = connected_components(graph[rows][:, rows], directed=False)
    if count == 1:
        return rows
    large = np.bincount(component)[component] >= 3 * k0
    return rows[large] if large.mean() >= SHARE else rows[:0]


def _inside(panel: Panel, rows: Ints, k: int) -> Ints:
    """(rows, k + 1) each cell and its k nearest among these cells.

    Those among the neighbours of the one scan are taken from there; only cells that have too few of them are looked up
    among the others once more.
    """
    near = panel.scanned().neighbours.index[rows]
    k = min(k, len(rows) - 1)
    chosen = np.zeros(panel.n, bool)
    chosen[rows] = True
    known = chosen[near]
    first = np.argsort(~known, axis=1, kind="stable")[:, :k]
    found = np.hstack([rows[:, None], np.take_along_axis(near, first, axis=1)]).astype(np.int64)
    if first.shape[1] == k:
        short = np.flatnonzero(known.sum(axis=1) < k)
    else:
        short = np.arange(len(rows))
        found = np.hstack([rows[:, None], np.zeros((len(rows), k), np.int64)])
    if len(short):
        ranks = np.argsort(np.argsort(panel.ranks[rows]))
        again = scan(panel.part(rows), k, ranks=ranks, only=short)
        found[short, 1:] = rows[again.neighbours.index]
    return found


def accepted(codes: Ints, whole: Ints, alpha: float) -> float:
    """Share of neighbourhoods that the test does not reject.

    Args:
        codes: (n, k) batches of the cells of each neighbourhood.
        whole: (m,) batches of all cells.
        alpha: Level.
    """
    from scipy.special import chdtrc

    present, whole = np.unique(whole, return_inverse=True)
    share = np.bincount(whole) / len(whole)
    seen = summed_by_class(np.searchsorted(present, codes), len(present))
    expected = share * codes.shape[1]
    statistic = (np.square(seen - expected) / expected).sum(axis=1)
    return float(np.mean(chdtrc(len(present) - 1, statistic) >= alpha))


@defined
def kbet_fixed_k(state: Rows, *, k: int = GRAPH_K, alpha: float = ALPHA, search: str = "exact") -> Outcome:
    """Share of cells whose k nearest cells have the batches of the whole, by a chi-squared test; types do not enter.

    Args:
        state: Rows with a representation of cells and ``batch``.
        k: Neighbours, the cell itself not among them.
        alpha: Level of the test.
        search: ``exact`` neighbours, or ``approximate`` ones (flagged in the result).

    Returns:
        Value in [0, 1]; ``single_batch`` for one batch, ``too_few_items`` for k cells or fewer, ``not_applicable`` for
        a graph with fewer neighbours.
    """
    panel = panel_of(state)
    batch = panel.batch()
    near = panel.neighbours(k, search).index
    return Outcome(accepted(batch.codes[near], batch.codes, alpha), n=panel.n, **panel.marks(search))
