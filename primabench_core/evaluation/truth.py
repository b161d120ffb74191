"""The truth in canonical form. It never prints its values, and a dataset's truth never enters a pickle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.arrays import as_ids, as_labels
from primabench_core.contract.check import Context, make_checker
from primabench_core.contract.contract import Contract
from primabench_core.contract.fields import Field
from primabench_core.contract.plain import row_names
from primabench_core.contract.violations import Violation
from primabench_core.contract.vocabulary import label_order
from primabench_core.errors import ContractError
from primabench_core.evaluation.plan import unknown_fields
from primabench_core.state.rows import Column, Labels

if TYPE_CHECKING:
    from primabench_core.contract.align import IdIndex
    from primabench_core.contract.evaldata import EvalData

Label = str | int


class Truth:
    """Canonical columns of a solution in its own order, with everything that is looked up in it.

    Args:
        data: Ids, fields and coordinates.
        contract: Declares the fields; those it marks optional may be absent.
        private: The solution of a dataset: nothing of it may be shown or leave the process.
        independent_unit: Field whose values are resampled for intervals.
        salt: Bytes that salt ``sha256``.
        told: Names of a private truth that stand in public splits.

    Raises:
        ContractError: every violation of the data, at once.
    """

    def __init__(
        self,
        data: EvalData,
        contract: Contract,
        *,
        private: bool = False,
        independent_unit: str = "",
        salt: bytes = b"",
        told: frozenset[str] = frozenset(),
    ) -> None:
        self.private, self._salt, self._told = private, salt, told
        self.told_by_oracle = False  # then predicted names are the solution's own, and nobody has said them
        self._what = "The solution" if private else "The truth"
        violations = unknown_fields((n for n in data.fields if n != independent_unit), contract, "truth")
        self.ids = _read(violations, lambda: None if data.ids is None else as_ids(data.ids))
        if self.ids is not None and len(set(self.ids)) < len(self.ids):
            violations.append(_repeated(self.ids))
        self.n = _read(violations, lambda: data.n) or 0
        self.fields = {f.name: f for f in contract.solution if f.name in data.fields}
        absent = [f.name for f in contract.solution if f.name not in data.fields and not f.optional]
        violations += [Violation(name, "a field of the truth", "no such field") for name in absent]
        self.coords = {name: tuple(map(str, names)) for name, names in data.coords.items()}
        if violations:
            raise ContractError(violations, what=self._what)
        self.missing: dict[str, NDArray[np.bool_]] = {}
        self.columns: dict[str, Column] = {}
        for name, declared in self.fields.items():
            column = _read(violations, lambda n=name, d=declared: self._column(d, data.fields[n]))  # type: ignore[misc]
            if column is not None:
                self.columns[name] = column
        self.groups: NDArray[np.int64] | None = None
        self.group_names: list[str] | None = None
        self.unit = independent_unit
        if independent_unit and independent_unit in data.fields:
            groups = _read(violations, lambda: as_labels(data.fields[independent_unit], independent_unit))
            if groups is not None:
                distinct, self.groups = _factorise(groups)
                self.group_names = [str(name) for name in distinct]
        elif independent_unit:
            violations.append(Violation(independent_unit, "the independent unit of each row", "no such field"))
        if violations:
            raise ContractError(violations, what=self._what)

    # -- reading ---------------------------------------------------------------------------------------------------

    def _column(self, declared: Field, raw: Any) -> Column:
        if declared.kind == "label":
            return self._labels(declared, raw)
        checker = make_checker(declared, Context(coords=self.coords, side="solution"))
        column, violations = checker.explain(raw, self.ids)
        if violations or column is None:
            raise ContractError(violations)
        if len(column) != self.n:
            _refuse(declared, f"{self.n:,} rows", f"{len(column):,} rows")
        if isinstance(column, np.ndarray) and column.dtype.kind == "f":
            column = _owned(column)
            if declared.nullable and (absent := np.isnan(column)).any():
                self.missing[declared.name] = np.asarray(absent.reshape(self.n, -1).any(axis=1), np.bool_)
        return column

    def _labels(self, declared: Field, raw: Any) -> Labels:
        values = as_labels(raw, declared.name, self.ids, nullable=declared.nullable)
        if values.ndim != 1:
            _refuse(declared, "one label per row", f"shape {values.shape}")
        if len(values) != self.n:
            _refuse(declared, f"{self.n} rows", f"{len(values)} rows")
        absent = None
        if values.dtype == object and declared.nullable:
            absent = np.fromiter((v is None for v in values), np.bool_, len(values))
            if absent.any():
                self.missing[declared.name] = absent
        present = values if absent is None or not absent.any() else values[~absent]
        occurring, codes = _factorise(present)
        classes = self._vocabulary_for(declared, occurring)
        at = {c: i for i, c in enumerate(classes)}
        strange = [c for c in occurring if c not in at]
        if strange:
            names = [] if self.private else [str(c) for c in strange[:5]]
            raise ContractError(
                [Violation(declared.name, "labels among its classes", "others", names, len(strange), noun="class")]
            )
        mapped = codes if classes == occurring else np.asarray([at[c] for c in occurring], np.int64)[codes]
        if absent is not None and absent.any():
            full = np.full(self.n, -1, np.int64)
            full[~absent] = mapped
            mapped = full
        return Labels(mapped, classes)

    def _vocabulary_for(self, declared: Field, occurring: tuple[Label, ...]) -> tuple[Label, ...]:
        if isinstance(declared.vocabulary, tuple):
            return declared.vocabulary
        named = self.coords.get("classes")
        if named is None or declared.name != self.class_field:
            return occurring
        if occurring and isinstance(occurring[0], int):
            return _as_integers(named, declared)
        return named

    # -- what others ask -------------------------------------------------------------------------------------------

    @property
    def class_field(self) -> str | None:
        """The label field that the ``classes`` coordinate describes: ``label``, else the first one."""
        labels = [f.name for f in self.fields.values() if f.kind == "label"]
        return "label" if "label" in labels else next(iter(labels), None)

    @property
    def classes(self) -> tuple[Label, ...] | None:
        """Class of each probability column: the coordinate, else the labels that occur; None without labels."""
        name = self.class_field
        column = None if name is None else self.columns.get(name)
        return column.classes if isinstance(column, Labels) else None

    def vocabulary(self, predicted: Field) -> tuple[Label, ...]:
        """Classes that a predicted label field is checked against.

        Those of the truth field of that name, else of the field that has the classes; an explicit vocabulary is its
        own.
        """
        if isinstance(predicted.vocabulary, tuple):
            return predicted.vocabulary
        column = self.columns.get(predicted.name)
        if not isinstance(column, Labels):
            return self.classes or ()
        return column.classes

    @cached_property
    def untold(self) -> frozenset[str]:
        """Names of classes and groups that nothing public holds; none where the caller brought the truth."""
        if not self.private:
            return frozenset()
        names = set(self.group_names or ())
        for column in self.columns.values():
            if isinstance(column, Labels):
                names.update(c for c in column.classes if isinstance(c, str))
        for declared in self.fields.values():
            if isinstance(declared.vocabulary, tuple):
                names.difference_update(map(str, declared.vocabulary))
        return frozenset(n for n in names - self._told if not n.lstrip("-").isdigit())

    def names_of(self, positions: NDArray[np.int64]) -> list[str]:
        """Ids of a few positions, or row numbers."""
        return [self.ids[p] if self.ids is not None else str(p) for p in positions.tolist()]

    @cached_property
    def index(self) -> IdIndex:
        """Ids to positions."""
        from primabench_core.contract.align import IdIndex

        return IdIndex(self.ids or [])

    @cached_property
    def sha256(self) -> str:
        """Fingerprint of the canonical content, salted where a salt was given."""
        from primabench_core.state.fingerprint import fingerprint

        salt = self._salt or None
        return fingerprint(self.ids, self.columns, n=self.n, salt=salt, ids_sha=self.ids_sha, coords=self.coords)

    @cached_property
    def ids_sha(self) -> str:
        """Digest of the ids, which all fingerprints over this truth share."""
        from primabench_core.state.fingerprint import ids_digest

        return ids_digest(self.ids, self.n)

    @cached_property
    def blocks(self) -> NDArray[np.int64]:
        """(n,) hashed block of each row's independent unit, for intervals."""
        from primabench_core.statistics.resampling import block_of

        if self.group_names is not None and self.groups is not None:
            return block_of(self.group_names)[self.groups]
        return block_of(self.ids if self.ids is not None else map(str, range(self.n)))

    def __repr__(self) -> str:
        fields = ", ".join(f"{f.name}: {f.kind}" for f in self.fields.values())
        return f"Truth({self.n} rows, {'private' if self.private else 'of the caller'}; {fields})"


