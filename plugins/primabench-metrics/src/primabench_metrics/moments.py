"""Exact moments of each column of predicted and true ``value``, in one pass over the rows or from kept sums."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.state.column_moments import ColumnMoments
from primabench_core.state.exact import ExactSum, Moments
from primabench_core.state.rows import Rows
from primabench_core.state.sums import Sums
from primabench_metrics.numbers import is_flat, pair


@frozen(eq=False)
class Columns:
    """Moments of each column, and which sides do not vary."""

    n: int
    """Rows."""
    width: int
    moments: Callable[[], list[Moments]]
    pooled: Callable[[], Moments]
    ranges: NDArray[np.float64]
    """(4, width): smallest and largest prediction, smallest and largest truth."""

    def flat(self, side: int) -> list[bool]:
        """Whether each column of the prediction (0) or the truth (1) is the same number but for rounding."""
        low, high = self.ranges[2 * side : 2 * side + 2].tolist()
        return [is_flat(a, b) for a, b in zip(low, high, strict=True)] if self.n else [True] * self.width

    def all_flat(self, side: int) -> bool:
        """The same of all numbers of a side together."""
        low, high = self.ranges[2 * side : 2 * side + 2]
        return not low.size or not self.n or is_flat(float(low.min()), float(high.max()))


def columns_of(state: Rows | Sums) -> Columns:
    """Moments of two-dimensional ``value``; from rows and from sums of them the same bits."""

    def build() -> Columns:
        if isinstance(state, Sums):
            if state.columns is None:
                raise TypeError("a resample of sums has no moments")
            return Columns(state.n, state.width, lambda: state.moments, lambda: state.pooled, state.columns.ranges)
        predicted, true = pair(state)
        sums = ColumnMoments(predicted.shape[1]).add(predicted, true)
        return Columns(len(predicted), predicted.shape[1], cache(sums.moments), cache(sums.pooled), sums.ranges)

    return state.shared("moments of value", build)


def ratio(top: ExactSum, bottom: ExactSum) -> float:
    """top/bottom of exact numbers, rounded once; the bottom is positive."""
    shift = top.exponent - bottom.exponent
    number = ExactSum(top.numerator, 0) if shift < 0 else ExactSum(top.numerator << shift, 0)
    return number.over(bottom.numerator << max(0, -shift))
