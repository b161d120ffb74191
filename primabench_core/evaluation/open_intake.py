"""Takes in rows with ids of their own, of which a unit may have any number (``state/open_rows.py``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.arrays import as_ids
from primabench_core.contract.checkers import NumberChecker
from primabench_core.contract.plain import is_sparse
from primabench_core.contract.sparse_rows import SparseRows, dense_of, thin
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError, UsageError
from primabench_core.evaluation.intake import Intake, Where
from primabench_core.evaluation.plan import missing_field
from primabench_core.evaluation.positions import as_positions, rows_of
from primabench_core.evaluation.request import Request
from primabench_core.evaluation.truth import Truth
from primabench_core.state.check_digests import check_digests
from primabench_core.state.columns import take_rows
from primabench_core.state.fingerprint import RowDigests, is_wide, row_digests
from primabench_core.state.grouped_sums import GroupedSums
from primabench_core.state.open_rows import OpenRows
from primabench_core.state.placed import SHOWN
from primabench_core.state.rows import Column
from primabench_core.state.unit_samples import UnitSamples
from primabench_core.state.unit_sums import UnitSums

if TYPE_CHECKING:
    from primabench_core.evaluation.views import Views

Ints = NDArray[np.int64]
_NUMBERS = 1 << 53
"""Row numbers lie below it."""


class OpenIntake(Intake):
    """As :class:`Intake`, for a contract with ``many_rows_per_unit``.

    Where no metric asks for rows, a wide field is reduced as it comes: a digest of each row, exact sums of each unit, a
    bounded sample.
    """

    placed: OpenRows  # type: ignore[assignment]
    may_wait = False  # rows are told by their ids, which the host reads

    def __init__(self, request: Request, truth: Truth) -> None:
        super().__init__(request, truth)
        odd = [m.name for m in request.metrics if m.spec.state != "units"]
        if odd:
            raise UsageError(f"{odd[0]!r} reads one row a unit, and predictions hold any number of them.")
        self.placed = OpenRows(truth.n, duplicates=request.duplicates, ids_of=truth.names_of)
        self._at = {name: i for i, name in enumerate(truth.ids or ())}
        self._given: tuple[Sequence[str] | Ints, list[str], bool] = ([], [], False)
        """Of the batch at hand: ids as the state takes them, as text, and whether rows came without any."""
        self.kept: frozenset[str] = frozenset()
        """Fields of which rows are kept."""
        self.sums: dict[str, UnitSums] = {}
        self.samples: dict[str, dict[int, UnitSamples]] = {}
        """Field, seed."""
        self._nameless = False
        """Whether a batch without ids came, be it of ignored rows alone: then no other may come."""

    @property
    def _unit_field(self) -> str:
        return self.request.contract.unit_field

    def _settle(self, names: frozenset[str], more: Sequence[Violation] = ()) -> None:
        super()._settle(names, more)
        if self.placed.n_rows or self.plans is None:
            return
        asked: dict[str, set[str]] = {}
        bounds: dict[str, dict[int, int]] = {}
        for plan in self.plans:
            for f in plan.prediction:
                asked.setdefault(f.name, set()).update(plan.metric.spec.units)
                if plan.metric.spec.sample:
                    k, seed = (plan.metric.params[name] for name in plan.metric.spec.sample)
                    mine = bounds.setdefault(f.name, {})
                    mine[seed] = max(k, mine.get(seed, 0))
        self.sums, self.samples, kept = {}, {}, set()
        for name in sorted(names - {self._unit_field}):
            true = self.truth.columns.get(name)
            width = true.shape[1] if isinstance(true, np.ndarray) and true.ndim == 2 else 0
            if self.keeps_rows or not is_wide(width) or "rows" in asked.get(name, ()):
                kept.add(name)
                continue
            if "means" in asked.get(name, ()):
                self.sums[name] = UnitSums(self.truth.n, width)
            self.samples[name] = {s: UnitSamples(self.truth.n, k, s) for s, k in bounds.get(name, {}).items()}
        self.kept = frozenset(kept)

    def _without_ids(self, ids: Any, positions: Any, fields: Mapping[str, Any]) -> tuple[Violation, ...]:
        return ()

    # -- a batch ---------------------------------------------------------------------------------------------------

    def _read(
        self, ids: Any, positions: Any, fields: Mapping[str, Any], coords: Mapping[str, Any] | None
    ) -> tuple[Where, dict[str, Any], list[str]]:
        """Unit of each row, canonical columns, and rows of ignored units; every violation is raised at once."""
        checker = self.checker
        assert checker is not None
        numbers = [n for n, v in fields.items() if is_sparse(v) and isinstance(checker.checkers.get(n), NumberChecker)]
        if numbers:
            wide = {name: _sparse(name, fields[name]) for name in numbers}
            fields = {**fields, **{name: rows for name, rows in wide.items() if rows is not None}}
        given, names = self._name_rows(ids, positions, fields)
        self._refuse_nameless(len(names) > 0, self._nameless or (ids is None and positions is None))
        columns, violations = checker.check(fields, n=len(names), ids=names, coords=coords)
        units = self._units_of(columns.pop(self._unit_field, None), len(names), violations)
        if violations or units is None:
            raise ContractError(violations)
        outside = [names[i] for i in np.flatnonzero(units < 0).tolist()]
        self._given = (given, names, ids is None and positions is None)
        return units, columns, outside

    def _name_rows(self, ids: Any, positions: Any, fields: Mapping[str, Any]) -> tuple[Sequence[str] | Ints, list[str]]:
        """Ids as they are given to the state, and as text."""
        if positions is not None:
            if ids is not None:
                raise UsageError("ids and positions say the same thing twice.", remedy="give one of them")
            where = as_positions(positions, _NUMBERS)
            numbers = np.arange(*where.indices(_NUMBERS), dtype=np.int64) if isinstance(where, slice) else where
            return numbers, [str(i) for i in numbers.tolist()]
        if ids is None:
            numbers = np.arange(rows_of(next(iter(fields.values()))))
            return numbers, [str(i) for i in numbers.tolist()]
        names = as_ids(ids)
        return names, names

    def _units_of(self, column: Any, n: int, violations: list[Violation]) -> Ints | None:
        """Position of each row's unit, -1 to leave it out; adds what is wrong."""
        name, contract = self._unit_field, self.request.contract
        if column is None:
            if self.truth.n > 1 and not any(v.field == name for v in violations):
                violations.append(missing_field((name,), (), self._names))
            return np.zeros(n, np.int64)
        texts = column.tolist()
        at, ignored = self._at, set(contract.ignored_units)
        units = np.array(list(map(at.get, texts, repeat(-1))), np.int64)
        strange = [i for i in np.flatnonzero(units < 0).tolist() if texts[i] not in ignored]
        if strange and contract.outside != "ignore":
            shown = list(dict.fromkeys(texts[i] for i in strange))
            close = get_close_matches(shown[0], list(at), n=1)
            remedy = f"Is {close[0]!r} meant?" if close else f"Leave out rows of a {name} that is not asked for"
            if ignored and not close:
                remedy += f", or name it {contract.ignored_units[0]!r} if it is a control"
            found = f"names that it does not have ({', '.join(map(repr, shown[:SHOWN]))})"
            violations.append(
                Violation(name, f"names of {self.truth.n:,} {name}s of the truth", found, (), len(strange), remedy)
            )
        return units

    def _put(self, where: Where, columns: Mapping[str, Any]) -> None:
        """Take a checked batch in; all or nothing."""
        units: Any = where
        at = np.flatnonzero(units >= 0)
        given, names, whole = self._given
        self._refuse_two_roles([names[i] for i in at.tolist()], {names[i] for i in np.flatnonzero(units < 0).tolist()})
        if not len(at):
            self._nameless |= whole and len(units) > 0
            return
        stored = {
            name: _kept(column) if name in self.kept else self._digests(column) for name, column in columns.items()
        }
        if len(at) < len(units):
            stored = {name: take_rows(column, at) for name, column in stored.items()}
            given = given[at] if isinstance(given, np.ndarray) else [given[i] for i in at.tolist()]
        at = at[self.placed.append(given, units[at], stored, whole=whole)]
        if len(at) < len(units):
            names, units = [names[i] for i in at.tolist()], units[at]
        for name, sums in self.sums.items():
            sums.add(names, units, columns[name], at)
        for name, samples in self.samples.items():
            for sample in samples.values():
                sample.add(names, units, columns[name], at)
        self._nameless |= whole  # last: what was refused above leaves no trace

    def _refuse_nameless(self, come: bool, nameless: bool) -> None:
        """Raise where rows without ids meet others, ignored ones too."""
        if nameless and come and (self._nameless or self.placed.n_rows or self.outside):
            expected = "ids for rows that come in several updates"
            raise ContractError([Violation("ids", expected, "rows without ids", remedy="Give every row an id.")])

    def _refuse_two_roles(self, scored: Sequence[str], ignored: set[str]) -> None:
        """Raise where a row id is once of a unit and once of an ignored one, such as a control."""
        both: set[str] = set()
        if ignored or self.outside:
            both = {name for name in scored if name in ignored or name in self.outside}
            both.update(self.placed.held(ignored))
        if both:
            shown = tuple(sorted(both)[:SHOWN])
            names = self.request.contract.ignored_units
            what = f"{names[0]!r}" if names else "left out"
            expected, found = f"one {self._unit_field} for each row id", f"ids of rows that are {what} and another too"
            remedy = "Give every row an id of its own."
            raise ContractError([Violation(self._unit_field, expected, found, shown, len(both), remedy)])

    def _digests(self, rows: Any) -> NDArray[np.uint64]:
        """What stays of rows that are not kept, to know them again by; nothing where nobody asks."""
        if not self.request.hash_predictions and self.request.duplicates == "refuse":
            return np.zeros((len(rows), 0), np.uint64)  # whatever a row that comes again holds
        digests = row_digests if self.request.hash_predictions else check_digests
        if isinstance(rows, SparseRows):
            return np.concatenate([digests(piece) for _, piece in rows.pieces()])
        return digests(rows)

    # -- what was taken --------------------------------------------------------------------------------------------

    def columns(self) -> dict[str, Column | RowDigests]:
        """Every field over all rows by unit and row id; of a field of which rows are not kept their digests."""
        found: dict[str, Column | RowDigests] = {}
        for name in self.placed.fields:
            column = self.placed.column(name)
            if name not in self.kept:
                true: Any = self.truth.columns[name]
                column = RowDigests(column, true.shape[1])  # type: ignore[arg-type,assignment]
            found[name] = column
        texts = np.array([*(self.truth.ids or ()), ""], object)
        found[self._unit_field] = texts[self.placed.units]
        return found

    def fingerprint(self, columns: Mapping[str, Column | RowDigests]) -> str:
        """SHA-256 of the predictions' canonical content, from what :meth:`columns` gave."""
        from primabench_core.state.fingerprint import fingerprint

        n = self.placed.n_rows
        names = self.placed.ids
        plain = self.placed.is_numbered and sorted(map(int, names)) == list(range(n))
        return fingerprint(None if plain or not n else names, columns, n=n)

    def means(self, name: str) -> NDArray[np.float64]:
        """(units, m) exact mean of each unit's rows; NaN for a unit without any."""
        if name in self.sums:
            return self.sums[name].total().means()
        if not self.placed.n_rows:
            return np.full((self.truth.n, 0), np.nan)
        chunks: list[Any] = list(self.placed.chunks(name))
        sums = GroupedSums(self.truth.n, chunks[0].shape[1])
        units, start = self.placed.arrived[1], 0
        for chunk in chunks:
            sums.add(chunk, units[start : start + len(chunk)])
            start += len(chunk)
        return sums.means()

    def sample(self, name: str, k: int, seed: int, place: Ints) -> UnitSamples:
        """At most k rows of each unit, under new numbers of units; ``place`` gives them."""
        result = UnitSamples(int(place.max(initial=-1)) + 1, k, seed)
        if name in self.kept:
            if self.placed.n_rows:
                names, units = self.placed.arrived
                start = 0
                for chunk in self.placed.chunks(name):
                    stop = start + len(chunk)
                    result.add(names[start:stop], place[units[start:stop]], chunk)  # type: ignore[arg-type]
                    start = stop
            return result
        held = self.samples[name][seed]
        if len(held.home):
            result.add(held.ids, place[held.home], held.rows())
        return result

    def views(self, columns: Mapping[str, Column | RowDigests], seen: Ints | None = None) -> Views:
        """What metrics receive."""
        from primabench_core.evaluation.unit_views import UnitViews

        return UnitViews(self.truth, columns, seen, intake=self)

    # -- travel ----------------------------------------------------------------------------------------------------

    def _absorb(self, part: Intake) -> None:
        if self.plans is None:
            self.keeps_rows = part.keeps_rows
        super()._absorb(part)

    def _merge_sums(self, part: Intake, placed: Any, together: Any) -> None:
        assert isinstance(part, OpenIntake)
        self._refuse_nameless(bool(placed.n_rows or part.outside), self._nameless or part._nameless)
        self._refuse_two_roles(placed.held(self.outside), set())
        self._refuse_two_roles((), part.outside)
        self._nameless |= part._nameless
        both = self.placed.shared(placed)
        sums = {}
        for name, mine in self.sums.items():
            sums[name], stuck = mine.merge(part.sums[name], both)
            if stuck:
                remedy = "Give every rank rows of its own; repeats at the end of a rank's rows are fine."
                expected = "each row in one shard, or a repeat among the last rows of one"
                found = "rows that two shards have added to their sums"
                raise ContractError(
                    [Violation(name, expected, found, tuple(sorted(stuck)[:SHOWN]), len(stuck), remedy)]
                )
        self.sums = sums
        self.samples = {
            name: {seed: sample.merge(part.samples[name][seed]) for seed, sample in samples.items()}
            for name, samples in self.samples.items()
        }

    def to_buffers(self) -> dict[str, Any]:
        """Plain parts without any truth."""

        def told(state: Any) -> dict[str, Any]:
            meta, arrays = state.to_buffers()
            return {"meta": meta, "arrays": arrays}

        return {
            **super().to_buffers(),
            "nameless": self._nameless,
            "sums": {name: told(state) for name, state in self.sums.items()},
            "samples": {name: [told(s) for s in samples.values()] for name, samples in self.samples.items()},
        }

    def _take_buffers(self, parts: Mapping[str, Any]) -> None:
        self._nameless = bool(parts["nameless"])
        for name, part in parts["sums"].items():
            self.sums[name] = UnitSums.from_buffers(part["meta"], part["arrays"])
        for name, found in parts["samples"].items():
            states = [UnitSamples.from_buffers(part["meta"], part["arrays"]) for part in found]
            self.samples[name] = {state.seed: state for state in states}


def _sparse(name: str, matrix: Any) -> SparseRows | None:
    try:
        return SparseRows.of(matrix)
    except ValueError as error:
        raise ContractError([Violation(name, "a sparse matrix that keeps to its shape", str(error))]) from None


def _kept(column: Any) -> Any:
    """Rows to be kept: wide ones that are mostly zero without their zeros."""
    is_matrix = getattr(column, "ndim", 0) == 2 and column.dtype.kind == "f" and is_wide(column.shape[1])
    return thin(column) if is_matrix else dense_of(column)


def make_intake(request: Request, truth: Truth) -> Intake:
    """An empty intake in the form that the contract asks for."""
    return (OpenIntake if request.contract.many_rows_per_unit else Intake)(request, truth)


def read_intake(request: Request, truth: Truth, parts: Mapping[str, Any]) -> Intake:
    """The intake that ``to_buffers`` took apart."""
    kind = OpenIntake if request.contract.many_rows_per_unit else Intake
    return kind.from_buffers(request, truth, parts)
