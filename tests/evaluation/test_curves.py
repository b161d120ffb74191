"""Curves over a private truth tell no single answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import primabench_core as pb
from primabench_core.evaluation.curves import STEP, coarsened, confusion_of, curves_of
from primabench_core.evaluation.paired import Placed
from primabench_core.result.curves import Confusion
from primabench_core.state.rows import Labels

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("n", [0, 1, 9, 10, 11, 19, 20, 347])
def test_every_step_holds_enough_rows(n):
    score = RNG.integers(0, 40, n) / 7
    coarse = coarsened(score.astype(float), STEP)
    _, counts = np.unique(coarse, return_counts=True)
    assert n == 0 or counts.min() >= min(STEP, n)
    order = np.argsort(score, kind="stable")
    assert (np.diff(coarse[order]) >= 0).all()
    assert all(len(set(coarse[score == s])) == 1 for s in set(score))


def placed(truth, **fields):
    run = pb.stream(["accuracy", "auroc"] if "score" in fields else ["accuracy"], truth=truth)
    run.update(**fields)
    return Placed.of(run)


def test_own_truth_is_drawn_exactly():
    y = RNG.integers(0, 2, 60)
    score = y + RNG.normal(size=60)
    found = curves_of(placed({"label": y}, label=(score > 0.5).astype(int), score=score), draws=0)
    table, roc, pr = found
    assert isinstance(table, Confusion)
    assert sum(map(sum, table.table)) == 60
    assert (roc.kind, pr.kind) == ("roc", "pr")
    assert roc.n == 61
    area = np.trapezoid(roc.y, roc.x)
    assert area == pytest.approx(pb.score("auroc", {"score": score}, {"label": y}).value)


def test_a_private_truth_is_drawn_in_steps(solutions):
    run = pb.Evaluation("toy_cells")
    ids = [f"cell{i}" for i in range(40)]
    run.update(ids=ids, label=["plain"] * 20 + ["something else"] * 20)
    (table,) = curves_of(Placed.of(run))
    assert set(table.predicted_classes) >= {"plain", "not a class"}
    assert sum(map(sum, table.table)) == 40
    exact = Placed.of(run)
    exact.views.prediction["score"] = RNG.random(40)
    _, roc, _ = curves_of(exact, draws=0)
    assert roc.n <= 1 + 40 // STEP


def test_few_private_units_are_not_drawn(solutions):
    run = pb.Evaluation("toy_cells")
    run.update(ids=[f"cell{i}" for i in range(40)], label=["plain"] * 40)
    few = Placed.of(run)
    few.truth.n = 29
    assert curves_of(few) == ()


def test_a_class_of_its_own_for_each_unit_tells_nothing_of_a_unit(solutions):
    run = pb.Evaluation("toy_cells")
    run.update(ids=[f"cell{i}" for i in range(40)], label=[f"own {i:02}" for i in range(40)])
    (table,) = curves_of(Placed.of(run))
    assert [c for c in table.predicted_classes if c not in table.truth_classes] == ["not a class"]
    assert sorted(sum(column) for column in zip(*table.table, strict=True)) == [0, 0, 40]


def test_a_single_unit_in_a_column_is_pooled(solutions):
    run = pb.Evaluation("toy_cells")
    run.update(ids=[f"cell{i}" for i in range(40)], label=["plain"] + ["nothing"] * 39)
    (table,) = curves_of(Placed.of(run))
    assert max(sum(column) for column in zip(*table.table, strict=True)) == 40
    assert "other classes (few rows)" in table.predicted_classes


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), min_size=STEP, max_size=120))
def test_every_column_over_a_private_truth_holds_enough_rows(pairs):
    true, called = np.array(pairs, np.int64).T
    truth = Labels(true, tuple("abcde"))
    table = confusion_of(truth, Labels(called, tuple("abcdefghij")), STEP)
    assert all(sum(column) == 0 or sum(column) >= STEP for column in zip(*table.table, strict=True))
    assert [sum(row) for row in table.table] == np.bincount(true, minlength=5).tolist()
    exact = confusion_of(truth, Labels(called, tuple("abcdefghij")))
    assert {
        (t, p): n
        for t, row in zip(exact.truth_classes, exact.table, strict=True)
        for p, n in zip(exact.predicted_classes, row, strict=True)
        if n
    } == {(t, p): n for (t, p), n in _counted(true, called).items()}


def _counted(true, called):
    found: dict[tuple[str, str], int] = {}
    for t, p in zip(true.tolist(), called.tolist(), strict=True):
        key = "abcde"[t], "abcdefghij"[p]
        found[key] = found.get(key, 0) + 1
    return found


def test_a_name_that_a_class_has_is_not_used_again():
    truth = Labels(np.zeros(20, np.int64), ("not a class", "x"))
    table = confusion_of(truth, Labels(np.full(20, 2), ("not a class", "x", "y")), STEP)
    assert table.predicted_classes == ("not a class", "(not a class)")
