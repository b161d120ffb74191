"""Draws synthetic cells with integers alone, so that every platform and numpy version makes the same bytes.

Negative-binomial counts come from exact cumulative tables (rational arithmetic) that raw Philox words are looked up
in; log(1 + count) is taken by :mod:`decimal`, which rounds correctly everywhere, unlike the logarithms of libm.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

TYPES = ("alpha", "beta", "gamma", "delta")
"""Types from frequent to rare."""
DONORS = ("d1", "d2", "d3")
CELLS_PER_DONOR = (16, 12, 8, 4)
"""Cells of each type in each donor."""
N_GENES = 40
MARKERS_PER_TYPE = 8
SHIFTED_PER_DONOR = 10
_DEPTHS = (Fraction(1, 2), Fraction(3, 4), Fraction(1), Fraction(3, 2))
_WORD = 1 << 64


@frozen(eq=False)
class SyntheticCells:
    """120 made cells.

    Example:
        >>> cells = draw(1, fold=3)
        >>> cells.counts.shape, len(set(cells.types))
        ((120, 40), 4)
    """

    ids: tuple[str, ...]
    """(120,) names of the cells."""
    genes: tuple[str, ...]
    """(40,) names of the genes."""
    types: tuple[str, ...]
    """(120,) type of each cell."""
    donors: tuple[str, ...]
    """(120,) donor of each cell."""
    counts: NDArray[np.int32]
    """(120, 40) int32."""

    @property
    def expression(self) -> NDArray[np.float32]:
        """(120, 40) float32, log(1 + count), natural logarithm."""
        context = Context(prec=30)
        table = [float((Decimal(1) + c).ln(context)) for c in range(int(self.counts.max()) + 1)]
        return np.asarray(table, np.float64)[self.counts].astype(np.float32)


def draw(stream: int, *, fold: int = 3) -> SyntheticCells:
    """Draw the cells of one stream.

    Args:
        stream: Key of the Philox counter; each synthetic dataset has its own.
        fold: How many times more a type expresses its marker genes.

    Returns:
        120 cells in an order that tells neither type nor donor.
    """
    words = iter(raw_words(stream, len(DONORS) * sum(CELLS_PER_DONOR) * (N_GENES + 2) + 1000))
    base = [Fraction(1 + next(words) % 8, 4) for _ in range(N_GENES)]
    shifted = [choose(words, N_GENES, SHIFTED_PER_DONOR) for _ in DONORS]
    rows: list[tuple[int, str, str, list[int]]] = []
    for donor, genes in zip(DONORS, shifted, strict=True):
        for kind, (name, n) in enumerate(zip(TYPES, CELLS_PER_DONOR, strict=True)):
            for _ in range(n):
                key, depth = next(words), _DEPTHS[next(words) % len(_DEPTHS)]
                means = [depth * base[g] * _effect(g, kind, g in genes, fold) for g in range(N_GENES)]
                counts = [bisect_right(count_table(mean), next(words)) for mean in means]
                rows.append((key, name, donor, counts))
    rows.sort(key=lambda row: row[0])
    return SyntheticCells(
        ids=tuple(f"synthetic_{i:04d}" for i in range(len(rows))),
        genes=tuple(f"gene_{g:02d}" for g in range(N_GENES)),
        types=tuple(row[1] for row in rows),
        donors=tuple(row[2] for row in rows),
        counts=np.asarray([row[3] for row in rows], np.int32),
    )


def _effect(gene: int, kind: int, shifted: bool, fold: int) -> Fraction:
    """How a gene's mean changes: markers of a type by ``fold``, genes that a donor shifts by one half."""
    marker = Fraction(fold) if gene // MARKERS_PER_TYPE == kind else Fraction(1)
    return marker * (Fraction(3, 2) if shifted else 1)


def raw_words(stream: int, n: int) -> list[int]:
    """Raw 64-bit words of a Philox counter: fixed by its definition, not by a generator's methods."""
    raw = np.random.Philox(key=np.asarray([stream, 0], np.uint64)).random_raw(n)
    return [int(word) for word in np.asarray(raw)]


def choose(words: Iterator[int], n: int, k: int) -> frozenset[int]:
    """``k`` of ``range(n)``: those with the smallest words."""
    order = sorted((next(words), i) for i in range(n))
    return frozenset(i for _, i in order[:k])


@cache
def count_table(mean: Fraction) -> tuple[int, ...]:
    """floor(2^64 P(count <= k)) for k = 0, 1 …, of a negative binomial with two failures and this mean.

    P(count = k) = (k + 1) p^2 q^k with p = 2 / (2 + mean), q = 1 - p, held as integers over a power of one denominator.
    A word w stands for the number of entries <= w. The table ends where less than 2^-40 of the probability is left.
    """
    p = Fraction(2) / (2 + mean)
    success, base = p.numerator, p.denominator
    failure = base - success
    table: list[int] = []
    numerator, power, denominator = 0, 1, base
    while not table or table[-1] < _WORD - (1 << 24):
        numerator = numerator * base + (len(table) + 1) * success**2 * power
        power, denominator = power * failure, denominator * base
        table.append(numerator * _WORD // denominator)
    return tuple(table)
