"""Intervals: the same bits everywhere, over independent units, with undefined draws counted."""

from __future__ import annotations

import numpy as np
import pytest

import primabench_core as pb
from primabench_core.evaluation import compute, draws, resampled
from primabench_core.statistics.resampling import draw_below

pytestmark = pytest.mark.usefixtures("toys")

rng = np.random.default_rng(11)
N = 200
TRUTH = {"label": rng.integers(0, 3, N), "value": rng.normal(size=N)}
FIELDS = {"label": rng.integers(0, 3, N), "value": rng.normal(size=N), "cluster": rng.integers(0, 4, N)}


def result_of(metrics, order=None, **options):
    """Rows in seven parts, with the fields that the metrics read."""
    names = {"value" if m in ("toy_mean", "toy_blocks") else "label" for m in metrics}
    run = pb.stream(metrics, truth={n: TRUTH[n] for n in names}, **options)
    order = np.arange(N) if order is None else order
    for part in np.array_split(order, 7):
        run.update(positions=part, **{n: FIELDS[n][part] for n in names})
    return run.compute(ci=0.95)


@pytest.fixture
def whole_rows(monkeypatch):
    """Draw rows of any class, as over a truth without classes."""
    monkeypatch.setattr(compute, "classes_of", lambda plan, rows: None)


def test_an_interval_by_hand():
    result = result_of(["toy_hits"])["toy_hits"]
    key = draws.draw_seed("", result_of(["toy_hits"]).truth_sha256, 0)
    hits = FIELDS["label"] == TRUTH["label"]
    drawn = np.empty((2000, N), int)
    for c in range(3):  # place i of a draw holds a row of the class of row i
        mine = np.flatnonzero(TRUTH["label"] == c)
        for d in range(2000):
            drawn[d, mine] = mine[draw_below(key, d, N, len(mine))[mine]]
    found = np.sort(hits[drawn].sum(1) / N)
    low, high = (
        found[int(q * 1999)] + (q * 1999 - int(q * 1999)) * (found[int(q * 1999) + 1] - found[int(q * 1999)])
        for q in (0.025, 0.975)
    )
    assert (result.interval.low, result.interval.high) == (low, high)
    assert (result.interval.draws, result.interval.dropped, result.interval.method) == (2000, 0, "units")
    assert result.interval.low < result.value < result.interval.high


def test_neither_order_nor_other_metrics_enter():
    alone = result_of(["toy_hits"])["toy_hits"].interval
    assert result_of(["toy_hits"], order=rng.permutation(N))["toy_hits"].interval == alone
    both = result_of(["toy_hits", "accuracy"])
    assert both["toy_hits"].interval == alone
    assert both["accuracy"].interval == alone  # the same metric by another name, on the same draws


def test_the_seed_enters():
    assert result_of(["toy_mean"], seed=1)["toy_mean"].interval != result_of(["toy_mean"])["toy_mean"].interval


def test_no_interval_costs_nothing(monkeypatch):
    def never(*_args, **_more):
        raise AssertionError("drawn")

    monkeypatch.setattr(draws, "draws_below", never)
    run = pb.stream(["toy_hits"], truth={"label": TRUTH["label"]})
    run.update(label=FIELDS["label"])
    assert run.compute()["toy_hits"].interval is None


@pytest.mark.usefixtures("whole_rows")
def test_rows_and_counts_see_the_same_draws():
    """The share of hits from counts, and the mean of the same hits as numbers, have one interval."""
    hits = (FIELDS["label"] == TRUTH["label"]).astype(float)
    run = pb.stream(["toy_hits", "toy_mean"], truth={"label": TRUTH["label"], "value": np.zeros(N)})
    run.update(label=FIELDS["label"], value=hits)
    result = run.compute(ci=0.95)
    assert result["toy_hits"].interval == result["toy_mean"].interval


