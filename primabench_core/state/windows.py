"""Exact accumulation of float64 numbers: windows that lose nothing, and what they leave over.

A window of unit ``u`` (a power of two) rounds every number of a block to a multiple of ``u``: ``(v + M) - M`` with
M = 1.5·2^52·u. If the block holds at most 2^b numbers below 2^e and u = 2^(e+b-53), then every partial sum of the
rounded numbers is a multiple of ``u`` below 2^53·u, so float64 adds them without any rounding, in any order. What
remains (``v`` minus its rounded value) is exact too and goes through a finer window. Sums of windows are integers.

The split is that of Rump, Ogita & Oishi (2008), doi:10.1137/050645671; the product that keeps its error is Dekker's
(1971), doi:10.1007/BF01397083.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

UNIT_BITS = 1074
"""Every float64 is a multiple of 2^-1074."""
_LANE_BITS = 8
_LANE = 1 << _LANE_BITS
_BLOCK = 128 * _LANE
"""Numbers handled at once: three such buffers stay in a core's cache."""
_ONES = np.ones(_LANE)
_HUGE, _BIG, _DOWN = 1000, 2.0**500, 600
_SAFE_LOW, _SAFE_HIGH = 2.0**-480, 2.0**480
"""Where products and their errors neither overflow nor fall below the smallest number."""


def integer_sum(values: NDArray[Any]) -> int:
    """Exact sum of (n,) numbers, as an integer multiple of 2^-1074.

    Args:
        values: float32, float64, integers or booleans.

    Raises:
        ValueError: A value is not finite.
    """
    if values.dtype.kind in "biu":
        return _sum_of_integers(values) << UNIT_BITS
    return Folder().add(values).total


def _sum_of_integers(values: NDArray[Any]) -> int:
    if values.dtype.itemsize <= 4:
        return int(values.sum(dtype=np.int64))
    high, low = values >> 32, values & np.array(0xFFFFFFFF, values.dtype)
    return (int(high.sum(dtype=np.int64)) << 32) + int(low.sum(dtype=np.uint64))


