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
from primabench_core.state.exact import Moments, exact_moments, pearson_from_moments
from primabench_core.state.rows import Rows
from primabench_core.state.sums import Sums
from primabench_metrics.aggregate import mean_of_units
from primabench_metrics.moments import columns_of
from primabench_metrics.numbers import constant_columns, feature_names, pair
from primabench_metrics.pairs import PairCounts, pair_counts
from primabench_metrics.ranks import rank_moments

Vector = NDArray[np.floating]
Unit = float | Outcome
"""Value of one column, or why it has none."""
MIN_ITEMS = 3
"""Two points always correlate by ±1."""


def pearson(state: Rows | Sums, *, per: str = "pooled", reduce: str = "mean", policy: str = "strict") -> Outcome:
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
    if isinstance(state, Rows) and pair(state)[0].ndim == 1:
        return _over(state, _pearson, per, policy)
    found = columns_of(state)
    if per == "pooled":
        n = found.n * found.width
        problem = _impossible(n, found.all_flat(0), found.all_flat(1))
        pooled = problem or _from_moments(found.pooled())
        return pooled if isinstance(pooled, Outcome) else Outcome(pooled, n=n)
    problems = [_impossible(found.n, *flat) for flat in zip(found.flat(0), found.flat(1), strict=True)]
    if all(problems):
        values: list[Unit] = [p for p in problems if p is not None]
    else:
        values = [p or _from_moments(m) for p, m in zip(problems, found.moments(), strict=True)]
    units = zip(feature_names(state, found.width), values, strict=True)
    return mean_of_units(dict(units), policy, n=found.n)


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


def _over(state: Rows, correlate: Callable[[Vector, Vector], list[Unit]], per: str, policy: str) -> Outcome:
    predicted, true = pair(state)
    if per == "pooled":
        pooled = correlate(predicted.reshape(-1, 1), true.reshape(-1, 1))[0]
        return pooled if isinstance(pooled, Outcome) else Outcome(pooled, n=predicted.size)
    if predicted.ndim == 1:
        predicted, true = predicted[:, None], true[:, None]
    units = zip(feature_names(state, predicted.shape[1]), correlate(predicted, true), strict=True)
    return mean_of_units(dict(units), policy, n=len(predicted))


def impossible(x: Vector, y: Vector) -> list[Outcome | None]:
    """Why each column of predicted x and true y, (n, m) both, has no correlation, or None."""
    flat = zip(constant_columns(x), constant_columns(y), strict=True)
    return [_impossible(len(x), flat_x, flat_y) for flat_x, flat_y in flat]


def _impossible(n: int, flat_x: bool, flat_y: bool) -> Outcome | None:
    if n < MIN_ITEMS:
        return Outcome.undefined("too_few_items", f"{n} of at least {MIN_ITEMS} items", n=n)
    if flat_y:
        return Outcome.undefined("constant_truth", "the true values do not vary", n=n)
    if flat_x:
        return Outcome.undefined("constant_prediction", "the predicted values do not vary", n=n)
    return None


def pearson_of(x: Vector, y: Vector) -> Outcome:
    """Pearson correlation of predicted x and true y, each (n,)."""
    found = _pearson(x[:, None], y[:, None])[0]
    return found if isinstance(found, Outcome) else Outcome(found, n=len(x))


def _pearson(x: Vector, y: Vector) -> list[Unit]:
    problems = impossible(x, y)
    return [p or _from_moments(exact_moments(x[:, j], y[:, j])) for j, p in enumerate(problems)]


def _from_moments(moments: Moments) -> Unit:
    value = pearson_from_moments(moments)
    if value is None or not math.isfinite(value):
        return Outcome.undefined("numerical_failure", "the spread is below what float64 can hold", n=moments.n)
    return value


def _spearman(x: Vector, y: Vector) -> list[Unit]:
    problems = impossible(x, y)
    if all(problems):
        return [p for p in problems if p is not None]
    return [p or _from_ranks(*sums) for p, sums in zip(problems, rank_moments(x, y), strict=True)]


def _from_ranks(joint: int, spread_x: int, spread_y: int) -> float:
    return min(1.0, max(-1.0, float(joint) / math.sqrt(float(spread_x) * float(spread_y))))


def _kendall(x: Vector, y: Vector) -> list[Unit]:
    columns = zip(impossible(x, y), np.ascontiguousarray(x.T), np.ascontiguousarray(y.T), strict=True)
    return [p or _tau_b(pair_counts(a, b)) for p, a, b in columns]


def _tau_b(pairs: PairCounts) -> float:
    ordered = pairs.concordant + pairs.discordant
    surplus = pairs.concordant - pairs.discordant
    radicand = (ordered + pairs.tied_x) * (ordered + pairs.tied_y)
    return math.copysign(math.sqrt(surplus * surplus / radicand), surplus)
