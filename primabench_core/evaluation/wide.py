"""Fields of which rows are not kept: they are reduced to digests, numbers a row and exact sums as batches come in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_core.state.check_digests import check_digests
from primabench_core.state.fingerprint import RowDigests, is_wide, row_digests
from primabench_core.state.placed import SHOWN, PlacedRows
from primabench_core.state.row_errors import row_errors
from primabench_core.state.torch_rows import OnDevice, check_digests_on_device, row_errors_on_device, rows_on
from primabench_core.state.wide_sums import Ints, Mask, WideSums

if TYPE_CHECKING:
    from primabench_core.evaluation.plan import MetricPlan
    from primabench_core.evaluation.request import Request
    from primabench_core.evaluation.truth import Truth

Where = slice | Ints
_MARK = ":"
"""Between a field and what is kept of it; no field has it in its name."""
MOMENTS = "moments"


@frozen(eq=False)
class WideField:
    """A predicted field that metrics read through sums alone."""

    name: str
    width: int
    truth: NDArray[Any]
    """(n, width) true rows."""
    usable: Mask | None
    """(n,) which of them have an answer; None for all."""
    sums: frozenset[str]
    """What metrics ask for."""

    @property
    def errors(self) -> tuple[str, ...]:
        """Numbers a row that are kept."""
        return tuple(sorted(self.sums - {MOMENTS}))


def wide_fields(plans: Sequence[MetricPlan], request: Request, truth: Truth) -> tuple[WideField, ...]:
    """The fields that no metric needs row by row."""
    if request.fill is not None or request.contract.repeats == "max_abs":
        return ()
    readers: dict[str, list[MetricPlan]] = {}
    for plan in plans:
        for f in plan.prediction:
            readers.setdefault(f.name, []).append(plan)
    found = []
    for name, using in readers.items():
        partners = {tuple(f.name for f in plan.truth) for plan in using}
        if any(p.metric.spec.state != "sums" or len(p.prediction) != 1 for p in using) or len(partners) != 1:
            continue
        (partner,) = partners
        column = truth.columns.get(partner[0]) if len(partner) == 1 else None
        if not isinstance(column, np.ndarray) or column.ndim != 2 or not is_wide(column.shape[1]):
            continue
        usable = ~truth.missing[partner[0]] if partner[0] in truth.missing else None
        asked = frozenset(s for plan in using for s in plan.metric.spec.sums)
        found.append(WideField(name, column.shape[1], column, usable, asked))
    return tuple(found)


class WideState:
    """What is kept of wide fields, beside the placed rows that hold their digests.

    Args:
        fields: From :func:`wide_fields`.
        hashed: Digests enter a fingerprint; else they only tell equal rows from different ones.
    """

    def __init__(self, fields: Sequence[WideField], *, hashed: bool) -> None:
        self.fields = {f.name: f for f in fields}
        self.hashed = hashed
        self.sums = {f.name: WideSums(f.width) for f in fields if MOMENTS in f.sums}

    def reduce(self, where: Where, columns: Mapping[str, Any], n: int) -> dict[str, Any]:
        """Columns to be placed: digests and numbers a row in place of wide rows."""
        reduced: dict[str, Any] = {}
        for name, column in columns.items():
            wide = self.fields.get(name)
            if wide is None:
                reduced[name] = column
                continue
            if isinstance(column, OnDevice):
                reduced |= self._reduce_there(wide, where, column)
                continue
            column = _rows(column)
            reduced[name] = row_digests(column) if self.hashed else check_digests(column)
            if wide.errors:
                true = wide.truth[where]
                for kind in wide.errors:
                    numbers = row_errors(column, true, kind)  # type: ignore[arg-type]
                    if wide.usable is not None:
                        numbers = np.where(wide.usable[where], numbers, 0.0)
                    reduced[name + _MARK + kind] = numbers
        return reduced

    def _reduce_there(self, wide: WideField, where: Where, column: OnDevice) -> dict[str, Any]:
        """The same of rows on a device: a few numbers of each row cross to the host, in one copy."""
        import torch

        rows, k = column.rows, len(column)
        parts = [] if self.hashed else [check_digests_on_device(rows)]
        odd = []
        if wide.errors:
            true = rows_on(wide.truth, where, rows.device)
            if wide.usable is not None:
                true = true.masked_fill(true.isnan(), 0.0)
        for kind in wide.errors:
            numbers, beyond = row_errors_on_device(rows, true, kind)  # type: ignore[arg-type]
            parts.append(numbers.view(torch.int64))
            odd.append(beyond)
        flat = [part.reshape(-1) for part in parts] + ([torch.stack(odd).to(torch.int64)] if odd else [])
        raw = torch.cat(flat).cpu().numpy() if flat else np.zeros(0, np.int64)
        if odd and raw[-len(odd) :].any():  # numbers of a size that only the host takes
            return self.reduce(where, {wide.name: column.at_home()}, k)
        digests = row_digests(column.at_home()) if self.hashed else raw[: 2 * k].reshape(k, 2).view(np.uint64)
        reduced: dict[str, Any] = {wide.name: digests}
        start = 0 if self.hashed else 2 * k
        for i, kind in enumerate(wide.errors):
            numbers = raw[start + i * k : start + (i + 1) * k].view(np.float64)
            if wide.usable is not None:
                numbers = np.where(wide.usable[where], numbers, 0.0)
            reduced[wide.name + _MARK + kind] = numbers
        return reduced

    def place(self, placed: PlacedRows, where: Where, columns: Mapping[str, Any]) -> None:
        """Place a batch, and add the wide rows that are new; all or nothing.

        Raises:
            ContractError: as :meth:`PlacedRows.place`.
        """
        before, known = placed.n_seen, placed.seen_at(where) if self.sums else None
        try:
            placed.place(where, self.reduce(where, columns, placed.n))
        except ContractError as error:
            raise _of_whole_fields(error) from None
        if known is None:
            return
        positions = np.arange(*where.indices(placed.n), dtype=np.int64) if isinstance(where, slice) else where
        fresh: Any = slice(None)
        if placed.n_seen - before < len(positions):
            first = np.zeros(len(positions), bool)
            first[np.unique(positions, return_index=True)[1]] = True
            fresh = np.flatnonzero(first & ~known)
        for name, sums in self.sums.items():
            wide = self.fields[name]
            sums.add(positions[fresh], _rows(columns[name])[fresh], wide.truth, wide.usable)

    def merge(self, mine: PlacedRows, other: WideState, theirs: PlacedRows, together: PlacedRows) -> WideState:
        """Both states; ``together`` is the merged placed rows, which have found that the digests agree.

        Raises:
            ContractError: A row was added in both, and can no longer be taken out of either.
        """
        result = WideState(tuple(self.fields.values()), hashed=self.hashed)
        both = np.flatnonzero(mine.seen() & theirs.seen()) if mine.n_seen and theirs.n_seen else np.zeros(0, np.int64)
        for name, sums in self.sums.items():
            wide = self.fields[name]
            result.sums[name], stuck = sums.merge(other.sums[name], both, wide.truth, wide.usable)
            if len(stuck):
                raise ContractError([_stuck(name, stuck, together)])
        return result

    def digests(self, placed: PlacedRows, name: str) -> RowDigests:
        """The digests of a field, for the fingerprint."""
        return RowDigests(placed.digests(name), self.fields[name].width)

    def errors(self, placed: PlacedRows, name: str) -> dict[str, NDArray[np.float64]]:
        """(n,) numbers of each row of a field."""
        kept = placed.fields
        found = ((kind, name + _MARK + kind) for kind in self.fields[name].errors)
        return {kind: np.asarray(placed.column(key), np.float64) for kind, key in found if key in kept}

    def to_buffers(self) -> dict[str, Any]:
        """Plain parts."""
        parts = {}
        for name, sums in self.sums.items():
            meta, arrays = sums.to_buffers()
            parts[name] = {"meta": meta, "arrays": arrays}
        return parts

    def take_buffers(self, parts: Mapping[str, Any]) -> None:
        """The sums that :meth:`to_buffers` took apart."""
        for name, part in parts.items():
            self.sums[name] = WideSums.from_buffers(part["meta"], part["arrays"])


def is_derived(name: str) -> bool:
    """Whether a placed column is a number a row of a wide field."""
    return _MARK in name


def _rows(column: Any) -> Any:
    if isinstance(column, OnDevice):
        return column.rows
    if hasattr(column, "toarray"):
        column = column.toarray()
    rows: NDArray[Any] = np.asarray(column)
    return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)


def _of_whole_fields(error: ContractError) -> ContractError:
    """The same error without what is kept of a field beside its digests."""
    told = [v for v in error.violations if not is_derived(v.field)]
    return ContractError(told) if told else error


def _stuck(name: str, positions: Ints, placed: PlacedRows) -> Violation:
    remedy = (
        "Give every rank rows of its own (repeats at the end of a rank's rows are fine), or put metrics that keep rows "
        "beside these."
    )
    return Violation(
        name,
        "each row in one shard, or a repeat among the last rows of one",
        "rows that two shards have added to their sums",
        tuple(placed.ids_of(positions[:SHOWN])),
        len(positions),
        remedy,
    )
