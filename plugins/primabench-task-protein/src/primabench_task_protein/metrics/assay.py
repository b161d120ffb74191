"""Metrics of one assay: predicted scores against measured fitness."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from primabench_metrics import retrieval
from primabench_metrics.classes import Label, positive_code
from primabench_metrics.classification import mcc
from primabench_metrics.ranking import label_column

from primabench_core.spec import Outcome
from primabench_core.state.counts import Counts
from primabench_core.state.rows import Rows

Floats = NDArray[np.floating]


def ndcg_at_10_percent(state: Rows) -> Outcome:
    """NDCG over the top tenth, gains scaled to [0, 1], tied scores sharing their places (ProteinGym).

    ``ndcg_at_k{fraction: 0.1, gains: min_max, per: all}`` of primabench-metrics: k = max(1, ⌊n/10⌋).

    Args:
        state: ``score`` (n,) against ``value`` (n,).

    Returns:
        Value in [0, 1]; ``constant_truth`` if fitness does not vary.
    """
    return retrieval.ndcg_at_k(state, fraction=0.1, gains="min_max", per="all")


def top_recall_10_percent(state: Rows, *, top: float = 0.1) -> Outcome:
    """Share of the truly best variants that are among the predicted best (ProteinGym).

    The truly best are at or above the 1 - top quantile of fitness (linear interpolation). As many are taken of the
    prediction as its quantile would take without ties; where scores tie at the cut, the value is the expectation over
    all orders of the tied rows, so that a constant prediction gets ``top`` and not 1. Where fitness itself ties at the
    cut, more variants are truly best than are taken, and even the truth as a prediction stays below 1.

    Args:
        state: ``score`` (n,) against ``value`` (n,).
        top: Part of the variants that counts as best, read as the decimal number it prints as.

    Returns:
        Value in [0, 1]; ``constant_truth`` if fitness does not vary, ``too_few_items`` below two variants.
    """
    scores, truth = np.asarray(state.prediction["score"]), np.asarray(state.truth["value"], np.float64)
    if state.n < 2:
        return Outcome.undefined("too_few_items", f"{state.n} of at least 2 variants", n=state.n)
    if truth.min() == truth.max():
        return Outcome.undefined("constant_truth", "fitness does not vary")
    # values at or above the interpolated quantile are those at or above the first order statistic not below it
    at = math.ceil((1 - Fraction(repr(float(top)))) * (state.n - 1))
    best = truth >= np.partition(truth, at)[at]
    places = state.n - at
    cut = np.partition(scores, at)[at]
    above, level = scores > cut, scores == cut
    left = places - int(above.sum())
    hits = int((best & above).sum()) + Fraction(left * int((best & level).sum()), int(level.sum()))
    flags = ("ties_at_cut",) if left < int(level.sum()) else ()
    return Outcome(float(hits / int(best.sum())), flags=flags, values={"n_best": int(best.sum()), "n_taken": places})


def mcc_at_median(state: Rows, *, positive: Label = 1) -> Outcome:
    """Matthews correlation when variants at or above the median score are called fit (ProteinGym).

    Ties at the median call more than half; ``values["predicted_positive_rate"]`` says how many.

    Args:
        state: ``score`` (n,) against ``label`` (n,).
        positive: The class of fit variants.

    Returns:
        Value in [-1, 1]; undefined as ``mcc``.
    """
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no variants", n=0)
    truth = label_column(state)
    scores = np.asarray(state.prediction["score"], np.float64)
    called = scores >= _median(scores)
    fit = truth.codes == positive_code(truth.classes, positive)
    found = mcc(Counts.of(fit.astype(np.int64), called.astype(np.int64), (0, 1), (0, 1)))
    values = {"predicted_positive_rate": float(called.mean())}
    return Outcome(found.value, reason=found.reason, detail=found.detail, n=state.n, flags=found.flags, values=values)


def _median(scores: Floats) -> float:
    """The middle number, or the mean of the two in the middle without overflow."""
    ordered = np.sort(scores)
    low, high = float(ordered[(len(ordered) - 1) // 2]), float(ordered[len(ordered) // 2])
    return low if low == high else low / 2 + high / 2
