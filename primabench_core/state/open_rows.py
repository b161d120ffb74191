"""Rows that no truth lists: predictions of which a unit may have any number, such as the cells of a perturbation.

The state of contracts with ``many_rows_per_unit``. Its laws are those of placed rows and are tested with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from primabench_core.advice import DROP_IDENTICAL
from primabench_core.contract.ragged import Ragged
from primabench_core.contract.sparse_rows import SparseRows, thin
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_core.state.columns import Values, canonical, pack, same_rows, take_rows, unpack
from primabench_core.state.placed import SHOWN, Names, row_numbers

Ints = NDArray[np.int64]


class OpenRows:
    """Rows with ids of their own, each of one unit of the truth; canonical order is (unit, row id).

    The same value as :class:`~primabench_core.state.placed.PlacedRows` otherwise: order and cutting of updates leave
    no trace, :meth:`merge` is associative and commutative, a refused update changes nothing. A row id is unique over
    all units. Rows without ids may come in one update only; their numbers are then their ids. Numbers that the caller
    gives are ids like others, in the order of numbers.

    Args:
        n: Units of the truth; coverage counts them.
        duplicates: A row id that comes again: ``"refuse"``, or ``"drop_identical"`` (equal unit and content count
            once, anything else is an error).
        ids_of: Names units in errors; not part of the value.

    Example:
        >>> import numpy as np
        >>> state = OpenRows(2)
        >>> state.append(["b", "a"], np.array([1, 1]), {"x": np.array([2.0, 1.0])})
        >>> state.append(["c"], np.array([0]), {"x": np.array([0.0])})
        >>> state.ids, state.units.tolist(), state.column("x").tolist()
        (['c', 'a', 'b'], [0, 1, 1], [0.0, 1.0, 2.0])
    """

    def __init__(
        self, n: int, *, duplicates: Literal["refuse", "drop_identical"] = "refuse", ids_of: Names = row_numbers
    ) -> None:
        if duplicates not in ("refuse", "drop_identical"):
            raise ValueError(f"duplicates must be 'refuse' or 'drop_identical', got {duplicates!r}")
        self.n, self.duplicates, self.ids_of = n, duplicates, ids_of
        self.reset()

    def reset(self) -> None:
        """Forget all rows."""
        self._rows: dict[str, int] = {}  # id -> number of the row in order of arrival
        self._numbered = False
        self._whole = False  # rows came without ids, so nothing else may come
        self._units: list[Ints] = []
        self._chunks: dict[str, list[Values]] = {}
        self._order: Ints | None = None

    def append(
        self, ids: Sequence[str] | Ints | None, units: Ints, columns: Mapping[str, Any], *, whole: bool = False
    ) -> Ints:
        """Take rows in; nothing is kept of the caller's arrays.

        Args:
            ids: (k,) text, (k,) int64 row numbers, or None if all rows come at once.
            units: (k,) position of each row's unit, in ``range(n)``.
            columns: For every field k rows, as :meth:`PlacedRows.place` takes them.
            whole: Row numbers stand for rows without ids, so that no others may come; None as ids means 0 … k-1 so.

        Returns:
            Which of the k rows were new, ascending.

        Raises:
            ContractError: A row comes again where that is not allowed, rows without ids meet others, or a field
                changes. The state is as before.
        """
        units = np.array(units, np.int64)
        staged = self._stage(len(units), columns)
        new = np.arange(len(units))
        if not len(units):
            return new
        if ids is None:
            ids, whole = new, True
        numbered = isinstance(ids, np.ndarray)
        if self._rows and (whole or self._whole or numbered != self._numbered):
            expected = "ids for rows that come in several updates"
            raise ContractError([Violation("ids", expected, "rows without ids", remedy="Give every row an id.")])
        names = list(map(str, ids.tolist() if isinstance(ids, np.ndarray) else ids))
        if len(names) != len(units):
            raise ContractError([Violation("ids", f"{len(units):,} ids, one for each row", f"{len(names):,} ids")])
        fresh = dict(zip(names, range(len(names)), strict=True))
        if len(fresh) < len(names) or not self._rows.keys().isdisjoint(fresh):
            self._check_repeats(names, units, staged)
            fresh = {}
            for i, name in enumerate(names):
                if name not in self._rows:
                    fresh.setdefault(name, i)
            new = keep = np.fromiter(fresh.values(), np.int64, len(fresh))
            units, staged = units[keep], {f: take_rows(values, keep) for f, values in staged.items()}
        start = len(self._rows)
        if fresh:
            owned = {name: _own(values) for name, values in staged.items()}
            for name, values in owned.items():
                self._chunks.setdefault(name, []).append(values)
            self._units.append(units)
            self._numbered, self._whole = numbered, whole
            self._order = None
            self._rows.update(zip(fresh, range(start, start + len(fresh)), strict=True))
        return new

    def _stage(self, k: int, columns: Mapping[str, Any]) -> dict[str, Any]:
        if not columns or (self._chunks and columns.keys() != self._chunks.keys()):
            expected = f"the fields of earlier updates ({', '.join(self.fields)})" if self._chunks else "a field"
            raise ContractError([Violation("fields", expected, ", ".join(sorted(columns)) or "none")])
        staged, wrong = {}, []
        for name, given in columns.items():
            try:
                staged[name] = values = canonical(given)
                if len(values) != k:
                    raise ValueError(f"{len(values)} rows for {k} units")
                before = self._chunks[name][0] if self._chunks else values
                if k and _kind(values) != _kind(before):
                    raise ValueError(f"{_kind(values)} where rows were {_kind(before)}")
            except ValueError as error:
                wrong.append(Violation(name, "rows like those of earlier updates, one for each unit", str(error)))
        if wrong:
            raise ContractError(wrong)
        return staged

    def _check_repeats(self, names: list[str], units: Ints, staged: Mapping[str, Any]) -> None:
        """Raise unless every row that comes again is what it was."""
        first: dict[str, int] = {}
        old: list[tuple[int, int]] = []  # (row of this batch, row stored)
        twin: list[tuple[int, int]] = []  # (row of this batch, earlier row of this batch)
        for i, name in enumerate(names):
            if name in self._rows:
                old.append((i, self._rows[name]))
            elif first.setdefault(name, i) != i:
                twin.append((i, first[name]))
        again = [i for i, _ in old] + [i for i, _ in twin]
        if self.duplicates == "refuse":
            remedy = f"Give each row id once, or {DROP_IDENTICAL.text()}."
            raise ContractError([_about("ids", "each row id once", "a row id that comes again", names, again, remedy)])
        new, stored, earlier = (np.array(p, np.int64) for p in (again, [s for _, s in old], [t for _, t in twin]))
        wrong = []
        columns: list[tuple[str, Sequence[Any], Any]] = [("unit", self._units, units)]
        columns += [(name, self._chunks.get(name, []), values) for name, values in staged.items()]
        for name, chunks, values in columns:
            same = np.ones(len(new), bool)
            same[: len(old)] = self._same(chunks, stored, take_rows(values, new[: len(old)]))
            same[len(old) :] = same_rows(take_rows(values, new[len(old) :]), take_rows(values, earlier))
            if not same.all():
                at = new[~same].tolist()
                expected, remedy = "the same content when a row id comes again", "Give each row an id of its own."
                wrong.append(_about(name, expected, "different content", names, at, remedy))
        if wrong:
            raise ContractError(wrong)

    def _same(self, chunks: Sequence[Any], stored: Ints, values: Any) -> NDArray[np.bool_]:
        same = np.ones(len(stored), bool)
        starts = np.cumsum([0, *map(len, self._units)])
        home = np.searchsorted(starts, stored, side="right") - 1
        for c in np.unique(home).tolist():
            here = np.flatnonzero(home == c)
            same[here] = same_rows(take_rows(chunks[c], stored[here] - starts[c]), take_rows(values, here))
        return same

    @property
    def n_rows(self) -> int:
        """Rows taken in."""
        return len(self._rows)

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields, sorted."""
        return tuple(sorted(self._chunks))

    @property
    def order(self) -> Ints:
        """(rows,) the rows in canonical order, by number of arrival."""
        if self._order is None:
            names = list(self._rows)
            key = (lambda i: int(names[i])) if self._numbered else names.__getitem__
            by_name = np.array(sorted(range(len(names)), key=key), np.int64)
            self._order = by_name[np.argsort(self._arrived_units()[by_name], kind="stable")]
        return self._order

    @property
    def ids(self) -> list[str]:
        """Row ids in canonical order."""
        names = list(self._rows)
        return [names[i] for i in self.order.tolist()]

    @property
    def units(self) -> Ints:
        """(rows,) position of each row's unit, ascending."""
        return self._arrived_units()[self.order]

    @property
    def n_seen(self) -> int:
        """Units with at least one row."""
        return len(self.seen_positions())

    @property
    def coverage(self) -> float:
        """Share of units with a row; 1.0 for a truth of no units."""
        return self.n_seen / self.n if self.n else 1.0

    def seen_positions(self) -> Ints:
        """Units with a row, ascending."""
        return np.unique(self._arrived_units())

    def missing_positions(self, limit: int | None = None) -> Ints:
        """Units without a row, ascending, at most ``limit`` of them."""
        return np.setdiff1d(np.arange(self.n), self.seen_positions())[:limit]

    def column(self, name: str) -> Values:
        """One field in canonical order: int64 codes, float32/float64 reals, text, or Ragged."""
        chunks: list[Any] = self._chunks[name]
        if isinstance(chunks[0], Ragged):
            filled = [c.values for c in chunks if len(c.values)] or [chunks[0].values]
            whole = Ragged(np.concatenate(filled), np.concatenate([c.counts for c in chunks]))
            return whole.take(self.order)
        if any(isinstance(c, SparseRows) for c in chunks):
            return self._sparse_column(chunks)
        values = np.empty((self.n_rows, *chunks[0].shape[1:]), np.result_type(*(c.dtype for c in chunks)))
        rank = np.empty(self.n_rows, np.int64)
        rank[self.order] = np.arange(self.n_rows)
        start = 0
        for chunk in chunks:  # no second copy of a wide field
            values[rank[start : start + len(chunk)]] = chunk
            start += len(chunk)
        return values

    def _sparse_column(self, chunks: Sequence[Any]) -> Values:
        """Sparse or dense by the share of zeros of all rows, however they were cut."""
        kind = np.result_type(*(c.dtype for c in chunks))
        parts = [(c if isinstance(c, SparseRows) else SparseRows.compressed(c)).astype(kind) for c in chunks]
        whole: Values = thin(SparseRows.joined(parts)[self.order])
        return whole

    def chunks(self, name: str) -> Sequence[Values]:
        """The rows of one field as they came, batch after batch."""
        return tuple(self._chunks[name])

    @property
    def arrived(self) -> tuple[list[str], Ints]:
        """Ids and units of the rows in the order in which they came."""
        return list(self._rows), self._arrived_units()

    def _arrived_units(self) -> Ints:
        return np.concatenate([*self._units, np.zeros(0, np.int64)])

    @property
    def is_numbered(self) -> bool:
        """Whether rows have numbers in place of ids."""
        return self._numbered

    def shared(self, other: OpenRows) -> list[str]:
        """Ids of rows that both hold."""
        return sorted(self._rows.keys() & other._rows.keys())

    def held(self, ids: Iterable[str]) -> list[str]:
        """Those of these ids that it holds, sorted."""
        return sorted(name for name in ids if name in self._rows)

    def recoded(self, name: str, table: Ints) -> OpenRows:
        """The same rows with code ``c`` of one label field replaced by ``table[c]``."""
        result = self.copy()
        result._chunks[name] = [table[codes] for codes in self._chunks.get(name, [])]  # type: ignore[index]
        return result

    def copy(self) -> OpenRows:
        """An independent state with the same rows (chunks are never changed, so they are shared)."""
        twin = OpenRows(self.n, duplicates=self.duplicates, ids_of=self.ids_of)
        twin._rows, twin._units = dict(self._rows), list(self._units)
        twin._numbered, twin._whole = self._numbered, self._whole
        twin._chunks = {name: list(chunks) for name, chunks in self._chunks.items()}
        return twin

    def merge(self, *others: OpenRows) -> OpenRows:
        """The rows of all states together; no operand changes.

        Raises:
            ContractError: They disagree, as in :meth:`append`.
            ValueError: They belong to other truths or rules.
        """
        result = self.copy()
        for other in others:
            if (other.n, other.duplicates) != (self.n, self.duplicates):
                raise ValueError("only states of one truth and one rule for repeats merge")
            if other.n_rows:
                columns = {name: other.column(name) for name in other.fields}
                result.append(other._given_ids(), other.units, columns, whole=other._whole)
        return result

    def _given_ids(self) -> list[str] | Ints:
        """Ids in canonical order in the form in which they came."""
        return np.array([int(i) for i in self.ids], np.int64) if self._numbered else self.ids

    def to_buffers(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """JSON-ready metadata and numeric arrays; equal content gives equal parts."""
        meta = {"n": self.n, "duplicates": self.duplicates, "whole": self._whole, "fields": list(self.fields)}
        arrays: dict[str, NDArray[Any]] = {"units": self.units}
        names: Any = self._given_ids()
        if isinstance(names, list):
            texts = np.empty(self.n_rows, object)
            texts[:] = names
            names = texts
        arrays |= {f"ids/{part}": a for part, a in pack(names).items()}
        for name in self.fields:
            arrays |= {f"field/{name}/{part}": a for part, a in pack(self.column(name)).items()}
        return meta, arrays

    @classmethod
    def from_buffers(
        cls, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, ids_of: Names = row_numbers
    ) -> OpenRows:
        """The state that :meth:`to_buffers` took apart."""
        result = cls(meta["n"], duplicates=meta["duplicates"], ids_of=ids_of)

        def read(prefix: str) -> Any:
            return unpack({k[len(prefix) :]: a for k, a in arrays.items() if k.startswith(prefix)})

        if meta["fields"]:
            columns = {name: read(f"field/{name}/") for name in meta["fields"]}
            names = read("ids/")
            names = names.tolist() if names.dtype == object else names
            result.append(names, arrays["units"], columns, whole=meta["whole"])
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return OpenRows.from_buffers, self.to_buffers()


def _about(field: str, expected: str, found: str, names: Sequence[str], rows: Sequence[int], remedy: str) -> Violation:
    distinct = list(dict.fromkeys(names[i] for i in rows))
    return Violation(field, expected, found, tuple(distinct[:SHOWN]), len(distinct), remedy)


def _own(values: Any) -> Values:
    """A copy of this batch, with zero for negative zero."""
    if isinstance(values, Ragged):
        return Ragged(_own(values.values), values.counts.copy())  # type: ignore[arg-type]
    if isinstance(values, SparseRows):  # made of the caller's numbers before, and never written to
        return values  # type: ignore[return-value]
    if values.dtype.kind == "f":
        return np.asarray(values + 0.0)
    return np.asarray(values.astype(np.int64) if values.ndim == 1 and values.dtype.kind in "iu" else values.copy())


def _kind(values: Any) -> str:
    """What must not change between updates."""
    if isinstance(values, Ragged):
        return "ragged"
    kind = {"f": "reals", "O": "text"}.get(values.dtype.kind, "labels")
    return f"{kind} of shape (rows, {', '.join(map(str, values.shape[1:]))})" if values.ndim > 1 else kind
