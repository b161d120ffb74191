"""Splits labelled cells by the frozen id list: types are given for training cells and missing for test cells."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from primabench_core import CorruptDataError, EvalData
from primabench_task_singlecell.preparers.cells import ARTIFACT, VIEW, censored, solution_of, types_of

if TYPE_CHECKING:
    from primabench_core.store.prepare import DatasetReader, Splits


def prepare(data: DatasetReader) -> Splits:
    """Training cells with types, test cells without, and the types of the test cells.

    Raises:
        CorruptDataError: the list does not fit the cells, or a type is absent from one side.
    """
    from primabench_core.store.prepare import Splits

    cells, lists = data.artifact(VIEW, ARTIFACT), data.id_list()
    types = dict(zip(cells.ids, types_of(cells), strict=True))
    _check_list(types.keys(), lists.get("train", ()), lists.get("test", ()))
    train, test = cells.select(lists["train"]), cells.select(lists["test"])
    classes = tuple(sorted(set(types.values())))
    for name, part in (("train", train), ("test", test)):
        absent = set(classes) - set(types_of(part))
        if absent:
            raise CorruptDataError(f"Split {name!r} has no cell of type {', '.join(sorted(absent))}.")
    coords = {**train.coords, "classes": classes}
    return Splits(
        train=EvalData(train.fields, ids=train.ids, coords=coords),
        test=censored(test, classes),
        solution=solution_of(test, types_of(test), classes),
    )


def _check_list(cells: Collection[str], train: Sequence[str], test: Sequence[str]) -> None:
    """Every cell is in exactly one split, and the list names no other cell."""
    both, listed = set(train) & set(test), set(train) | set(test)
    problems = {
        "are in both splits": both,
        "are listed but not in the dataset": listed - set(cells),
        "are in no split": set(cells) - listed,
    }
    for what, ids in problems.items():
        if ids:
            shown = ", ".join(sorted(ids)[:5])
            raise CorruptDataError(f"The id list does not fit the dataset: {len(ids)} cells {what} ({shown}).")
    if len(train) + len(test) != len(listed):
        raise CorruptDataError("The id list names a cell twice.")
