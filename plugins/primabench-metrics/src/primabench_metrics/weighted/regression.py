"""Distances of numbers over many resamples (:mod:`primabench_metrics.regression`)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from primabench_core.state.exact import Moments, pearson_from_moments, r2_from_moments
from primabench_core.state.multiplicity import Multiplicities
from primabench_core.state.row_errors import Error
from primabench_core.state.rows import Rows
from primabench_core.state.sums import Sums
from primabench_core.state.weighed import WeighedSums
from primabench_metrics.regression import SMALL, errors_of, explained_variance_of, rm2_of
from primabench_metrics.weighted.correlation import impossible
from primabench_metrics.weighted.numbers import is_flat, moments
from primabench_metrics.weighted.quotients import Floats, shares


def mse(state: Rows | Sums, drawn: Multiplicities) -> Floats | None:
    """Mean squared error."""
    return _mean(state, drawn, "squared_error")


def rmse(state: Rows | Sums, drawn: Multiplicities) -> Floats | None:
    """Root of the mean squared error, where no square may have left float64."""
    squared = mse(state, drawn)
    return None if squared is None or (squared < SMALL).any() else np.sqrt(squared)


def mae(state: Rows | Sums, drawn: Multiplicities) -> Floats | None:
    """Mean absolute error."""
    return _mean(state, drawn, "absolute_error")


def _mean(state: Rows | Sums, drawn: Multiplicities, kind: Error) -> Floats | None:
    def build() -> tuple[int, WeighedSums | None]:
        size, errors = errors_of(state, kind)
        return size // max(state.n, 1), WeighedSums([(errors,)]) if np.isfinite(errors).all() else None

    width, prepared = state.shared(("primabench_metrics.weighted.regression", kind), build)
    return mean_of(prepared, drawn, width)


def mean_of(prepared: WeighedSums | None, drawn: Multiplicities, width: int = 1) -> Floats | None:
    """Mean of the one prepared column, of which each row stands for so many numbers; NaN without rows."""
    sums = prepared.over(drawn) if prepared is not None else None
    if sums is None:
        return None
    totals = np.array([row[0].value for row in sums])
    return np.where(np.isfinite(totals), shares(totals, drawn.n * width), np.nan)


def r2(
    state: Rows, drawn: Multiplicities, *, multioutput: str = "uniform_average", policy: str = "strict"
) -> Floats | None:
    """Coefficient of determination of a vector."""
    return _of_moments(state, drawn, r2_from_moments)


def explained_variance(
    state: Rows, drawn: Multiplicities, *, multioutput: str = "uniform_average", policy: str = "strict"
) -> Floats | None:
    """Explained variance of a vector."""
    return _of_moments(state, drawn, explained_variance_of)


def _of_moments(state: Rows, drawn: Multiplicities, value: Callable[[Moments], float | None]) -> Floats | None:
    found = moments(state, drawn)
    if found is None:
        return None
    undefined = (drawn.n < 2) | is_flat(state, "truth", drawn)
    values = [None if skip else value(m) for m, skip in zip(found, undefined.tolist(), strict=True)]
    return np.array([math.nan if v is None else v for v in values])


def rm2(state: Rows, drawn: Multiplicities, *, form: str = "roy") -> Floats | None:
    """Modified r²."""
    found = moments(state, drawn)
    if found is None:
        return None
    values = []
    for m, skip in zip(found, impossible(state, drawn).tolist(), strict=True):
        r = None if skip else pearson_from_moments(m)
        values.append(math.nan if r is None else rm2_of(m, r, form)[0])
    return np.array(values)
