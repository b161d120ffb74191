"""Splits labelled cells by the frozen id list: types are given for training cells and missing for test cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from primabench_core import CorruptDataError
from primabench_task_singlecell.preparers.cells import COLUMNS, read_cells

if TYPE_CHECKING:
    from primabench_core.store.prepare import DatasetReader, Splits


def prepare(data: DatasetReader) -> Splits:
    """Training cells with types, test cells without, and the types of the test cells.

    Raises:
        CorruptDataError: the list does not fit the cells, or a type is absent from one side.
    """
    from primabench_core.store.prepare import Splits

    cells, lists = read_cells(data), data.id_list()
    train, test = lists.get("train", ()), lists.get("test", ())
    _check_list(cells.types, train, test)
    return Splits(
        train=cells.public(cells.labelled.select(train)),
        test=cells.public(cells.censored.select(test)),
        solution=cells.answers(cells.solution.select(test)),
        columns=COLUMNS,
    )


def _check_list(types: Mapping[str, str], train: Sequence[str], test: Sequence[str]) -> None:
    """Every cell is in exactly one split, the list names no other cell, and each side has every type."""
    both, listed = set(train) & set(test), set(train) | set(test)
    problems = {
        "are in both splits": both,
        "are listed but not in the dataset": listed - set(types),
        "are in no split": set(types) - listed,
    }
    for what, ids in problems.items():
        if ids:
            shown = ", ".join(sorted(ids)[:5])
            raise CorruptDataError(f"The id list does not fit the dataset: {len(ids)} cells {what} ({shown}).")
    for name, side in (("train", train), ("test", test)):
        absent = set(types.values()) - {types[i] for i in side}
        if absent:
            raise CorruptDataError(f"Split {name!r} has no cell of type {', '.join(sorted(absent))}.")
