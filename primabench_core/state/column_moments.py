"""Exact moments of pairs of columns, for metrics that correlate feature by feature over wide fields."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.state.column_sums import ColumnSums
from primabench_core.state.exact import ExactSum, Moments, pearson_from_moments
from primabench_core.state.partial_sums import Range, run_products, sum_moments
from primabench_core.state.torch_sums import add_tensor_moments, is_tensor
from primabench_core.state.windows import Floats

_FEW = 16
"""Fewer rows are not worth a pass in runs."""
_NAMES = ("x", "y", "xx", "yy", "xy")


class ColumnMoments:
    """Exact Σx, Σy, Σx², Σy², Σxy of m pairs of columns, and their ranges; mergeable by addition, no row is kept.

    Args:
        m: Columns of each side.

    Example:
        >>> import numpy as np
        >>> x = np.array([[1.0, 5.0], [2.0, 4.0], [4.0, 3.0]])
        >>> ColumnMoments(2).add(x, x + 1e8).pearson().tolist()
        [1.0, 1.0]
    """

    __slots__ = ("m", "n", "ranges", "sums")

    def __init__(self, m: int) -> None:
        self.m, self.n = m, 0
        self.ranges: Floats = np.repeat([[np.inf], [-np.inf]] * 2, m, axis=1)
        """(4, m): smallest and largest x, smallest and largest y; infinite without rows. They tell constant columns."""
        self.sums = {name: ColumnSums(m) for name in _NAMES}

    def add(self, x: NDArray[Any], y: NDArray[Any]) -> ColumnMoments:
        """Add (n, m) rows of both sides, float32 or float64; returns itself.

        Two tensors of torch are added on their device, to the same bits.

        Raises:
            ValueError: The shapes differ, or a value is not finite (the sums are then spoilt).
        """
        if x.shape != y.shape or x.ndim != 2 or x.shape[1] != self.m:
            raise ValueError(f"expected two matrices of {self.m} columns, got shapes {x.shape} and {y.shape}")
        if is_tensor(x):
            if len(x):
                low_x, high_x, low_y, high_y = add_tensor_moments(self, x, y)
                self._widen(Range(low_x, high_x), Range(low_y, high_y))
        elif len(x) >= _FEW and x.dtype == y.dtype == np.float32:
            for a, b, rows, cuts in run_products(x, y):
                parts, *ranges = sum_moments(a, b, rows, cuts)
                for name, part in zip(_NAMES[:2], parts[:2], strict=True):
                    self.sums[name].take_runs(part, a if name == "x" else b, rows, cuts)
                for (name, left, right), part in zip(_products(a, b), parts[2:], strict=True):
                    self.sums[name].take_product_runs(part, left, right, rows, cuts)
                self._widen(*ranges)
        elif len(x):
            self.sums["x"].add(x)
            self.sums["y"].add(y)
            for name, left, right in _products(x, y):
                self.sums[name].add_product(left, right)
            self._widen(*(Range(side.min(axis=0), side.max(axis=0)) for side in (x, y)))
        self.n += len(x)
        return self

    def _widen(self, x: Range, y: Range) -> None:
        for i, side in ((0, x), (2, y)):
            np.minimum(self.ranges[i], side.low, out=self.ranges[i])
            np.maximum(self.ranges[i + 1], side.high, out=self.ranges[i + 1])

    def merge(self, other: ColumnMoments) -> ColumnMoments:
        """Both sets of rows together; neither operand changes."""
        result = ColumnMoments(self.m)
        result.n = self.n + other.n
        result.sums = {name: self.sums[name].merge(other.sums[name]) for name in _NAMES}
        result.ranges = self.ranges.copy()
        low_x, high_x, low_y, high_y = other.ranges
        result._widen(Range(low_x, high_x), Range(low_y, high_y))
        return result

    def moments(self) -> list[Moments]:
        """The moments of each pair of columns."""
        columns = []
        for name in _NAMES:
            sums = self.sums[name]
            columns.append([ExactSum.scaled(value, sums.low) for value in sums.integers()])
        return [Moments(self.n, *values) for values in zip(*columns, strict=True)]

    def pooled(self) -> Moments:
        """The moments of all pairs of all columns together."""
        totals = [ExactSum.scaled(sum(self.sums[name].integers()), self.sums[name].low) for name in _NAMES]
        return Moments(self.n * self.m, *totals)

    def pearson(self) -> NDArray[np.float64]:
        """(m,) Pearson's r of each pair, NaN where a side does not vary; the same bits as one vector at a time."""
        values = [pearson_from_moments(moments) for moments in self.moments()]
        return np.array([np.nan if r is None else r for r in values], np.float64)

    def to_buffers(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Plain parts: equal sums give equal parts."""
        meta: dict[str, Any] = {"m": self.m, "n": self.n}
        arrays: dict[str, NDArray[Any]] = {"ranges": self.ranges}
        for name, sums in self.sums.items():
            part, limbs = sums.to_buffers()
            meta[name], arrays[name] = part["low"], limbs["limbs"]
        return meta, arrays

    @classmethod
    def from_buffers(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> ColumnMoments:
        """The state that :meth:`to_buffers` took apart."""
        result = cls(meta["m"])
        result.n = meta["n"]
        result.ranges = arrays["ranges"].copy()
        for name in _NAMES:
            part = {"m": meta["m"], "low": meta[name]}
            result.sums[name] = ColumnSums.from_buffers(part, {"limbs": arrays[name]})
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return ColumnMoments.from_buffers, self.to_buffers()


def _products(x: NDArray[Any], y: NDArray[Any]) -> tuple[tuple[str, NDArray[Any], NDArray[Any]], ...]:
    return (("xx", x, x), ("yy", y, y), ("xy", x, y))
