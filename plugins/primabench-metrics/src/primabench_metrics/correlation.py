"""Correlation of predicted and measured numbers.

Moments are taken exactly from the stored numbers as float64, each rounded once, then the formula is float64: neither
row order nor a common offset changes a bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_moments, pearson_from_moments
from primabench_core.state.rows import Rows
from primabench_metrics.aggregate import mean_of_units
from primabench_metrics.numbers import feature_names, is_constant, pair
from primabench_metrics.pairs import pair_counts
from primabench_metrics.ranks import rank_moments

Vector = NDArray[np.floating]
MIN_ITEMS = 3
"""Two points always correlate by ±1."""


def pearson(state: Rows, *, per: str = "pooled", reduce: str = "mean", policy: str = "strict") -> Outcome:
    """Pearson correlation Σ(x−x̄)(y−ȳ)/√(SSx·SSy) (Pearson 1895).

    Computed as (n·Σxy − Σx·Σy)/√((n·Σx² − (Σx)²)(n·Σy² − (Σy)²)) with exact sums.

    Args:
        state: ``value`` (n,) or (n, features) on both sides.
        per: ``pooled``: all numbers together; ``feature``: each column over its rows, then ``reduce``.
        reduce: How features are joined.
        policy: What an undefined feature does to the mean (:mod:`primabench_metrics.aggregate`).

    Returns:
        Value in [-1, 1]; ``too_few_items`` below three items, ``constant_truth`` or ``constant_prediction`` if a side
        has a relative spread below 1e-12.
    """
    return _over(state, pearson_of, per, policy)


def spearman(state: Rows, *, per: str = "pooled", reduce: str = "mean", policy: str = "strict") -> Outcome:
    """Spearman's rank correlation: Pearson on mid-ranks (Spearman 1904).

    Ranks are doubled integers, so moments are integers; neither 1 − 6Σd²/(n(n²−1)) nor ranks by position hold with
    ties.

    Args:
        state: ``value`` (n,) or (n, features) on both sides.
        per: ``pooled``: all numbers together; ``feature``: each column over its rows, then ``reduce``.
        reduce: How features are joined.
        policy: What an undefined feature does to the mean (:mod:`primabench_metrics.aggregate`).

    Returns:
        Value in [-1, 1]; undefined as :func:`pearson`.
    """
    return _over(state, _spearman, per, policy)


def kendall_tau_b(state: Rows, *, per: str = "pooled", reduce: str = "mean", policy: str = "strict") -> Outcome:
    """Kendall's tau-b (C−D)/√((C+D+Tx)(C+D+Ty)) (Kendall 1945), from exact pair counts in O(n log n).

    Args:
        state: ``value`` (n,) or (n, features) on both sides.
        per: ``pooled``: all numbers together; ``feature``: each column over its rows, then ``reduce``.
        reduce: How features are joined.
        policy: What an undefined feature does to the mean (:mod:`primabench_metrics.aggregate`).

    Returns:
        Value in [-1, 1]; undefined as :func:`pearson`.
    """
    return _over(state, _kendall, per, policy)


def _over(state: Rows, correlate: Callable[[Vector, Vector], Outcome], per: str, policy: str) -> Outcome:
    predicted, true = pair(state)
    if per == "pooled":
        return correlate(predicted.ravel(), true.ravel())
    if predicted.ndim == 1:
        predicted, true = predicted[:, None], true[:, None]
    names = feature_names(state, predicted.shape[1])
    columns = zip(names, np.ascontiguousarray(predicted.T), np.ascontiguousarray(true.T), strict=True)
    return mean_of_units({name: correlate(x, y) for name, x, y in columns}, policy, n=len(predicted))


def impossible(x: Vector, y: Vector) -> Outcome | None:
    """Why predicted ``x`` and true ``y`` have no correlation, or None."""
    if len(x) < MIN_ITEMS:
        return Outcome.undefined("too_few_items", f"{len(x)} of at least {MIN_ITEMS} items", n=len(x))
    if is_constant(y):
        return Outcome.undefined("constant_truth", "the true values do not vary", n=len(x))
    if is_constant(x):
        return Outcome.undefined("constant_prediction", "the predicted values do not vary", n=len(x))
    return None


def pearson_of(x: Vector, y: Vector) -> Outcome:
    """Pearson correlation of predicted x and true y, each (n,)."""
    problem = impossible(x, y)
    if problem is not None:
        return problem
    value = pearson_from_moments(exact_moments(x, y))
    if value is None:
        return Outcome.undefined("numerical_failure", "the spread is below what float64 can hold", n=len(x))
    return Outcome(value, n=len(x))


def _spearman(x: Vector, y: Vector) -> Outcome:
    problem = impossible(x, y)
    if problem is not None:
        return problem
    joint, spread_x, spread_y = map(float, rank_moments(x, y))
    return Outcome(min(1.0, max(-1.0, joint / math.sqrt(spread_x * spread_y))), n=len(x))


def _kendall(x: Vector, y: Vector) -> Outcome:
    problem = impossible(x, y)
    if problem is not None:
        return problem
    pairs = pair_counts(x, y)
    ordered = pairs.concordant + pairs.discordant
    surplus = pairs.concordant - pairs.discordant
    radicand = (ordered + pairs.tied_x) * (ordered + pairs.tied_y)
    return Outcome(math.copysign(math.sqrt(surplus * surplus / radicand), surplus), n=len(x))
