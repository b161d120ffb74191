"""Mid-ranks as integers: twice the average rank of tied numbers, less its mean, so that no rounding enters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from primabench_metrics.runs import Ints, as_float32, ordered_bits

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_SLAB = 1 << 17
"""Numbers ranked at once: the temporaries stay in cache, and short columns share the price of a call."""
_MANY_TIES = 8
"""Where more than one in so many numbers equals its successor, runs are cheaper than single places."""


def centred_ranks(x: NDArray[np.floating]) -> Ints:
    """2·(mid-rank) − (n+1) of each number; the values sum to 0.

    Args:
        x: (n,) float32 or float64, finite.

    Returns:
        (n,) int64 between −(n−1) and n−1.

    Example:
        >>> centred_ranks(np.array([5.0, 1.0, 5.0])).tolist()
        [1, -2, 1]
    """
    order, ties = tied_order(x[None])
    ranks = np.empty(len(x), np.int64)
    ranks[order] = _ascending(ties)
    return ranks


def rank_moments(x: NDArray[np.floating], y: NDArray[np.floating]) -> list[tuple[int, int, int]]:
    """Exact Σab, Σa², Σb² of the centred ranks a and b of each column.

    Args:
        x: (n, m) float32 or float64, finite.
        y: Likewise.

    Returns:
        m triples of integers.
    """
    n, m = x.shape
    found: list[tuple[int, int, int]] = []
    step = max(1, _SLAB // max(1, n))
    for first in range(0, m, step):
        left, right = (np.ascontiguousarray(side[:, first : first + step].T) for side in (x, y))
        (x_order, x_ties), (y_order, y_ties) = tied_order(left), tied_order(right)
        a, other = _ascending(x_ties), _ascending(y_ties)
        b = np.empty(left.size, np.int64)
        b[y_order.ravel()] = other.ravel()
        sums = [_product_sums(p, q) for p, q in ((a, b.take(x_order)), (a, a), (other, other))]
        found += zip(*sums, strict=True)
    return found


def tied_order(x: NDArray[np.floating]) -> tuple[Ints, NDArray[np.bool_]]:
    """How the numbers of each row of (m, n) ascend.

    Numbers that fit float32 are sorted as 64-bit keys (value bits, place), which numpy does with vector instructions;
    among equal numbers the order of places has no meaning.

    Returns:
        (m, n) places in the flat array, and (m, n − 1) whether each number of that order equals its successor.
    """
    m, n = x.shape
    narrow = as_float32(x) if n < 1 << 32 else None
    if narrow is None:
        order = np.argsort(x, axis=1)
        values = np.take_along_axis(x, order, axis=1)
        ties = values[:, 1:] == values[:, :-1]
    else:
        keys = ordered_bits(narrow).astype(np.uint64)
        keys <<= _HALF
        keys |= np.arange(n, dtype=np.uint64)
        keys.sort(axis=1)
        ties = (keys[:, 1:] ^ keys[:, :-1]) <= _LOW
        keys &= _LOW
        order = keys.view(np.int64)
    if m > 1:
        order += np.arange(0, m * n, n)[:, None]
    return order, ties


def _ascending(ties: NDArray[np.bool_]) -> Ints:
    """(m, n) centred ranks of ascending numbers, from whether each of (m, n − 1) equals its successor."""
    m, n = ties.shape[0], ties.shape[1] + 1
    flat = np.flatnonzero(ties)
    if len(flat) * _MANY_TIES > m * n:
        return _ascending_runs(ties)
    ranks = np.empty((m, n), np.int64)
    ranks[:] = np.arange(1 - n, n, 2)
    if not len(flat):
        return ranks
    row, place = np.divmod(flat, n - 1)
    flat += row
    is_first = np.append(True, flat[1:] != flat[:-1] + 1)
    starts, pairs = flat[is_first], np.diff(np.append(np.flatnonzero(is_first), len(flat)))
    middle = 2 * place[is_first] + pairs + 1 - n  # start + end − n, the end being start + pairs + 1
    sizes = pairs + 1
    at = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
    ranks.reshape(-1)[at] = np.repeat(middle, sizes)
    return ranks


def _ascending_runs(ties: NDArray[np.bool_]) -> Ints:
    """The same where most numbers are tied: few runs, each written at once."""
    m, n = ties.shape[0], ties.shape[1] + 1
    is_last = np.ones((m, n), np.bool_)
    np.logical_not(ties, out=is_last[:, :-1])
    ends = np.flatnonzero(is_last)
    sizes = np.diff(ends, prepend=-1)
    middle = 2 * (ends % n) - sizes + 2 - n
    return np.repeat(middle, sizes).reshape(m, n)


def _product_sums(a: Ints, b: Ints) -> list[int]:
    """Exact Σ a·b of each row of (m, n) centred ranks, whatever their number."""
    m, n = a.shape
    step = max(1, (1 << 62) // max(1, n * n))  # so many products fit 64 bits
    totals = [0] * m
    for start in range(0, n, step):
        part: list[int] = np.einsum("ij,ij->i", a[:, start : start + step], b[:, start : start + step]).tolist()
        totals = [total + more for total, more in zip(totals, part, strict=True)]
    return totals