class Folder:
    """Running exact sum; keeps its buffers between blocks."""

    __slots__ = ("_even", "_met", "_rest", "_rest_size", "_wide", "total")

    def __init__(self) -> None:
        self.total = 0
        self._rest: list[Floats] = []
        self._rest_size = 0
        self._wide = np.empty(0)

    def add(self, values: NDArray[Any]) -> Folder:
        """Add (n,) reals, and settle what windows left over."""
        for start in range(0, len(values), _BLOCK):
            self.add_block(values[start : start + _BLOCK])
        return self.settle()

    def add_block(self, values: NDArray[Any]) -> None:
        """Add at most 32,768 reals; :meth:`settle` is owed afterwards."""
        n = len(values)
        if n == 0:
            return
        high = max(float(values.max()), -float(values.min()))
        if not high < np.inf:
            raise ValueError("an exact sum needs finite numbers, found NaN or infinity")
        padded = -(-n // _LANE) * _LANE
        if len(self._wide) < padded:
            self._wide, self._even, self._met = np.empty(padded), np.empty(padded), np.empty(padded, bool)
        wide = self._wide[:padded]
        wide[:n], wide[n:] = values, 0.0
        exponent = math.frexp(high)[1]
        if exponent > _HUGE:
            self._add_huge(wide[:n])
        else:
            self._strip(wide, exponent)

    def _strip(self, wide: Floats, exponent: int) -> None:
        """Add a block of numbers up to 2^exponent, window after window while many numbers have more bits."""
        even, met = self._even[: len(wide)], self._met[: len(wide)]
        while True:
            low = max(exponent + _LANE_BITS - 53, -UNIT_BITS)
            shift = math.ldexp(1.5, low + 52)
            np.add(wide, shift, out=even)
            np.subtract(even, shift, out=even)
            lanes = even.reshape(-1, _LANE) @ _ONES  # the fastest way to add, and no order of adding rounds here
            lanes = lanes * math.ldexp(1.0, -low) if low > -1000 else np.ldexp(lanes, -low)
            self.total += int(lanes.astype(np.int64).sum()) << (low + UNIT_BITS)
            count = int(np.count_nonzero(np.not_equal(wide, even, out=met)))
            if count * 8 < len(wide):
                break
            np.subtract(wide, even, out=wide)
            exponent = low
        if count:
            self._rest.append(wide[met] - even[met])
            self._rest_size += count
            if self._rest_size >= 8 * _BLOCK:
                self.settle()

    def _add_huge(self, values: Floats) -> None:
        big = np.abs(values) >= _BIG
        scaled, others = values[big] * 2.0**-_DOWN, values[~big]
        self.total += (integer_sum(scaled) << _DOWN) + integer_sum(others)

    def settle(self) -> Folder:
        """Put what windows left over through finer windows, until nothing is left."""
        while self._rest:
            rest, self._rest, self._rest_size = np.concatenate(self._rest), [], 0
            for start in range(0, len(rest), _BLOCK):
                self.add_block(rest[start : start + _BLOCK])
        return self


def product_and_error(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """x·y rounded, and exactly what rounding took away; both factors zero or in [2^-480, 2^480]."""
    product = x * y
    (x_high, x_low), (y_high, y_low) = _halves(x), _halves(y)
    error = x_high * y_high
    error -= product
    error += x_high * y_low
    error += x_low * y_high
    error += x_low * y_low
    return product, error


def _halves(x: Floats) -> tuple[Floats, Floats]:
    scaled = x * 134217729.0  # 2^27 + 1
    high = scaled - (scaled - x)
    return high, x - high


def unsafe(x: Floats) -> NDArray[np.bool_]:
    """Which numbers are outside the range of :func:`product_and_error`."""
    size = np.abs(x)
    outside: NDArray[np.bool_] = (size > _SAFE_HIGH) | ((size < _SAFE_LOW) & (size > 0))
    return outside


def round_ratio(numerator: int, denominator: int) -> float:
    """The float64 nearest to a ratio of integers, ties to even; infinite beyond the largest number."""
    try:
        return numerator / denominator
    except OverflowError:
        return float("inf") if numerator > 0 else float("-inf")


class RowSummer:
    """Correctly rounded sums of the rows of blocks of at most (rows, width) numbers; keeps its buffers."""

    def __init__(self, rows: int, width: int) -> None:
        self._wide, self._even = np.empty((rows, width)), np.empty((rows, width))
        self._met = np.empty((rows, width), bool)
        self._ones = np.ones(width)
        self._bits = max(2, (width - 1).bit_length())

    def sums(self, block: NDArray[Any]) -> tuple[Floats, NDArray[np.bool_]]:
        """Sum of each row, correctly rounded where two windows are enough.

        Returns:
            (r,) sums, and (r,) for which rows they are not to be trusted.
        """
        wide = self._wide[: len(block)]
        wide[:] = block
        first, odd = self._window(wide)
        if np.count_nonzero(self._differs(wide)):
            rest = wide - self._even[: len(block)]
            touched = np.flatnonzero(self._met[: len(block)].any(axis=1))
            rest = rest[touched]
            second, odd_too = self._window(rest)
            odd[touched] |= odd_too | self._differs(rest).any(axis=1)
            first[touched] += second  # both are exact, so this one addition rounds correctly
        return first, odd

    def _differs(self, block: Floats) -> NDArray[np.bool_]:
        return np.not_equal(block, self._even[: len(block)], out=self._met[: len(block)])

    def _window(self, block: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        top = np.maximum(block.max(axis=1), -block.min(axis=1))
        odd = ~(top < 2.0**900) | ((top < 2.0**-900) & (top > 0))
        exponent = np.frexp(np.where(odd, 1.0, top))[1]
        shift = np.ldexp(1.5, exponent + self._bits - 1)[:, None]  # unit 2^(e + bits - 53), times 2^52
        even = self._even[: len(block)]
        np.add(block, shift, out=even)
        np.subtract(even, shift, out=even)
        return even @ self._ones, odd
