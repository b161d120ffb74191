"""Rows ranked by a score, as runs of equal scores: what AUROC and average precision are counted from.

The order of rows that share a score never matters, because only whole runs are counted.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.state.exact import ExactSum

BLOCK = 1 << 17
"""Rows worked on at once: temporaries stay in cache, and beside 1e7 rows they weigh nothing."""

Ints = NDArray[np.int64]
Run = tuple[Ints, Ints, Ints, Ints]
"""Runs of equal scores that hold a positive, ascending: positives in each, positives and negatives below it, negatives
in it."""


@frozen
class RankCounts:
    """Integers and one exact sum that AUROC and average precision are made of."""

    positives: int
    negatives: int
    doubled_wins: int
    """2·#(positive above negative) + #(positive level with negative), over all pairs."""
    precision_sum: float
    """Σ over runs of (positives of the run)·(precision down to and with the run), correctly rounded."""


def area(counts: RankCounts) -> float | None:
    """Area under the ROC curve, None if one side has no rows."""
    pairs = counts.positives * counts.negatives
    return counts.doubled_wins / (2 * pairs) if pairs else None


def rank_counts(scores: NDArray[np.floating], codes: Ints, positive: int) -> RankCounts:
    """Count how the rows of one class rank against the rest.

    Args:
        scores: (n,) float32 or float64, finite; a larger score is more positive.
        codes: (n,) class codes.
        positive: Code of the positive class; -1 if no row has it.
    """
    n = len(scores)
    positives = int(np.count_nonzero(codes == positive))
    narrow = as_float32(scores)
    if narrow is not None:
        runs = _packed_runs(narrow, codes, positive)
    else:
        runs = _split_runs(scores, codes == positive)
    wins, precision = 0, ExactSum()
    for inside, before, below, level in runs:
        wins += int((inside * (2 * below + level)).sum())
        hits = positives - before
        reached = n - before - below
        precision = precision.add(inside * hits / reached)
    return RankCounts(positives, n - positives, wins, precision.value)


def area_of(scores: NDArray[np.floating], is_positive: NDArray[np.bool_]) -> float | None:
    """:func:`area` of some rows, for many small sets of them.

    Args:
        scores: (n,) finite.
        is_positive: (n,) which rows should be above.
    """
    above, below = scores[is_positive], np.sort(scores[~is_positive])
    pairs = len(above) * len(below)
    if not pairs:
        return None
    above = np.sort(above)  # neighbours are looked up side by side
    wins = below.searchsorted(above, "left").sum() + below.searchsorted(above, "right").sum()
    return int(wins) / (2 * pairs)


def as_float32(x: NDArray[np.floating]) -> NDArray[np.float32] | None:
    """``x`` as float32 if that changes no number, else None."""
    if x.dtype == np.float32:
        return x
    with np.errstate(over="ignore", under="ignore"):
        narrow = x.astype(np.float32)
    return narrow if np.array_equal(narrow, x) else None


def ordered_bits(x: NDArray[np.float32]) -> NDArray[np.uint32]:
    """(n,) uint32 in the order of the numbers; -0.0 and 0.0 are one."""
    bits = (x + np.float32(0)).view(np.uint32)  # -0.0 + 0.0 is 0.0
    bits ^= (bits.view(np.int32) >> 31).view(np.uint32) | np.uint32(1 << 31)
    return bits


def _packed_runs(scores: NDArray[np.float32], codes: Ints, positive: int) -> Iterator[Run]:
    """One sort of 64-bit keys (score bits, label bit), which numpy does with vector instructions."""
    n = len(scores)
    keys = np.empty(n, np.uint64)
    for start in range(0, n, BLOCK):
        part = keys[start : start + BLOCK]
        part[:] = ordered_bits(scores[start : start + BLOCK])
        part <<= np.uint64(1)
        part |= codes[start : start + BLOCK] == positive
    keys.sort()
    one = np.uint64(1)
    rows = positives = last_rows = last_positives = 0
    for start in range(0, n, BLOCK):
        part = keys[start : start + BLOCK + 1]  # with the first row of the next block, to see where a run ends
        ends = np.flatnonzero((part[1:] ^ part[:-1]) > one)  # the label bit alone does not end a run
        size = min(BLOCK, n - start)
        if start + BLOCK >= n:
            ends = np.append(ends, size - 1)
        is_positive = part[:size] & one
        running = np.cumsum(is_positive.view(np.int64))
        if len(ends):
            held = np.flatnonzero(is_positive[ends])  # positives sort last in their run, so its end tells
            last = ends[held]
            cum_positives = running[last] + positives
            before = np.concatenate(([last_positives], cum_positives[:-1]))[: len(held)]
            rows_before = ends[held - 1] + (rows + 1)
            if len(held) and not held[0]:
                rows_before[0] = last_rows
            last_rows = rows + int(ends[-1]) + 1
            last_positives = int(cum_positives[-1]) if len(held) else last_positives
            inside = cum_positives - before
            yield inside, before, rows_before - before, last + (rows + 1) - rows_before - inside
        positives += int(running[-1])
        rows += size


def _split_runs(scores: NDArray[np.floating], is_positive: NDArray[np.bool_]) -> Iterator[Run]:
    """The same runs for float64 scores, which leave no room for a label bit: both sides sorted, then looked up."""
    above, below = np.sort(scores[is_positive]), np.sort(scores[~is_positive])
    ends = np.flatnonzero(above[1:] != above[:-1])
    ends = np.append(ends, len(above) - 1) if len(above) else ends
    for start in range(0, len(ends), BLOCK):
        part = ends[start : start + BLOCK]
        before = np.append(ends[start - 1] if start else -1, part[:-1]) + 1
        less = np.searchsorted(below, above[part], "left")
        yield part + 1 - before, before, less, np.searchsorted(below, above[part], "right") - less
