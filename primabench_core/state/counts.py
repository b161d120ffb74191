"""Counts: how often each true class meets each predicted class. Integers, so exact and order-free by nature."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.contract.vocabulary import label_order

Label = str | int
Ints = NDArray[np.int64]

_DENSE = 1 << 16
"""Tables of fewer cells are always counted cell by cell, larger ones only where rows are not far fewer than cells."""


@frozen(init=False, eq=False, slots=False)
class Counts:
    """A contingency table, mergeable by addition; kept are the cells that occur, at most one for each row.

    Args:
        table: (true classes, predicted classes) int64.
        truth_classes: Classes along the first axis.
        predicted_classes: Classes along the second axis.

    Example:
        >>> import numpy as np
        >>> t = Counts.of(np.array([0, 1, 1]), np.array([0, 0, 1]), ("a", "b"), ("a", "b"))
        >>> t.table.tolist(), t.n, t.margins.hits.tolist()
        ([[1, 0], [1, 1]], 3, [1, 1])
    """

    places: Ints
    """(cells,) int64, ascending: true code * predicted classes + predicted code of each cell that occurs."""
    times: Ints
    """(cells,) int64 above 0: how often it occurs."""
    truth_classes: tuple[Label, ...]
    predicted_classes: tuple[Label, ...]

    def __init__(
        self, table: NDArray[np.int64], truth_classes: tuple[Label, ...], predicted_classes: tuple[Label, ...]
    ) -> None:
        shape = len(truth_classes), len(predicted_classes)
        if table.shape != shape:
            raise ValueError(f"the table has the shape {table.shape}, its classes are {shape}")
        flat = np.asarray(table, np.int64).reshape(-1)
        places = np.flatnonzero(flat)
        self.__attrs_init__(places, flat[places], truth_classes, predicted_classes)

    @classmethod
    def of_cells(
        cls,
        places: Ints,
        times: Ints,
        truth_classes: tuple[Label, ...],
        predicted_classes: tuple[Label, ...],
    ) -> Counts:
        """Counts of cells named by true code * predicted classes + predicted code.

        Args:
            places: (k,) int64 in any order; a cell that is named again is added up.
            times: (k,) int64, not negative.
            truth_classes: Classes of the truth.
            predicted_classes: Classes of the prediction.
        """
        if len(places) and not (places[1:] > places[:-1]).all():
            places, inverse = np.unique(places, return_inverse=True)
            summed = np.zeros(len(places), np.int64)
            np.add.at(summed, inverse, times)
            times = summed
        if not times.all():
            places, times = places[times > 0], times[times > 0]
        made = cls.__new__(cls)
        made.__attrs_init__(places, times, truth_classes, predicted_classes)
        return made

    @classmethod
    def of(
        cls,
        truth: NDArray[np.int64],
        predicted: NDArray[np.int64],
        truth_classes: tuple[Label, ...],
        predicted_classes: tuple[Label, ...],
    ) -> Counts:
        """Count pairs of codes."""
        cells = len(truth_classes) * len(predicted_classes)
        pairs = truth * len(predicted_classes) + predicted
        if cells <= max(_DENSE, 4 * len(pairs)):
            flat = np.bincount(pairs, minlength=cells).astype(np.int64, copy=False)
            places = np.flatnonzero(flat)
            times = flat[places]
        else:
            places, times = np.unique(pairs, return_counts=True)
        return cls.of_cells(places, times.astype(np.int64, copy=False), truth_classes, predicted_classes)

    @classmethod
    def empty(cls) -> Counts:
        """The identity of :meth:`merge`."""
        return cls(np.zeros((0, 0), np.int64), (), ())

    @cached_property
    def table(self) -> NDArray[np.int64]:
        """(len(truth_classes), len(predicted_classes)) int64, all cells: it grows with the square of the classes.

        What can be had from :attr:`true`, :attr:`called`, :attr:`times` or :attr:`margins` costs no more than the rows.
        """
        table = np.zeros((len(self.truth_classes), len(self.predicted_classes)), np.int64)
        table.reshape(-1)[self.places] = self.times
        return table

    @property
    def n(self) -> int:
        """Rows counted."""
        return int(self.times.sum())

    @cached_property
    def true(self) -> Ints:
        """(len(truth_classes),) rows of each true class."""
        return _summed(self._codes[0], self.times, len(self.truth_classes))

    @cached_property
    def called(self) -> Ints:
        """(len(predicted_classes),) rows of each predicted class."""
        return _summed(self._codes[1], self.times, len(self.predicted_classes))

    @cached_property
    def margins(self) -> Margins:
        """What most metrics need of :meth:`square`, without the square."""
        classes, true, called = self._among_union()
        right = true == called
        k = len(classes)
        hits, rows, calls = (
            _summed(true[right], self.times[right], k),
            _summed(true, self.times, k),
            _summed(called, self.times, k),
        )
        seen = (rows + calls) > 0
        return Margins(
            tuple(c for c, s in zip(classes, seen.tolist(), strict=True) if s), hits[seen], rows[seen], calls[seen]
        )

    @property
    def _codes(self) -> tuple[Ints, Ints]:
        """True and predicted code of each cell."""
        true, called = np.divmod(self.places, max(len(self.predicted_classes), 1))
        return true, called

    def _among_union(self) -> tuple[tuple[Label, ...], Ints, Ints]:
        """Classes of both sides, and the place among them of each cell's true and predicted class."""
        classes = union_of(self.truth_classes, self.predicted_classes)
        true, called = self._codes
        return classes, _moved(true, self.truth_classes, classes), _moved(called, self.predicted_classes, classes)

    def merge(self, other: Counts) -> Counts:
        """Both counts together, over the union of classes; neither operand changes."""
        rows, columns = self.truth_classes, self.predicted_classes
        if (rows, columns) != (other.truth_classes, other.predicted_classes):
            rows, columns = union_of(rows, other.truth_classes), union_of(columns, other.predicted_classes)
        places = np.concatenate([self._places_among(rows, columns), other._places_among(rows, columns)])
        return Counts.of_cells(places, np.concatenate([self.times, other.times]), rows, columns)

    def _places_among(self, rows: tuple[Label, ...], columns: tuple[Label, ...]) -> Ints:
        true, called = self._codes
        start = _moved(true, self.truth_classes, rows) * len(columns)
        places: Ints = start + _moved(called, self.predicted_classes, columns)
        return places

    def square(self) -> tuple[NDArray[np.int64], tuple[Label, ...]]:
        """The table over classes that occur in truth or prediction, same order on both sides.

        Returns:
            (k, k) int64 and the k classes. A class that occurs on neither side is left out.
        """
        classes, true, called = self._among_union()
        seen = np.zeros(len(classes), bool)
        seen[true] = seen[called] = True
        place = np.cumsum(seen) - 1
        table = np.zeros((int(seen.sum()), int(seen.sum())), np.int64)
        table[place[true], place[called]] = self.times
        return table, tuple(c for c, s in zip(classes, seen.tolist(), strict=True) if s)

    def to_buffers(self) -> tuple[NDArray[np.int64], tuple[Label, ...], tuple[Label, ...]]:
        """Plain parts that rebuild this value: ``Counts(*buffers)``."""
        return self.table, self.truth_classes, self.predicted_classes


@frozen(eq=False)
class Margins:
    """Counts of each class that occurs in truth or prediction."""

    classes: tuple[Label, ...]
    """In the order of :meth:`Counts.square`."""
    hits: Ints
    """(k,) rows of the class that were predicted as it."""
    true: Ints
    """(k,) rows of the class."""
    called: Ints
    """(k,) rows predicted as the class."""


def _summed(codes: Ints, times: Ints, k: int) -> Ints:
    sums = np.zeros(k, np.int64)
    np.add.at(sums, codes, times)
    return sums


def _moved(codes: Ints, classes: tuple[Label, ...], among: tuple[Label, ...]) -> Ints:
    """Codes into some classes as codes into others, which hold them all."""
    if classes == among[: len(classes)]:
        return codes
    place = {label: i for i, label in enumerate(among)}
    return np.array([place[label] for label in classes], np.int64)[codes]


def union_of(left: tuple[Label, ...], right: tuple[Label, ...]) -> tuple[Label, ...]:
    """Classes of either side: those of a prediction where they begin with those of the truth, else sorted."""
    if left == right:
        return left
    if right[: len(left)] == left:  # a prediction's classes begin with those of the truth
        return right
    return tuple(sorted({*left, *right}, key=label_order))
