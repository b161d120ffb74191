"""Rows put at their canonical position as they arrive: the state behind every metric over narrow fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from primabench_core.advice import DROP_IDENTICAL
from primabench_core.contract.ragged import Ragged
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_core.state.columns import (
    FixedStore,
    Store,
    Values,
    Where,
    canonical,
    largest,
    make_store,
    none_seen,
    pack,
    same_rows,
    take_rows,
    unpack,
    unseen,
)

Repeats = Literal["refuse", "drop_identical", "max_abs"]
"""What happens to a row that comes again."""
Names = Callable[[NDArray[np.int64]], list[str]]
"""Ids, as text, of a few positions; only used to word errors."""

SHOWN = 5
"""How many ids an error names."""


def row_numbers(positions: NDArray[np.int64]) -> list[str]:
    """Ids where rows have none: their numbers."""
    return [str(p) for p in positions.tolist()]


class PlacedRows:
    """Predictions of n units, each row at its canonical position, every field in one buffer.

    A value: the order and the cutting of updates leave no trace in it, :meth:`merge` is associative and commutative
    with an empty state as identity, and a refused update changes nothing (all checks come before the first write).

    Args:
        n: Units of the truth.
        duplicates: A row that comes again, inside an update or across: ``"refuse"``, ``"drop_identical"`` (equal
            content counts once, different content is an error) or ``"max_abs"`` (the value of largest magnitude
            counts, of a tie the positive one; one-dimensional reals only).
        ids_of: Names positions in errors. It is not part of the value and does not travel in a pickle.

    Example:
        >>> import numpy as np
        >>> state = PlacedRows(4, duplicates="drop_identical")
        >>> state.place(np.array([3, 0]), {"score": np.array([0.5, 0.25])})
        >>> state.place(slice(0, 2), {"score": np.array([0.25, 1.0])})
        >>> state.n_seen, state.missing_positions().tolist()
        (3, [2])
    """

    __slots__ = ("_lead", "_n_seen", "_stores", "duplicates", "ids_of", "n")

    def __init__(self, n: int, *, duplicates: Repeats = "refuse", ids_of: Names = row_numbers) -> None:
        if duplicates not in get_args(Repeats):
            raise ValueError(f"duplicates must be one of {get_args(Repeats)}, got {duplicates!r}")
        self.n, self.duplicates, self.ids_of = n, duplicates, ids_of
        self.reset()

    def reset(self) -> None:
        """Forget all rows and free their memory."""
        self._stores: dict[str, Store] = {}
        self._lead = FixedStore("", 0, np.zeros(0, np.uint8), fill=True)
        self._n_seen = 0

    def place(self, where: Where, columns: Mapping[str, Any]) -> None:
        """Put rows at their positions; nothing is kept of the caller's arrays.

        Args:
            where: A slice with positive step inside ``range(n)``, or (k,) int64 positions in ``range(n)``.
            columns: For every field k rows: (k,) integer codes, (k,) or (k, w) float32/float64, (k,) text as
                objects, or :class:`~primabench_core.state.rows.Ragged`. Checked by the contract before.

        Raises:
            ContractError: A row comes again where that is not allowed, or a field changes its kind or width, or is
                missing. The state is as before.
        """
        if not self._stores:
            self._place_first(where, columns)
        elif type(where) is slice:
            k = len(range(*where.indices(self.n)))
            staged = self._stage(k, columns)
            if not k:
                return  # an empty shard leaves no trace, not even its types
            if not self._n_seen or none_seen(self._lead.bits[where]):
                self._write(where, staged, k)
            else:
                self._place_again(np.arange(*where.indices(self.n), dtype=np.int64), staged)
        else:
            staged = self._stage(len(where), columns)
            if not len(where):
                return
            if not has_twins(where, self.n) and (not self._n_seen or none_seen(self._lead.bits[where])):
                self._write(where, staged, len(where))
            else:
                self._place_again(where, staged)

    def _place_first(self, where: Where, columns: Mapping[str, Any]) -> None:
        kinds = {name: canonical(values) for name, values in columns.items()}
        flat = [name for name, v in kinds.items() if not isinstance(v, Ragged) and v.ndim == 1 and v.dtype.kind != "O"]
        real = [name for name in flat if kinds[name].dtype.kind == "f"]
        if not kinds or (self.duplicates == "max_abs" and len(real) < len(kinds)):
            found = ", ".join(sorted(kinds.keys() - set(real))) or "no field"
            raise ContractError([Violation("fields", "one-dimensional reals where repeats are max_abs", found)])
        if not (len(range(*where.indices(self.n))) if isinstance(where, slice) else len(where)):
            return
        lead = flat[0] if flat else ""
        filled = type(where) is slice and where.indices(self.n) == (0, self.n, 1)
        order = [name for name in kinds if name != lead] + flat[:1]  # the lead is written last: see _write
        stores = {name: make_store(name, self.n, kinds[name], fill=name == lead and not filled) for name in order}
        leader = stores[lead] if flat else FixedStore("", self.n, np.zeros(0, np.uint8), fill=True)
        assert isinstance(leader, FixedStore)
        self._stores, self._lead = stores, leader
        try:
            self.place(where, kinds)
        except BaseException:
            self.reset()
            raise

    def _stage(self, k: int, columns: Mapping[str, Any]) -> dict[str, Any]:
        """What will be written, in types that fit; nothing is touched yet."""
        if columns.keys() != self._stores.keys():
            expected = f"the fields of earlier updates ({', '.join(sorted(self._stores))})"
            raise ContractError([Violation("fields", expected, ", ".join(sorted(columns)) or "none")])
        staged, wrong = {}, []
        for name, store in self._stores.items():
            try:
                staged[name] = values = store.stage(columns[name])
                if len(values) != k:
                    raise ValueError(f"{len(values)} rows for {k} positions")
            except ValueError as error:
                wrong.append(Violation(name, "rows like those of earlier updates, one for each position", str(error)))
        if wrong:
            raise ContractError(wrong)
        return staged

    def _write(self, where: Where, staged: Mapping[str, Any], new: int) -> None:
        for name, store in self._stores.items():
            store.write(where, staged[name])  # the lead last, so that rows cut off by an interrupt count as unseen
        if not self._lead.name:
            self._lead.data[where] = 0
        self._n_seen += new

    def _place_again(self, positions: NDArray[np.int64], staged: dict[str, Any]) -> None:
        """Rows of which some were seen before, or come twice in this batch."""
        unique, first, group = np.unique(positions, return_index=True, return_inverse=True)
        old = ~unseen(self._lead.bits[unique])
        if self.duplicates == "refuse":
            raise ContractError([self._repeated(unique[old | (np.bincount(group) > 1)])])
        new = int(np.count_nonzero(~old))
        if self.duplicates == "max_abs":
            before: dict[str, Any] = {name: self._stores[name].take(unique) for name in staged}
            staged = {name: largest(values, group, before[name], old) for name, values in staged.items()}
        else:
            once = {name: take_rows(values, first) for name, values in staged.items()}
            found = [self._conflict(name, unique, group, staged[name], once[name], old) for name in staged]
            if wrong := [violation for violation in found if violation is not None]:
                raise ContractError(wrong)
            fresh = np.flatnonzero(~old)
            unique, staged = unique[fresh], {name: take_rows(values, fresh) for name, values in once.items()}
        self._write(unique, staged, new)

    def _repeated(self, positions: NDArray[np.int64]) -> Violation:
        remedy = f"Give each id once, or {DROP_IDENTICAL.text()}."
        names = tuple(self.ids_of(positions[:SHOWN]))
        return Violation("ids", "each id once", "an id that comes again", names, len(positions), remedy)

    def _conflict(
        self,
        name: str,
        unique: NDArray[np.int64],
        group: NDArray[np.intp],
        given: Any,
        once: Any,
        old: NDArray[np.bool_],
    ) -> Violation | None:
        differs = np.zeros(len(unique), bool)
        if len(group) > len(unique):
            differs[group[~same_rows(given, take_rows(once, group))]] = True
        again = np.flatnonzero(old)
        stored = self._stores[name].take(unique[again])
        differs[again[~same_rows(stored, take_rows(once, again))]] = True
        if not differs.any():
            return None
        at = unique[differs]
        remedy = "Give one prediction for each id."
        names, expected = tuple(self.ids_of(at[:SHOWN])), "the same content when an id comes again"
        return Violation(name, expected, "different content", names, len(at), remedy)

    @property
    def n_seen(self) -> int:
        """Units with a prediction."""
        return self._n_seen

    @property
    def coverage(self) -> float:
        """Share of units with a prediction; 1.0 for a truth of no units."""
        return self._n_seen / self.n if self.n else 1.0

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields that were given, sorted; none before the first row."""
        return tuple(sorted(self._stores))

    def seen(self) -> NDArray[np.bool_]:
        """(n,) which units have a prediction."""
        if self._n_seen in (0, self.n):
            return np.full(self.n, self._n_seen > 0)
        return ~unseen(self._lead.bits)

    def seen_at(self, where: Where) -> NDArray[np.bool_]:
        """(k,) which of these positions have a prediction."""
        if not self._stores:
            return np.zeros(len(range(*where.indices(self.n))) if isinstance(where, slice) else len(where), bool)
        return ~unseen(self._lead.bits[where])

    def digests(self, name: str) -> NDArray[np.uint64]:
        """(n, words) digests of a field of which rows are not kept; zero where nothing was predicted."""
        return np.asarray(self._stores[name].take(slice(None)))

    def seen_positions(self) -> NDArray[np.int64]:
        """Positions with a prediction, ascending."""
        return np.flatnonzero(self.seen())

    def missing_positions(self, limit: int | None = None) -> NDArray[np.int64]:
        """Positions without a prediction, ascending, at most ``limit`` of them."""
        if self._n_seen == self.n:
            return np.zeros(0, np.int64)
        return np.flatnonzero(~self.seen())[:limit]

    def column(self, name: str, positions: NDArray[np.int64] | None = None, *, fill: float | None = None) -> Values:
        """One field in canonical order.

        Args:
            name: The field.
            positions: Only these rows; all by default.
            fill: A real field's value where nothing was predicted.

        Returns:
            int64 codes, float32/float64 reals, text (all read-only; a view where nothing had to be copied), or Ragged.
            Rows without a prediction hold -1, ``fill`` or NaN, the empty text, or no entries.
        """
        store = self._stores[name]
        values = store.take(slice(None) if positions is None else positions)
        if isinstance(values, Ragged):
            return values
        is_codes = isinstance(store, FixedStore) and store.is_codes and not store.shape
        if is_codes:
            values = values.astype(np.int64)
        if self._n_seen < self.n and values.dtype.kind != "O":
            gone = ~self.seen() if positions is None else ~self.seen()[positions]
            if gone.any():
                values = values.copy()
                values[gone] = -1 if is_codes else np.nan if fill is None else fill
        values = values.view()
        values.flags.writeable = False
        return values

    def recoded(self, name: str, table: NDArray[np.int64]) -> PlacedRows:
        """The same rows with code ``c`` of one label field replaced by ``table[c]``; for joining vocabularies."""
        result = self.copy()
        if self._n_seen:
            where = self._where()
            columns: dict[str, Any] = {f: store.take(where) for f, store in self._stores.items()}
            columns[name] = table[columns[name].astype(np.int64)]
            result.reset()
            result.place(where, columns)
        return result

    def copy(self) -> PlacedRows:
        """An independent state with the same rows."""
        twin = PlacedRows(self.n, duplicates=self.duplicates, ids_of=self.ids_of)
        twin._stores = {name: store.copy() for name, store in self._stores.items()}
        lead = twin._stores[self._lead.name] if self._lead.name else self._lead.copy()
        assert isinstance(lead, FixedStore)
        twin._lead, twin._n_seen = lead, self._n_seen
        return twin

    def merge(self, *others: PlacedRows) -> PlacedRows:
        """The rows of all states together; no operand changes.

        Raises:
            ContractError: They disagree, as in :meth:`place`.
            ValueError: They belong to truths of different size or to different rules for repeats.
        """
        result = self.copy()
        for other in others:
            if (other.n, other.duplicates) != (self.n, self.duplicates):
                sides = " and ".join(f"{s.n} units with duplicates={s.duplicates!r}" for s in (self, other))
                raise ValueError(f"only states of one truth and one rule merge, not {sides}")
            if other._n_seen:
                where = other._where()
                result.place(where, {name: store.take(where) for name, store in other._stores.items()})
        return result

    def _where(self) -> Where:
        """The seen rows, as a slice where they are one run."""
        if self._n_seen == self.n:
            return slice(0, self.n)
        positions = self.seen_positions()
        first = int(positions[0]) if len(positions) else 0
        run = len(positions) and int(positions[-1]) - first + 1 == len(positions)
        return slice(first, first + len(positions)) if run else positions

    def to_buffers(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The seen rows as plain parts: equal content gives equal parts, whatever the path to it.

        Returns:
            JSON-ready metadata, and numeric arrays (no objects): ``positions`` unless the rows are one run, and
            ``field/part`` for each field. Arrays may share memory with the state: use them before the next update.
        """
        meta: dict[str, Any] = {"n": self.n, "duplicates": self.duplicates, "fields": list(self.fields), "run": None}
        arrays: dict[str, NDArray[Any]] = {}
        where = self._where()
        if isinstance(where, slice):
            meta["run"] = [where.start, where.stop]
        else:
            arrays["positions"] = where
        for name in self.fields if self._n_seen else ():
            arrays |= {f"{name}/{part}": a for part, a in pack(self._stores[name].take(where)).items()}
        return meta, arrays

    @classmethod
    def from_buffers(
        cls, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, ids_of: Names = row_numbers
    ) -> PlacedRows:
        """The state that :meth:`to_buffers` took apart."""
        result = cls(meta["n"], duplicates=meta["duplicates"], ids_of=ids_of)
        where = slice(*meta["run"]) if meta["run"] else arrays["positions"]
        columns: dict[str, dict[str, NDArray[Any]]] = {}
        for key, array in arrays.items():
            if key != "positions":
                name, part = key.rsplit("/", 1)
                columns.setdefault(name, {})[part] = array
        if columns:
            result.place(where, {name: unpack(parts) for name, parts in columns.items()})
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return PlacedRows.from_buffers, self.to_buffers()


def has_twins(positions: NDArray[np.int64], n: int) -> bool:
    """Whether a position comes twice."""
    k = len(positions)
    if k * 64 > n and k > 4096:  # a bitmap is cheaper than sorting
        met = np.zeros(n, bool)
        met[positions] = True
        return int(np.count_nonzero(met)) < k
    ordered = positions.copy()
    ordered.sort()
    return bool(np.count_nonzero(ordered[1:] == ordered[:-1]))
