"""How often rows occur in resamples: enough to compute many metrics without putting the resamples together."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

Ints = NDArray[np.int64]
T = TypeVar("T")


@frozen(eq=False, slots=False)
class Groups:
    """Rows that are drawn together: those of one donor, one block."""

    codes: Ints
    """(rows,) int64 group of each row, 0 to ``n`` - 1, each of them with a row."""
    n: int
    """Number of groups."""

    @cached_property
    def sizes(self) -> Ints:
        """(n,) rows of each group."""
        return np.bincount(self.codes, minlength=self.n)

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(self.codes, kind="stable")

    @cached_property
    def _starts(self) -> Ints:
        return np.cumsum(self.sizes) - self.sizes

    def rows_of(self, groups: Ints) -> Ints:
        """Rows of some groups, those of a group named twice coming twice."""
        lengths = self.sizes[groups]
        ends = np.cumsum(lengths)
        within = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - lengths, lengths)
        rows: Ints = self._order[np.repeat(self._starts[groups], lengths) + within]
        return rows


@frozen(eq=False, slots=False)
class Multiplicities:
    """Several resamples of the same rows, each as the number of times that its independent units were drawn.

    Example:
        >>> drawn = Multiplicities(np.array([[2, 0], [1, 1]]), Groups(np.array([0, 1, 1]), 2))
        >>> drawn.of_rows().tolist(), drawn.n.tolist()
        ([[2, 0, 0], [1, 1, 1]], [2, 3])
    """

    units: Ints
    """(draws, units) int64, not negative."""
    groups: Groups | None = None
    """Units of several rows; None if each row is a unit of its own."""
    _memo: dict[Hashable, Any] = field(factory=dict, init=False, repr=False)

    def shared(self, state: object, key: Hashable, build: Callable[[], T]) -> T:
        """The value of ``build()``, made once for all metrics over one state that ask under this key."""
        if (id(state), key) not in self._memo:
            self._memo[id(state), key] = state, build()
        return self._memo[id(state), key][1]  # type: ignore[no-any-return]

    def __len__(self) -> int:
        """Number of resamples."""
        return len(self.units)

    def of_rows(self, at: NDArray[np.intp] | None = None) -> Ints:
        """(draws, rows) how often each row occurs.

        Args:
            at: Positions of the rows wanted, in the order wanted; by default all rows.
        """
        columns = at
        if self.groups is not None:
            columns = self.groups.codes if at is None else self.groups.codes.take(at)
        return self.units if columns is None else take_columns(self.units, columns)

    @cached_property
    def n(self) -> Ints:
        """(draws,) rows of each resample, repeats included."""
        total: Ints = self.units.sum(axis=1) if self.groups is None else (self.units * self.groups.sizes).sum(axis=1)
        return total

    @cached_property
    def units_as_floats(self) -> NDArray[np.float64]:
        """:attr:`units` as float64, for matrix products of integers below 2**53, which no order of adding rounds."""
        return self.units.astype(np.float64)


class Selection:
    """Rows in an order in which their multiplicities are asked for again and again.

    Args:
        at: (k,) positions.
    """

    def __init__(self, at: Ints) -> None:
        self.at = at
        self._groups: Groups | None = None
        self._codes = at

    def __len__(self) -> int:
        """How many rows."""
        return len(self.at)

    def times(self, drawn: Multiplicities) -> Ints:
        """(draws, k) how often each of these rows occurs."""
        if drawn.groups is not self._groups:
            self._groups = drawn.groups
            self._codes = self.at if drawn.groups is None else drawn.groups.codes.take(self.at)
        return take_columns(drawn.units, self._codes)


def take_columns(matrix: Ints, columns: NDArray[np.intp]) -> Ints:
    """``matrix[:, columns]``; from a single row numpy takes in half the time."""
    taken: Ints = matrix[0].take(columns)[None] if len(matrix) == 1 else matrix.take(columns, axis=1)
    return taken


def running_sums(matrix: Ints) -> Ints:
    """(d, n + 1) sums of the numbers before each column of (d, n), the last column being the total."""
    sums = np.zeros((matrix.shape[0], matrix.shape[1] + 1), np.int64)
    np.cumsum(matrix, axis=1, out=sums[:, 1:])
    return sums
