"""How mixed the neighbourhoods of cells are: LISI, and the entropy of batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from primabench_core.errors import ParameterError
from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_sum
from primabench_core.state.rows import Labels, Rows
from primabench_task_singlecell.integration.defined import defined
from primabench_task_singlecell.integration.pairs import Floats, Ints, Neighbours
from primabench_task_singlecell.integration.work import Panel, UndefinedError, panel_of

ROWS = 4_096
"""Cells whose weights are found at once."""
ROUNDS = 200
EXACT = 1e-13
"""Entropy is met to this share of its target."""


@defined
def ilisi(
    state: Rows, *, k: int = 90, perplexity: float | None = None, include_self: bool = False, search: str = "exact"
) -> Outcome:
    """Median effective number of batches around a cell, (LISI - 1)/(batches - 1) (Korsunsky et al. 2019).

    Neighbours weigh exp(-beta d), beta such that the entropy of the weights is the logarithm of the perplexity;
    LISI = 1/Σ_b p_b² over the summed weights p_b of the batches.

    Args:
        state: Rows with a representation of cells and ``batch``.
        k: Neighbours, the cell itself not among them.
        perplexity: Effective number of neighbours, smaller than ``k``; by default floor(k / 3).
        include_self: Let the cell itself be its first neighbour, at distance 0, as scib-metrics up to 0.5.9 did.
        search: ``exact`` neighbours, or ``approximate`` ones (flagged in the result).

    Returns:
        Value in [0, 1]; ``single_batch`` for one batch, ``too_few_items`` for k cells or fewer, ``not_applicable`` for
        a graph without distances or with fewer neighbours. ``values`` hold the median itself and the number of cells
        of which more neighbours than the perplexity are equally near (their weights are equal).

    Raises:
        ParameterError: the perplexity cannot be reached with k neighbours.
    """
    panel = panel_of(state)
    return _scaled(panel, panel.batch(), k, perplexity, include_self, search, of="batches")


@defined
def clisi(
    state: Rows, *, k: int = 90, perplexity: float | None = None, include_self: bool = False, search: str = "exact"
) -> Outcome:
    """Median effective number of types around a cell, (types - LISI)/(types - 1): 1 where neighbours are of one type.

    Args:
        state: Rows with a representation of cells and ``label``.
        k: As in :func:`ilisi`.
        perplexity: As in :func:`ilisi`.
        include_self: As in :func:`ilisi`.
        search: As in :func:`ilisi`.

    Returns:
        Value in [0, 1]; ``single_label`` for one type, else undefined as :func:`ilisi`.
    """
    panel = panel_of(state)
    return _scaled(panel, panel.label(), k, perplexity, include_self, search, of="labels")


def _scaled(
    panel: Panel, classes: Labels, k: int, perplexity: float | None, include_self: bool, search: str, *, of: str
) -> Outcome:
    sought = float(k // 3) if perplexity is None else float(perplexity)
    if not 1 < sought < k:
        raise ParameterError(
            f"A perplexity of {sought:g} cannot be reached with {k} neighbours: it has to lie between 1 and k.",
            remedy="a smaller perplexity, or a larger k",
        )
    key = ("weights", k, sought, include_self, search)
    weights, tied = panel.made(key, lambda: _weights(panel, k, sought, include_self, search))
    near = _with_self(panel.neighbours(k, search, lengths=True), include_self).index
    median = float(np.median(inverse_simpson(weights, classes.codes[near], len(classes.classes))))
    count = len(classes.classes)
    value = (median - 1) / (count - 1) if of == "batches" else (count - median) / (count - 1)
    marks = panel.marks(search)
    values = {"median_lisi": median, "perplexity": sought, "n_tied_neighbourhoods": tied, **marks.get("values", {})}
    return Outcome(min(max(value, 0.0), 1.0), n=panel.n, flags=marks.get("flags", ()), values=values)


def _with_self(found: Neighbours, include_self: bool) -> Neighbours:
    if not include_self:
        return found
    n = len(found.index)
    index = np.hstack([np.arange(n, dtype=np.int32)[:, None], found.index[:, :-1]])
    assert found.distance is not None
    return Neighbours(index, np.hstack([np.zeros((n, 1)), found.distance[:, :-1]]), found.library)


def _weights(panel: Panel, k: int, perplexity: float, include_self: bool, search: str) -> tuple[Floats, int]:
    found = panel.neighbours(k, search, lengths=True)
    if found.distance is None:
        raise UndefinedError("not_applicable", "the graph has no distances", panel.n)
    distance = _with_self(found, include_self).distance
    assert distance is not None
    weights, tied = np.empty_like(distance), 0
    for start in range(0, len(distance), ROWS):
        part = slice(start, start + ROWS)
        weights[part], equal = perplexity_weights(distance[part], perplexity)
        tied += equal
    return weights, tied


def perplexity_weights(distance: Floats, perplexity: float) -> tuple[Floats, int]:
    """Weights exp(-beta d)/Σ of the neighbours of each cell, with the entropy log(perplexity).

    Args:
        distance: (n, k) float64.
        perplexity: Below k.

    Returns:
        (n, k) float64, and the number of cells of which at least as many neighbours as the perplexity share the
        smallest distance: no beta does, the limit of equal weights for these neighbours is taken.
    """
    gaps = distance - distance.min(axis=1, keepdims=True)
    largest = gaps.max(axis=1, keepdims=True)
    gaps = gaps / np.where(largest > 0, largest, 1.0)
    nearest = gaps == 0
    tied = nearest.sum(axis=1) >= perplexity
    weights = np.where(nearest, 1.0, 0.0) / nearest.sum(axis=1, keepdims=True)
    active = np.flatnonzero(~tied)
    target = np.log(perplexity)
    beta = 1.0 / gaps[active].mean(axis=1)
    low, high = np.zeros(len(active)), np.full(len(active), np.inf)
    for _ in range(ROUNDS):
        if not len(active):
            break
        part = gaps[active]
        p = np.exp(-beta[:, None] * part)
        total = p.sum(axis=1)
        p /= total[:, None]
        mean = np.einsum("ij,ij->i", p, part)
        over = np.log(total) + beta * mean - target
        spread = np.einsum("ij,ij,ij->i", p, part, part) - mean * mean
        weights[active] = p
        low, high = np.where(over > 0, beta, low), np.where(over > 0, high, beta)
        slope = np.maximum(beta * spread, 1e-300)
        step = beta + over / slope
        inside = (step > low) & (step < high)
        middle = np.where(np.isinf(high), 2.0 * beta, (low + np.where(np.isinf(high), 0.0, high)) / 2)
        waiting = np.abs(over) > EXACT * target
        waiting &= np.isinf(high) | (high - low > 1e-16 * high)
        active, beta = active[waiting], np.where(inside, step, middle)[waiting]
        low, high = low[waiting], high[waiting]
    return weights, int(tied.sum())


def inverse_simpson(weights: Floats, codes: Ints, classes: int) -> Floats:
    """(n,) 1/Σ_c p_c², p_c the summed weights of the neighbours of class c."""
    found = np.empty(len(codes))
    for start in range(0, len(codes), ROWS):
        part = slice(start, start + ROWS)
        share = summed_by_class(codes[part], classes, weights[part])
        found[part] = 1.0 / np.einsum("ij,ij->i", share, share)
    return found


def summed_by_class(codes: Ints, classes: int, weights: Floats | None = None) -> Floats:
    """(n, classes) summed weights (or numbers) of the entries of each class in each row."""
    n = len(codes)
    flat = (np.arange(n)[:, None] * classes + codes).ravel()
    given = None if weights is None else weights.ravel()
    return np.bincount(flat, given, minlength=n * classes).reshape(n, classes).astype(np.float64)


@defined
def entropy_per_cell(state: Rows, *, k: int = 200, search: str = "exact") -> Outcome:
    """Mean entropy of the batches of the k nearest cells, over the logarithm of the number of batches.

    Args:
        state: Rows with a representation of cells and ``batch``.
        k: Neighbours, the cell itself not among them.
        search: As in :func:`ilisi`.

    Returns:
        Value in [0, 1]; ``single_batch`` for one batch, else undefined as :func:`ilisi` (distances are not needed).
    """
    panel = panel_of(state)
    batch = panel.batch()
    near = panel.neighbours(k, search).index
    found = np.empty(panel.n)
    for start in range(0, panel.n, ROWS):
        share = summed_by_class(batch.codes[near[start : start + ROWS]], len(batch.classes)) / k
        found[start : start + ROWS] = -(share * np.log(np.where(share > 0, share, 1.0))).sum(axis=1)
    value = exact_sum(found) / panel.n / np.log(len(batch.classes))
    marks: dict[str, Any] = panel.marks(search)
    return Outcome(min(max(float(value), 0.0), 1.0), n=panel.n, **marks)