def test_a_metric_without_an_interval_says_why():
    interval = result_of(["toy_picky"])["toy_picky"].interval
    assert (interval.low, interval.method, interval.reason) == (None, "none", "it is picky")


def test_blocks():
    interval = result_of(["toy_blocks"])["toy_blocks"].interval
    assert interval.method == "blocks"
    assert interval.low < interval.high


def test_many_units_are_resampled_in_blocks(monkeypatch):
    monkeypatch.setattr(draws, "MAX_UNITS", 100)
    monkeypatch.setattr(resampled, "_MAX_UNIT_CELLS", 1)
    narrow = result_of(["toy_hits"])["toy_hits"].interval
    monkeypatch.setattr(resampled, "_MAX_UNIT_CELLS", 1 << 24)
    wide = result_of(["toy_hits"])["toy_hits"].interval
    assert narrow == wide
    assert narrow.method == "blocks"


@pytest.mark.usefixtures("whole_rows")
def test_undefined_draws_are_dropped_and_counted():
    truth = {"label": [0] * 5 + [1] * 20}
    often = pb.score("toy_often_undefined", {"label": [0] * 5 + [1] * 20}, truth, ci=0.9).interval
    assert 0 < often.dropped < 400
    assert (often.low, often.high) == (0.5, 0.5)
    rare = pb.score("toy_often_undefined", {"label": [0, 0] + [1] * 20}, {"label": [0, 0] + [1] * 20}, ci=0.9).interval
    assert rare.low is None
    assert "undefined" in rare.reason
    assert rare.dropped > 400


def test_one_unit_has_no_interval():
    interval = pb.score("toy_hits", {"label": [1]}, {"label": [1]}, ci=0.9).interval
    assert interval.low is None
    assert "two" in interval.reason


