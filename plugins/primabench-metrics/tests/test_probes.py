from __future__ import annotations

import warnings

import numpy as np
import pytest
from attrs import evolve
from metric_views import outcome, reason, rows, value
from primabench_metrics import linear_probe as lp
from primabench_metrics import penalties
from primabench_metrics.basis import Basis, standardise
from primabench_metrics.knn_probe import knn_probe, nearest
from primabench_metrics.logistic import logistic_path
from primabench_metrics.ridge import LeaveOneOut, ridge_path
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from primabench_core.errors import ContractError


def dealt(y, k):
    """Fold numbers that hold each class evenly."""
    fold = np.empty(len(y), int)
    for label in np.unique(y):
        rows_of = np.flatnonzero(y == label)
        fold[rows_of] = np.arange(len(rows_of)) % k
    return fold


def make(seed, n=80, width=6, k=2, signal=1.0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    x = rng.standard_normal((n, width))
    x[:, 0] += signal * y
    return x, y


class TestLogistic:
    @pytest.mark.parametrize(("n", "width", "k"), [(60, 10, 2), (40, 80, 2), (60, 8, 4)])
    def test_agrees_with_a_converged_scikit_learn(self, n, width, k):
        x, y = make(0, n, width, k)
        x[:, 1] = 3.0  # no variance
        others = np.random.default_rng(1).standard_normal((20, width))
        others[:, 1] = 3.0
        scaler = StandardScaler().fit(x)
        strengths = (1e-4, 1e-2, 1.0, 100.0)
        for c, fit in zip(strengths, logistic_path(Basis.of(x), y, k, strengths), strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = LogisticRegression(C=c, tol=1e-12, max_iter=10_000, solver="newton-cg")
                model.fit(scaler.transform(x), y)
            assert fit.gradient <= 1e-8
            expected = model.predict_proba(scaler.transform(others))
            assert fit.probability(others) == pytest.approx(expected, abs=1e-7)

    def test_separable_classes_converge_too(self):
        x = np.array([[-1.0], [-2.0], [1.0], [2.0]])
        (fit,) = logistic_path(Basis.of(x), np.array([0, 0, 1, 1]), 2, (1e4,))
        assert fit.gradient <= 1e-8
        assert np.isfinite(fit.weights).all()


@pytest.mark.parametrize(("n", "width"), [(50, 6), (20, 60)])
def test_ridge_agrees_with_scikit_learn(n, width):
    x, _ = make(2, n, width)
    rng = np.random.default_rng(3)
    target, others = rng.standard_normal(n), rng.standard_normal((10, width))
    scaler = StandardScaler().fit(x)
    for alpha, predicted in zip((1e-3, 1.0, 1e6), ridge_path(x, target, others, (1e-3, 1.0, 1e6)), strict=True):
        model = Ridge(alpha=alpha, solver="svd").fit(scaler.transform(x), target)
        assert predicted == pytest.approx(model.predict(scaler.transform(others)), abs=1e-8)


@pytest.mark.parametrize(("n", "width"), [(50, 6), (20, 60), (2, 3), (30, 1)])
def test_leaving_one_out_is_that_of_refits(n, width):
    rng = np.random.default_rng(5)
    x, target = rng.standard_normal((n, width)), rng.standard_normal(n)
    standard = StandardScaler().fit_transform(x)
    penalties = (1e3, 1.0, 1e-2)
    fit = LeaveOneOut.fit(x, target, penalties)
    for alpha, errors in zip(penalties, fit.errors, strict=True):
        for row in range(n):
            rest = np.arange(n) != row
            model = Ridge(alpha=alpha, solver="svd").fit(standard[rest], target[rest])
            assert errors[row] == pytest.approx(target[row] - model.predict(standard[[row]])[0], abs=1e-8)
        model = Ridge(alpha=alpha, solver="svd").fit(standard, target)
        assert fit.predict(x, alpha) == pytest.approx(model.predict(standard), abs=1e-8)


@pytest.mark.parametrize(("n", "width"), [(60, 8), (40, 90)])
def test_ridge_chooses_as_scikit_learn(n, width):
    rng = np.random.default_rng(n)
    x, others = rng.standard_normal((n, width)), rng.standard_normal((7, width))
    target = x[:, :3].sum(axis=1) + rng.standard_normal(n)
    alphas = lp.PENALTIES
    choice, predicted = penalties.ridge_left_out(x, target, others)
    model = make_pipeline(StandardScaler(), RidgeCV(alphas)).fit(x, target)
    assert choice == model[-1].alpha_
    assert predicted == pytest.approx(model.predict(others), abs=1e-6)
    folds = [np.arange(n)[k::5] for k in range(5)]
    cut = [(np.setdiff1d(np.arange(n), held), held) for held in folds]
    pipeline = make_pipeline(StandardScaler(), Ridge(solver="svd"))
    search = GridSearchCV(pipeline, {"ridge__alpha": alphas}, cv=cut, scoring="neg_mean_squared_error").fit(x, target)
    choice, predicted = penalties.ridge_in_folds(x, target, others, folds)
    assert choice == search.best_params_["ridge__alpha"]
    assert predicted == pytest.approx(search.predict(others), abs=1e-6)


def test_leave_one_out_is_another_probe():
    x, _ = make(19, 60)
    rng = np.random.default_rng(1)
    state = rows({"embedding": x}, {"value": x[:, 0] + rng.standard_normal(60), "fold": np.arange(60) % 4})
    folds, left_out = outcome(lp.linear_probe(state)), outcome(lp.linear_probe(state, inner="leave_one_out"))
    assert folds.values["probe_sha256"] != left_out.values["probe_sha256"]
    assert left_out.value == pytest.approx(folds.value, abs=0.1)


class TestLinearProbe:
    def test_a_signal_is_found_and_noise_is_not(self):
        x, y = make(4, 200, signal=3.0)
        strong = outcome(lp.linear_probe(rows({"embedding": x}, {"label": y, "fold": dealt(y, 5)})))
        assert strong.value > 0.95
        assert len(strong.per_unit) == 5
        assert strong.values["fold_mean"] == pytest.approx(np.mean(list(strong.per_unit.values())))
        x, y = make(5, 200, signal=0.0)
        weak = outcome(lp.linear_probe(rows({"embedding": x}, {"label": y, "fold": dealt(y, 5)})))
        assert abs(weak.values["fold_mean"] - 0.5) < 0.15

    def test_pooled_differs_from_folds_where_each_fold_has_its_own_level(self):
        rng = np.random.default_rng(6)
        target = np.repeat(np.arange(4.0), 15) * 5 + rng.standard_normal(60)
        state = rows({"embedding": rng.standard_normal((60, 5))}, {"value": target, "fold": np.repeat(range(4), 15)})
        result = outcome(lp.linear_probe(state))
        assert result.value < -0.2  # intercepts move against the held-out means
        assert "pooled_differs_from_folds" in result.flags
        assert "pooled_centered" in result.values

    def test_one_fit_and_one_score(self):
        x, y = make(7, 120, k=3, signal=2.0)
        role = np.where(np.arange(120) % 3 == 0, "score", "fit")
        result = outcome(lp.linear_probe(rows({"embedding": x}, {"label": y, "role": role})))
        assert result.n == 40
        assert result.value == result.values["fold_mean"]

    def test_classes_go_by_name_not_by_position(self):
        x, y = make(8, 90, k=3, signal=2.0)
        fold = dealt(y, 3)
        numbers = value(lp.linear_probe(rows({"embedding": x}, {"label": y, "fold": fold})))
        names, folds = np.array(["z", "x", "y"])[y], np.array(["b", "c", "a"])[fold]
        assert value(lp.linear_probe(rows({"embedding": x}, {"label": names, "fold": folds}))) == pytest.approx(numbers)

    def test_the_seed_is_the_task(self):
        x, y = make(9)
        state = rows({"embedding": x}, {"label": y, "fold": dealt(y, 4)})
        first, again = outcome(lp.linear_probe(state, task="a")), outcome(lp.linear_probe(state, task="a"))
        other = outcome(lp.linear_probe(state, task="b"))
        assert first == again
        assert first.values["probe_sha256"] != other.values["probe_sha256"]

    def test_rows_go_by_their_ids_in_whatever_order_the_truth_has_them(self):
        x, y = make(18, 60)
        state = evolve(rows({"embedding": x}, {"label": y, "fold": dealt(y, 3)}), ids=[f"p{i}" for i in range(60)])
        order = np.random.default_rng(0).permutation(60)
        turned = evolve(state.take(order), ids=[f"p{i}" for i in order])
        first, second = outcome(lp.linear_probe(state)), outcome(lp.linear_probe(turned))
        assert first.values["chosen"] == second.values["chosen"]
        assert second.value == pytest.approx(first.value, abs=1e-3)

    def test_an_impossible_inner_cross_validation_is_undefined(self):
        x, _ = make(10, 12)
        y = np.array([0] * 10 + [1] * 2)
        state = rows({"embedding": x}, {"label": y, "fold": dealt(y, 2)})
        assert reason(lp.linear_probe(state)) == "too_few_items"

    def test_equal_inner_scores_take_the_stronger_penalty(self):
        assert penalties.first_best(np.array([0.5, 0.7 - 5e-10, 0.7, 0.6])) == 1

    def test_inner_folds_hold_each_row_once_and_each_class_evenly(self):
        strata = [np.arange(0, 11), np.arange(11, 20)]
        folds = lp._inner_folds(strata, tuple(map(str, range(20))), 4, "task|0")
        assert sorted(np.concatenate(folds).tolist()) == list(range(20))
        for fold in folds:
            assert 2 <= (fold < 11).sum() <= 3
            assert 2 <= (fold >= 11).sum() <= 3

    def test_constant_embeddings_are_chance_not_a_crash(self):
        y = np.arange(40) % 2
        state = rows({"embedding": np.ones((40, 3))}, {"label": y, "fold": dealt(y, 4)})
        assert value(lp.linear_probe(state)) == 0.5

    def test_means_of_the_fitted_rows_alone_are_no_score_of_numbers(self):
        y, fold = np.arange(20.0), np.arange(20) % 4
        found = lp.linear_probe(rows({"embedding": np.ones((20, 3))}, {"value": y, "fold": fold}))
        assert reason(found) == "constant_prediction"
        assert found.values["fold_mean"] is None
        # folds of one row have no score of their own, but what is predicted there counts
        alone = lp.linear_probe(rows({"embedding": y[:, None]}, {"value": y, "fold": np.arange(20)}))
        assert value(alone) > 0.99

    def test_without_rows_there_is_no_value(self):
        state = rows({"embedding": np.empty((0, 3))}, {"label": [], "fold": []})
        assert reason(lp.linear_probe(state)) == "too_few_items"
        assert reason(knn_probe(state)) == "too_few_items"


@pytest.mark.parametrize("probe", [lp.linear_probe, knn_probe])
class TestSplits:
    @pytest.mark.parametrize(
        ("fields", "named"),
        [
            ({}, "role"),
            ({"role": ["fit", "score"] * 10, "fold": [0, 1] * 10}, "role"),
            ({"role": ["fit"] * 20}, "role"),
            ({"role": ["fit", "train"] * 10}, "role"),
            ({"fold": [0] * 20}, "fold"),
            ({"role": ["fit", "score"] * 10, "group": [0] * 20}, "group"),
        ],
    )
    def test_unsound_splits_are_refused(self, probe, fields, named):
        x, y = make(11, 20)
        with pytest.raises(ContractError, match=named):
            probe(rows({"embedding": x}, {"label": y, **fields}))

    def test_groups_on_one_side_are_fine(self, probe):
        x, y = make(12, 40)
        y = np.tile([0, 0, 1, 1], 10)
        fold, group = np.repeat(np.arange(5), 8), np.repeat(np.arange(20), 2)
        assert value(probe(rows({"embedding": x}, {"label": y, "fold": fold, "group": group}))) >= 0


def test_folds_without_their_share_of_each_class_are_refused_unless_allowed():
    x, y = make(13, 40)
    y = np.sort(y)
    fold = np.where(np.isin(np.arange(40), [*range(12), *range(36, 40)]), 0, 1)
    state = rows({"embedding": x}, {"label": y, "fold": fold})
    with pytest.raises(ContractError, match="fold"):
        lp.linear_probe(state)
    assert outcome(lp.linear_probe(state, allow_unstratified=True)).n == 40


class TestKnnProbe:
    @pytest.mark.parametrize("distance", ["euclidean", "cosine"])
    def test_agrees_with_scikit_learn_where_votes_do_not_tie(self, distance):
        x, y = make(14, 150, signal=1.5)
        role = np.where(np.arange(150) % 3 == 0, "score", "fit")
        state = rows({"embedding": x}, {"label": y, "role": role})
        model = KNeighborsClassifier(7, metric=distance).fit(x[role == "fit"], y[role == "fit"])
        expected = accuracy_score(y[role == "score"], model.predict(x[role == "score"]))
        assert value(knn_probe(state, k=7, distance=distance)) == expected

    def test_neighbours_are_those_of_a_full_sort(self):
        rng = np.random.default_rng(15)
        points, queries = rng.integers(0, 3, (200, 3)).astype(float), rng.integers(0, 3, (50, 3)).astype(float)
        distances = np.square(points[None] - queries[:, None]).sum(-1)
        expected = np.argsort(distances, axis=1, kind="stable")[:, :5]
        assert (nearest(queries, points, 5) == expected).all()  # far more equals than candidates
        assert nearest(queries, points[:3], 5).shape == (50, 3)

    def test_equal_votes_go_to_the_nearest(self):
        x = np.array([[0.0], [1.0], [3.0], [0.4]])
        state = rows({"embedding": x}, {"label": ["z", "a", "m", "z"], "role": ["fit", "fit", "fit", "score"]})
        assert value(knn_probe(state, k=3)) == 1.0

    def test_names_of_classes_do_not_matter(self):
        x, y = make(16, 60, k=3)
        fold = dealt(y, 3)
        plain = value(knn_probe(rows({"embedding": x}, {"label": y, "fold": fold}), score="macro_f1"))
        renamed = np.array(["z", "y", "x"])[y]
        assert value(knn_probe(rows({"embedding": x}, {"label": renamed, "fold": fold}), score="macro_f1")) == plain

    def test_fewer_fitted_rows_than_neighbours_are_flagged(self):
        x, y = make(17, 10)
        result = outcome(knn_probe(rows({"embedding": x}, {"label": y, "fold": dealt(y, 2)}), k=50))
        assert "k_capped" in result.flags
        assert result.values["probe"] == "knn-probe/1"

    def test_an_inner_fold_without_a_value_is_never_scored(self, monkeypatch):
        x, y = make(18, 60)
        fold = dealt(y, 3)
        monkeypatch.setattr("primabench_metrics.logistic_nests.area_of", lambda scores, is_positive: None)
        assert reason(lp.linear_probe(rows({"embedding": x}, {"label": y, "fold": fold}))) == "too_few_items"


@pytest.mark.parametrize("power", [1020, 600, -600, -1000])
def test_columns_of_any_size_are_standardised(power):
    points = np.random.default_rng(4).uniform(-1, 1, (12, 3))
    plain, far = standardise(points), standardise(np.ldexp(points, power))
    # below the normal numbers bits are lost, above none
    np.testing.assert_allclose(far.apply(np.ldexp(points, power)), plain.apply(points), rtol=1e-9, atol=1e-9)
    mixed = np.column_stack([np.ldexp(points[:, 0], power), points[:, 1], np.full(12, 2.0**power)])
    found = standardise(mixed).apply(mixed)
    np.testing.assert_allclose(found[:, :2], plain.apply(points)[:, :2], rtol=1e-9, atol=1e-9)
    assert not found[:, 2].any()
