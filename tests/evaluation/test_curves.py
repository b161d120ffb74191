"""Curves over a private truth tell no single answer."""

import numpy as np
import pytest

import primabench_core as pb
from primabench_core.evaluation.curves import STEP, coarsened, curves_of
from primabench_core.evaluation.paired import Placed
from primabench_core.result.curves import Confusion

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
    assert set(table.predicted_classes) >= {"plain", "something else"}
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
