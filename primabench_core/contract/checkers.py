"""The checks of one field, prepared once and run on every shard.

Each checker has a fast path, ``fast(value)``, which returns the canonical array of a good shard or None, and a slow
one, ``explain(value, ids)``, which returns the canonical array and everything that is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.arrays import as_labels, as_numeric, whole_numbers
from primabench_core.contract.fields import Field
from primabench_core.contract.plain import SHOWN, UntypedText, from_tensor, row_names
from primabench_core.contract.ragged import Ragged
from primabench_core.contract.sparse_rows import SparseRows
from primabench_core.contract.violations import Violation
from primabench_core.contract.vocabulary import Vocabulary
from primabench_core.errors import ContractError

Canonical = NDArray[Any] | Ragged
Ids = Sequence[str] | None

SUM_TOLERANCE = 1e-6
"""How far from 1 a row of probabilities may sum."""

_BIGGEST = float(np.finfo(np.float64).max)


class FieldChecker(Protocol):
    """Checks of one field."""

    field: Field

    def fast(self, value: Any) -> Canonical | None:
        """The canonical array of a good shard, or None: then :meth:`explain` says more."""

    def explain(self, value: Any, ids: Ids) -> tuple[Canonical | None, list[Violation]]:
        """The canonical array (None if there is none) and every violation."""

    def mark(self) -> Any:
        """What this checker has learned from shards so far."""

    def revert(self, mark: Any) -> None:
        """Forget what was learned since: a refused shard leaves nothing behind."""


def numpy_of(value: Any) -> NDArray[Any] | None:
    """A numpy array, a tensor's values, or a list of numbers as an array; None for anything else."""
    if type(value) is np.ndarray:
        return value
    if type(value).__module__ == "torch":
        try:
            array: NDArray[Any] = value.numpy()
        except (RuntimeError, TypeError):  # on a device, with gradient, bfloat16
            try:
                array = from_tensor(value)
            except ContractError:  # said again by whoever knows the field
                return None
        return array
    if type(value) is list and value and type(value[0]) in (int, float):
        try:
            array = np.array(value)
        except ValueError:  # rows of different lengths
            return None
        return array if array.dtype.char in "ld" else None
    return None


class LabelChecker:
    """Class labels: canonical are codes into the vocabulary, -1 for a missing truth."""

    def __init__(self, field: Field, vocabulary: Vocabulary, *, unknown: str = "count", nullable: bool = False) -> None:
        self.field, self.vocabulary, self.nullable = field, vocabulary, nullable
        self.closed = unknown == "refuse" or isinstance(field.vocabulary, tuple)

    def fast(self, value: Any) -> NDArray[np.int64] | None:
        """Codes of labels that are all known."""
        if type(value) is list and self.vocabulary.kind is str:
            return self.vocabulary.encode_text(value) if value else None
        array = numpy_of(value)
        return None if array is None else self.vocabulary.encode_fast(array)

    def explain(self, value: Any, ids: Ids) -> tuple[NDArray[np.int64] | None, list[Violation]]:
        """Codes, and what is wrong."""
        name = self.field.name
        try:
            labels = as_labels(value, name, ids, nullable=self.nullable)
        except ContractError as error:
            return None, list(error.violations)
        if labels.ndim != 1:
            return None, [_dims(name, "one label per row", labels.shape)]
        if isinstance(value, UntypedText) and self.vocabulary.kind is int:
            numbers = whole_numbers(labels)
            labels = labels if numbers is None else numbers
        mismatch = self.vocabulary.mismatch(labels)
        if mismatch:
            wanted = "text labels" if self.vocabulary.kind is str else "integer labels"
            remedy = "labels are compared as they are: '1' is not 1"
            if self.vocabulary.kind is str:
                remedy += "; map class numbers to names, for a task through coords['classes'] of the test data"
            return None, [Violation(name, f"{wanted}, as the truth has", mismatch, (), 0, remedy)]
        if self.closed:
            rows = np.flatnonzero(self.vocabulary.unknown(labels))
            if len(rows):
                shown = ", ".join(repr(v) for v in dict.fromkeys(labels[rows[:SHOWN]].tolist()))
                expected = "classes of the truth"  # which are not listed: the truth may be private
                if isinstance(self.field.vocabulary, tuple):
                    expected = f"one of the classes {', '.join(map(str, self.field.vocabulary[:10]))}"
                found = f"unknown classes ({shown})"
                return None, [Violation(name, expected, found, row_names(rows, ids), len(rows))]
        return self.vocabulary.encode(labels), []

    def mark(self) -> int:
        """How many classes there are."""
        return len(self.vocabulary)

    def revert(self, mark: int) -> None:
        """Forget the classes of a refused shard."""
        self.vocabulary.truncate(mark)


