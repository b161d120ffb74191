"""Laws of metrics: how rows arrive, how they are cut, in what order and by what names must not matter."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from attrs import evolve

from primabench_core.discovery import registry
from primabench_core.errors import ContractError, UsageError
from primabench_core.state.counts import Counts
from primabench_core.testing.generate import Case
from primabench_core.testing.measure import demand_same, feed, finish, run, start, state_of
from primabench_core.testing.report import CheckFailure, NotApplicable
from primabench_core.testing.subjects import MetricSubject


def _pieces(n: int, seed: int) -> list[list[np.ndarray]]:
    """Three ways to cut rows: two halves, uneven random parts, and single rows with the rest."""
    rng = np.random.default_rng(seed)
    mixed = rng.permutation(n)
    return [
        [np.arange(n // 2), np.arange(n // 2, n)],
        [part for part in np.split(mixed, np.sort(rng.integers(0, n, 4))) if len(part)],
        [mixed[:1], mixed[1:2], mixed[2:]],
    ]


def check_repeats(subject: MetricSubject) -> None:
    """The same input gives the same value again, also after other inputs and after a journey through pickle."""
    for case in subject.cases:
        first = run(subject, case)
        run(subject, case.rows(range(case.n // 2)))
        demand_same(subject.spec, first, run(subject, case), case, "asking a second time")
        evaluation = start(subject, case)
        feed(evaluation, case, range(case.n))
        travelled = pickle.loads(pickle.dumps(evaluation))
        demand_same(subject.spec, first, finish(travelled, case), case, "a journey through pickle")


def check_one_shot_is_every_partition(subject: MetricSubject) -> None:
    """Rows in one piece, or in shards with a value asked for after each of them: the last value is the same."""
    for case in subject.cases:
        whole = run(subject, case)
        for parts in _pieces(case.n, 1):
            evaluation = start(subject, case, partial=True)
            for part in parts:
                feed(evaluation, case, part)
                with suppress(ContractError, UsageError):  # some rows alone may be refused
                    evaluation.compute()  # as a training loop does
            demand_same(
                subject.spec, whole, finish(evaluation, case), case, f"cutting the rows into {len(parts)} shards"
            )


def check_empty_shards(subject: MetricSubject) -> None:
    """Shards without rows, at any place, change nothing."""
    for case in subject.cases:
        nothing = np.arange(0)
        half, rest = np.arange(case.n // 2), np.arange(case.n // 2, case.n)
        cut = run(subject, case, shards=[nothing, half, nothing, rest, nothing])
        demand_same(subject.spec, run(subject, case), cut, case, "a shard without rows")


def check_merge_laws(subject: MetricSubject) -> None:
    """Merging states is associative and commutative, and an empty state changes nothing."""
    for case in subject.cases:
        whole = run(subject, case)
        parts = [start(subject, case) for _ in range(3)]
        for evaluation, rows in zip(
            parts, np.array_split(np.random.default_rng(2).permutation(case.n), 3), strict=True
        ):
            feed(evaluation, case, rows)
        a, b, c = parts
        empty = start(subject, case)
        for what, merged in {
            "merging (a + b) + c": a.merge(b).merge(c),
            "merging a + (b + c)": a.merge(b.merge(c)),
            "merging c + b + a": c.merge(b, a),
            "merging an empty state": empty.merge(a, empty, b, c),
        }.items():
            demand_same(subject.spec, whole, finish(merged, case), case, what)
        if subject.spec.state == "counts":
            _merge_counts(subject, case, whole)


def _merge_counts(subject: MetricSubject, case: Case, whole: Any) -> None:
    """Tables of shards that saw few classes, merged in two orders, must score like the table of all rows."""
    state, params = state_of(subject, case)
    assert isinstance(state, Counts)
    function = registry.resolve(subject.spec.compute, owner=subject.distribution)
    rows = [
        Counts(state.table[i : i + 1], state.truth_classes[i : i + 1], state.predicted_classes)
        for i in range(len(state.truth_classes))
    ]
    for what, parts in {"in order": rows, "backwards": rows[::-1]}.items():
        merged = Counts.empty()
        for part in parts:
            merged = merged.merge(part)
        outcome = function(merged, **params)
        value = getattr(outcome, "value", outcome)
        found = evolve(whole, value=value) if value is not None and whole.value is not None else None
        if found is None and value is None and whole.value is None:
            continue
        if found is None:
            raise CheckFailure(f"tables merged {what} on {case.name}: {whole.value!r} became {value!r}")
        demand_same(subject.spec, whole, found, case, f"merging tables of single classes {what}")


def check_order_free(subject: MetricSubject) -> None:
    """Neither the order in which predictions arrive nor the order of the items in the truth matters."""
    rng = np.random.default_rng(3)
    for case in subject.cases:
        whole = run(subject, case)
        mixed = rng.permutation(case.n)
        demand_same(subject.spec, whole, run(subject, case, shards=[mixed]), case, "another order of arrival")
        for what, order in {"permuting the items": mixed, "reversing the items": np.arange(case.n)[::-1]}.items():
            demand_same(subject.spec, whole, run(subject, case.rows(order)), case, what)


def check_column_order_free(subject: MetricSubject) -> None:
    """Columns (classes, genes) are known by name: a prediction with them in another order scores the same."""
    looked = False
    for case in subject.cases:
        swapped = dict(case.prediction)
        for coord in ("classes", "genes"):
            if coord not in swapped:
                continue
            order = np.arange(len(swapped[coord]))[::-1]
            swapped[coord] = tuple(swapped[coord][i] for i in order)
            for name, value in case.prediction.items():
                kind = case.fields[f"prediction.{name}"].kind if f"prediction.{name}" in case.fields else ""
                if (coord == "classes") == (kind == "probability") and kind in ("probability", "value", "matrix"):
                    swapped[name] = value[:, order]
            looked = True
        if swapped.keys() & {"classes", "genes"}:
            demand_same(
                subject.spec,
                run(subject, case),
                run(subject, case, prediction=swapped),
                case,
                "another order of columns",
            )
    if not looked:
        raise NotApplicable("no field of its cases has named columns")


def check_relabelling(subject: MetricSubject) -> None:
    """New names for classes and clusters, in another order, change nothing."""
    looked = False
    for case in subject.cases:
        renamed = _renamed(case)
        if renamed is not None:
            looked = True
            demand_same(subject.spec, run(subject, case), run(subject, renamed), case, "renaming classes and clusters")
    if not looked:
        raise NotApplicable("it reads no labels, or only labels of a fixed vocabulary")


def _renamed(case: Case) -> Case | None:
    """The case with every free label renamed so that the sorted order turns round; None without such labels."""
    free = {k: f for k, f in case.fields.items() if f.kind == "label" and not isinstance(f.vocabulary, tuple)}
    if not free:
        return None
    truth, prediction = dict(case.truth), dict(case.prediction)
    classes = _new_names(truth[case.class_field]) if case.class_field else {}
    for key, f in free.items():
        side, _, name = key.partition(".")
        data = truth if side == "truth" else prediction
        if name == case.class_field or (side == "prediction" and f.vocabulary == "truth" and name not in truth):
            names = classes
        elif f.vocabulary == "truth" and name in case.truth:
            names = _new_names(case.truth[name])
        else:
            names = _new_names(data[name])
        data[name] = _apply(data[name], names)
    for data in (truth, prediction):
        if "classes" in data:
            data["classes"] = tuple(classes.get(c, c) for c in data["classes"])
    if "classes" in truth:  # columns follow the new names
        order = sorted(range(len(truth["classes"])), key=lambda i: truth["classes"][i])
        truth["classes"] = tuple(truth["classes"][i] for i in order)
    params = {k: classes.get(v, v) if k == "positive" else v for k, v in case.params.items()}
    return evolve(case, truth=truth, prediction=prediction, params=params, perfect=None)


def _new_names(values: Any) -> dict[Any, Any]:
    found = sorted({v for v in np.asarray(values).tolist() if v is not None})
    if not found or isinstance(found[0], str):
        return {name: f"z{len(found) - i:02d} {name}" for i, name in enumerate(found)}
    return {name: 90 - 7 * i for i, name in enumerate(found)}


def _apply(values: Any, names: Mapping[Any, Any]) -> Any:
    array = np.asarray(values)
    return np.asarray([names.get(v, v) for v in array.tolist()], array.dtype)


def check_leaves_its_input_alone(subject: MetricSubject) -> None:
    """The function does not write into what it is given: other metrics read the same arrays."""
    function = registry.resolve(subject.spec.compute, owner=subject.distribution)
    for case in subject.cases:
        state, params = state_of(subject, case)
        before = pickle.dumps(_arrays(state))
        function(state, **params)
        if pickle.dumps(_arrays(state)) != before:
            raise CheckFailure(f"its function changed the arrays that it was given on {case.name}", remedy="copy first")


def _arrays(state: Any) -> dict[str, Any]:
    if isinstance(state, Counts):
        return {"table": state.table.copy()}
    columns = {**{f"p.{k}": v for k, v in state.prediction.items()}, **{f"t.{k}": v for k, v in state.truth.items()}}
    return {k: np.array(getattr(v, "codes", getattr(v, "values", v))) for k, v in columns.items()}