@pytest.mark.usefixtures("solutions")
def test_donors_are_the_units():
    ids = [f"cell{i}" for i in range(40)]
    guess = ["plain" if (i // 4) % 2 else "canary_class_7f3a" for i in range(40)]
    run = pb.Evaluation("toy_cells", metrics=["toy_hits"])
    run.update(ids=ids, label=guess)
    result = run.compute(ci=0.95)
    interval = result["toy_hits"].interval
    assert interval.unit == "donor"
    truth = np.array([i % 3 == 0 for i in range(40)])
    hits = (np.array(guess) != "plain") == truth
    key = draws.draw_seed("toy_cells", result.dataset_hash, 0)
    names = sorted({f"d{i // 4}" for i in range(40)})
    by_donor = {d: hits[[i for i in range(40) if f"d{i // 4}" == d]] for d in names}
    found = []
    for d in range(2000):
        drawn = np.concatenate([by_donor[names[u]] for u in draw_below(key, d, 10, 10)])
        found.append(drawn.sum() / len(drawn))
    assert interval.low == pytest.approx(np.quantile(found, 0.025), abs=1e-12)
    assert interval.high == pytest.approx(np.quantile(found, 0.975), abs=1e-12)


def test_coverage_of_the_interval():
    """About 95 % of intervals of a proportion hold the true one."""
    generator = np.random.default_rng(2)
    held = 0
    for _ in range(20):
        right = generator.random(150) < 0.7
        result = pb.score("toy_hits", {"label": right.astype(int)}, {"label": np.ones(150, int)}, ci=0.95)
        held += result.interval.low <= 0.7 <= result.interval.high
    assert held >= 16


PANEL = ["accuracy", "macro_f1", "mcc", "cohen_kappa", "weighted_f1", "macro_recall", "balanced_accuracy"]
NUMBERS = ["pearson", "spearman", "mse", "rmse", "mae", "r2", "rm2"]


def intervals_of(metrics, prediction, truth, **more):
    run = pb.stream(metrics, truth=truth, **more)
    run.update(**prediction)
    return [r.interval for r in run.compute(ci=0.95).results]


@pytest.mark.parametrize("blocks", [False, True])
def test_multiplicities_and_repeated_rows_give_the_same_bits(monkeypatch, blocks):
    if blocks:
        monkeypatch.setattr(draws, "MAX_UNITS", 5)
    score = np.round(rng.normal(size=40), 1)
    label = rng.integers(0, 2, 40)
    asked = [
        (PANEL, {"label": FIELDS["label"][:40]}, {"label": TRUTH["label"][:40]}),
        (NUMBERS, {"value": score + np.round(rng.normal(size=40), 1)}, {"value": score}),
        (["auroc", "average_precision"], {"score": score}, {"label": label}),
        (["brier_score", "log_loss"], {"probability": rng.dirichlet([1, 1], 40)}, {"label": label}),
    ]
    fast = [intervals_of(*each) for each in asked]
    monkeypatch.setattr(compute, "weighted_of", lambda metric: None)
    assert [intervals_of(*each) for each in asked] == fast


@pytest.mark.usefixtures("whole_rows")
def test_few_positives_leave_the_same_draws_undefined(monkeypatch):
    truth, score = {"label": np.array([1, 1, 1] + [0] * 27)}, {"score": np.round(rng.normal(size=30), 1)}
    fast = intervals_of(["auroc", "average_precision"], score, truth)
    assert fast[0].dropped > 0
    monkeypatch.setattr(compute, "weighted_of", lambda metric: None)
    assert intervals_of(["auroc", "average_precision"], score, truth) == fast


def test_runs_of_draws_of_any_length_give_the_same_bits(monkeypatch):
    whole = intervals_of(NUMBERS, {"value": FIELDS["value"]}, {"value": TRUTH["value"]})
    monkeypatch.setattr(resampled, "_CHUNK", 7 * N)
    assert intervals_of(NUMBERS, {"value": FIELDS["value"]}, {"value": TRUTH["value"]}) == whole


def declines(state, drawn, **params):
    return None


def raises(state, drawn, **params):
    raise ZeroDivisionError("quotes a private truth")


def one_number(state, drawn, **params):
    return 0.5


@pytest.mark.parametrize("metric", ["toy_hits", "toy_mean"])
def test_a_weighted_function_that_declines_raises_or_answers_something_else(monkeypatch, metric):
    expected = result_of([metric])[metric].interval
    monkeypatch.setattr(compute, "weighted_of", lambda _: declines)
    assert result_of([metric])[metric].interval == expected
    for wrong, name in ((raises, "ZeroDivisionError"), (one_number, "ValueError")):
        monkeypatch.setattr(compute, "weighted_of", lambda _, wrong=wrong: wrong)
        interval = result_of([metric])[metric].interval
        assert interval.low is None
        assert interval.reason == f"the metric raised {name} on a resample"


def test_resamples_keep_the_size_of_each_class() -> None:
    from primabench_core.evaluation.draws import Strata

    codes = np.array([0, 2, 2, 1, 0, 0, 2, 2])
    drawn = Strata.of(codes).draws(seed=7, numbers=range(300))
    for units in drawn:
        np.testing.assert_array_equal(codes[units], codes)
    assert len(np.unique(drawn[:, 0])) == 3  # every unit of the class can stand there
    renamed = np.array([2, 1, 0])[codes]
    np.testing.assert_array_equal(Strata.of(renamed).draws(7, range(300)), drawn)


def test_intervals_of_scores_by_class_say_what_was_drawn() -> None:
    truth = {"label": [0, 1] * 20}
    found = pb.score("accuracy", {"label": [0, 1] * 10 + [0, 0] * 10}, truth, ci=0.95)
    assert found.interval is not None
    assert "class" in found.interval.unit
    always = pb.score("auroc", {"score": np.linspace(0, 1, 12)}, {"label": [1] + [0] * 11}, ci=0.95)
    assert always.interval is not None
    assert always.interval.dropped == 0  # no resample is without its one positive
