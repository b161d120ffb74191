"""Correlations of vectors over many resamples (:mod:`primabench_metrics.correlation`)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from primabench_core.state.exact import pearson_from_moments
from primabench_core.state.multiplicity import Multiplicities, Selection, running_sums, take_columns
from primabench_core.state.rows import Rows
from primabench_metrics.correlation import MIN_ITEMS
from primabench_metrics.weighted.numbers import is_flat, moments, vector_pair
from primabench_metrics.weighted.quotients import Floats, Ints

_MOST = 1 << 21
"""Rows up to which sums of products of ranks fit 64 bits."""


def pearson(
    state: Rows, drawn: Multiplicities, *, per: str = "pooled", reduce: str = "mean", policy: str = "strict"
) -> Floats | None:
    """Pearson correlation from exact moments."""
    found = moments(state, drawn)
    if found is None:
        return None
    values = [pearson_from_moments(m) for m in found]
    numbers = np.array([math.nan if v is None else v for v in values], np.float64)
    return np.where(impossible(state, drawn), np.nan, numbers)


def spearman(
    state: Rows, drawn: Multiplicities, *, per: str = "pooled", reduce: str = "mean", policy: str = "strict"
) -> Floats | None:
    """Spearman's correlation: the ranks of a resample follow from how often the numbers below occur."""
    pair = vector_pair(state)
    if pair is None or drawn.n.max(initial=0) >= _MOST:
        return None
    times = drawn.of_rows()
    a, b = (_ranks(state, side, x, drawn) for side, x in zip(("prediction", "truth"), pair, strict=True))
    weighed = times * a
    joint, spread_a = (np.einsum("ij,ij->i", weighed, other) for other in (b, a))
    spread_b = np.einsum("ij,ij->i", times * b, b)
    root = np.sqrt(spread_a.astype(np.float64) * spread_b.astype(np.float64))
    values = np.divide(joint, root, out=np.full(len(root), np.nan), where=root > 0)
    return np.where(impossible(state, drawn), np.nan, np.clip(values, -1.0, 1.0))


def _ranks(state: Rows, side: str, x: NDArray[np.floating], drawn: Multiplicities) -> Ints:
    """(draws, n) 2·(mid-rank) − (N+1) of each row in each resample of N rows."""

    def build() -> tuple[Selection, Ints, Ints]:
        order = np.argsort(x)
        starts = np.flatnonzero(np.append(True, x[order[1:]] != x[order[:-1]])) if len(x) else order
        run = np.empty(len(x), np.int64)
        run[order] = np.cumsum(np.bincount(starts, minlength=len(x))) - 1
        return Selection(order), np.append(starts, len(x)), run

    order, edges, run = state.shared(("primabench_metrics.weighted.runs", side), build)
    running = take_columns(running_sums(order.times(drawn)), edges)
    return take_columns(running[:, :-1] + running[:, 1:] - drawn.n[:, None], run)


def impossible(state: Rows, drawn: Multiplicities) -> NDArray[np.bool_]:
    """(draws,) where a correlation does not exist."""
    return (drawn.n < MIN_ITEMS) | is_flat(state, "truth", drawn) | is_flat(state, "prediction", drawn)
