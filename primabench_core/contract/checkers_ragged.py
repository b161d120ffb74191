"""Checks of fields whose rows hold a varying number of entries, and of text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.arrays import as_labels, as_numeric, is_good_text
from primabench_core.contract.checkers import Ids
from primabench_core.contract.fields import Field
from primabench_core.contract.plain import is_lazy, is_sparse, plain, row_names
from primabench_core.contract.ragged import Ragged
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError


def as_ragged(value: Any, field: str = "points") -> Ragged:
    """Rows of entries as a :class:`Ragged`: from a list of (n_i, k) arrays, an object array of them, or a 3-D array.

    Raises:
        ContractError: something else.
    """
    if is_lazy(value):
        value = plain(value, field)
    if isinstance(value, Ragged):
        return value
    expected = "one list of entries per row"
    if is_sparse(value) or not hasattr(value, "__iter__") or isinstance(value, str):
        raise ContractError([Violation(field, expected, type(value).__name__)])
    try:
        return Ragged.of(np.asarray(plain(row, field)) for row in value)
    except ValueError as error:
        raise ContractError([Violation(field, expected, str(error))]) from error


class RaggedChecker:
    """Points (x, y, class, confidence; a truth without confidence) and base pairs (i, j)."""

    def __init__(self, field: Field, *, width: int, classes: tuple[Any, ...] | None = None) -> None:
        self.field, self.width, self.classes = field, width, classes

    def fast(self, value: Any) -> None:
        """Ragged rows are always looked at in full."""

    def explain(
        self, value: Any, ids: Ids, lengths: NDArray[Any] | None = None
    ) -> tuple[Ragged | None, list[Violation]]:
        """The ragged array, and what is wrong.

        Args:
            value: Rows of entries.
            ids: Ids of the rows.
            lengths: (n,) length of the molecule of each row, -1 where unknown.
        """
        name = self.field.name
        try:
            ragged = as_ragged(value, name)
            values = as_numeric(ragged.values, name)
        except ContractError as error:
            return None, list(error.violations)
        if not values.size:
            kind = np.int64 if self.field.kind == "pairs" else np.float64
            return Ragged(np.empty((0, self.width), kind), ragged.counts), []
        if values.shape[1] != self.width:
            what = "x, y, class, confidence" if self.width == 4 else "x, y, class" if self.width == 3 else "i, j"
            return None, [Violation(name, f"entries of {self.width} numbers ({what})", f"{values.shape[1]} numbers")]
        ragged = Ragged(values, ragged.counts)
        return self._pairs(ragged, ids, lengths) if self.field.kind == "pairs" else self._points(ragged, ids)

    def _points(self, points: Ragged, ids: Ids) -> tuple[Ragged, list[Violation]]:
        values = points.values
        violations = self._rows(
            points, ~np.isfinite(values).all(axis=1), "finite numbers", "NaN or infinite numbers", ids
        )
        with np.errstate(invalid="ignore"):
            kind = values[:, 2]
            fraction = (kind != np.floor(kind)) & np.isfinite(kind)
            violations += self._rows(points, fraction, "whole class numbers", "a fraction as class", ids)
            if self.width == 4:
                off = (values[:, 3] < 0) | (values[:, 3] > 1)
                violations += self._rows(points, off & np.isfinite(values[:, 3]), "confidence in [0, 1]", "others", ids)
        if self.classes is not None:
            outside = ~np.isin(kind, np.asarray(self.classes, np.float64)) & np.isfinite(kind) & ~fraction
            violations += self._rows(points, outside, f"classes {list(self.classes)}", "another class", ids)
        return points, violations

    def _pairs(self, pairs: Ragged, ids: Ids, lengths: NDArray[Any] | None) -> tuple[Ragged | None, list[Violation]]:
        values, row = pairs.values, pairs.row_of_entry()
        whole = np.isfinite(values).all(axis=1)
        whole[whole] = (values[whole] == np.floor(values[whole])).all(axis=1)
        violations = self._rows(pairs, ~whole, "whole positions i, j", "other numbers", ids)
        if violations:
            return None, violations
        values = values.astype(np.int64)
        low, high = values[:, 0], values[:, 1]
        violations += self._rows(pairs, low < 0, "positions from 0", "a negative position", ids)
        violations += self._rows(pairs, low == high, "two different bases in a pair", "a base paired with itself", ids)
        violations += self._rows(pairs, low > high, "pairs i < j", "i > j", ids)
        if lengths is not None:
            longest = np.asarray(lengths)[row]
            beyond = (high >= longest) & (longest >= 0)
            violations += self._rows(
                pairs, beyond, "positions below the length", "a position at or beyond the end", ids
            )
        order = np.lexsort((high, low, row))
        # a pair that is listed again and a base with two partners are the same fault: a base occurs twice
        ends = np.stack([np.repeat(row, 2), values.reshape(-1)], axis=1)
        _, first, count = np.unique(ends, axis=0, return_index=True, return_counts=True)
        twice = np.zeros(len(values), bool)
        twice[first[count > 1] // 2] = True
        twice &= low != high
        violations += self._rows(pairs, twice, "one partner for each base", "a base paired twice", ids)
        return Ragged(values[order], pairs.counts), violations

    def _rows(self, ragged: Ragged, bad: NDArray[np.bool_], expected: str, found: str, ids: Ids) -> list[Violation]:
        rows = np.unique(ragged.row_of_entry()[bad])
        if not len(rows):
            return []
        return [Violation(self.field.name, expected, found, row_names(rows, ids), len(rows))]

    def mark(self) -> None:
        """Nothing is learned."""

    def revert(self, mark: None) -> None:
        """Nothing to forget."""


class TextChecker:
    """One text per row: a sequence, a structure string."""

    def __init__(self, field: Field) -> None:
        self.field = field

    def fast(self, value: Any) -> NDArray[Any] | None:
        """The texts of a good shard that came as objects or as a list."""
        if type(value) is np.ndarray and value.dtype == object and value.ndim == 1 and len(value):
            return value if is_good_text(value.tolist()) else None
        if type(value) is list and value and is_good_text(value):
            texts = np.empty(len(value), object)
            texts[:] = value
            return texts
        return None

    def explain(self, value: Any, ids: Ids) -> tuple[NDArray[Any] | None, list[Violation]]:
        """(n,) object array of text, and what is wrong."""
        name = self.field.name
        try:
            text = as_labels(value, name, ids)
        except ContractError as error:
            return None, list(error.violations)
        if text.ndim != 1:
            return None, [Violation(name, "one text per row", f"shape {text.shape}")]
        if text.size and text.dtype != object:
            return None, [Violation(name, "text", "integers")]
        return text.astype(object), []

    def mark(self) -> None:
        """Nothing is learned."""

    def revert(self, mark: None) -> None:
        """Nothing to forget."""
