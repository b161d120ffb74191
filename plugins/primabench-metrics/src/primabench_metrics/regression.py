"""Distance of predicted from measured numbers.

A difference and its square are one float64 operation each; their sums are exact and rounded once. Moments are exact,
so that no common offset spoils them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_core.spec import Outcome
from primabench_core.state.exact import (
    Moments,
    exact_moments,
    exact_sum,
    pearson_from_moments,
    r2_from_moments,
)
from primabench_core.state.row_errors import Error, row_errors
from primabench_core.state.rows import Rows
from primabench_core.state.sums import Sums
from primabench_metrics.aggregate import mean_of_units
from primabench_metrics.correlation import impossible
from primabench_metrics.moments import columns_of, ratio
from primabench_metrics.numbers import Floats, feature_names, is_constant, pair, vectors

SMALL = 1e-280
"""A mean square below this may have lost squares to underflow."""


def mse(state: Rows | Sums) -> Outcome:
    """Mean squared error Σ(ŷ−y)²/n over all numbers (Gauss 1823).

    Args:
        state: ``value`` (n,) or (n, features) on both sides.

    Returns:
        Value in [0, ∞) in squared units; ``too_few_items`` without numbers.
    """
    return _mean(state, "squared_error")


def rmse(state: Rows | Sums) -> Outcome:
    """Root of the mean squared error √(Σ(ŷ−y)²/n) over all numbers (Gauss 1823); not a mean of roots.

    Args:
        state: ``value`` (n,) or (n, features) on both sides. Errors of a vector may be as small as 1e-300; squares of
            a matrix vanish below 1e-308.

    Returns:
        Value in [0, ∞) in the units of ``value``; ``too_few_items`` without numbers.
    """
    squared = mse(state)
    out_of_reach = squared.reason == "numerical_failure" or (squared.value is not None and squared.value < SMALL)
    if out_of_reach and isinstance(state, Rows) and pair(state)[0].ndim == 1:
        return _scaled_rmse(state)
    return squared if squared.value is None else Outcome(math.sqrt(squared.value), n=squared.n)


def _scaled_rmse(state: Rows) -> Outcome:
    """The same of errors whose squares leave float64: scaled by a power of two, which changes no bit of the others."""
    predicted, true = (side.astype(np.float64) for side in pair(state))
    with np.errstate(over="ignore"):
        error = predicted - true
    if not np.isfinite(error).all():
        return Outcome.undefined("numerical_failure", "an error exceeds the largest float64", n=len(error))
    exponent = int(np.frexp(np.abs(error).max())[1])
    error = np.ldexp(error, -exponent)
    return Outcome(math.ldexp(math.sqrt(exact_sum(error * error) / error.size), exponent), n=len(error))


def mae(state: Rows | Sums) -> Outcome:
    """Mean absolute error Σ|ŷ−y|/n over all numbers (Willmott & Matsuura 2005).

    Args:
        state: ``value`` (n,) or (n, features) on both sides.

    Returns:
        Value in [0, ∞) in the units of ``value``; ``too_few_items`` without numbers.
    """
    return _mean(state, "absolute_error")


def _mean(state: Rows | Sums, kind: Error) -> Outcome:
    """Mean of an error of each number, summed exactly inside each row, rounded, then exactly over rows."""
    size, errors = errors_of(state, kind)
    if not size:
        return Outcome.undefined("too_few_items", "there are no numbers", n=state.n)
    if not np.isfinite(errors).all():
        return Outcome.undefined("numerical_failure", "an error exceeds the largest float64", n=state.n)
    total = exact_sum(errors)
    if math.isinf(total):
        return Outcome.undefined("numerical_failure", "the sum exceeds the largest float64", n=state.n)
    return Outcome(total / size, n=state.n)


def errors_of(state: Rows | Sums, kind: Error) -> tuple[int, Floats]:
    """How many numbers there are, and the (n,) error of each row."""
    if isinstance(state, Sums):
        return state.n * state.width, state.errors[kind]
    predicted, true = pair(state)
    if predicted.ndim == 2:
        return predicted.size, state.shared((kind, "of value"), lambda: row_errors(predicted, true, kind))
    with np.errstate(over="ignore"):
        terms = np.subtract(predicted, true, dtype=np.float64)
        return predicted.size, terms * terms if kind == "squared_error" else np.abs(terms)


def r2(state: Rows | Sums, *, multioutput: str = "uniform_average", policy: str = "strict") -> Outcome:
    """Coefficient of determination 1 − Σ(y−ŷ)²/Σ(y−ȳ)², not clipped below (Wright 1921).

    Args:
        state: ``value`` (n,) or (n, features) on both sides.
        multioutput: ``uniform_average``: each feature, then the plain mean.
        policy: What an undefined feature does to the mean (:mod:`primabench_metrics.aggregate`).

    Returns:
        Value in (-∞, 1]; ``constant_truth`` if the truth does not vary, ``too_few_items`` below two rows.
    """
    return _by_feature(state, r2_from_moments, policy)


def explained_variance(state: Rows | Sums, *, multioutput: str = "uniform_average", policy: str = "strict") -> Outcome:
    """Explained variance 1 − Var(y−ŷ)/Var(y): r2 that forgives a constant bias.

    As in scikit-learn (Pedregosa et al. 2011).

    Args:
        state: ``value`` (n,) or (n, features) on both sides.
        multioutput: ``uniform_average``: each feature, then the plain mean.
        policy: What an undefined feature does to the mean (:mod:`primabench_metrics.aggregate`).

    Returns:
        Value in (-∞, 1]; undefined as :func:`r2`.
    """
    return _by_feature(state, explained_variance_of, policy)


def _by_feature(state: Rows | Sums, value: Callable[[Moments], float | None], policy: str) -> Outcome:
    """A value of the moments of each feature, and their mean."""
    n = state.n
    if isinstance(state, Rows):
        predicted, true = pair(state)
        if predicted.ndim == 1:
            return _without_spread(n, is_constant(true)) or _finite(value(exact_moments(predicted, true)), n)
    found = columns_of(state)
    problems = [_without_spread(n, flat) for flat in found.flat(1)]
    units = zip(feature_names(state, found.width), problems, found.moments(), strict=True)
    return mean_of_units({name: p or _finite(value(m), n) for name, p, m in units}, policy, n=n)


def _without_spread(n: int, is_flat: bool) -> Outcome | None:
    if n < 2:
        return Outcome.undefined("too_few_items", f"{n} of at least 2 rows", n=n)
    if is_flat:
        return Outcome.undefined("constant_truth", "the true values do not vary", n=n)
    return None


def explained_variance_of(m: Moments) -> float:
    """1 − Var(y − ŷ)/Var(y) of a truth that varies."""
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
    value, squared, origin = rm2_of(m, r, form)
    return Outcome(value, n=len(x), values={"r2_pearson": squared, "r2_origin": origin})


def rm2_of(m: Moments, r: float, form: str) -> tuple[float, float, float]:
    """rm², r² and r0² of the moments and the correlation of ŷ and y."""
    squared, origin = r * r, _origin_r2(m)
    gap = squared - origin if form == "roy" else squared * squared - origin * origin
    return squared * (1.0 - math.sqrt(abs(gap))), squared, origin


def _origin_r2(m: Moments) -> float:
    """r0², from Σ(y − kŷ)² = Σy² − (Σyŷ)²/Σŷ²."""
    residual = m.yy * m.xx - m.xy * m.xy
    return 1.0 - ratio(residual * m.n, m.xx * m.spread_y)


def aafe(state: Rows) -> Outcome:
    """Absolute average fold error 10^mean|log10(ŷ/y)| (Obach et al. 1997).

    Args:
        state: ``value`` (n,) or (n, features) on both sides, all positive.

    Returns:
        Value in [1, ∞); ``too_few_items`` without numbers, ``numerical_failure`` beyond 1e308.

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
    if mean > sys.float_info.max_10_exp:
        return Outcome.undefined("numerical_failure", "the fold error exceeds the largest float64", n=len(predicted))
    return Outcome(10.0**mean, n=len(predicted))
