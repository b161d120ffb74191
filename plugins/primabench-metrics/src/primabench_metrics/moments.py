"""Exact moments of each column of two matrices, in one pass over the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from primabench_core.state.column_sums import ColumnSums
from primabench_core.state.exact import ExactSum, Moments, exact_moments


def column_moments(x: NDArray[np.floating], y: NDArray[np.floating]) -> list[Moments]:
    """Exact sums Σx, Σy, Σx², Σy², Σxy of each column.

    Args:
        x: (n,) or (n, m) float32 or float64.
        y: Likewise.

    Returns:
        m values; a vector is one column.
    """
    if x.ndim == 1:
        return [exact_moments(x, y)]
    width = x.shape[1]
    sums = [ColumnSums(width).add(x), ColumnSums(width).add(y)]
    sums += [ColumnSums(width).add_product(a, b) for a, b in ((x, x), (y, y), (x, y))]
    columns = ([ExactSum.scaled(total, s.low) for total in s.integers()] for s in sums)
    return [Moments(len(x), *parts) for parts in zip(*columns, strict=True)]


def ratio(top: ExactSum, bottom: ExactSum) -> float:
    """top/bottom of exact numbers, rounded once; the bottom is positive."""
    shift = top.exponent - bottom.exponent
    number = ExactSum(top.numerator, 0) if shift < 0 else ExactSum(top.numerator << shift, 0)
    return number.over(bottom.numerator << max(0, -shift))
