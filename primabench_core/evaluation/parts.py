"""What predictions are made of when they are scored in parallel: parts that can be named, sent and read elsewhere.

A stored part is a place and ranges of its rows: only this travels, and the rows are read where they are folded. A held
part carries its rows. Consecutive partitions make a group; one task folds a group.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from primabench_core.contract.contract import Contract
from primabench_core.contract.evaldata import EvalData
from primabench_core.contract.plain import plain
from primabench_core.errors import UsageError
from primabench_core.spec.frozen import FrozenMapping
from primabench_core.store.prediction_stores import describe, open_predictions
from primabench_core.store.stored import StoredData

PARTITION_ROWS = 65_536
"""Rows of a partition where no storage block says better."""

Range = tuple[int, int]


def _frozen(mapping: Mapping[str, str]) -> FrozenMapping[str]:
    return FrozenMapping(mapping)


def _texts(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(names)


@frozen
class StoredPart:
    """Rows of a prediction file, local or behind a URL."""

    place: str
    mapping: FrozenMapping[str] = field(factory=FrozenMapping, converter=_frozen)
    """Column of the file by field."""
    ranges: tuple[Range, ...] | None = None
    """Rows ``start <= row < stop``, one range a partition; None for all."""
    ignore: tuple[str, ...] = field(default=(), converter=_texts)
    """Columns that are left out; ``"*"``: all that are neither ids nor a field."""

    def open(self, contract: Contract) -> EvalData:
        """The whole file; a Zarr store stays unread until rows are taken."""
        return open_predictions(self.place, contract, self.mapping, self.ignore)


@frozen(eq=False)
class HeldPart:
    """Rows that are in memory."""

    data: EvalData
    start: int = 0
    """Number of the first row among all."""
    total: int = 0
    """Rows of all parts together."""

    def open(self, contract: Contract) -> EvalData:
        """The rows."""
        return self.data


Part = StoredPart | HeldPart


@frozen(eq=False)
class Block:
    """Some consecutive rows of a part, read."""

    data: EvalData
    start: int
    """Number of the first row among all rows, where rows have no ids."""
    total: int
    """Rows of the whole prediction, where rows have no ids."""


def partitions(
    value: Any, contract: Contract, mapping: Mapping[str, str], rows: int | None, ignore: Sequence[str] = ()
) -> list[Part]:
    """The partitions of a prediction.

    Args:
        value: A path, anything that :meth:`EvalData.of` takes, or a list of these: parts whose rows have ids.
        contract: Of the task.
        mapping: Column of a file by field.
        rows: Rows of a partition; None: a storage block of the widest field.
        ignore: Columns of files to leave out.

    Raises:
        StoreError: a file cannot be opened.
        UsageError: an empty list, or something that holds no predictions.
    """
    if isinstance(value, list | tuple) and value and all(map(_is_part, value)):
        return [part for item in value for part in _listed(item, contract, mapping, rows, ignore)]
    if isinstance(value, list | tuple) and not value:
        raise UsageError("a list of parts is empty", remedy="give a path, or a list of at least one part")
    if isinstance(value, str | os.PathLike):
        return _stored(value, contract, mapping, rows, ignore)
    return _held(EvalData.of(value, contract), rows)


def _is_part(item: Any) -> bool:
    return isinstance(item, str | os.PathLike | EvalData | Mapping) or hasattr(item, "columns")


def _listed(
    item: Any, contract: Contract, mapping: Mapping[str, str], rows: int | None, ignore: Sequence[str]
) -> list[Part]:
    """A part of a list. A stored one is not opened here: there may be thousands, far away."""
    if isinstance(item, str | os.PathLike):
        return [StoredPart(os.fspath(item), mapping, ignore=ignore)]
    return _held(EvalData.of(item, contract), rows, alone=False)


def _stored(
    value: str | os.PathLike[str],
    contract: Contract,
    mapping: Mapping[str, str],
    rows: int | None,
    ignore: Sequence[str],
) -> list[Part]:
    whole = StoredPart(os.fspath(value), mapping, ignore=ignore)
    if Path(whole.place).suffix.lower() != ".zarr":
        return [whole]  # such a file is read in one go
    data = whole.open(contract)
    return [evolve(whole, ranges=(cut,)) for cut in _cuts(data.n, rows or _block_rows(data))]


def _held(data: EvalData, rows: int | None, *, alone: bool = True) -> list[Part]:
    n = data.n
    total = n if alone else 0
    size = rows or max(1, PARTITION_ROWS)
    if n <= size:
        return [HeldPart(data.load(), 0, total)]
    return [HeldPart(_rows(data, a, b), a, total) for a, b in _cuts(n, size)]


def _cuts(n: int, rows: int) -> list[Range]:
    if rows < 1:
        raise UsageError(f"partition_rows is a positive number, got {rows}")
    return [(a, min(n, a + rows)) for a in range(0, n, rows)] or [(0, 0)]


def _block_rows(data: EvalData) -> int:
    """Rows of a storage block of the widest field."""
    widest = max(data.fields.values(), key=lambda v: int(np.prod(v.shape[1:])), default=None)
    return int(getattr(widest, "block_rows", 0)) or PARTITION_ROWS


def grouped(parts: Sequence[Part], groups: int) -> list[tuple[Part, ...]]:
    """At most so many groups of consecutive partitions; ranges of one file are put together."""
    found = []
    for run in np.array_split(np.arange(len(parts)), max(1, min(groups, len(parts)))):
        joined: list[Part] = []
        for part in (parts[i] for i in run.tolist()):
            last = joined[-1] if joined else None
            if (
                isinstance(part, StoredPart)
                and isinstance(last, StoredPart)
                and (last.place, last.mapping) == (part.place, part.mapping)
                and None not in (last.ranges, part.ranges)
            ):
                joined[-1] = evolve(last, ranges=(*(last.ranges or ()), *(part.ranges or ())))
            else:
                joined.append(part)
        found.append(tuple(joined))
    return found


def blocks(parts: Iterable[Part], contract: Contract, *, ids_only: bool = False) -> Iterator[Block]:
    """Rows of the parts, partition after partition; with ``ids_only`` no field is read."""
    for part in parts:
        data = part.open(contract)
        if isinstance(part, HeldPart):
            yield Block(EvalData({}, ids=data.ids) if ids_only else data, part.start, part.total)
            continue
        n = data.n
        ranges = part.ranges if part.ranges is not None else _cuts(n, _block_rows(data))
        for a, b in ranges:
            yield Block(_rows(data, a, b, ids_only=ids_only), a, n)


def _rows(data: EvalData, start: int, stop: int, *, ids_only: bool = False) -> EvalData:
    """Consecutive rows, read; of a stored prediction the ids of these rows alone."""
    if isinstance(data, StoredData) and data._ids is None and data._open_ids is not None:
        ids: Any = plain(data._open_ids[start:stop], "ids")
    else:
        ids = None if data.ids is None else data.ids[start:stop]
    if ids_only:
        return EvalData({}, ids=ids)
    fields = {name: plain(value[start:stop], name) for name, value in data.fields.items()}
    return EvalData(fields, ids=ids, coords=data.coords)


def identity(value: Any, contract: Contract, mapping: Mapping[str, str], ignore: Sequence[str] = ()) -> str:
    """What tells these predictions from others without reading stored rows: for the key of a job.

    Of a folder that a manifest describes its hash; of other stored predictions the listing of their objects with
    sizes and times; of rows in memory their content.

    Returns:
        64 hexadecimal digits.
    """
    from primabench_core.result.identity import digest

    if isinstance(value, list | tuple) and value and all(map(_is_part, value)):
        return digest([identity(item, contract, mapping, ignore) for item in value])
    if isinstance(value, str | os.PathLike):
        left = {"ignore": sorted(ignore)} if ignore else {}
        return digest({"mapping": dict(mapping), **left, **describe(os.fspath(value))})
    from primabench_core.store.content import content_root

    data = EvalData.of(value, contract)
    return digest({"content": content_root(data).hex()})
