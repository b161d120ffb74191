"""Many logistic regressions at once against scikit-learn run to convergence, one at a time."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from primabench_metrics import logistic_nests, penalties
from primabench_metrics.logistic import GRADIENT, probabilities
from primabench_metrics.logistic_batch import CLOSE, Batch, decisions
from primabench_metrics.runs import area, area_of, rank_counts
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def make(n: int, width: int, k: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns, one without variance, one far from zero."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, width)) @ (rng.standard_normal((width, width)) / np.arange(1, width + 1)[:, None])
    y = np.argsort(np.argsort(x[:, 0] + x[:, 3] + 2 * rng.standard_normal(n))) * k // n
    x[:, 1] = 3.0
    x[:, 2] += 1e5
    return x, rng.permutation(k)[y]


@pytest.mark.parametrize(("n", "width", "k"), [(150, 12, 2), (60, 90, 2), (150, 10, 4)])
def test_every_problem_of_a_batch_is_at_its_optimum(n, width, k):
    x, y = make(n, width, k)
    parts = [np.flatnonzero(np.arange(n) % 3 != fold) for fold in range(3)]
    strengths = (1e-4, 1e-2, 1.0, 1e2, 1e4)
    scores, gradient = decisions(x, y, k, parts, strengths)
    assert scores.shape == (3, 5, n, 1 if k == 2 else k)
    assert gradient.max() <= GRADIENT
    for part, of_part in zip(parts, scores, strict=True):
        held = np.setdiff1d(np.arange(n), part)
        for c, found in zip(strengths, of_part, strict=True):
            model = make_pipeline(StandardScaler(), LogisticRegression(C=c, tol=1e-10, solver="newton-cholesky"))
            expected = model.fit(x[part], y[part]).predict_proba(x)
            if c <= 1e2:
                assert probabilities(found) == pytest.approx(expected, abs=1e-3)
            elif k == 2:
                assert roc_auc_score(y[held], found[held, 0]) == pytest.approx(
                    roc_auc_score(y[held], expected[held, 1]), abs=1e-3
                )


@pytest.mark.parametrize(("n", "width", "k"), [(100, 20, 2), (80, 100, 2), (120, 8, 3)])
def test_both_ways_choose_alike_and_as_scikit_learn(n, width, k, monkeypatch):
    x, y = make(n, width, k, seed=1)
    others = x[:10] + 0.1
    folds = [np.flatnonzero(np.arange(n) % 5 == fold) for fold in range(5)]
    found = {}
    for largest in (10_000, 0):
        monkeypatch.setattr(logistic_nests, "LARGEST_HESSIAN", largest)
        nest = logistic_nests.Nest(np.arange(n), np.arange(n, n + 10), folds)
        (found[largest],) = logistic_nests.logistic_nests(np.vstack([x, others]), np.append(y, y[:10]), k, [nest])
    assert found[0].strength == found[10_000].strength
    assert found[0].decision == pytest.approx(found[10_000].decision, abs=1e-3)
    assert max(found[0].gradient, found[10_000].gradient) <= GRADIENT
    model = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, solver="newton-cholesky", max_iter=1000))
    cut = [(np.setdiff1d(np.arange(n), held), held) for held in folds]
    scoring = "roc_auc" if k == 2 else "neg_log_loss"
    search = GridSearchCV(model, {"logisticregression__C": penalties.STRENGTHS}, cv=cut, scoring=scoring).fit(x, y)
    results = search.cv_results_["mean_test_score"]
    place = penalties.STRENGTHS.index(found[0].strength)
    assert results[place] == pytest.approx(results.max(), abs=1e-3)
    assert np.flatnonzero(results >= results.max() - 1e-9)[0] == place


def test_a_column_that_varies_only_in_rows_that_are_not_fitted_is_not_used():
    x, y = make(60, 4)
    x[40:, 3], x[:40, 3] = np.arange(20) * 100.0, 1.0
    scores, _ = decisions(x, y, 2, [np.arange(40)], (1.0,))
    without, _ = decisions(np.delete(x, 3, axis=1), y, 2, [np.arange(40)], (1.0,))
    assert scores == pytest.approx(without, abs=1e-5)


def test_order_of_rows_does_not_matter_beyond_the_tolerance():
    x, y = make(80, 6)
    order = np.random.default_rng(0).permutation(80)
    place = np.argsort(order)
    scores, _ = decisions(x, y, 2, [np.arange(50)], (1e-2, 1.0))
    turned, _ = decisions(x[order], y[order], 2, [np.sort(place[:50])], (1e-2, 1.0))
    assert turned[:, :, place] == pytest.approx(scores, abs=1e-4)


def test_rows_that_are_all_alike_have_no_direction():
    scores, gradient = decisions(np.ones((10, 3)), np.arange(10) % 2, 2, [np.arange(8)], (1e-4, 1e4))
    assert gradient.max() <= GRADIENT
    assert scores == pytest.approx(0.0, abs=1e-6)


def test_fits_that_need_not_be_exact_are_close_and_repeat_to_the_bit():
    x, y = make(150, 60, seed=3)
    parts, strengths = [np.arange(100), np.arange(50, 150)], (1e-4, 1e-2, 1.0, 1e2)
    batch = Batch.of(x, y, 2)
    exact, gradient, _ = batch.fits(parts).path(strengths)
    near, *_ = batch.fits(parts).path(strengths, CLOSE)
    again, *_ = Batch.of(x, y, 2).fits(parts).path(strengths, CLOSE)
    assert gradient.max() <= GRADIENT
    assert near.tobytes() == again.tobytes()
    scores, close = batch.decide(exact, batch.rows), batch.decide(near, batch.rows)
    assert probabilities(close.reshape(-1, 1)) == pytest.approx(probabilities(scores.reshape(-1, 1)), abs=1e-3)
    assert batch.decide_others(exact, x) == pytest.approx(scores, abs=1e-8)


@pytest.mark.parametrize("k", [2, 3])
def test_nests_together_are_nests_one_by_one(k, monkeypatch):
    x, y = make(150, 20, k, seed=4)
    nests = []
    for outer in range(3):
        score = np.flatnonzero(np.arange(150) % 3 == outer)
        fit = np.setdiff1d(np.arange(150), score)
        nests.append(logistic_nests.Nest(fit, score, [np.flatnonzero(np.arange(100) % 4 == i) for i in range(4)]))
    apart = logistic_nests.logistic_nests(x, y, k, nests)  # by whole Hessians
    monkeypatch.setattr(logistic_nests, "LARGEST_HESSIAN", 0)
    together = logistic_nests.logistic_nests(x, y, k, nests)
    overlapping = logistic_nests.logistic_nests(x, y, k, [nests[0], nests[0], nests[1]])
    for one, two, three in zip(apart, together, [overlapping[1], overlapping[2], None], strict=True):
        assert two.gradient <= GRADIENT
        assert one.strength == two.strength
        assert one.decision == pytest.approx(two.decision, abs=1e-4)
        if three is not None:
            assert three.decision == pytest.approx(two.decision, abs=1e-4)


def test_products_with_rows_that_fits_leave_out_are_left_out_and_change_nothing():
    x, y = make(120, 40, seed=5)
    parts = [np.flatnonzero(np.arange(120) % 3 != fold) for fold in range(3)]
    batch = Batch.of(x, y, 2)
    whole, *_ = batch.fits(parts).path((1e-2, 1.0))
    held = tuple(np.setdiff1d(np.arange(120), part) for part in parts)
    cut, gradient, _ = batch.fits(parts, held).path((1e-2, 1.0))
    some, *_ = batch.fits(parts, held[:2]).path((1e-2, 1.0))
    assert gradient.max() <= GRADIENT
    assert cut == pytest.approx(whole, abs=1e-6)
    assert some == pytest.approx(whole, abs=1e-6)


def test_a_fit_from_elsewhere_ends_at_the_same_place():
    x, y = make(120, 40, seed=6)
    x[:, 5] = 2.0  # never varies: its coefficient stays 0
    parts, batch = [np.arange(80), np.arange(40, 120)], Batch.of(x, y, 2)
    found, *_ = batch.fits(parts).path((1e-2, 1.0))
    for start in (found[:, 0], found[:, 1], np.zeros_like(found[:, 0]), np.ones_like(found[:, 0])):
        again, gradient, _ = batch.fits(parts).settle(slice(None), np.array([1.0, 1e-2]), start)
        assert gradient.max() <= GRADIENT
        assert again[0] == pytest.approx(found[0, 1], abs=1e-5)
        assert again[1] == pytest.approx(found[1, 0], abs=1e-5)


def test_the_order_of_penalties_is_free():
    x, y = make(120, 40, seed=7)
    up, _ = decisions(x, y, 2, [np.arange(80)], (1e-3, 1e-1, 1e1))
    down, gradient = decisions(x, y, 2, [np.arange(80)], (1e1, 1e-1, 1e-3))
    twice, _ = decisions(x, y, 2, [np.arange(80)], (1e-3, 1e-3, 1e-1, 1e1))
    assert gradient.max() <= GRADIENT
    assert down[:, ::-1] == pytest.approx(up, abs=1e-5)
    assert twice[:, 1:] == pytest.approx(up, abs=1e-5)


@given(st.lists(st.tuples(st.sampled_from([-0.0, 0.0, 1.0, 1.0 + 2**-40, -3.5]) | st.floats(-9, 9), st.booleans())))
@settings(deadline=None)
def test_the_area_of_a_few_rows_is_that_of_many(rows):
    scores = np.asarray([score for score, _ in rows], np.float64)
    positive = np.asarray([is_positive for _, is_positive in rows], bool)
    expected = area(rank_counts(scores.copy(), positive.astype(np.int64), 1))
    assert area_of(scores, positive) == expected
    if expected is not None:
        assert expected == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)


@pytest.mark.parametrize("top", [0.0, 30.0])
def test_directions_are_looked_for_only_where_some_stand_out(top):
    x = np.random.default_rng(0).standard_normal((300, 40))
    x[:, :20] += top * np.random.default_rng(1).standard_normal((300, 1))
    batch = Batch.of(x, np.arange(300) % 2, 2)
    assert (batch.directions.shape[1] > 0) == (top > 0)
    if top > 0:
        exact = np.linalg.eigvalsh(np.corrcoef(x.T))[::-1]
        assert batch.spread[-1] == pytest.approx(exact[0], rel=1e-3)


def in_folds(n: int, outer: int, inner: int) -> list[logistic_nests.Nest]:
    """Every outer fold in turn, rows dealt out in order."""
    nests = []
    for fold in range(outer):
        score = np.flatnonzero(np.arange(n) % outer == fold)
        fit = np.setdiff1d(np.arange(n), score)
        nests.append(
            logistic_nests.Nest(fit, score, [np.flatnonzero(np.arange(len(fit)) % inner == i) for i in range(inner)])
        )
    return nests


@pytest.mark.parametrize("size", [1e5, 1e12, 1e18, 1e150, 1e300])
@pytest.mark.parametrize("k", [2, 3])
def test_a_far_row_that_a_nest_does_not_fit_on_does_not_touch_its_scale(size, k, monkeypatch):
    x, y = make(90, 12, k, seed=8)
    nests = in_folds(90, 3, 4)
    far = x.copy()
    far[0] *= size
    others = nests[0].score > 0  # row 0 is among the scored ones of the first nest
    # by whole Hessians every fit has a scale of its own
    (expected,) = logistic_nests.logistic_nests(x, y, k, nests[:1])
    monkeypatch.setattr(logistic_nests, "LARGEST_HESSIAN", 0)
    found = logistic_nests.logistic_nests(far, y, k, nests)
    assert found[0].strength == expected.strength
    assert found[0].decision[others] == pytest.approx(expected.decision[others], abs=1e-4)
    assert max(one.gradient for one in found) <= GRADIENT


@pytest.mark.parametrize("size", [1e5, 1e12])
def test_a_far_row_that_an_inner_fold_holds_out_does_not_touch_its_scale(size, monkeypatch):
    x, y = make(90, 12, 2, seed=9)
    x[0] *= size
    nests = in_folds(90, 3, 4)[1:2]
    assert 0 in nests[0].fit
    seen: list[np.ndarray] = []  # scores of each inner fold, by whole Hessians and then together

    def third(decided, *args):
        seen.extend(one.copy() for one in decided)
        return np.eye(len(penalties.STRENGTHS))[2]

    monkeypatch.setattr(logistic_nests, "_scores", third)
    monkeypatch.setattr(logistic_nests, "LEVELS", (1e-6,))  # the first look is then the last
    logistic_nests.logistic_nests(x, y, 2, nests)
    monkeypatch.setattr(logistic_nests, "LARGEST_HESSIAN", 0)
    (found,) = logistic_nests.logistic_nests(x, y, 2, nests)
    held = nests[0].fit[nests[0].inner[0]]
    assert held[0] == 0
    assert seen[4][:5, 1:] == pytest.approx(seen[0][:5, 1:], abs=1e-3)
    for one, two in zip(seen[1:4], seen[5:8], strict=True):
        assert two[:5] == pytest.approx(one[:5], abs=1e-3)
    assert found.gradient <= GRADIENT


@pytest.mark.parametrize("size", [1e6, 1e18, 1e300])
def test_rows_near_to_each_other_are_fitted_in_a_scale_of_their_own(size):
    x, y = make(60, 8, seed=10)
    x[50:] *= size
    parts = [np.arange(50), np.arange(60), np.arange(10, 50)]
    batch = Batch.of(x, y, 2)
    assert batch.apart(x, parts).tolist() == [True, False, True]
    scores, gradient = decisions(x, y, 2, parts, (1e-2, 1.0))
    alone, _ = decisions(x[:50], y[:50], 2, [parts[0], parts[2]], (1e-2, 1.0))
    assert gradient.max() <= GRADIENT
    assert scores[[0, 2]][:, :, :50] == pytest.approx(alone, abs=1e-5)


def test_a_column_that_does_not_vary_in_a_fit_does_not_set_it_apart_and_does_no_harm():
    x, y = make(60, 8, seed=11)
    x[:40, 3], x[40:, 3] = 1.0, 1e12 * np.arange(1, 21)
    parts, strengths = [np.arange(40)], (1e-4, 1e-2, 1.0, 1e2)
    batch = Batch.of(x, y, 2)
    assert not batch.apart(x, parts).any()
    found, gradient, _ = batch.fits(parts).path(strengths)
    without, _ = decisions(np.delete(x, 3, axis=1), y, 2, parts, strengths)
    assert gradient.max() <= GRADIENT
    assert np.abs(found[..., 3]).max() == 0.0
    assert batch.decide(found, batch.rows) == pytest.approx(without, abs=1e-4)


def test_nests_are_cut_where_the_room_ends(monkeypatch):
    monkeypatch.setattr(logistic_nests, "ROOM", 10)
    assert logistic_nests._chunks([4, 6, 1, 20, 3, 3]) == [slice(0, 2), slice(2, 3), slice(3, 4), slice(4, 6)]
    assert logistic_nests._chunks([10]) == [slice(0, 1)]
    monkeypatch.undo()
    assert logistic_nests._chunks([logistic_nests._room(5, 2000, 1024, 1, 9)] * 5) == [slice(0, 5)]
    donors = logistic_nests._chunks([logistic_nests._room(5, 10_000, 1024, 20, 9)] * 200)
    assert max(chunk.stop - chunk.start for chunk in donors) == 7
    assert sum(chunk.stop - chunk.start for chunk in donors) == 200


@pytest.mark.parametrize("k", [2, 3])
def test_memory_does_not_grow_with_outer_folds_and_turns_change_nothing(k, monkeypatch):
    x, y = make(160, 60, k, seed=12)
    nests, outputs = in_folds(160, 12, 3), 1 if k == 2 else k
    monkeypatch.setattr(logistic_nests, "LARGEST_HESSIAN", 0)
    strengths = penalties.STRENGTHS[1:4]
    room = logistic_nests._room(len(nests[0].inner), 160, 60, outputs, len(strengths))
    peaks, found = [], []
    logistic_nests.logistic_nests(x, y, k, nests[:1], strengths)  # what is imported at first use is no part of it
    for many in (12, 2):
        monkeypatch.setattr(logistic_nests, "ROOM", many * room)
        gc.collect()
        tracemalloc.start()
        found.append(logistic_nests.logistic_nests(x, y, k, nests, strengths))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert peaks[-1] <= many * room + 10 * x.nbytes
    assert peaks[1] < 0.75 * peaks[0]
    for one, two in zip(*found, strict=True):
        assert one.strength == two.strength
        assert one.decision == pytest.approx(two.decision, abs=1e-4)


def draw(seed: int) -> tuple[np.ndarray, np.ndarray, int, list[logistic_nests.Nest]]:
    """Few rows and many columns of several kinds, where scores with large C are nearly alike; three outer folds."""
    rng = np.random.default_rng(seed)
    n, width, k = int(rng.integers(40, 120)), int(rng.integers(60, 160)), 3 if seed % 4 == 3 else 2
    x = rng.standard_normal((n, width))
    kind = seed % 3
    if kind == 1:
        x = np.exp(2 * x)
    elif kind == 2:
        x = (x > 1) * rng.poisson(3, x.shape).astype(float)
    signal = x[:, :8] @ rng.standard_normal(8)
    signal = signal / signal.std() * rng.choice([0.1, 0.5, 2.0]) + rng.standard_normal(n)
    y = np.argsort(np.argsort(signal)) * k // n
    nests = []
    for fold in range(3):
        score = np.flatnonzero(np.arange(n) % 3 == fold)
        fit = np.setdiff1d(np.arange(n), score)
        by_class = np.argsort(y[fit], kind="stable")
        nests.append(logistic_nests.Nest(fit, score, [by_class[i::4] for i in range(4)]))
    return x, y, k, nests


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5])
def test_a_race_of_penalties_ends_as_if_all_had_been_settled(seed, monkeypatch):
    x, y, k, nests = draw(seed)
    monkeypatch.setattr(logistic_nests, "LARGEST_HESSIAN", 10_000)
    exact = logistic_nests.logistic_nests(x, y, k, nests)
    monkeypatch.setattr(logistic_nests, "LARGEST_HESSIAN", 0)
    found = logistic_nests.logistic_nests(x, y, k, nests)
    assert [one.strength for one in found] == [one.strength for one in exact]
    for one, two in zip(found, exact, strict=True):
        assert max(one.gradient, two.gradient) <= GRADIENT
        if one.strength <= 1e2:
            assert probabilities(one.decision) == pytest.approx(probabilities(two.decision), abs=1e-3)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_scores_of_a_first_look_are_off_by_less_than_is_said(seed, monkeypatch):
    x, y, k, nests = draw(seed)
    seen: list[tuple[np.ndarray, np.ndarray]] = []
    scores_of = logistic_nests._InnerFits._scores

    def watched(self, nest):
        found = scores_of(self, nest)
        seen.append(found)
        return found

    monkeypatch.setattr(logistic_nests._InnerFits, "_scores", watched)
    monkeypatch.setattr(logistic_nests, "LARGEST_HESSIAN", 0)
    for close in (1e-2, 1e-7):
        monkeypatch.setattr(logistic_nests, "LEVELS", (close,))
        logistic_nests.logistic_nests(x, y, k, nests)
    half = len(seen) // 2
    assert half
    for (rough, doubts), (settled, _) in zip(seen[:half], seen[half:], strict=True):
        assert np.all(np.abs(settled - rough) <= doubts + penalties.SAME)


def test_penalties_that_tie_once_settled_leave_the_stronger_one(monkeypatch):
    scores = np.array([0.5, 0.7, np.nextafter(0.7, 1.0), 0.6])  # equal but for the order of a sum
    monkeypatch.setattr(logistic_nests, "_scores", lambda *args: scores)
    monkeypatch.setattr(logistic_nests, "_turning", lambda *args: 0.0)
    x, y = make(60, 6, seed=14)
    monkeypatch.setattr(logistic_nests, "LARGEST_HESSIAN", 0)
    (found,) = logistic_nests.logistic_nests(x, y, 2, in_folds(60, 3, 4)[:1], (1e-2, 1e-1, 1.0, 1e1))
    assert found.strength == 1e-1


@given(
    st.lists(
        st.tuples(st.integers(-6, 6).map(float) | st.floats(-5, 5), st.floats(0, 2) | st.just(0.0), st.booleans()),
        max_size=12,
    )
)
@settings(deadline=None)
def test_pairs_in_doubt_are_those_that_differ_and_could_turn_round(rows):
    scores, reach = (np.asarray([row[at] for row in rows], np.float64) for at in (0, 1))
    positive = np.asarray([row[2] for row in rows], bool)
    ones, others = np.flatnonzero(positive), np.flatnonzero(~positive)
    low, high = scores - reach, scores + reach
    near = sum(scores[i] != scores[j] and low[i] <= high[j] and low[j] <= high[i] for i in ones for j in others)
    expected = min(near, near / np.sqrt(max(1, len(rows))) + 4) / max(1, len(ones) * len(others))
    assert logistic_nests._turning(scores, reach, positive) == pytest.approx(expected, abs=1e-12)


def test_only_what_may_be_the_best_is_settled(monkeypatch):
    x, y = make(300, 40, seed=13)
    (nest,) = in_folds(300, 3, 4)[:1]
    settled: list[tuple[float, int]] = []
    settle = logistic_nests._InnerFits._settle

    def watched(self, of, at, close):
        settled.extend((close, place) for place in at.tolist())
        settle(self, of, at, close)

    monkeypatch.setattr(logistic_nests._InnerFits, "_settle", watched)
    monkeypatch.setattr(logistic_nests, "LARGEST_HESSIAN", 0)
    (found,) = logistic_nests.logistic_nests(x, y, 2, [nest])
    (one,) = logistic_nests.logistic_nests(x, y, 2, [nest], (found.strength,))
    assert one.strength == found.strength
    assert one.decision == pytest.approx(found.decision, abs=1e-6)
    places = {place for _, place in settled}
    assert penalties.STRENGTHS.index(found.strength) in places
    assert len(places) < len(penalties.STRENGTHS)
    assert all(len([p for c, p in settled if c == close and p == place]) <= 4 for close, place in settled)


@pytest.mark.parametrize("seed", [12, 3, 4])
def test_rows_of_very_unequal_length_do_not_pass_for_settled(seed, monkeypatch):
    """Steps do not come to an end there for large C: what was reached counts, not what was asked for."""
    rng = np.random.default_rng([seed, 77])
    n, width = int(rng.choice([200, 300, 500])), int(rng.choice([40, 80, 120]))
    x = rng.standard_normal((n, width)) * np.exp(rng.uniform(2, 3) * rng.standard_normal(n))[:, None]
    signal = x[:, :5] @ rng.standard_normal(5)
    signal = np.argsort(np.argsort(signal)) / n * 3
    y = (signal * 10 ** rng.uniform(-1, 0.5) + rng.standard_normal(n) > 1.5).astype(int)
    nests = stratified(y, 3, 3)
    monkeypatch.setattr(logistic_nests, "LARGEST_HESSIAN", 10_000)
    exact = logistic_nests.logistic_nests(x, y, 2, nests)
    monkeypatch.setattr(logistic_nests, "LARGEST_HESSIAN", 0)
    found = logistic_nests.logistic_nests(x, y, 2, nests)
    assert [one.strength for one in found] == [one.strength for one in exact]
    assert not any(one.in_doubt for one in found)
    monkeypatch.setattr(logistic_nests, "LARGEST_IN_NEED", 0)  # where Hessians are too large it is said
    lost = logistic_nests.logistic_nests(x, y, 2, nests)
    for one, two in zip(lost, exact, strict=True):
        assert one.strength == two.strength or one.in_doubt


def stratified(y: np.ndarray, outer: int, inner: int) -> list[logistic_nests.Nest]:
    """Every outer fold in turn, classes dealt out evenly."""
    by_class, nests = np.argsort(y, kind="stable"), []
    for fold in range(outer):
        score = np.sort(by_class[fold::outer])
        fit = np.setdiff1d(np.arange(len(y)), score)
        of_fit = np.argsort(y[fit], kind="stable")
        nests.append(logistic_nests.Nest(fit, score, [np.sort(of_fit[i::inner]) for i in range(inner)]))
    return nests


@pytest.mark.parametrize("largest", [0, 10_000])
@pytest.mark.parametrize("n", [310, 331])
def test_equal_rows_have_equal_scores_and_ties_leave_the_strongest_penalty(n, largest, monkeypatch):
    rng = np.random.default_rng(n)
    kind = rng.integers(0, 2, n)
    x, y = rng.standard_normal((2, 100))[kind], (rng.random(n) < np.where(kind, 0.7, 0.3)).astype(int)
    monkeypatch.setattr(logistic_nests, "LARGEST_HESSIAN", largest)
    for nest, found in zip(nests := stratified(y, 3, 5), logistic_nests.logistic_nests(x, y, 2, nests), strict=True):
        assert found.strength == penalties.STRENGTHS[0]
        assert len(np.unique(found.decision)) == len(np.unique(kind[nest.score]))


@pytest.mark.parametrize("largest", [0, 10_000])
def test_an_inner_fold_of_one_class_is_told_before_anything_is_fitted(largest, monkeypatch):
    monkeypatch.setattr(logistic_nests, "LARGEST_HESSIAN", largest)
    x, y = np.random.default_rng(0).standard_normal((60, 30)), np.zeros(60, int)
    y[0] = 1
    nest = logistic_nests.Nest(np.arange(40), np.arange(40, 60), [np.r_[0, 2:20], np.r_[1, 20:40]])
    with pytest.raises(penalties.SkippedError, match="too_few_items"):
        logistic_nests.logistic_nests(x, y, 2, [nest])


def test_the_reach_of_a_score_is_length_of_row_by_length_of_coefficients_in_the_scale_of_the_part():
    rng = np.random.default_rng(15)
    x, y = rng.standard_normal((90, 7)) * np.arange(1, 8), np.arange(90) % 2
    x[:60, 3], x[80] = 1.0, 5.0 * x[80]  # a column that does not vary in the part, and a long row
    batch, part = Batch.of(x, y, 2), np.arange(60)
    fits = batch.fits([np.arange(30, 90), part])
    coefficients = rng.standard_normal((4, 1, 8))
    found = fits.reach(1, coefficients, batch.rows[60:])
    varies, rows = np.arange(7) != 3, batch.rows[:, :-1]
    mean, deviation = rows[part].mean(axis=0)[varies], rows[part].std(axis=0)[varies]
    length = np.linalg.norm((rows[60:][:, varies] - mean) / deviation, axis=1)
    weights = np.linalg.norm(coefficients[:, 0, :-1][:, varies] * deviation, axis=1)
    assert found == pytest.approx(np.outer(weights, length) / np.sqrt(6), rel=1e-9)
    assert found[0, 20] > 2 * np.median(found[0])
