"""Exact sums over many resamples of the same numbers, by products of integers.

Each number is cut once into integers of few bits times a power of two. A sum over a resample is then a few sums of
(multiplicity x integer) below 2^53, which a matrix product of float64 adds without rounding in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from primabench_core.state.exact import ExactSum
from primabench_core.state.multiplicity import Groups, Multiplicities
from primabench_core.state.windows import product_and_error, unsafe

Floats = NDArray[np.float64]
MOST_PIECES = 48
"""Numbers that reach over more decades than this many pieces hold are left to the sums of :mod:`exact`."""
_MANTISSA, _FEWEST_BITS, _LOWEST = 53, 8, -1074


class WeighedSums:
    """Numbers of each row, prepared to be summed exactly over resamples.

    Args:
        columns: Each column as float64 arrays (n,) that are added, all finite: one, or a product and its error.

    Example:
        >>> sums = WeighedSums([(np.array([0.1, 1e16]),)])
        >>> [row[0].value for row in sums.over(Multiplicities(np.array([[1, 0], [3, 1]])))]
        [0.1, 1e+16]
    """

    def __init__(self, columns: Sequence[tuple[Floats, ...]]) -> None:
        self._columns = columns
        self._most = 0
        self._groups: Groups | None = None
        self._pieces: Floats | None = None
        self._exponents: list[list[int]] = []

    def over(self, drawn: Multiplicities) -> list[list[ExactSum]] | None:
        """The exact sum of each column over each resample.

        Returns:
            For each resample the sums of the columns; None if the numbers reach over too many decades.
        """
        self._prepare(drawn)
        if self._pieces is None:
            return None
        totals = (drawn.units_as_floats @ self._pieces).astype(np.int64).tolist()
        return [self._joined(row) for row in totals]

    def _joined(self, totals: list[int]) -> list[ExactSum]:
        sums, at = [], 0
        for exponents in self._exponents:
            low = exponents[-1] if exponents else 0
            whole = sum(totals[at + i] << (e - low) for i, e in enumerate(exponents))
            sums.append(ExactSum.scaled(whole, low))
            at += len(exponents)
        return sums

    def _prepare(self, drawn: Multiplicities) -> None:
        most = int(drawn.n.max(initial=1))
        if most <= self._most and drawn.groups is self._groups:
            return
        if drawn.groups is not None:  # any other resample of as many units
            most = int(drawn.units.sum(axis=1).max(initial=1)) * int(drawn.groups.sizes.max(initial=1))
        self._most, self._groups = most, drawn.groups
        bits = _MANTISSA - most.bit_length() - 1
        parts: list[Floats] = []
        self._pieces, self._exponents = None, []
        for column in self._columns:
            found = list(_pieces(column, bits)) if bits >= _FEWEST_BITS else None
            if found is None or len(found) > MOST_PIECES:
                return
            self._exponents.append([low for low, _ in found])
            parts += [_by_unit(piece, drawn) for _, piece in found]
        self._pieces = np.stack(parts, axis=1) if parts else np.zeros((drawn.units.shape[1], 0))


def _by_unit(piece: Floats, drawn: Multiplicities) -> Floats:
    if drawn.groups is None:
        return piece
    sums = np.bincount(drawn.groups.codes, weights=piece, minlength=drawn.groups.n)  # of integers, so exact
    return sums.astype(np.float64, copy=False)


def _pieces(column: tuple[Floats, ...], bits: int) -> Iterator[tuple[int, Floats]]:
    """(exponent, (n,) integers below 2^bits), falling exponents, whose scaled sum is the column."""
    rests = [part.copy() for part in column]
    for _ in range(MOST_PIECES + 1):
        top = max(float(np.abs(rest).max(initial=0.0)) for rest in rests)
        if top == 0.0:
            return
        spare = len(rests).bit_length() - 1
        low = max(int(np.frexp(top)[1]) - bits + spare, _LOWEST)
        piece = np.zeros(len(rests[0]))
        for rest in rests:
            units = np.trunc(np.ldexp(rest, -low))
            piece += units
            rest -= np.ldexp(units, low)
        yield low, piece


def product_parts(x: NDArray[np.floating], y: NDArray[np.floating]) -> tuple[Floats, ...] | None:
    """x·y as a sum of float64 arrays for :class:`WeighedSums`, exact; None where float64 cannot hold the error.

    Args:
        x: (n,) float32 or float64, finite.
        y: Likewise.
    """
    if x.dtype == np.float32 and y.dtype == np.float32:
        return (np.multiply(x, y, dtype=np.float64),)
    a, b = x.astype(np.float64), y.astype(np.float64)
    if unsafe(a).any() or unsafe(b).any():
        return None
    return product_and_error(a, b)
