"""Mid-ranks as integers: twice the average rank of tied numbers, less its mean, so that no rounding enters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from primabench_metrics.runs import Ints, as_float32, ordered_bits

_INDEX_BITS = np.uint64(32)


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
    order, starts = tied_order(x)
    ranks = np.empty(len(x), np.int64)
    ranks[order] = _ascending(starts, len(x))
    return ranks


def rank_moments(x: NDArray[np.floating], y: NDArray[np.floating]) -> tuple[int, int, int]:
    """Exact Σab, Σa², Σb² of the centred ranks a of x and b of y, each (n,)."""
    (x_order, x_starts), (y_order, y_starts) = tied_order(x), tied_order(y)
    n = len(x)
    b = np.empty(n, np.int64)
    b[y_order] = _ascending(y_starts, n)
    joint = _product_sum(_ascending(x_starts, n), b[x_order])
    return joint, _spread(x_starts, n), _spread(y_starts, n)


def _ascending(starts: Ints, n: int) -> Ints:
    """Centred ranks of n rows in ascending order, whose runs of equal values start at ``starts``."""
    if len(starts) == n:
        return np.arange(1 - n, n, 2)
    ends = np.append(starts[1:], n)
    return np.repeat(starts + ends - n, ends - starts)


def _spread(starts: Ints, n: int) -> int:
    """Sum of squared centred ranks: (n³ − n − Σ(t³ − t))/3 over runs of t equal values."""
    if len(starts) == n:
        return (n**3 - n) // 3
    sizes = np.diff(np.append(starts, n))
    tied: list[int] = sizes[sizes > 1].tolist()
    return (n**3 - n - sum(t * t * t - t for t in tied)) // 3


def tied_order(x: NDArray[np.floating]) -> tuple[Ints, Ints]:
    """(n,) row numbers by ascending value, and where each run of equal values starts in that order.

    Numbers that fit float32 are sorted as 64-bit keys (value bits, row number), which numpy does with vector
    instructions; within a run the order of rows has no meaning.
    """
    n = len(x)
    narrow = as_float32(x) if n < 1 << 32 else None
    if narrow is None:
        order = np.argsort(x)
        values: NDArray[np.generic] = x[order]
    else:
        keys = ordered_bits(narrow).astype(np.uint64)
        keys <<= _INDEX_BITS
        keys |= np.arange(n, dtype=np.uint64)
        keys.sort()
        order = keys.astype(np.uint32).astype(np.int64)
        keys >>= _INDEX_BITS
        values = keys
    starts = np.flatnonzero(values[1:] != values[:-1]) + 1
    return order, np.concatenate(([0], starts)) if n else starts


def _product_sum(x: Ints, y: Ints) -> int:
    """Exact Σ x·y of centred ranks, whatever their number."""
    n = max(1, len(x))
    step = max(1, (1 << 62) // (n * n))
    return sum(int((x[i : i + step] * y[i : i + step]).sum()) for i in range(0, len(x), step))
