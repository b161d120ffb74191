"""Checks of preparers: splits are disjoint, answers stay private, and opening a split reads no values."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core.contract.ragged import Ragged
from primabench_core.discovery import registry
from primabench_core.errors import PluginError, PrimaBenchError, UsageError
from primabench_core.testing.bench import refused
from primabench_core.testing.report import CheckFailure, NotApplicable
from primabench_core.testing.spy import watch_chunks
from primabench_core.testing.subjects import PreparerSubject

if TYPE_CHECKING:
    from primabench_core.contract.evaldata import EvalData
    from primabench_core.store.prepare import Splits


def _splits(subject: PreparerSubject) -> Splits:
    """What the preparer's own function returns, before core looks at it."""
    from primabench_core.store.location import Store
    from primabench_core.store.prepare import DatasetReader, Splits

    spec = subject.spec
    subject.bench.build(spec.dataset)

    def make() -> Splits:
        function = registry.resolve(spec.prepare, owner=subject.distribution)
        try:
            found = function(DatasetReader(Store.at(subject.bench.root), spec, subject.distribution))
        except PrimaBenchError:
            raise
        except Exception as error:
            raise PluginError(f"the preparer raised {type(error).__name__}: {error}") from error
        if not isinstance(found, Splits):
            raise PluginError(f"the preparer returned {type(found).__name__}; expected Splits")
        return found

    try:
        return subject.bench.once(("splits", subject.qualified), make)
    except PrimaBenchError as error:
        raise refused("its function failed", error) from error


def check_ids_disjoint(subject: PreparerSubject) -> None:
    """No unit is in train and in test, and none comes twice; unsupervised and test-only tasks have no train split."""
    splits = _splits(subject)
    test = _ids(splits.test, "test")
    if len(set(test)) < len(test):
        raise CheckFailure(f"the test split names {len(test) - len(set(test))} units twice")
    if splits.train is None:
        return
    if not subject.task.supervised:
        raise CheckFailure(f"it makes a train split, but task {subject.spec.task!r} is unsupervised")
    if subject.task.test_only:
        raise CheckFailure(f"it makes a train split, but task {subject.spec.task!r} is test-only")
    shared = sorted(set(test) & set(_ids(splits.train, "train")))
    if shared:
        raise CheckFailure(
            f"{len(shared)} units are in train and in test: {', '.join(shared[:5])}",
            remedy="split by a frozen id list; DatasetReader.id_list() refuses an id that stands twice",
        )


def _ids(data: EvalData, split: str) -> list[str]:
    if data.ids is None:
        raise CheckFailure(f"the {split} split has no ids, so nobody can tell whether units are in both splits")
    return [str(i) for i in data.ids]


def check_test_answers_missing(subject: PreparerSubject) -> None:
    """Answers are absent from the test split or missing in every row; other fields are no copy of them."""
    splits = _splits(subject)
    task = subject.task
    hidden = [f for f in task.contract.solution if not f.public]
    answers = {f.name for f in (*hidden, *task.contract.prediction)}
    for name in sorted(answers & set(splits.test.fields)):
        if not _all_missing(splits.test[name]):
            raise CheckFailure(
                f"the field {name!r} of the test split holds values; answers must be missing there",
                remedy="take the test split from the censored view of the recipe",
            )
    if task.contract.many_rows_per_unit:
        return  # rows of the solution are not those of the test split
    solution = splits.solution.select(list(_ids(splits.test, "test")))
    for field in hidden:
        if field.name not in solution:
            continue
        answer = solution[field.name]
        for name in splits.test.fields:
            if name not in answers and _is_copy(splits.test[name], answer):
                raise CheckFailure(
                    f"the field {name!r} of the test split gives the answers of {field.name!r} away: one determines "
                    "the other in every row",
                    remedy="drop it in the recipe's censored view",
                )


def _all_missing(value: Any) -> bool:
    if isinstance(value, Ragged):
        return not len(value.values)
    array = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    if array.dtype.kind in "OUT":
        return all(v is None for v in array.tolist())
    return array.dtype.kind == "f" and bool(np.isnan(array).all())


def _is_copy(value: Any, answer: Any) -> bool:
    """Whether two columns determine each other; a column of all different values says nothing."""
    if isinstance(value, Ragged) or isinstance(answer, Ragged) or np.ndim(value) != 1 or np.ndim(answer) != 1:
        return False
    left, right = (np.asarray(v).tolist() for v in (value, answer))
    if left == right:
        return len(set(right)) > 1
    pairs = set(zip(left, right, strict=True))
    kinds = len(set(right))
    return 1 < kinds <= len(right) // 2 and len(pairs) == kinds == len(set(left))


def check_solution_unreachable(subject: PreparerSubject) -> None:
    """Nothing public holds the solution: no path, no folder that others may enter, nothing that ``load`` opens."""
    from primabench_core.store.access import fetch_test, load
    from primabench_core.store.location import PRIVATE, Store

    spec = subject.spec
    _prepare(subject)
    place = Store.at(subject.bench.root)
    private = place.private(spec.dataset)
    for path in place.version(spec.dataset).rglob("*"):
        inside = private in (path, *path.parents)
        if not inside and "solution" in path.name:
            raise CheckFailure(f"the public path {path.relative_to(place.root)} holds a solution")
    if os.name == "posix" and stat.S_IMODE(private.stat().st_mode) & 0o077:
        raise CheckFailure(f"the folder {PRIVATE} can be entered by others")
    path = fetch_test(spec.task, dataset=spec.dataset, store=subject.bench.root)
    if PRIVATE in path.parts:
        raise CheckFailure("fetch gives a path in the private folder")
    for hidden in private.rglob("*.zarr"):
        try:
            load(hidden, task=spec.task)
        except (UsageError, PrimaBenchError):
            continue
        raise CheckFailure("load opens what lies in the private folder")
    test = load(path, task=spec.task, split="test")
    solution = subject.bench.solution(spec.task, spec.dataset)
    shown = repr(test) + Path(path.parent.parent, "manifest.json").read_text(encoding="utf-8")
    numbers = [repr(float(v)) for f in solution.fields.values() for v in _numbers(f)[:50]]
    if sum(len(n) > 12 and n in shown for n in numbers) > 3:
        raise CheckFailure("the manifest or the test split's repr shows answers")


def _numbers(value: Any) -> list[float]:
    array = np.asarray(getattr(value, "values", value) if isinstance(value, Ragged) else value)
    return list(array.ravel()) if array.dtype.kind == "f" else []


def _prepare(subject: PreparerSubject) -> None:
    spec = subject.spec
    try:
        subject.bench.prepare(spec.task, spec.dataset)
    except PrimaBenchError as error:
        raise refused("core refuses what it makes", error) from error


def check_lazy_open_reads_no_chunk(subject: PreparerSubject) -> None:
    """Opening a split reads metadata, ids and names of columns, but no chunk of any field."""
    from primabench_core.store.access import fetch_test, load

    spec = subject.spec
    _prepare(subject)
    path = fetch_test(spec.task, dataset=spec.dataset, store=subject.bench.root)
    with watch_chunks() as seen:
        test = load(path, task=spec.task, split="test")
    touched = sorted({name for key in seen for name in test.fields if key.startswith(f"{name}/")})
    if touched:
        raise CheckFailure(f"opening the test split reads values of {', '.join(touched)}")
    if not test.fields:
        raise NotApplicable("the test split has no fields")
    with watch_chunks() as seen:
        for name in test.fields:
            _ = test.fields[name][:1]
    if not seen:
        raise CheckFailure("slicing a field reads nothing from the store, so it was not opened lazily")
