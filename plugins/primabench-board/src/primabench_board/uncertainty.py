"""Intervals of means of scores, and of ranks, from the intervals of the scores alone.

A result file tells an interval for every task, and no draws. The interval of a mean is recovered from them by the
method of variance estimates recovery (Zou and Donner 2008, doi:10.1002/sim.3095), which takes the scores as
independent: tasks that share samples are not, and the interval of their mean is then somewhat too narrow. The interval
of a rank counts the models that lie clearly above and clearly below, the construction of Klein, Wright and Wieczorek
(2020, doi:10.1111/rssc.12402), with intervals that are not corrected for the number of models.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import fsum, sqrt

from attrs import frozen


@frozen
class Cell:
    """A score with its interval; the ends are None where an interval of a part is unknown."""

    value: float
    low: float | None = None
    high: float | None = None


def mean(cells: Sequence[Cell]) -> Cell:
    """Mean of scores with its interval.

    Args:
        cells: At least one.

    Returns:
        The mean, correctly rounded from the exact sum, so that the order of the cells does not matter.

    Example:
        >>> mean([Cell(0.5, 0.25, 0.75), Cell(0.75)])
        Cell(value=0.625, low=None, high=None)
        >>> mean([Cell(0.5, 0.25, 0.75)])
        Cell(value=0.5, low=0.25, high=0.75)
    """
    if len(cells) == 1:
        return cells[0]
    count = len(cells)
    value = fsum(c.value for c in cells) / count
    below, above = [], []
    for cell in cells:
        if cell.low is None or cell.high is None:
            return Cell(value)
        below.append(max(cell.value - cell.low, 0.0) ** 2)
        above.append(max(cell.high - cell.value, 0.0) ** 2)
    return Cell(value, value - sqrt(fsum(below)) / count, value + sqrt(fsum(above)) / count)


def ranks(values: Sequence[float]) -> list[int]:
    """Competition ranks, highest first, equal values sharing one: 1, 2, 2, 4.

    Example:
        >>> ranks([0.5, 0.9, 0.5, 0.1])
        [2, 1, 2, 4]
    """
    ascending = sorted(values)
    return [len(values) - bisect_right(ascending, value) + 1 for value in values]


def rank_intervals(cells: Sequence[Cell]) -> list[tuple[int, int] | None]:
    """Best and worst rank that the intervals leave open for each; None where its own interval is unknown.

    A model whose interval is unknown is taken as compatible with every place, so it widens the others' ranks.

    Example:
        >>> rank_intervals([Cell(0.9, 0.8, 1.0), Cell(0.85, 0.75, 0.95), Cell(0.2, 0.1, 0.3)])
        [(1, 2), (1, 2), (3, 3)]
    """
    lows = sorted(c.low for c in cells if c.low is not None)
    highs = sorted(c.high for c in cells if c.high is not None)
    found: list[tuple[int, int] | None] = []
    for cell in cells:
        if cell.low is None or cell.high is None:
            found.append(None)
            continue
        above = len(lows) - bisect_right(lows, cell.high)
        below = bisect_left(highs, cell.low)
        found.append((1 + above, len(cells) - below))
    return found
