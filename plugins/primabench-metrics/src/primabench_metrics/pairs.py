"""How pairs of rows are ordered on two sides, counted exactly in O(n log n)."""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_metrics.ranks import tied_order
from primabench_metrics.runs import Ints


@frozen
class PairCounts:
    """Unordered pairs of n rows by how predictions x and truth y order them."""

    concordant: int
    discordant: int
    tied_x: int
    """Tied in x alone."""
    tied_y: int
    """Tied in y alone."""
    tied_both: int


def pair_counts(x: NDArray[np.floating], y: NDArray[np.floating]) -> PairCounts:
    """Count all pairs.

    Rows are put in the order of y, equal y by falling x. A pair (earlier, later) with a smaller x first is then
    concordant, and equal y never count. Such pairs are found bit by bit of the rank of x: where two ranks differ
    first, the smaller has a 0 and the larger a 1, so each level counts zeros before ones inside blocks of rows whose
    higher bits agree.

    Args:
        x: (n,) float32 or float64, finite.
        y: Likewise.

    Example:
        >>> counts = pair_counts(np.array([1.0, 2.0, 2.0]), np.array([1.0, 2.0, 3.0]))
        >>> counts.concordant, counts.tied_x
        (2, 1)
    """
    n = len(x)
    x_rank, x_sizes = _dense(x)
    y_rank, y_sizes = _dense(y)
    order = np.lexsort((-x_rank, y_rank))
    x_sorted, y_sorted = x_rank[order], y_rank[order]
    starts = np.flatnonzero(np.append(True, (np.diff(x_sorted) != 0) | (np.diff(y_sorted) != 0))) if n else order
    both_sizes = np.diff(np.append(starts, n))
    concordant = _ascending_pairs(x_sorted)
    ties_x, ties_y, ties_both = (_pairs_in(sizes) for sizes in (x_sizes, y_sizes, both_sizes))
    rest = n * (n - 1) // 2 - concordant - ties_x - ties_y + ties_both
    return PairCounts(concordant, rest, ties_x - ties_both, ties_y - ties_both, ties_both)


def _dense(x: NDArray[np.floating]) -> tuple[Ints, Ints]:
    """Number of smaller distinct values of each row, and how many rows hold each distinct value."""
    order, ties = tied_order(x[None])
    ranks = np.empty(len(x), np.int64)
    ranks[order[0]] = np.cumsum(np.append(0, ~ties[0])) if len(x) else 0
    return ranks, np.bincount(ranks)


def _pairs_in(sizes: Ints) -> int:
    return sum(k * (k - 1) // 2 for k in sizes[sizes > 1].tolist())


def _ascending_pairs(ranks: Ints) -> int:
    """Pairs i < j with ranks[i] < ranks[j]."""
    n = len(ranks)
    total = 0
    if not n:
        return total
    for level in reversed(range(int(ranks.max()).bit_length())):
        block = ranks >> (level + 1)  # rows are sorted by block, stable
        starts = np.flatnonzero(np.diff(block, prepend=-1))
        sizes = np.diff(np.append(starts, n))
        one = (ranks >> level) & 1
        zeros_before = np.cumsum(1 - one) - (1 - one)
        in_block = zeros_before - np.repeat(zeros_before[starts], sizes)
        total += int((in_block * one).sum())
        zeros = np.add.reduceat(1 - one, starts)
        start = np.repeat(starts, sizes)
        place = np.where(one == 1, np.repeat(zeros, sizes) + np.arange(n) - in_block, start + in_block)
        moved = np.empty_like(ranks)
        moved[place] = ranks
        ranks = moved
    return total
