"""Ratios and means of integers, rounded once, for many resamples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from primabench_core.state.exact import exact_row_sums

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_EXACT = 1 << 53


def quotients(top: Ints, bottom: Ints) -> Floats:
    """top/bottom as Python divides integers, NaN where the bottom is 0.

    Example:
        >>> quotients(np.array([1, 2]), np.array([3, 0])).tolist()
        [0.3333333333333333, nan]
    """
    found = np.full(top.shape, np.nan)
    if max(_size(top), _size(bottom)) <= _EXACT:
        np.divide(top, bottom, out=found, where=bottom != 0)
        return found
    pairs = zip(top.reshape(-1).tolist(), bottom.reshape(-1).tolist(), strict=True)
    found.reshape(-1)[:] = [a / b if b else np.nan for a, b in pairs]
    return found


def _size(x: Ints) -> int:
    return max(int(x.max(initial=0)), -int(x.min(initial=0)))


def shares(sums: Floats, count: Ints) -> Floats:
    """Each sum over its count, NaN where the count is 0."""
    found = np.full(sums.shape, np.nan)
    np.divide(sums, count, out=found, where=count > 0)
    return found


def means(parts: Floats, used: NDArray[np.bool_]) -> Floats:
    """Mean of the used numbers of each row of (d, k), from a correctly rounded sum; NaN where none is used."""
    return shares(exact_row_sums(np.where(used, parts, 0.0)), used.sum(axis=1))
