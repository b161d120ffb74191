"""The checks of one shard: every violation of every field at once, and next to nothing on a good one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from attrs import field as attribute
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.contract.align import join_names
from primabench_core.contract.checkers import Canonical, FieldChecker, Ids, LabelChecker, NumberChecker, column_names
from primabench_core.contract.checkers_ragged import RaggedChecker, TextChecker
from primabench_core.contract.evaldata import as_names, rows_of
from primabench_core.contract.fields import Field
from primabench_core.contract.plain import plain
from primabench_core.contract.ragged import Ragged
from primabench_core.contract.violations import Violation
from primabench_core.contract.vocabulary import Vocabulary
from primabench_core.errors import ContractError

Label = str | int
_NOUNS = {"genes": "gene", "classes": "class"}


@frozen(kw_only=True)
class Context:
    """What the truth says about the fields of a prediction.

    Example:
        >>> Context(classes={"label": ("B", "T")}, coords={"classes": ("B", "T")}).widths
        {}
    """

    classes: Mapping[str, tuple[Label, ...]] = attribute(factory=dict)
    """Classes of the truth, by label field."""
    coords: Mapping[str, tuple[Label, ...]] = attribute(factory=dict)
    """Names along columns in the truth's order: ``genes``, ``classes``."""
    hidden: tuple[str, ...] = ()
    """Coordinates whose names are private: no message shows a name that the prediction does not have."""
    widths: Mapping[str, int] = attribute(factory=dict)
    """Shape of ``value`` fields after the truth's: number of columns, 0 for one number per row."""
    lengths: NDArray[Any] | None = None
    """(n_truth,) lengths of molecules, for pairs."""
    ignored: tuple[str, ...] = ()
    """Fields that may come along and are dropped."""
    unknown_labels: str = "count"
    """``count`` or ``refuse`` a class outside the truth's."""
    side: str = "prediction"
    """``prediction`` or ``solution``: a solution may have missing values in nullable fields, points no confidence."""