class NumberChecker:
    """Scores, values, embeddings, matrices and probabilities: finite, in range, of one shape.

    Args:
        field: The field.
        dims: Allowed numbers of dimensions.
        width: Columns that a 2-D field must have; None if the first shard decides.
        noun: What each column stands for, if the truth names its columns.
        nullable: Let NaN pass (a truth).
    """

    def __init__(
        self, field: Field, dims: tuple[int, ...], *, width: int | None = None, noun: str = "", nullable: bool = False
    ) -> None:
        self.field, self.dims, self.width, self.noun, self.nullable = field, dims, width, noun, nullable
        self.low = field.low
        self.high = field.high
        if field.state and self.low is None:
            self.low = 0.0
        if field.kind == "probability":
            self.low, self.high = 0.0, 1.0
        # NaN compares false and infinities lie outside: two reductions check finiteness and range at once
        self._bounds = (-_BIGGEST if self.low is None else self.low, _BIGGEST if self.high is None else self.high)
        self._plain = field.kind != "probability" and field.state != "counts"

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest number that may be."""
        return self._bounds

    @property
    def is_plain(self) -> bool:
        """Whether :attr:`bounds` are all that is asked of the numbers."""
        return self._plain

    def fast(self, value: Any) -> NDArray[Any] | None:
        """The array of a good shard, cast up if it has to be."""
        if type(value) is SparseRows:
            return value if self._passes(value) else None  # type: ignore[return-value]
        array = numpy_of(value)
        if array is None:
            return None
        char = array.dtype.char
        if char not in "fd":
            if char not in "eBbHhIiLlQq?":
                return None
            array = array.astype(np.float32 if char == "e" else np.float64)
        if array.ndim not in self.dims or not array.size or (array.ndim == 2 and array.shape[1] != self.width):
            return None
        low, high = self._bounds
        if np.minimum.reduce(array, None).item() >= low and np.maximum.reduce(array, None).item() <= high:
            return array if self._plain or not self._faults(array, None) else None
        return None

    def _passes(self, rows: SparseRows) -> bool:
        """Whether nothing is wrong with sparse rows, of which zeros are numbers too."""
        low, high = self._bounds
        if not self._plain or 2 not in self.dims or rows.width != self.width or not len(rows) or not low <= 0 <= high:
            return False
        held = rows.data
        return not len(held) or (np.minimum.reduce(held).item() >= low and np.maximum.reduce(held).item() <= high)

    def explain(self, value: Any, ids: Ids) -> tuple[NDArray[Any] | None, list[Violation]]:
        """The array, and what is wrong; sparse rows stay so if nothing is."""
        name = self.field.name
        if type(value) is SparseRows:
            if self._passes(value):
                return value, []  # type: ignore[return-value]
            value = value.dense()
        try:
            array = as_numeric(value, name, ids)
        except ContractError as error:
            return None, list(error.violations)
        if array.ndim in (1, 2) and not len(array) and array.ndim not in self.dims:
            array = array.reshape((0, self.width or 0) if 2 in self.dims else 0)  # no rows have no shape
        if array.ndim not in self.dims:
            words = {1: "one number per row", 2: "a row of numbers per row"}
            expected = " or ".join(words[d] for d in self.dims)
            return None, [_dims(name, expected, array.shape)]
        if array.ndim == 2 and self.width is None and len(array):
            self.width = array.shape[1]
        if array.ndim == 2 and array.shape[1] != (self.width or 0):
            if len(array):
                return None, [self._wrong_width(array.shape[1])]
            array = array.reshape(0, self.width or 0)
        if array.ndim == 2 and len(array) and not array.shape[1]:
            return None, [Violation(name, "at least one column", "none")]
        return array, self._out_of_range(array, ids) + self._faults(array, ids)

    def _wrong_width(self, found: int) -> Violation:
        expected = f"{self.width} columns" + (f" (one for each {self.noun})" if self.noun else "")
        return Violation(self.field.name, expected, f"{found} column{'' if found == 1 else 's'}")

    def _out_of_range(self, array: NDArray[Any], ids: Ids) -> list[Violation]:
        violations: list[Violation] = []
        finite = np.isfinite(array)
        all_finite = bool(finite.all())
        if all_finite and self.low is None and self.high is None:
            return violations
        if not all_finite:
            nan = np.isnan(array)
            for word, bad in (("NaN", nan), ("infinite numbers", ~finite & ~nan)):
                if not (word == "NaN" and self.nullable):
                    violations += self._rows(bad, "finite numbers", word, ids)
        with np.errstate(invalid="ignore", over="ignore"):
            if self.low is not None:
                under = (array < self.low) & finite
                violations += self._rows(
                    under, f"numbers of at least {self.low:g}", _extreme(array, under, min, self.low), ids
                )
            if self.high is not None:
                over = (array > self.high) & finite
                violations += self._rows(
                    over, f"numbers of at most {self.high:g}", _extreme(array, over, max, self.high), ids
                )
        return violations

    def _faults(self, array: NDArray[Any], ids: Ids) -> list[Violation]:
        """What a kind asks for beyond the range: rows that sum to 1, whole numbers."""
        if self.field.kind == "probability" and len(array):
            with np.errstate(invalid="ignore", over="ignore"):
                gap = np.abs(array.sum(axis=1, dtype=np.float64) - 1.0)
            bad = (gap > SUM_TOLERANCE) & np.isfinite(gap)
            if not bad.any():
                return []
            remedy = "nothing is renormalised; apply the softmax in float32 or float64"
            found = f"a sum of {array[bad.argmax()].sum(dtype=np.float64):.9g}"
            return self._rows(bad, "rows that sum to 1 within 1e-06", found, ids, remedy)
        if self.field.state == "counts":
            with np.errstate(invalid="ignore"):
                bad = (array != np.floor(array)) & np.isfinite(array)
            remedy = "counts are whole numbers; give the raw counts, not normalised, log or scaled values"
            return self._rows(bad, "counts", "numbers that are not whole", ids, remedy)
        return []

    def _rows(self, bad: NDArray[np.bool_], expected: str, found: str, ids: Ids, remedy: str = "") -> list[Violation]:
        rows = np.flatnonzero(bad if bad.ndim == 1 else bad.any(axis=1))
        if not len(rows):
            return []
        if not remedy and self.field.state == "log" and "at least" in expected:
            remedy = "log values are not negative; scaled or centred values are something else"
        return [Violation(self.field.name, expected, found, row_names(rows, ids), len(rows), remedy)]

    def mark(self) -> int | None:
        """The width so far."""
        return self.width

    def revert(self, mark: int | None) -> None:
        """Forget the width of a refused shard."""
        self.width = mark


def column_names(field: Field) -> str:
    """Name of the coordinate along the columns of a field: its own, else what its kind is known by."""
    return field.coord or {"probability": "classes", "matrix": "genes", "value": "genes"}.get(field.kind, "")


def _extreme(array: NDArray[Any], bad: NDArray[np.bool_], pick: Any, bound: float) -> str:
    """The number farthest out, with as many digits as tell it from the bound."""
    if not bad.any():
        return ""
    worst = pick(array[bad].min(), array[bad].max())
    return f"{worst:g}" if f"{worst:g}" != f"{bound:g}" else repr(float(worst))


def _dims(name: str, expected: str, shape: tuple[int, ...]) -> Violation:
    remedy = "squeeze the second axis away" if len(shape) == 2 and shape[1] == 1 and "one" in expected else ""
    return Violation(name, expected, f"shape {shape}", remedy=remedy)
