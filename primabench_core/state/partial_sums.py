"""Exact sums of columns over short runs of rows: float64 numbers that need no rounding.

Float64 adds up to 256 numbers without rounding if their bits span few enough places, and the largest and the smallest
magnitude of the numbers prove that afterwards. A run is therefore summed plainly, and kept only where the proof holds;
the few others are named, for the caller to add number by number. So 256 rows become one or two, all exact, and what
adds these further may be slow.

Numbers with more bits (float64, products of float32) are split by a window first, see
:mod:`primabench_core.state.windows`; both parts are sums with a proof of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.contract.sparse_rows import SparseRows
from primabench_core.state import runs_numpy
from primabench_core.state.compiled import kernels
from primabench_core.state.windows import Floats

Ints = NDArray[np.int64]

RUN_BITS = 8
RUN = 1 << RUN_BITS
"""Rows of a run."""
_FLOAT_BITS = 53
_SINGLE_BITS, _SINGLE_LOWEST = 24, -149
_BLOCK_ROWS, _BLOCK_BYTES = 16_384, 1 << 25
_RESULT_BYTES = 96
"""Bytes that a run's results take for each column, at most."""
_EDGE = 890
"""Exponents of float64 beyond which numbers go one by one."""


@frozen(eq=False)
class Partial:
    """Exact parts of sums over runs of rows."""

    parts: tuple[Floats, ...]
    """(runs, m) float64 each; together they are the sums, 0 where one is not exact."""
    odd: tuple[Ints, Ints]
    """Runs and columns of the sums that are missing."""

    @property
    def share_missing(self) -> float:
        """Share of sums that are missing."""
        return len(self.odd[0]) / max(1, self.parts[0].size)

    def odd_numbers(self, rows: Ints, cuts: Ints) -> tuple[Ints, Ints]:
        """Row and column of every number of the sums that are missing."""
        runs, columns = self.odd
        lengths = np.diff(cuts)[runs]
        within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return rows[np.repeat(cuts[:-1][runs], lengths) + within], np.repeat(columns, lengths)


@frozen(eq=False)
class Range:
    """Smallest and largest number of each column: (m,) each, infinite where there are no rows."""

    low: NDArray[Any]
    high: NDArray[Any]


def takes_runs(*sides: NDArray[Any]) -> bool:
    """Whether these matrices are of a type that is summed in runs."""
    return all(x.dtype in (np.float32, np.float64) for x in sides)


def _loop(name: str) -> Any:
    """A loop, compiled where numba is there."""
    compiled = kernels()
    return getattr(runs_numpy, name) if compiled is None else getattr(compiled, name)()


