"""Counts: how often each true class meets each predicted class. Integers, so exact and order-free by nature."""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.contract.vocabulary import label_order

Label = str | int


@frozen(eq=False)
class Counts:
    """A contingency table, mergeable by addition.

    Example:
        >>> import numpy as np
        >>> t = Counts.of(np.array([0, 1, 1]), np.array([0, 0, 1]), ("a", "b"), ("a", "b"))
        >>> t.table.tolist(), t.n
        ([[1, 0], [1, 1]], 3)
    """

    table: NDArray[np.int64]
    """(len(truth_classes), len(predicted_classes)) int64."""
    truth_classes: tuple[Label, ...]
    predicted_classes: tuple[Label, ...]

    @classmethod
    def of(
        cls,
        truth: NDArray[np.int64],
        predicted: NDArray[np.int64],
        truth_classes: tuple[Label, ...],
        predicted_classes: tuple[Label, ...],
    ) -> Counts:
        """Count pairs of codes."""
        rows, columns = len(truth_classes), len(predicted_classes)
        flat = np.bincount(truth * columns + predicted, minlength=rows * columns) if len(truth) else None
        table = np.zeros((rows, columns), np.int64) if flat is None else flat.reshape(rows, columns)
        return cls(table.astype(np.int64, copy=False), truth_classes, predicted_classes)

    @classmethod
    def empty(cls) -> Counts:
        """The identity of :meth:`merge`."""
        return cls(np.zeros((0, 0), np.int64), (), ())

    @property
    def n(self) -> int:
        """Rows counted."""
        return int(self.table.sum())

    def merge(self, other: Counts) -> Counts:
        """Both counts together, over the union of classes; neither operand changes."""
        if self.truth_classes == other.truth_classes and self.predicted_classes == other.predicted_classes:
            return Counts(self.table + other.table, self.truth_classes, self.predicted_classes)
        rows = union_of(self.truth_classes, other.truth_classes)
        columns = union_of(self.predicted_classes, other.predicted_classes)
        return Counts(self._spread(rows, columns) + other._spread(rows, columns), rows, columns)

    def _spread(self, rows: tuple[Label, ...], columns: tuple[Label, ...]) -> NDArray[np.int64]:
        table = np.zeros((len(rows), len(columns)), np.int64)
        at = np.ix_([rows.index(c) for c in self.truth_classes], [columns.index(c) for c in self.predicted_classes])
        table[at] = self.table
        return table

    def square(self) -> tuple[NDArray[np.int64], tuple[Label, ...]]:
        """The table over classes that occur in truth or prediction, same order on both sides.

        Returns:
            (k, k) int64 and the k classes. A class that occurs on neither side is left out.
        """
        classes = union_of(self.truth_classes, self.predicted_classes)
        table = self._spread(classes, classes)
        seen = (table.sum(0) + table.sum(1)) > 0
        return table[np.ix_(seen, seen)], tuple(c for c, s in zip(classes, seen, strict=True) if s)

    def to_buffers(self) -> tuple[NDArray[np.int64], tuple[Label, ...], tuple[Label, ...]]:
        """Plain parts that rebuild this value: ``Counts(*buffers)``."""
        return self.table, self.truth_classes, self.predicted_classes


def union_of(left: tuple[Label, ...], right: tuple[Label, ...]) -> tuple[Label, ...]:
    """Classes of either side: those of a prediction where they begin with those of the truth, else sorted."""
    if left == right:
        return left
    if right[: len(left)] == left:  # a prediction's classes begin with those of the truth
        return right
    return tuple(sorted({*left, *right}, key=label_order))
