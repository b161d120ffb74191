"""Exact moments of pairs of columns, for metrics that correlate feature by feature over wide fields."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.state.column_sums import ColumnSums
from primabench_core.state.exact import ExactSum, Moments, pearson_from_moments

_NAMES = ("x", "y", "xx", "yy", "xy")


class ColumnMoments:
    """Exact Σx, Σy, Σx², Σy², Σxy of m pairs of columns; mergeable by addition, no row is kept.

    Args:
        m: Columns of each side.

    Example:
        >>> import numpy as np
        >>> x = np.array([[1.0, 5.0], [2.0, 4.0], [4.0, 3.0]])
        >>> ColumnMoments(2).add(x, x + 1e8).pearson().tolist()
        [1.0, 1.0]
    """

    __slots__ = ("m", "n", "sums")

    def __init__(self, m: int) -> None:
        self.m, self.n = m, 0
        self.sums = {name: ColumnSums(m) for name in _NAMES}

    def add(self, x: NDArray[Any], y: NDArray[Any]) -> ColumnMoments:
        """Add (n, m) rows of both sides, float32 or float64; returns itself.

        Raises:
            ValueError: The shapes differ, or a value is not finite (the sums are then spoilt).
        """
        if x.shape != y.shape or x.ndim != 2 or x.shape[1] != self.m:
            raise ValueError(f"expected two matrices of {self.m} columns, got shapes {x.shape} and {y.shape}")
        self.sums["x"].add(x)
        self.sums["y"].add(y)
        for name, left, right in (("xx", x, x), ("yy", y, y), ("xy", x, y)):
            self.sums[name].add_product(left, right)
        self.n += len(x)
        return self

    def merge(self, other: ColumnMoments) -> ColumnMoments:
        """Both sets of rows together; neither operand changes."""
        result = ColumnMoments(self.m)
        result.n = self.n + other.n
        result.sums = {name: self.sums[name].merge(other.sums[name]) for name in _NAMES}
        return result

    def moments(self) -> list[Moments]:
        """The moments of each pair of columns."""
        columns = []
        for name in _NAMES:
            sums = self.sums[name]
            columns.append([ExactSum.scaled(value, sums.low) for value in sums.integers()])
        return [Moments(self.n, *values) for values in zip(*columns, strict=True)]

    def pearson(self) -> NDArray[np.float64]:
        """(m,) Pearson's r of each pair, NaN where a side does not vary; the same bits as one vector at a time."""
        values = [pearson_from_moments(moments) for moments in self.moments()]
        return np.array([np.nan if r is None else r for r in values], np.float64)

    def to_buffers(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Plain parts: equal sums give equal parts."""
        meta: dict[str, Any] = {"m": self.m, "n": self.n}
        arrays: dict[str, NDArray[Any]] = {}
        for name, sums in self.sums.items():
            part, limbs = sums.to_buffers()
            meta[name], arrays[name] = part["low"], limbs["limbs"]
        return meta, arrays

    @classmethod
    def from_buffers(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> ColumnMoments:
        """The state that :meth:`to_buffers` took apart."""
        result = cls(meta["m"])
        result.n = meta["n"]
        for name in _NAMES:
            part = {"m": meta["m"], "low": meta[name]}
            result.sums[name] = ColumnSums.from_buffers(part, {"limbs": arrays[name]})
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return ColumnMoments.from_buffers, self.to_buffers()
