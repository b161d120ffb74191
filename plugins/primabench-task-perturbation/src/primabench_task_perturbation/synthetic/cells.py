"""Draws perturbed cells with integers alone, so that every platform and numpy version makes the same bytes.

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

from primabench_task_perturbation.names import normalised, parts_of
from primabench_task_perturbation.roles import CONTROL

N_GENES = 48
N_PERTURBED = 12
"""Genes that are perturbed: the first ones."""
N_PAIRS = 12
CELLS, CONTROLS = 16, 64
RESPONSES = 6
"""Other genes that a perturbed gene moves."""
_WORD = 1 << 64


@frozen(eq=False)
class PerturbedCells:
    """Made cells.

    Example:
        >>> cells = draw()
        >>> cells.counts.shape, cells.perturbation.count("control")
        ((448, 48), 64)
    """

    ids: tuple[str, ...]
    genes: tuple[str, ...]
    perturbation: tuple[str, ...]
    counts: NDArray[np.int32]
    """(cells, genes)."""

    @property
    def expression(self) -> NDArray[np.float32]:
        """(cells, genes) float32, log(1 + count), natural logarithm."""
        context = Context(prec=30)
        table = [float((Decimal(1) + c).ln(context)) for c in range(int(self.counts.max()) + 1)]
        return np.asarray(table, np.float64)[self.counts].astype(np.float32)


def draw(stream: int = 61) -> PerturbedCells:
    """Draw the cells: twelve genes alone, twelve pairs, and controls, in an order that tells nothing.

    Args:
        stream: Key of the Philox counter.
    """
    groups = 1 + N_PERTURBED + N_PAIRS
    words = iter(_words(stream, (groups * CELLS + CONTROLS) * (N_GENES + 1) + 4_000))
    genes = tuple(f"GENE{g:02d}" for g in range(N_GENES))
    base = [Fraction(2 + next(words) % 8, 2) for _ in genes]
    effects = {g: _effect(words, g) for g in range(N_PERTURBED)}
    pairs = sorted((next(words), a, b) for a in range(N_PERTURBED) for b in range(a + 1, N_PERTURBED))[:N_PAIRS]
    names = [genes[g] for g in range(N_PERTURBED)] + [normalised((genes[a], genes[b])) for _, a, b in pairs]
    rows: list[tuple[int, str, list[int]]] = []
    for name, n in [(CONTROL, CONTROLS), *((name, CELLS) for name in names)]:
        means = list(base)
        for part in parts_of(name):
            for g, factor in effects[genes.index(part)].items():
                means[g] *= factor
        for _ in range(n):
            key = next(words)
            rows.append((key, name, [bisect_right(_cumulative(mean), next(words)) for mean in means]))
    rows.sort(key=lambda row: row[0])
    return PerturbedCells(
        ids=tuple(f"synthetic_{i:04d}" for i in range(len(rows))),
        genes=genes,
        perturbation=tuple(row[1] for row in rows),
        counts=np.asarray([row[2] for row in rows], np.int32),
    )


def _effect(words: Iterator[int], own: int) -> dict[int, Fraction]:
    """Factors of the means that one gene moves: its own by 4, others by 3 or 1/3, some of these shared by many."""
    others = sorted((next(words), g) for g in range(N_PERTURBED, N_GENES) if g != own)[:RESPONSES]
    found = {g: Fraction(3) if next(words) % 2 else Fraction(1, 3) for _, g in others}
    found[N_GENES - 1] = Fraction(2)  # a response that every perturbation shares, as stress does
    found[own] = Fraction(4)
    return found


def _words(stream: int, n: int) -> list[int]:
    """Raw 64-bit words of a Philox counter: fixed by its definition, not by a generator's methods."""
    raw = np.random.Philox(key=np.asarray([stream, 0], np.uint64)).random_raw(n)
    return [int(word) for word in np.asarray(raw)]


@cache
def _cumulative(mean: Fraction) -> tuple[int, ...]:
    """floor(2^64 P(count <= k)) for k = 0, 1 …, of a negative binomial with four failures and this mean.

    P(count = k) = C(k + 3, 3) p^4 q^k with p = 4 / (4 + mean), q = 1 - p, held as integers over a power of one
    denominator. A word w stands for the number of entries <= w. The table ends where less than 2^-40 is left.
    """
    p = Fraction(4) / (4 + mean)
    success, base = p.numerator, p.denominator
    failure = base - success
    table: list[int] = []
    numerator, power, denominator = 0, 1, base**4
    while not table or table[-1] < _WORD - (1 << 24):
        k = len(table)
        ways = (k + 1) * (k + 2) * (k + 3) // 6
        numerator = numerator * base + ways * success**4 * power if k else success**4
        power *= failure
        denominator = denominator * base if k else denominator
        table.append(numerator * _WORD // denominator)
    return tuple(table)
