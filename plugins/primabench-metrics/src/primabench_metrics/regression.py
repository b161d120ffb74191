"""Distance of predicted from measured numbers.

A difference and its square are one float64 operation each; their sums are exact and rounded once. Moments are exact,
so that no common offset spoils them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_core.spec import Outcome
from primabench_core.state.exact import (
    Moments,
    exact_moments,
    exact_row_sums,
    exact_sum,
    pearson_from_moments,
    r2_from_moments,
)
from primabench_core.state.rows import Rows
from primabench_metrics.aggregate import mean_of_units
from primabench_metrics.correlation import impossible
from primabench_metrics.moments import column_moments, ratio
from primabench_metrics.numbers import Floats, constant_columns, feature_names, is_constant, pair, vectors


def mse(state: Rows) -> Outcome:
    """Mean squared error Σ(ŷ−y)²/n over all numbers.

    Args:
        state: ``value`` (n,) or (n, features) on both sides.

    Returns:
        Value in [0, ∞) in squared units; ``too_few_items`` without numbers.
    """
    return _mean(state, lambda error: error * error)


def rmse(state: Rows) -> Outcome:
    """Root of the mean squared error over all numbers; not a mean of roots.

    Returns:
        Value in [0, ∞) in the units of ``value``; ``too_few_items`` without numbers.
    """
    squared = mse(state)
    return squared if squared.value is None else Outcome(math.sqrt(squared.value), n=squared.n)


def mae(state: Rows) -> Outcome:
    """Mean absolute error Σ|ŷ−y|/n over all numbers.

    Returns:
        Value in [0, ∞) in the units of ``value``; ``too_few_items`` without numbers.
    """
    return _mean(state, np.abs)


def _mean(state: Rows, term: Callable[[Floats], Floats]) -> Outcome:
    """Mean of a term of each difference, summed exactly inside each row, rounded, then exactly over rows."""
    predicted, true = pair(state)
    if not predicted.size:
        return Outcome.undefined("too_few_items", "there are no numbers", n=len(predicted))
    with np.errstate(over="ignore"):
        terms = term(np.subtract(predicted, true, dtype=np.float64))
    if not np.isfinite(terms).all():
        return Outcome.undefined("numerical_failure", "an error exceeds the largest float64", n=len(predicted))
    total = exact_sum(terms if terms.ndim == 1 else exact_row_sums(terms))
    if math.isinf(total):
        return Outcome.undefined("numerical_failure", "the sum exceeds the largest float64", n=len(predicted))
    return Outcome(total / terms.size, n=len(predicted))


def r2(state: Rows, *, multioutput: str = "uniform_average", policy: str = "strict") -> Outcome:
    """Coefficient of determination 1 − Σ(y−ŷ)²/Σ(y−ȳ)², not clipped below.

    Args:
        state: ``value`` (n,) or (n, features) on both sides.
        multioutput: ``uniform_average``: each feature, then the plain mean.
        policy: What an undefined feature does to the mean (:mod:`primabench_metrics.aggregate`).

    Returns:
        Value in (-∞, 1]; ``constant_truth`` if the truth does not vary, ``too_few_items`` below two rows.
    """
    return _by_feature(state, r2_from_moments, policy)


def explained_variance(state: Rows, *, multioutput: str = "uniform_average", policy: str = "strict") -> Outcome:
    """Explained variance 1 − Var(y−ŷ)/Var(y): r2 that forgives a constant bias.

    Args:
        state: ``value`` (n,) or (n, features) on both sides.
        multioutput: ``uniform_average``: each feature, then the plain mean.
        policy: What an undefined feature does to the mean (:mod:`primabench_metrics.aggregate`).

    Returns:
        Value in (-∞, 1]; undefined as :func:`r2`.
    """
    return _by_feature(state, _explained_variance, policy)


def _by_feature(state: Rows, value: Callable[[Moments], float | None], policy: str) -> Outcome:
    """A value of the moments of each feature, and their mean."""
    predicted, true = pair(state)
    n = len(true)
    if predicted.ndim == 1:
        return _without_spread(n, is_constant(true)) or _finite(value(exact_moments(predicted, true)), n)
    problems = [_without_spread(n, flat) for flat in constant_columns(true)]
    names = feature_names(state, len(problems))
    columns = zip(names, problems, column_moments(predicted, true), strict=True)
    return mean_of_units({name: p or _finite(value(m), n) for name, p, m in columns}, policy, n=n)


def _without_spread(n: int, is_flat: bool) -> Outcome | None:
    if n < 2:
        return Outcome.undefined("too_few_items", f"{n} of at least 2 rows", n=n)
    if is_flat:
        return Outcome.undefined("constant_truth", "the true values do not vary", n=n)
    return None


def _explained_variance(m: Moments) -> float:
    # n²·Var(y − ŷ) is spread_x − 2·joint + spread_y of the same exact moments
    return 1.0 - ratio(m.spread_x - m.joint * 2 + m.spread_y, m.spread_y)


def _finite(value: float | None, n: int) -> Outcome:
    if value is None or not math.isfinite(value):
        return Outcome.undefined("numerical_failure", "the value exceeds the largest float64", n=n)
    return Outcome(value, n=n)


def rm2(state: Rows, *, form: str = "roy") -> Outcome:
    """Modified r² of external validation, r²·(1 − √|r² − r0²|) (Roy & Roy 2008).

    r is Pearson's correlation and r0² = 1 − Σ(y − kŷ)²/Σ(y − ȳ)² belongs to the regression of y through the origin,
    k = Σyŷ/Σŷ².

    Args:
        state: ``value`` (n,) on both sides.
        form: ``roy``, or ``deepdta``, whose code squares both terms: √|r⁴ − r0⁴|.

    Returns:
        Value up to 1; undefined as Pearson's correlation.
    """
    x, y = vectors(state)
    problem = impossible(x[:, None], y[:, None])[0]
    if problem is not None:
        return problem
    m = exact_moments(x, y)
    r = pearson_from_moments(m)
    if r is None:
        return Outcome.undefined("numerical_failure", "the spread is below what float64 can hold", n=len(x))
    squared, origin = r * r, _origin_r2(m)
    gap = squared - origin if form == "roy" else squared * squared - origin * origin
    return Outcome(squared * (1.0 - math.sqrt(abs(gap))), n=len(x), values={"r2_pearson": squared, "r2_origin": origin})


def _origin_r2(m: Moments) -> float:
    """r0², from Σ(y − kŷ)² = Σy² − (Σyŷ)²/Σŷ²."""
    residual = m.yy * m.xx - m.xy * m.xy
    return 1.0 - ratio(residual * m.n, m.xx * m.spread_y)


def aafe(state: Rows) -> Outcome:
    """Absolute average fold error 10^mean|log10(ŷ/y)| (Obach et al. 1997).

    Args:
        state: ``value`` (n,) or (n, features) on both sides, all positive.

    Returns:
        Value in [1, ∞); ``too_few_items`` without numbers.

    Raises:
        ContractError: A value is not positive.
    """
    predicted, true = (side.astype(np.float64) for side in pair(state))
    for side, numbers in (("prediction", predicted), ("truth", true)):
        bad = int(np.count_nonzero(numbers <= 0))
        if bad:
            raise ContractError([Violation("value", "positive numbers", "others", count=bad)], what=f"The {side}")
    if not predicted.size:
        return Outcome.undefined("too_few_items", "there are no numbers", n=0)
    folds = np.abs(np.log10(predicted) - np.log10(true))
    mean = exact_sum(folds) / folds.size
    return Outcome(10.0**mean, n=len(predicted))
