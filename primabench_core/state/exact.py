"""Sums of the exact real values, rounded once: no order, no sharding and no dtype of the buffer changes a bit."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.state.column_sums import ColumnSums
from primabench_core.state.partial_sums import Partial, run_columns, run_products, sum_columns, sum_products, takes_runs
from primabench_core.state.windows import (
    UNIT_BITS,
    Floats,
    Folder,
    RowSummer,
    integer_sum,
    product_and_error,
    round_ratio,
    unsafe,
)

_BLOCK = 32_768
_FEW = 1_024
_LINE = 2_048
"""Length of the lines into which a long vector is folded."""


@frozen
class ExactSum:
    """An exact real number numerator·2^exponent, mergeable by addition.

    Always in lowest terms (an odd numerator, or 0·2^0), so equal values are equal.

    Example:
        >>> import numpy as np
        >>> ExactSum().add(np.array([1e16, 1.0])).merge(ExactSum.of(np.array([-1e16]))).value
        1.0
    """

    numerator: int = 0
    exponent: int = 0

    @classmethod
    def scaled(cls, numerator: int, exponent: int) -> ExactSum:
        """numerator·2^exponent in lowest terms."""
        if numerator == 0:
            return cls()
        zeros = (numerator & -numerator).bit_length() - 1
        return cls(numerator >> zeros, exponent + zeros)

    @classmethod
    def of(cls, values: NDArray[Any]) -> ExactSum:
        """Exact sum of an array of any shape: float32, float64, integers or booleans.

        Raises:
            ValueError: A value is not finite.
        """
        return cls.scaled(_integer_sum(np.asarray(values).reshape(-1)), -UNIT_BITS)

    @property
    def value(self) -> float:
        """The nearest float64; infinite beyond the largest one."""
        return self.over(1)

    def over(self, divisor: int) -> float:
        """The nearest float64 to this number divided by a positive integer: a mean rounded once."""
        if self.exponent < 0:
            return round_ratio(self.numerator, divisor << -self.exponent)
        return round_ratio(self.numerator << self.exponent, divisor)

    def add(self, values: NDArray[Any]) -> ExactSum:
        """This number plus the sum of an array; see :meth:`of`."""
        return self + ExactSum.of(values)

    def merge(self, other: ExactSum) -> ExactSum:
        """Both numbers together; ``ExactSum()`` is the identity."""
        return self + other

    def __add__(self, other: ExactSum) -> ExactSum:
        low = min(self.exponent, other.exponent)
        total = (self.numerator << (self.exponent - low)) + (other.numerator << (other.exponent - low))
        return ExactSum.scaled(total, low)

    def __sub__(self, other: ExactSum) -> ExactSum:
        return self + ExactSum(-other.numerator, other.exponent)

    def __mul__(self, other: ExactSum | int) -> ExactSum:
        if isinstance(other, int):
            return ExactSum.scaled(self.numerator * other, self.exponent)
        return ExactSum(self.numerator * other.numerator, self.exponent + other.exponent)


def exact_sum(values: NDArray[Any]) -> float:
    """Sum of all numbers of an array, correctly rounded to float64.

    Args:
        values: Any shape; float32, float64, integers or booleans.

    Returns:
        The float64 nearest to the exact sum (0.0 of nothing; infinite beyond the largest float64).

    Raises:
        ValueError: A value is not finite.

    Example:
        >>> exact_sum(np.array([1e100, 1.0, -1e100]))
        1.0
    """
    array = np.asarray(values)
    if array.size <= _FEW and array.dtype.kind == "f":
        return _sum_of_few(array.reshape(-1))
    return ExactSum.of(array).value


def _integer_sum(values: NDArray[Any]) -> int:
    """:func:`~primabench_core.state.windows.integer_sum`, in runs where the vector is long."""
    if len(values) < 16 * _LINE or values.dtype.kind != "f" or not takes_runs(values):
        return integer_sum(values)
    folder, whole = Folder(), len(values) // _LINE * _LINE
    for block, rows, cuts in run_columns(values[:whole].reshape(-1, _LINE)):
        partial, _ = sum_columns(block, rows, cuts)
        _fold(folder, partial)
        at, columns = partial.odd_numbers(rows, cuts)
        folder.add(block[at, columns])
    return folder.add(values[whole:]).total


def _fold(folder: Folder, partial: Partial) -> None:
    for part in partial.parts:
        folder.add(part.reshape(-1))


def exact_mean(values: NDArray[Any]) -> float:
    """Mean of all numbers of an array, correctly rounded; ValueError for no numbers or a value that is not finite."""
    array = np.asarray(values)
    if not array.size:
        raise ValueError("the mean of no numbers does not exist")
    return ExactSum.of(array).over(array.size)


def exact_dot(x: NDArray[Any], y: NDArray[Any]) -> float:
    """Σ x·y of two (n,) arrays, exact and rounded once; for weighted sums one of them holds the weights."""
    return ExactSum.scaled(*_exact_products(np.asarray(x), np.asarray(y))).value


def exact_row_sums(matrix: NDArray[Any]) -> Floats:
    """Sum of each row, correctly rounded.

    Args:
        matrix: (n, w) float32, float64, integers or booleans.

    Returns:
        (n,) float64.

    Raises:
        ValueError: A value is not finite.
    """
    n, width = matrix.shape
    if width == 0:
        return np.zeros(n)
    if matrix.dtype.kind in "iu" and matrix.dtype.itemsize > 4:  # may have more bits than float64
        return np.array([exact_sum(row) for row in matrix], np.float64)
    result = np.empty(n)
    rows = max(1, _BLOCK // width)
    summer = RowSummer(min(rows, n), width)
    for start in range(0, n, rows):
        part = matrix[start : start + rows]
        with np.errstate(invalid="ignore", over="ignore"):  # such rows are done again
            sums, odd = summer.sums(part)
        for row in np.flatnonzero(odd).tolist():
            sums[row] = _sum_of_few(part[row])
        result[start : start + rows] = sums
    return result


def _sum_of_few(values: NDArray[Any]) -> float:
    try:
        total = math.fsum(values.tolist()) + 0.0  # as correctly rounded, and without the start of the windows
    except (OverflowError, ValueError):  # a partial sum was too large, or infinities met
        total = math.inf
    return total if math.isfinite(total) else ExactSum.of(values).value


def exact_column_sums(matrix: NDArray[Any]) -> Floats:
    """Sum of each column, correctly rounded.

    Args:
        matrix: (n, m) float32, float64, integers or booleans.

    Returns:
        (m,) float64.

    Raises:
        ValueError: A value is not finite.
    """
    return ColumnSums(matrix.shape[1]).add(matrix).values()


@frozen
class Moments:
    """Exact sums of pairs of numbers, mergeable by addition."""

    n: int = 0
    """Pairs."""
    x: ExactSum = ExactSum()
    y: ExactSum = ExactSum()
    xx: ExactSum = ExactSum()
    yy: ExactSum = ExactSum()
    xy: ExactSum = ExactSum()

    def merge(self, other: Moments) -> Moments:
        """Both sets of pairs together."""
        return Moments(
            self.n + other.n,
            self.x + other.x,
            self.y + other.y,
            self.xx + other.xx,
            self.yy + other.yy,
            self.xy + other.xy,
        )

    @property
    def spread_x(self) -> ExactSum:
        """n·Σx² − (Σx)², which is n² times the variance."""
        return self.xx * self.n - self.x * self.x

    @property
    def spread_y(self) -> ExactSum:
        """n·Σy² − (Σy)²."""
        return self.yy * self.n - self.y * self.y

    @property
    def joint(self) -> ExactSum:
        """n·Σxy − Σx·Σy."""
        return self.xy * self.n - self.x * self.y

    @property
    def squared_error(self) -> ExactSum:
        """Σ(x − y)²."""
        return self.xx - self.xy * 2 + self.yy


def exact_moments(x: NDArray[Any], y: NDArray[Any]) -> Moments:
    """Exact Σx, Σy, Σx², Σy², Σxy of the stored numbers.

    Args:
        x: (n,) float32, float64 or integers below 2^53.
        y: Likewise.

    Raises:
        ValueError: A value is not finite, or the lengths differ.
    """
    x, y = np.asarray(x), np.asarray(y)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"moments need two vectors of one length, got shapes {x.shape} and {y.shape}")
    if len(x) <= _FEW:
        return _moments_of_few(x, y)
    squares = [ExactSum.scaled(*_exact_products(a, b)) for a, b in ((x, x), (y, y), (x, y))]
    return Moments(len(x), ExactSum.of(x), ExactSum.of(y), *squares)


def _moments_of_few(x: NDArray[Any], y: NDArray[Any]) -> Moments:
    (a, i), (b, j) = _aligned(x), _aligned(y)
    sums = [(sum(a), i), (sum(b), j), (_dot(a, a), 2 * i), (_dot(b, b), 2 * j), (_dot(a, b), i + j)]
    return Moments(len(a), *(ExactSum.scaled(total, exponent) for total, exponent in sums))


def _dot(a: list[int], b: list[int]) -> int:
    return sum(map(operator.mul, a, b))


def _aligned(values: NDArray[Any]) -> tuple[list[int], int]:
    """Numbers as integers times one power of two; for a few numbers faster than windows."""
    if values.dtype.kind in "biu":
        return [int(v) for v in values.tolist()], 0
    if not np.isfinite(values).all():
        raise ValueError("exact moments need finite numbers, found NaN or infinity")
    mantissa, exponent = np.frexp(values.astype(np.float64))
    low = int(exponent.min(initial=1024))
    units = np.ldexp(mantissa, 53).astype(np.int64).tolist()
    return [unit << shift for unit, shift in zip(units, (exponent - low).tolist(), strict=True)], low - 53


def pearson_from_moments(moments: Moments) -> float | None:
    """Pearson's r = (n·Σxy − Σx·Σy)/√((n·Σx² − (Σx)²)·(n·Σy² − (Σy)²)).

    The three differences are exact and rounded to float64 once each, then the formula is float64. They are scaled by
    powers of two before, which changes no bit of r and keeps the product in range.

    Returns:
        r in [-1, 1], or None if a side does not vary.
    """
    x, y = moments.spread_x, moments.spread_y
    if x.numerator <= 0 or y.numerator <= 0:
        return None
    half_x, half_y = _half_size(x), _half_size(y)
    joint = _shifted(moments.joint, -half_x - half_y)
    r = joint / float(np.sqrt(_shifted(x, -2 * half_x) * _shifted(y, -2 * half_y)))
    return min(1.0, max(-1.0, r))


def r2_from_moments(moments: Moments) -> float | None:
    """Coefficient of determination 1 − Σ(x − y)²/Σ(y − ȳ)² of predictions x, the ratio exact and rounded once.

    Returns:
        r² in (-∞, 1], or None if the truth y does not vary.
    """
    total, wrong = moments.spread_y, moments.squared_error * moments.n
    if total.numerator <= 0:
        return None
    low = min(total.exponent, wrong.exponent)
    return 1.0 - round_ratio(wrong.numerator << (wrong.exponent - low), total.numerator << (total.exponent - low))


def _half_size(number: ExactSum) -> int:
    return (number.numerator.bit_length() + number.exponent) // 2


def _shifted(number: ExactSum, bits: int) -> float:
    return ExactSum(number.numerator, number.exponent + bits).value


def _exact_products(x: NDArray[Any], y: NDArray[Any]) -> tuple[int, int]:
    """Exact Σx·y as numerator and exponent."""
    if x.shape != y.shape:
        raise ValueError(f"products need arrays of one shape, got {x.shape} and {y.shape}")
    narrow = x.dtype.itemsize <= 4 and y.dtype.itemsize <= 4  # then products of 24 bits (32 of integers) fit float64
    narrow = narrow and (x.dtype.kind == "f" and y.dtype.kind == "f")
    folder, odd, done = Folder(), None, 0
    if narrow and len(x) >= 16 * _LINE and takes_runs(x, y) and x.dtype == y.dtype:
        done = len(x) // _LINE * _LINE
        for a, b, rows, cuts in run_products(x[:done].reshape(-1, _LINE), y[:done].reshape(-1, _LINE)):
            partial = sum_products(a, b, rows, cuts)
            _fold(folder, partial)
            at = partial.odd_numbers(rows, cuts)
            folder.add(np.multiply(a[at], b[at], dtype=np.float64))
    for start in range(done, len(x), _BLOCK):
        a, b = (_as_float64(side[start : start + _BLOCK]) for side in (x, y))
        if narrow:
            folder.add_block(a * b)
            continue
        if not (np.isfinite(a).all() and np.isfinite(b).all()):
            raise ValueError("exact products need finite numbers, found NaN or infinity")
        apart = unsafe(a) | unsafe(b)
        if apart.any():
            odd = odd or ColumnSums(1)
            odd.add_products(a[apart], b[apart], np.zeros(int(apart.sum()), np.intp))
            a, b = a[~apart], b[~apart]
        product, error = product_and_error(a, b)
        folder.add_block(product)
        if error.any():
            folder.add_block(error)
    total = ExactSum.scaled(folder.settle().total, -UNIT_BITS)
    if odd is not None:
        total += ExactSum.scaled(odd.integers()[0], odd.low)
    return total.numerator, total.exponent


def _as_float64(values: NDArray[Any]) -> Floats:
    wide = values.astype(np.float64)
    if values.dtype.kind in "iu" and values.dtype.itemsize > 4 and np.abs(wide).max(initial=0.0) > 2.0**53:
        raise ValueError("integers above 2^53 have no exact float64")
    return wide
