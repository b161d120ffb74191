"""The loops of :mod:`primabench_core.state.kernels` in numpy: the same arguments, the same bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Reals = NDArray[Any]

_TILE = 131_072
"""Numbers handled at once: they stay in cache between passes."""


def sum_singles(x: Reals, rows: Ints, cuts: Ints, most: Reals, least: Reals, total: Floats) -> None:
    """Sums of columns of float32 over runs of rows, with sizes of the numbers."""
    buffer = np.empty(0, x.dtype)
    for k, at, (block,) in _blocks(rows, cuts, x):
        np.add.reduce(block, axis=0, dtype=np.float64, out=total[k, at])
        if buffer.size < block.size:
            buffer = np.empty(block.size, x.dtype)
        size = np.abs(block, out=buffer[: block.size].reshape(block.shape))
        np.maximum.reduce(size, axis=0, out=most[k, at])
        least[k, at] = _smallest(size)


def sum_doubles(
    x: Reals, rows: Ints, cuts: Ints, bits: int, low: Reals, high: Reals, least: Reals, coarse: Floats, fine: Floats
) -> None:
    """As :func:`sum_singles` of float64, each sum in two parts."""
    for k, at, (block,) in _blocks(rows, cuts, x):
        _measure(block, low[k, at], high[k, at], least[k, at])
        one = np.ones(block.shape[1])
        shift = _shifts(low[k, at], high[k, at], one, one, bits)
        _split(block.copy(), shift, coarse[k, at], fine[k, at])


def sum_moments(x: Reals, y: Reals, rows: Ints, cuts: Ints, bits: int, ranges: Reals, sums: Floats) -> None:
    """Sums of columns of runs of rows of float32 pairs."""
    for k, at, (a, b) in _blocks(rows, cuts, x, y):
        sizes = ranges[:, k, at]
        for i, block in enumerate((a, b)):
            np.add.reduce(block, axis=0, dtype=np.float64, out=sums[i, k, at])
            _measure(block, *sizes[3 * i : 3 * i + 3])
        for i, (left, right, u, v) in enumerate(((a, a, 0, 0), (b, b, 3, 3), (a, b, 0, 3))):
            shift = _shifts(sizes[u], sizes[u + 1], sizes[v], sizes[v + 1], bits)
            product = np.multiply(left, right, dtype=np.float64)
            _split(product, shift, sums[2 + 2 * i, k, at], sums[3 + 2 * i, k, at])


def sum_products(x: Reals, y: Reals, rows: Ints, cuts: Ints, bits: int, ranges: Reals, sums: Floats) -> None:
    """Sums of products of float32 pairs."""
    for k, at, (a, b) in _blocks(rows, cuts, x, y):
        sizes = ranges[:, k, at]
        _measure(a, *sizes[:3])
        _measure(b, *sizes[3:])
        shift = _shifts(sizes[0], sizes[1], sizes[3], sizes[4], bits)
        _split(np.multiply(a, b, dtype=np.float64), shift, sums[0, k, at], sums[1, k, at])


def _blocks(rows: Ints, cuts: Ints, *sides: Reals) -> Iterator[tuple[int, slice, tuple[Reals, ...]]]:
    """Run, columns and their numbers on each side."""
    m = sides[0].shape[1]
    for k in range(len(cuts) - 1):
        chosen = rows[cuts[k] : cuts[k + 1]]
        if not len(chosen):
            continue
        where: Any = chosen
        if int(chosen[-1] - chosen[0]) == len(chosen) - 1 and bool((np.diff(chosen) == 1).all()):
            where = slice(int(chosen[0]), int(chosen[-1]) + 1)
        width = max(64, _TILE // len(chosen))
        for start in range(0, m, width):
            at = slice(start, min(start + width, m))
            yield k, at, tuple(side[where, at] for side in sides)


def _measure(block: Reals, low: Reals, high: Reals, least: Reals) -> None:
    np.minimum.reduce(block, axis=0, out=low)
    np.maximum.reduce(block, axis=0, out=high)
    least[:] = _smallest(np.abs(block))


def _smallest(size: Reals) -> Reals:
    """Smallest number but zero of each column, infinite without one; changes its argument."""
    found: Reals = np.minimum.reduce(size, axis=0)
    if not found.all():
        size[size == 0] = np.inf
        found = np.minimum.reduce(size, axis=0)
    return found


def _shifts(low_x: Reals, high_x: Reals, low_y: Reals, high_y: Reals, bits: int) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        top = np.maximum(-low_x, high_x).astype(np.float64) * np.maximum(-low_y, high_y).astype(np.float64)
        exponent = np.frexp(top)[1] + 1
    usable = (top > 0) & (top < np.inf) & (np.abs(exponent) < 900)
    return np.where(usable, np.ldexp(1.5, np.where(usable, exponent, 0) + bits - 1), 0.0)


def _split(block: Floats, shift: Floats, coarse: Floats, fine: Floats) -> None:
    """Sums of what windows keep, and of what they leave over; changes the block."""
    with np.errstate(over="ignore", invalid="ignore"):
        even = block + shift
        even -= shift
        np.add.reduce(even, axis=0, out=coarse)
        block -= even
        np.add.reduce(block, axis=0, out=fine)