class ShardChecker:
    """Checks shards of a prediction (or a truth) against fields; made once, used for every update.

    Args:
        fields: The fields that are needed.
        context: What the truth says.

    Example:
        >>> checker = ShardChecker([Field("score", "score")], Context())
        >>> columns, violations = checker.check({"score": np.array([0.5, np.nan])}, ids=["a", "b"])
        >>> print(violations[0])
        score: expected finite numbers, found NaN in 1 row (ids: b)
    """

    def __init__(self, fields: Sequence[Field], context: Context) -> None:
        self.fields, self.context = tuple(fields), context
        self.checkers: dict[str, FieldChecker] = {f.name: make_checker(f, context) for f in fields}
        self._items = tuple(self.checkers.items())
        self._joined: tuple[dict[str, tuple[Label, ...]], dict[str, NDArray[np.int64]]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_joined": None}

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """Vocabulary of each label field: codes of the canonical columns point into its ``classes``."""
        return {name: c.vocabulary for name, c in self._items if isinstance(c, LabelChecker)}

    def check(
        self,
        fields: Mapping[str, Any],
        *,
        n: int | None = None,
        ids: Ids = None,
        coords: Mapping[str, Any] | None = None,
        positions: NDArray[np.int64] | None = None,
    ) -> tuple[dict[str, Canonical], list[Violation]]:
        """Canonical columns of one shard, and everything that is wrong with it.

        Args:
            fields: Arrays by name.
            n: Rows of the shard; by default that of the ids, else of the first field.
            ids: Ids of the rows, to name the bad ones.
            coords: Names along columns that came with the shard (``genes``, ``classes``): columns are brought into
                the truth's order.
            positions: (n,) places of the rows in the truth, -1 if unknown; needed for lengths of molecules.

        Returns:
            Canonical columns (int64 codes for labels, float32 or float64, Ragged, or text), which may share memory
            with the input: copy what you keep. Then the violations; the columns mean nothing if there are any.
        """
        orders = self._known_orders(coords) if coords else {}
        if orders is None:
            return self._explain(fields, n, ids, coords, positions)
        columns: dict[str, Canonical] = {}
        if n is None and ids is not None:
            n = len(ids)
        for name, checker in self._items:
            value = fields.get(name)
            canonical = None if value is None else checker.fast(value)
            if canonical is None or (n is not None and len(canonical) != n):
                return self._explain(fields, n, ids, coords, positions)
            n = len(canonical)
            if name in orders:
                canonical = canonical[:, orders[name]]  # type: ignore[index]
            columns[name] = canonical
        if len(columns) != len(fields):
            return self._explain(fields, n, ids, coords, positions)
        return columns, []

    def _explain(
        self,
        fields: Mapping[str, Any],
        n: int | None,
        ids: Ids,
        coords: Mapping[str, Any] | None,
        positions: NDArray[np.int64] | None,
    ) -> tuple[dict[str, Canonical], list[Violation]]:
        marks = {name: checker.mark() for name, checker in self._items}
        violations = self._names(fields)
        orders, wrong = self._join(coords or {}, fields)
        violations += wrong
        columns: dict[str, Canonical] = {}
        if n is None and ids is not None:
            n = len(ids)
        for name, checker in self._items:
            value = fields.get(name)
            if value is None:
                if name in fields:
                    remedy = "give its values, or leave it out"
                    violations.append(Violation(name, f"a field of kind {checker.field.kind}", "None", remedy=remedy))
                continue
            named = ids
            count = _count(value)
            if count is not None and n is None:
                n = count
            if count is not None and count != n:
                violations.append(Violation(name, f"{n:,} rows", f"{count:,} rows", remedy="one entry for each id"))
                named = None
            canonical, wrong = self._one(name, checker, value, named, positions)
            if canonical is not None and name in orders and getattr(canonical, "ndim", 0) == 2:
                canonical = canonical[:, orders[name]]  # type: ignore[index]
            violations += wrong
            if canonical is not None:
                columns[name] = canonical
                if count is None and n is not None and len(canonical) != n:
                    violations.append(Violation(name, f"{n:,} rows", f"{len(canonical):,} rows"))
        if violations:
            for name, checker in self._items:
                checker.revert(marks[name])
        return columns, violations

    def _one(
        self, name: str, checker: FieldChecker, value: Any, ids: Ids, positions: NDArray[np.int64] | None
    ) -> tuple[Canonical | None, list[Violation]]:
        if not isinstance(checker, RaggedChecker):
            return checker.explain(value, ids)
        lengths = None
        if self.context.lengths is not None and positions is not None and _count(value) == len(positions):
            lengths = np.where(positions >= 0, self.context.lengths[positions], -1)
        return checker.explain(value, ids, lengths)

    def _names(self, fields: Mapping[str, Any]) -> list[Violation]:
        """Fields that are missing, and fields that nobody asked for."""
        extra = [name for name in fields if name not in self.checkers and name not in self.context.ignored]
        violations = []
        for wanted in self.fields:
            if wanted.name not in fields and not wanted.optional:
                close = get_close_matches(wanted.name, extra, n=1)
                held = f"no such field among {', '.join(fields)}" if fields else "no field at all"
                remedy = f"rename {close[0]!r} to {wanted.name!r}" if close else ""
                violations.append(Violation(wanted.name, f"a field of kind {wanted.kind}", held, remedy=remedy))
        for name in extra:
            close = get_close_matches(name, self.checkers, n=1)
            remedy = f"did you mean {close[0]!r}?" if close else "leave it out"
            known = ", ".join(self.checkers) or "none"
            violations.append(
                Violation(name, f"the fields {known}", "a field that is not in the contract", remedy=remedy)
            )
        return violations

    def _join(
        self, coords: Mapping[str, Any], fields: Mapping[str, Any]
    ) -> tuple[dict[str, NDArray[np.int64]], list[Violation]]:
        """How the columns of each field come into the truth's order."""
        wanted = {f.name: column_names(f) for f in self.fields if column_names(f) and f.name in fields}
        known = {*_NOUNS, *self.context.coords, *wanted.values()}
        violations = []
        for name in coords:
            if name not in known:
                close = get_close_matches(name, known, n=1)
                remedy = f"did you mean {close[0]!r}?" if close else "leave it out"
                violations.append(
                    Violation(name, f"names of columns called {', '.join(sorted(known))}", "others", remedy=remedy)
                )
        orders: dict[str, NDArray[np.int64]] = {}
        done: dict[str, NDArray[np.int64] | None] = {}
        for field, coord in wanted.items():
            if coord not in coords or not _is_wide(fields[field]):
                continue
            if coord not in done:
                done[coord], wrong = self._order(coord, coords[coord])
                violations += wrong
            order = done[coord]
            if order is not None:
                orders[field] = order
        if not violations and all(f.name in fields for f in self.fields):  # else a field still lacks its order
            self._joined = ({name: as_names(given, name) for name, given in coords.items()}, orders)
        return orders, violations

    def orders(
        self, coords: Mapping[str, Any], fields: Mapping[str, Any]
    ) -> tuple[dict[str, NDArray[np.int64]], list[Violation]]:
        """How the columns of each field come into the truth's order, and what is wrong with their names.

        Of the fields themselves only the shape is looked at.
        """
        known = self._known_orders(coords)
        return self._join(coords, fields) if known is None else (known, [])

    def _known_orders(self, coords: Mapping[str, Any]) -> dict[str, NDArray[np.int64]] | None:
        """What :meth:`_join` found for these very names before, or None."""
        if self._joined is None or self._joined[0].keys() != coords.keys():
            return None
        for name, names in self._joined[0].items():
            given = coords[name]
            if given is not names and (not isinstance(given, list | tuple) or tuple(given) != names):
                return None
        return self._joined[1]

    def _order(self, coord: str, given: Any) -> tuple[NDArray[np.int64] | None, list[Violation]]:
        noun = _NOUNS.get(coord, coord.removesuffix("s"))
        if coord not in self.context.coords:
            remedy = f"give the truth its {coord} too, or leave them out on both sides"
            return None, [Violation(coord, "none, as the truth has none", "names of columns", remedy=remedy)]
        try:
            names = list(as_names(given, coord))
            return join_names(self.context.coords[coord], names, noun, coord, hidden=coord in self.context.hidden)
        except ContractError as error:
            return None, list(error.violations)


def check_shard(
    fields: Sequence[Field], shard: Mapping[str, Any], context: Context, **how: Any
) -> tuple[dict[str, Canonical], list[Violation]]:
    """:meth:`ShardChecker.check` for a single shard; ``how`` are its keyword arguments."""
    return ShardChecker(fields, context).check(shard, **how)


def make_checker(field: Field, context: Context) -> FieldChecker:
    """The checker of a field."""
    nullable = context.side == "solution" and field.nullable
    if field.kind == "label":
        given = field.vocabulary if isinstance(field.vocabulary, tuple) else context.classes.get(field.name, ())
        known = () if field.vocabulary == "open" else given
        unknown = context.unknown_labels if field.vocabulary == "truth" and known else "count"
        return LabelChecker(field, Vocabulary(known), unknown=unknown, nullable=nullable)
    if field.kind == "text":
        return TextChecker(field)
    if field.kind == "pairs":
        return RaggedChecker(field, width=2)
    if field.kind == "points":
        classes = field.vocabulary if isinstance(field.vocabulary, tuple) else None
        return RaggedChecker(field, width=4 if context.side == "prediction" else 3, classes=classes)
    width: int | None = context.widths.get(field.name)
    coord = column_names(field)
    names = context.coords.get(coord)
    if field.kind == "score":
        return NumberChecker(field, (1,), nullable=nullable)
    dims: tuple[int, ...] = (2,)
    if field.kind == "value":
        dims = (1, 2) if width is None else (1,) if width == 0 else (2,)
    noun = ""
    if names and not width and width != 0:
        width, noun = len(names), _NOUNS.get(coord, coord.removesuffix("s"))
    return NumberChecker(field, dims, width=width or None, noun=noun, nullable=nullable)


def _is_wide(value: Any) -> bool:
    if getattr(value, "is_nested", False):
        return False
    shape = getattr(value, "shape", None)
    return len(shape) == 2 if shape is not None else not isinstance(value, Ragged) and np.ndim(plain(value)) == 2


def _count(value: Any) -> int | None:
    """Rows of a value as it came, or None if that cannot be said."""
    try:
        if isinstance(value, Ragged) or hasattr(value, "shape"):
            return rows_of(value)
    except (ContractError, RuntimeError):  # a nested tensor has no shape
        return None
    return len(value) if hasattr(value, "__len__") and not isinstance(value, str | bytes) else None
