"""What a preparer returns, and the rules that it has to keep so that scores mean something and no answer gets out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import field, frozen

from primabench_core.contract.contract import Contract
from primabench_core.contract.evaldata import EvalData
from primabench_core.contract.ragged import Ragged
from primabench_core.errors import PluginError
from primabench_core.spec.task import TaskSpec
from primabench_core.store.columns import as_text


@frozen(kw_only=True, repr=False)
class Splits:
    """What a preparer returns.

    Rows of ``test`` and ``solution`` are the same units, matched by id; the order of the solution is the canonical
    order of everything that is scored. Where a contract says ``many_rows_per_unit``, the solution holds any number of
    rows for each row of ``test``, whose id they name. ``test`` holds no answer: a field of it that the task predicts
    must be absent or missing in every row.

    Example:
        A preparer that splits by a frozen id list::

            def prepare(data: DatasetReader) -> Splits:
                rows = data.id_list()
                labelled, censored = data.artifact("labelled"), data.artifact("censored")
                return Splits(
                    train=labelled.select(rows["train"]),
                    test=censored.select(rows["test"]),
                    solution=data.artifact("solution").select(rows["test"]),
                )
    """

    train: EvalData | None
    """Rows with answers, to learn from; None for an unsupervised or a test-only task."""
    test: EvalData
    """Rows without answers, to predict."""
    solution: EvalData
    """Answers of the test rows: the solution fields of the task's contract."""
    columns: Mapping[str, str] = field(factory=dict)
    """Coordinate that names the columns of a two-dimensional field, as in :class:`Artifact`."""


def check_splits(splits: Any, task: TaskSpec, what: str, owner: str) -> None:
    """What would make a score meaningless or give an answer away."""

    def refuse(fault: str) -> PluginError:
        return PluginError(f"{what} ({owner}) {fault}", remedy=f"tell the authors of {owner}")

    if not isinstance(splits, Splits):
        raise refuse(f"returned {type(splits).__name__}; expected primabench_core.store.prepare.Splits")
    test, solution, train = _ids(splits.test), answered(splits.solution, task.contract), _ids(splits.train)
    if not splits.test.n:
        raise refuse("made an empty test split")
    answers = splits.solution.n if solution is None else len(solution)
    if (test is None) != (solution is None) or splits.test.n != answers:
        raise refuse(f"made {splits.test.n} test rows and {answers} answers")
    if test is not None and solution is not None and (len(set(test)) != len(test) or set(test) != set(solution)):
        raise refuse("made test rows and answers whose ids are not the same units, each once")
    if test is not None and train is not None and not set(test).isdisjoint(train):
        raise refuse(f"put {len(set(test) & set(train))} units into both train and test")
    if splits.train is not None and not task.supervised:
        raise refuse(f"made a train split, but task {task.name!r} is unsupervised")
    if splits.train is not None and task.test_only:
        raise refuse(f"made a train split, but task {task.name!r} is test-only")
    absent = [f.name for f in task.contract.solution if not f.optional and f.name not in splits.solution.fields]
    if absent:
        raise refuse(f"made a solution without the field {absent[0]!r} of the contract")
    public = {str(c) for data in (splits.train, splits.test) if data for names in data.coords.values() for c in names}
    untold = [name for name in splits.solution.coords.get("classes", ()) if str(name) not in public]
    if untold:
        raise refuse(
            f"named {len(untold)} classes in the solution's coordinate 'classes' that no coordinate of a public split "
            "names; whoever predicts probabilities needs their order"
        )
    for predicted in task.contract.prediction:
        value = splits.test.fields.get(predicted.name)
        if value is not None and not _all_missing(value):
            raise refuse(
                f"left values in the field {predicted.name!r} of the test split; answers must be missing there"
            )


def answered(solution: EvalData, contract: Contract) -> list[str | None] | None:
    """Ids of the units that a solution answers; None where they are rows that have no ids."""
    if not contract.many_rows_per_unit or contract.unit_field not in solution.fields:
        return _ids(solution)
    names = set(as_text(solution[contract.unit_field], contract.unit_field)) - set(contract.ignored_units)
    return sorted(names, key=str)


def _ids(data: EvalData | None) -> list[str | None] | None:
    return None if data is None or data.ids is None else as_text(data.ids, "ids")


def _all_missing(value: Any) -> bool:
    if isinstance(value, Ragged):
        return len(value.values) == 0
    found = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    if found.dtype.kind in "OUT":
        return all(item is None for item in found.tolist())
    return found.dtype.kind == "f" and bool(np.isnan(found).all())


def told_names(splits: Splits) -> set[str]:
    """Names of the answers that are coordinates, ids or text of a public split: results may carry them."""
    names = {name for value in splits.solution.fields.values() for name in _texts_of(value)}
    told: set[str] = set()
    for data in filter(None, (splits.train, splits.test)):
        for values in data.coords.values():
            told |= names & set(map(str, values))
        for value in data.fields.values():
            told |= names.intersection(_texts_of(value))
    return told


def _texts_of(value: Any) -> set[str]:
    """The distinct texts of a one-dimensional text field."""
    if isinstance(value, Ragged) or getattr(value, "ndim", 0) != 1 or np.asarray(value).dtype.kind not in "OUT":
        return set()
    return {text for text in set(np.asarray(value).tolist()) if isinstance(text, str)}