def _owned(column: NDArray[Any]) -> NDArray[Any]:
    """A read-only column that the caller cannot change afterwards; -0.0 is 0.0."""
    column = column + column.dtype.type(0)
    column.flags.writeable = False
    return column


def _factorise(values: NDArray[Any]) -> tuple[tuple[Label, ...], NDArray[np.int64]]:
    """The classes that occur, sorted, and the code of each row."""
    if values.dtype == object:
        at = {value: i for i, value in enumerate(sorted(set(values.tolist()), key=label_order))}
        return tuple(at), np.array(list(map(at.__getitem__, values.tolist())), np.int64)
    if not len(values):
        return (), np.empty(0, np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low < 1 << 20:  # a table is much faster than sorting
        shifted = values - low
        present = np.bincount(shifted, minlength=high - low + 1) > 0
        codes = shifted if present.all() else (np.cumsum(present) - 1)[shifted]
        return tuple((np.flatnonzero(present) + low).tolist()), codes
    classes, codes = np.unique(values, return_inverse=True)
    return tuple(classes.tolist()), codes


def _as_integers(named: Sequence[str], declared: Field) -> tuple[int, ...]:
    try:
        numbers = tuple(int(name) for name in named)
    except ValueError:
        numbers = ()
    if tuple(map(str, numbers)) != tuple(named):
        _refuse(declared, "integer labels for integer classes", "classes that are text")
    return numbers


def _repeated(ids: Sequence[str]) -> Violation:
    seen: set[str] = set()
    twice = {i for i in ids if i in seen or seen.add(i)}  # type: ignore[func-returns-value]
    return Violation("ids", "each id once", "repeated ids", sorted(twice)[:5], len(twice), noun="id")


def _read(violations: list[Violation], read: Callable[[], Any]) -> Any:
    """What ``read`` gives, or None with its violations noted."""
    try:
        return read()
    except ContractError as error:
        violations += error.violations
        return None


def _refuse(
    declared: Field,
    expected: str,
    found: str,
    rows: NDArray[Any] | Sequence[int] = (),
    ids: Sequence[str] | None = None,
) -> NoReturn:
    raise ContractError([Violation(declared.name, expected, found, row_names(rows, ids), len(rows))])
