"""Takes batches in: checks fields, finds positions, places rows. The part of an evaluation that must be fast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.advice import IDS_COLUMN
from primabench_core.contract.align import unknown_ids
from primabench_core.contract.arrays import as_ids
from primabench_core.contract.check import Context, ShardChecker
from primabench_core.contract.checkers import column_names
from primabench_core.contract.evaldata import COORDS, EvalData
from primabench_core.contract.fields import Field
from primabench_core.contract.ragged import Ragged
from primabench_core.contract.violations import Violation
from primabench_core.contract.vocabulary import Vocabulary
from primabench_core.discovery.registry import resolve
from primabench_core.errors import ContractError, UsageError
from primabench_core.evaluation.elsewhere import queue, settle
from primabench_core.evaluation.layouts import laid_out, leave_all_out, names_told, other_metrics
from primabench_core.evaluation.pending import Pending, is_elsewhere
from primabench_core.evaluation.plan import MetricPlan, choose_fields, missing_field, unknown_fields
from primabench_core.evaluation.positions import as_positions, count_of, rows_of
from primabench_core.evaluation.request import Request
from primabench_core.evaluation.row_names import RowNames
from primabench_core.evaluation.truth import Truth
from primabench_core.evaluation.wide import WideState, is_derived, wide_fields
from primabench_core.state.columns import take_rows
from primabench_core.state.fingerprint import RowDigests
from primabench_core.state.placed import PlacedRows
from primabench_core.state.rows import Column, Labels

if TYPE_CHECKING:
    from primabench_core.evaluation.views import Views

Where = slice | NDArray[np.int64]


class Intake:
    """Placed predictions of one evaluation, and how they are read.

    Which alternatives the metrics read is settled by the first batch that carries rows; from then on every batch
    carries the same fields.

    Args:
        request: What is asked.
        truth: What it is asked about.
    """

    may_wait = True
    """Whether batches of tensors may wait on their device."""

    def __init__(self, request: Request, truth: Truth) -> None:
        self.request, self.truth = request, truth
        self._placed = PlacedRows(
            truth.n,
            duplicates="max_abs" if request.contract.repeats == "max_abs" else request.duplicates,
            ids_of=truth.names_of,
        )
        self.truth_fields = choose_fields(request.metrics, request.contract, truth.fields, "truth")
        self.checker: ShardChecker | None = None
        self.plans: tuple[MetricPlan, ...] | None = None
        self.wide: WideState | None = None
        """What is kept of fields of which rows are not."""
        self.keeps_rows = False
        """Keep rows of every field, whatever its metrics ask for."""
        self.outside: set[str] = set()
        self.source = ""
        """File that the batch at hand was read from, for the wording of errors."""
        self.pending = Pending()
        """Batches on a device that are not placed yet."""
        self.device = "cpu"
        """Where predictions were reduced so far."""
        self._names: frozenset[str] = frozenset()
        self._droppable = frozenset((*request.contract.ignored, *COORDS))

    # -- fields ----------------------------------------------------------------------------------------------------

    def decide(self, names: Sequence[str] | None = None) -> tuple[MetricPlan, ...]:
        """Which fields each metric reads, given the names that came.

        Without names, those of the batches before decide, or else what the contract declares.

        Raises:
            ContractError: a metric finds none of its alternatives.
        """
        if names is None:
            if self.plans is not None:
                return self.plans
            names = sorted(self._names) or [f.name for f in self.request.contract.prediction]
        chosen = choose_fields(self.request.metrics, self.request.contract, names, "prediction")
        return tuple(
            MetricPlan(metric, prediction, truth)
            for metric, prediction, truth in zip(self.request.metrics, chosen, self.truth_fields, strict=True)
        )

    def _settle(self, names: frozenset[str], more: Sequence[Violation] = ()) -> None:
        """Check the names of a batch, and prepare to read batches like it; ``more`` is told with what is wrong."""
        contract = self.request.contract
        violations = unknown_fields(sorted(names), contract)
        absent = [f for f in contract.prediction if f.name not in names and not f.optional]
        meant = [v.remedy for v in violations]
        violations += [
            missing_field((f.name,), (), names) for f in absent if not any(repr(f.name) in remedy for remedy in meant)
        ]
        plans: tuple[MetricPlan, ...] = ()
        lacking: list[Violation] = []
        try:  # a field that the contract misses already is missed once, not again by each metric
            plans = self.decide(sorted({*names, *(f.name for f in absent)}))
        except ContractError as error:
            known = {v.field for v in violations}
            lacking = [v for v in error.violations if v.field not in known]
            violations += [v for v in lacking if not any(repr(v.field) in remedy for remedy in meant)]
        if violations:
            told = names_told(violations, names, contract, self._context(contract.prediction), self.source)
            others = other_metrics(self.request, names) if lacking and not absent else ""
            raise ContractError([*more, *told], remedy=others or leave_all_out(told))
        fields = tuple(f for f in contract.prediction if f.name in names)
        self.checker = ShardChecker(fields, self._context(fields))
        self.plans, self._names = plans, names
        if not self._placed.n_seen:
            wide = () if self.keeps_rows else wide_fields(plans, self.request, self.truth)
            self.wide = WideState(wide, hashed=self.request.hash_predictions) if wide else None

    def _context(self, fields: tuple[Field, ...]) -> Context:
        """What the truth says about these fields."""
        truth = self.truth
        coords: dict[str, tuple[str | int, ...]] = dict(truth.coords)
        if truth.classes is not None:
            coords["classes"] = truth.classes
        widths = {}
        for declared in fields:
            same = truth.columns.get(declared.name)
            if declared.kind in ("value", "matrix") and isinstance(same, np.ndarray):
                widths[declared.name] = same.shape[1] if same.ndim == 2 else 0
        return Context(
            classes={f.name: truth.vocabulary(f) for f in fields if f.kind == "label"},
            coords=coords,
            hidden=self.hidden,
            widths=widths,
            ignored=self.request.contract.ignored,
            unknown_labels=self.request.contract.unknown_labels,
        )

    @property
    def hidden(self) -> tuple[str, ...]:
        """Coordinates whose names no message may show."""
        return ("classes",) if self.truth.private and "classes" not in self.truth.coords else ()

    @property
    def vocabularies(self) -> Mapping[str, Vocabulary]:
        """Vocabulary of each predicted label field."""
        return {} if self.checker is None else self.checker.vocabularies

    def unpack(self, predictions: Any, ids: Any, fields: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Ids and fields of a container, or of a file of predictions.

        Raises:
            UsageError: fields were given beside it, or ids twice.
            StoreError, UsageError, ContractError: a file that cannot be read, as ``read_predictions`` says.
        """
        as_given = bool(self.request.contract.arrange)  # by what arranges them
        if isinstance(predictions, Mapping) and (as_given or any(map(is_elsewhere, predictions.values()))):
            given = dict(predictions)  # as they are: EvalData would bring them to the host
            own = given.pop("ids", None)
            clash = sorted({*fields} & {*given})
            if not clash and "positions" not in given and (own is None or ids is None):
                self.source = ""
                return own if ids is None else ids, {**given, **fields}
        if isinstance(predictions, str | PathLike):
            from primabench_core.store.prediction_files import read_predictions

            data = read_predictions(Path(predictions), self.request.contract)
        else:
            data = EvalData.of(predictions, self.request.contract)
        self.source = data.source
        clash = sorted(set(fields) & (set(data.fields) | set(data.coords)))
        if clash or (ids is not None and data.ids is not None):
            twice = ", ".join(clash) or "ids"
            raise UsageError(f"{twice}: given in predictions= and again beside it.", remedy="give each field once")
        return data.ids if ids is None else ids, {**data.fields, **data.coords, **fields}

    def arranged(self, ids: Any, fields: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
        """The batch as one row a unit, where the contract has a function for handier forms.

        Raises:
            ContractError: as that function says.
        """
        contract = self.request.contract
        if not contract.arrange:
            return ids, fields
        plugin = self.request.task_plugin
        owner = plugin[0] if plugin is not None else self.request.metrics[0].distribution
        found: tuple[Any, Mapping[str, Any]] = resolve(contract.arrange, owner=owner)(ids, fields, self.truth.coords)
        return found

    # -- a batch ---------------------------------------------------------------------------------------------------

    @property
    def placed(self) -> PlacedRows:
        """What was taken, row by row; batches on a device are brought in first.

        Raises:
            ContractError: one of those breaks the contract.
        """
        if self.pending:
            settle(self)
        return self._placed

    @placed.setter
    def placed(self, rows: PlacedRows) -> None:
        self._placed = rows

    def take(self, ids: Any, positions: Any, fields: Mapping[str, Any]) -> None:
        """Check and place one batch, wholly or not at all."""
        coords: Mapping[str, Any] | None = None
        was_settled = self.checker
        marks = () if was_settled is None else [(c, c.mark()) for c in was_settled.checkers.values()]
        try:
            if was_settled is None or fields.keys() != self._names:
                coords = {name: fields[name] for name in COORDS if fields.get(name) is not None}
                fields = {name: value for name, value in fields.items() if name not in self._droppable}
                if not fields and _is_empty(ids, positions):
                    return
                if was_settled is None or fields.keys() != self._names:
                    if self.pending:
                        settle(self)
                    self._settle(frozenset(fields), self._without_ids(ids, positions, fields))
            device = self.request.device
            there = device is not None or any(map(is_elsewhere, fields.values()))
            if there and device != "cpu" and self.may_wait and queue(self, ids, positions, fields, coords):
                return
            where, columns, outside = self._read(ids, positions, fields, coords)
            self._put(where, columns)
            if outside:
                self.outside.update(outside)
        except BaseException:  # whatever stopped the batch, no trace of it stays
            for checker, mark in marks:
                checker.revert(mark)
            if was_settled is None:
                self.plans, self._names, self.checker, self.wide = None, frozenset(), None, None
            raise

    def _put(self, where: Where, columns: Mapping[str, Any]) -> None:
        """Place a checked batch."""
        if where.stop > where.start if isinstance(where, slice) else len(where):
            if self.wide is None:  # an empty batch has no width that others must have
                self.placed.place(where, columns)
            else:
                self.wide.place(self.placed, where, columns)

    def _read(
        self, ids: Any, positions: Any, fields: Mapping[str, Any], coords: Mapping[str, Any] | None
    ) -> tuple[Where, dict[str, Any], list[str]]:
        """Positions, canonical columns and ignored ids of a batch; every violation of all fields is raised at once."""
        checker = self.checker
        assert checker is not None
        try:
            where, k, keep, violation = self.locate(ids, positions, fields)
        except ContractError as error:
            wrong = self._laid_out(checker.check(fields, coords=coords)[1], fields)
            raise ContractError([*error.violations, *wrong]) from None
        columns, violations = checker.check(fields, n=k, ids=RowNames(self.truth, where, ids, k), coords=coords)
        if violation is not None or violations:
            raise ContractError([v for v in (violation, *self._laid_out(violations, fields)) if v is not None])
        if keep is None:
            return where, columns, []
        texts = as_ids(ids)
        outside = [texts[i] for i in np.flatnonzero(~keep)]
        return where, {name: take_rows(column, keep) for name, column in columns.items()}, outside

    def _laid_out(self, violations: Sequence[Violation], fields: Mapping[str, Any]) -> list[Violation]:
        contract = self.request.contract
        return laid_out(violations, fields, contract, self._context(contract.prediction), self.source)

    def locate(
        self, ids: Any, positions: Any, fields: Mapping[str, Any]
    ) -> tuple[Where, int, NDArray[np.bool_] | None, Violation | None]:
        """Positions of the rows, how many rows came, which of them to keep (None for all), and what is wrong."""
        if positions is not None:
            if ids is not None:
                raise UsageError("ids and positions say the same thing twice.", remedy="give one of them")
            where = as_positions(positions, self.truth.n)
            return where, count_of(where), None, None
        if ids is None:
            return self._whole(fields)
        if self.truth.ids is None:
            where = as_positions(ids, self.truth.n, field="ids")
            return where, count_of(where), None, None
        found = self.truth.index.locate(ids)
        if type(found) is slice:
            return found, count_of(found), None, None
        if not len(found) or np.minimum.reduce(found) >= 0:
            return found, len(found), None, None
        if self.request.contract.outside == "ignore":
            keep = found >= 0
            return found[keep], len(found), keep, None
        return found, len(found), None, unknown_ids(as_ids(ids), found, self.truth.ids)

    def _without_ids(self, ids: Any, positions: Any, fields: Mapping[str, Any]) -> tuple[Violation, ...]:
        """What is wrong with rows that name no place."""
        if ids is not None or positions is not None or not fields:
            return ()
        try:
            self._whole(fields)
        except ContractError as error:
            return error.violations
        return ()

    def _whole(self, fields: Mapping[str, Any]) -> tuple[Where, int, None, None]:
        """Rows without ids or positions: all rows of a truth without ids, in its order."""
        n = rows_of(next(iter(fields.values())))
        if not n:
            return slice(0, 0), 0, None, None
        source = f" in {self.source}" if self.source else ""
        if self.truth.ids is not None:
            expected, remedy = "the id of each row", "pass ids=, or positions= in the truth's own order"
            if self.source:
                remedy = IDS_COLUMN.text()
        elif n != self.truth.n:
            expected = f"all {self.truth.n:,} rows where neither ids nor positions are given"
            remedy = "pass positions= (row numbers) with a part of the rows"
        else:
            return slice(0, n), n, None, None
        raise ContractError([Violation("ids", expected, f"{n:,} rows without ids{source}", remedy=remedy)])

    # -- what was taken --------------------------------------------------------------------------------------------

    def columns(self) -> dict[str, Column | RowDigests]:
        """Every placed field over all positions, in canonical form; rows never seen hold what the contract fills in.

        Of a field of which rows are not kept there are the digests.
        """
        found: dict[str, Column | RowDigests] = {}
        vocabularies = self.vocabularies
        for name in self.placed.fields:
            if self.wide is not None and (is_derived(name) or name in self.wide.fields):
                if not is_derived(name):
                    found[name] = self.wide.digests(self.placed, name)
                continue
            column = self.placed.column(name, fill=self.request.fill)
            vocabulary = vocabularies.get(name)
            if vocabulary is None or isinstance(column, Ragged):
                found[name] = column
                continue
            classes, remap = vocabulary.canonical(column)
            unchanged = len(classes) == len(vocabulary) and (remap == np.arange(len(remap))).all()
            found[name] = Labels(column if unchanged else np.append(remap, -1)[column], classes)
        if not found:
            found = {f.name: self._unseen(f) for plan in self.decide() for f in plan.prediction}
        return found

    def _unseen(self, declared: Field) -> Column:
        """The column of a field of which no row came."""
        n = self.truth.n
        if declared.kind == "label":
            return Labels(np.full(n, -1, np.int64), self.truth.vocabulary(declared))
        if declared.is_ragged:
            return Ragged(np.empty((0, 0)), np.zeros(n, np.int64))
        if declared.kind == "text":
            return np.full(n, "", object)
        context = self._context((declared,))
        width = context.widths.get(declared.name, 0) or len(context.coords.get(column_names(declared), ()))
        shape = (n, width) if declared.dims == 2 or context.widths.get(declared.name) else (n,)
        return np.full(shape, np.nan if self.request.fill is None else self.request.fill)

    def fingerprint(self, columns: Mapping[str, Column | RowDigests]) -> str:
        """SHA-256 of the predictions' canonical content, from what :meth:`columns` gave."""
        from primabench_core.state.fingerprint import fingerprint

        seen = None if self.placed.n_seen == self.truth.n else self.placed.seen_positions()
        return fingerprint(self.truth.ids, columns, n=self.truth.n, seen=seen, ids_sha=self.truth.ids_sha)

    def views(self, columns: Mapping[str, Column | RowDigests], seen: NDArray[np.int64] | None = None) -> Views:
        """What metrics receive, from what :meth:`columns` gave."""
        from primabench_core.evaluation.views import Views

        return Views(self.truth, columns, seen, wide=self.wide, placed=self.placed, device=self.device)

    def _take_buffers(self, parts: Mapping[str, Any]) -> None:
        """Take up what is kept beside placed rows."""
        if self.wide is not None:
            self.wide.take_buffers(parts["wide"])

    def merge(self, others: Sequence[Intake]) -> Intake:
        """A new intake that holds the rows of all."""
        result = type(self)(self.request, self.truth)
        for part in (self, *others):
            result._absorb(part)
        return result

    def _absorb(self, part: Intake) -> None:
        if part.plans is None:
            return
        if self.plans is None:
            self._settle(part._names)
        elif self._names != part._names:
            raise UsageError(
                f"One evaluation took the fields {sorted(self._names)}, another {sorted(part._names)}; "
                "they cannot be merged."
            )
        placed = part.placed
        for name, vocabulary in part.vocabularies.items():
            try:
                table = self.vocabularies[name].absorb(vocabulary)
            except ValueError as error:
                raise ContractError([Violation(name, "labels of one type", str(error))]) from error
            if placed.n_seen and not (table == np.arange(len(table))).all():
                placed = placed.recoded(name, table)
        together = self.placed.merge(placed)
        self._merge_sums(part, placed, together)
        self.placed = together
        self.device = part.device if self.device == "cpu" else self.device
        self.outside |= part.outside

    def _merge_sums(self, part: Intake, placed: PlacedRows, together: PlacedRows) -> None:
        """Join what is kept beside placed rows."""
        if self.wide is not None and part.wide is not None:
            self.wide = self.wide.merge(self.placed, part.wide, placed, together)

    def to_buffers(self) -> dict[str, Any]:
        """Plain parts without any truth; classes that the truth knows are counted, not named."""
        meta, arrays = self.placed.to_buffers()
        return {
            "meta": meta,
            "arrays": arrays,
            "names": None if self.plans is None else sorted(self._names),
            "unknown": {name: v.classes[v.n_known :] for name, v in self.vocabularies.items()},
            "outside": sorted(self.outside),
            "wide": {} if self.wide is None else self.wide.to_buffers(),
        }

    @classmethod
    def from_buffers(cls, request: Request, truth: Truth, parts: Mapping[str, Any]) -> Intake:
        """The intake that :meth:`to_buffers` took apart."""
        result = cls(request, truth)
        if parts["names"] is not None:
            result._settle(frozenset(parts["names"]))
            for name, classes in parts["unknown"].items():
                result.vocabularies[name].extend(classes)
        result._take_buffers(parts)
        result.placed = type(result.placed).from_buffers(parts["meta"], parts["arrays"], ids_of=truth.names_of)
        result.outside = set(parts["outside"])
        return result


def _is_empty(ids: Any, positions: Any) -> bool:
    given = [rows_of(v) for v in (ids, positions) if v is not None and not isinstance(v, slice)]
    return not any(given)
