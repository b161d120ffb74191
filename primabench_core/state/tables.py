"""Many tables of counts over the same classes, as a resampling makes them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.state.counts import Counts, Label, union_of
from primabench_core.state.multiplicity import take_columns

Ints = NDArray[np.int64]


@frozen(eq=False, slots=False)
class Cells:
    """Where the cells that occur at all lie in a table of truth x prediction."""

    places: Ints
    """(cells,) true code * predicted classes + predicted code, ascending."""
    truth_classes: tuple[Label, ...]
    predicted_classes: tuple[Label, ...]

    @cached_property
    def classes(self) -> tuple[Label, ...]:
        """Classes of truth or prediction, in the order of :meth:`Counts.square`."""
        return union_of(self.truth_classes, self.predicted_classes)

    @cached_property
    def true(self) -> Ints:
        """(cells,) place of the true class among :attr:`classes`."""
        return self._among(self.truth_classes)[self.places // max(len(self.predicted_classes), 1)]

    @cached_property
    def called(self) -> Ints:
        """(cells,) place of the predicted class among :attr:`classes`."""
        return self._among(self.predicted_classes)[self.places % max(len(self.predicted_classes), 1)]

    def _among(self, classes: tuple[Label, ...]) -> Ints:
        place = {label: i for i, label in enumerate(self.classes)}
        return np.array([place[label] for label in classes], np.int64)


@frozen(eq=False, slots=False)
class Tables:
    """A table of counts for each of several resamples; what metrics share of it is made once.

    Example:
        >>> cells = Cells(np.array([0, 3]), ("a", "b"), ("a", "b"))
        >>> tables = Tables(cells, np.array([[2, 1], [0, 3]]))
        >>> tables.hits.tolist(), tables.n.tolist(), tables.table(1).table.tolist()
        ([[2, 1], [0, 3]], [3, 3], [[0, 0], [0, 3]])
    """

    cells: Cells
    counts: Ints
    """(draws, cells) int64."""

    def __len__(self) -> int:
        """Number of tables."""
        return len(self.counts)

    @cached_property
    def n(self) -> Ints:
        """(draws,) rows counted."""
        total: Ints = self.counts.sum(axis=1)
        return total

    @cached_property
    def hits(self) -> Ints:
        """(draws, classes) rows whose predicted class is the true one."""
        return self._summed(self.cells.true, np.flatnonzero(self.cells.true == self.cells.called))

    @cached_property
    def true(self) -> Ints:
        """(draws, classes) rows of each true class."""
        return self._summed(self.cells.true)

    @cached_property
    def called(self) -> Ints:
        """(draws, classes) rows of each predicted class."""
        return self._summed(self.cells.called)

    def _summed(self, classes: Ints, chosen: Ints | None = None) -> Ints:
        at = np.arange(len(classes)) if chosen is None else chosen
        at = at[np.argsort(classes[at], kind="stable")]
        sums = np.zeros((len(self), len(self.cells.classes)), np.int64)
        if len(at):
            ordered = classes[at]
            starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
            sums[:, ordered[starts]] = np.add.reduceat(take_columns(self.counts, at), starts, axis=1)
        return sums

    def table(self, draw: int) -> Counts:
        """One of the tables."""
        return Counts.of_cells(
            self.cells.places, self.counts[draw], self.cells.truth_classes, self.cells.predicted_classes
        )