def runs_of(lengths: Ints) -> tuple[Ints, Ints]:
    """Cut groups of consecutive rows into runs.

    Args:
        lengths: (g,) rows of each group.

    Returns:
        (runs + 1,) ends of runs, and (runs,) group of each.
    """
    pieces = -(-lengths // RUN)
    group = np.repeat(np.arange(len(lengths)), pieces)
    within = np.arange(len(group)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    starts = (np.cumsum(lengths) - lengths)[group] + within * RUN
    return np.append(starts, lengths.sum()).astype(np.int64), group


def run_columns(x: NDArray[Any]) -> Iterator[tuple[NDArray[Any], Ints, Ints]]:
    """A matrix in blocks of rows in C order, each with its rows and ends of runs, as :func:`sum_columns` takes them."""
    a_row = x.shape[1] * (0 if x.flags.c_contiguous else x.itemsize) + x.shape[1] * _RESULT_BYTES // RUN
    size = max(RUN, min(_BLOCK_ROWS, _BLOCK_BYTES // max(1, a_row) // RUN * RUN))
    for start in range(0, len(x), size):
        block = np.ascontiguousarray(x[start : start + size])
        yield block, np.arange(len(block)), np.append(np.arange(0, len(block), RUN), len(block))


def run_products(x: NDArray[Any], y: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any], Ints, Ints]]:
    """:func:`run_columns` of two matrices at once."""
    for (a, rows, cuts), (b, _, _) in zip(run_columns(x), run_columns(y), strict=True):
        yield a, b, rows, cuts


def sum_columns(x: NDArray[Any], rows: Ints, cuts: Ints) -> tuple[Partial, Range]:
    """Sums of each column over runs of rows.

    Args:
        x: (n, m) float32 or float64, C order.
        rows: Row numbers, in the order of the runs.
        cuts: Ends of the runs in ``rows``, each run at most :data:`RUN` long.

    Raises:
        ValueError: A value is not finite.
    """
    runs, m = len(cuts) - 1, x.shape[1]
    ranges = _no_ranges(1, runs, m, x.dtype)
    sums = np.zeros((1 if x.dtype == np.float32 else 2, runs, m))
    low, high, least = ranges
    if x.dtype == np.float32:
        low[:] = 0
        _loop("sum_singles")(x, rows, cuts, high, least, sums[0])
    else:
        _loop("sum_doubles")(x, rows, cuts, RUN_BITS, low, high, least, *sums)
    top, bottom = _exponents(ranges)
    good = _plain_is_exact(top, bottom) if len(sums) == 1 else _split_is_exact(top + 1, bottom)
    _refuse_infinite(sums, ranges, good)
    return _partial(sums, good), Range(low.min(axis=0), high.max(axis=0))


def sum_sparse(x: SparseRows, rows: Ints, cuts: Ints) -> Partial:
    """As :func:`sum_columns`, of sparse float32 rows, which are finite; needs the compiled loops."""
    runs = len(cuts) - 1
    ranges = _no_ranges(1, runs, x.width, x.dtype)
    ranges[0] = 0
    sums = np.zeros((1, runs, x.width))
    _loop("sum_sparse")(x.data, x.columns, x.ends, rows, cuts, ranges[1], ranges[2], sums[0])
    return _partial(sums, _plain_is_exact(*_exponents(ranges)))


def sum_products(x: NDArray[Any], y: NDArray[Any], rows: Ints, cuts: Ints) -> Partial:
    """Sums of products of two float32 matrices over runs of rows; see :func:`sum_columns`."""
    runs, m = len(cuts) - 1, x.shape[1]
    ranges, sums = _no_ranges(2, runs, m, x.dtype), np.zeros((2, runs, m))
    _loop("sum_products")(x, y, rows, cuts, RUN_BITS, ranges, sums)
    (top_x, low_x), (top_y, low_y) = _exponents(ranges[:3]), _exponents(ranges[3:])
    good = _split_is_exact(top_x + top_y + 1, low_x + low_y)
    _refuse_infinite(sums, ranges, good)
    return _partial(sums, good)


def sum_moments(x: NDArray[Any], y: NDArray[Any], rows: Ints, cuts: Ints) -> tuple[tuple[Partial, ...], Range, Range]:
    """Sums of x, y, xx, yy, xy of two float32 matrices over runs of rows in one pass, and their ranges."""
    runs, m = len(cuts) - 1, x.shape[1]
    ranges, sums = _no_ranges(2, runs, m, x.dtype), np.zeros((8, runs, m))
    _loop("sum_moments")(x, y, rows, cuts, RUN_BITS, ranges, sums)
    (top_x, low_x), (top_y, low_y) = _exponents(ranges[:3]), _exponents(ranges[3:])
    plain = [_plain_is_exact(top_x, low_x), _plain_is_exact(top_y, low_y)]
    split = [
        _split_is_exact(a + b + 1, c + d)
        for a, b, c, d in (
            (top_x, top_x, low_x, low_x),
            (top_y, top_y, low_y, low_y),
            (top_x, top_y, low_x, low_y),
        )
    ]
    for i, good in enumerate(plain):
        _refuse_infinite(sums[i : i + 1], ranges[3 * i : 3 * i + 3], good)
    found = [_partial(sums[i : i + 1], good) for i, good in enumerate(plain)]
    found += [_partial(sums[2 + 2 * i : 4 + 2 * i], good) for i, good in enumerate(split)]
    low_x, high_x, _, low_y, high_y, _ = ranges
    return tuple(found), Range(low_x.min(axis=0), high_x.max(axis=0)), Range(low_y.min(axis=0), high_y.max(axis=0))


def _no_ranges(sides: int, runs: int, m: int, dtype: Any) -> NDArray[Any]:
    ranges = np.empty((3 * sides, runs, m), dtype)
    ranges[0::3], ranges[1::3], ranges[2::3] = np.inf, -np.inf, np.inf
    return ranges


def _exponents(ranges: NDArray[Any]) -> tuple[Ints, Ints]:
    """Of each run and column: e with all numbers below 2^e, and that of the lowest bit that any may have."""
    low, high, least = ranges
    with np.errstate(invalid="ignore"):
        size = np.maximum(-low, high)
        top = np.frexp(size)[1].astype(np.int64)
        bottom = np.frexp(least)[1].astype(np.int64)
    narrow = ranges.dtype == np.float32
    bottom -= _SINGLE_BITS if narrow else _FLOAT_BITS
    np.maximum(bottom, _SINGLE_LOWEST if narrow else -1074, out=bottom)
    nothing = ~np.isfinite(least)  # only zeros: no bit at all
    bottom[nothing] = top[nothing] = 0
    top[~np.isfinite(size)] = 1 << 20  # never exact
    return top, bottom


def _plain_is_exact(top: Ints, bottom: Ints) -> NDArray[np.bool_]:
    """Whether 2^8 numbers below 2^top, multiples of 2^bottom, have partial sums of at most 53 bits."""
    exact: NDArray[np.bool_] = top + RUN_BITS - bottom <= _FLOAT_BITS
    return exact


def _split_is_exact(top: Ints, bottom: Ints) -> NDArray[np.bool_]:
    """Whether the rests of a window of unit 2^(top + 8 - 53) do; the window's own sums always do."""
    exact: NDArray[np.bool_] = (top + RUN_BITS - _FLOAT_BITS) + (RUN_BITS - 1) - bottom <= _FLOAT_BITS
    return exact & (np.abs(top) < _EDGE) & (bottom > -_EDGE)


def _refuse_infinite(sums: Floats, ranges: NDArray[Any], good: NDArray[np.bool_]) -> None:
    """Raise for NaN or infinity; what is not proven is looked at later, number by number."""
    sides = ranges.reshape(-1, 3, *ranges.shape[1:])
    infinite = any(np.isinf(side[0]).any() or np.isinf(side[1]).any() for side in sides if side.shape[1])
    if infinite or not np.isfinite(sums[0][good]).all():
        raise ValueError("exact sums need finite numbers, found NaN or infinity")


def _partial(sums: Floats, good: NDArray[np.bool_]) -> Partial:
    runs, columns = np.nonzero(~good)
    if len(runs):
        sums[:, runs, columns] = 0.0
    return Partial(tuple(sums), (runs, columns))
