"""Baselines: what they promise, fitted on training cells alone, unmoved by the order of test cells."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from primabench_task_singlecell.baselines import annotation, clustering
from primabench_task_singlecell.baselines.features import draw_by_id

from primabench_core import EvalData, UsageError

ANNOTATION = (annotation.majority, annotation.random, annotation.knn, annotation.logistic)
CLUSTERING = (clustering.random, clustering.single_cluster, clustering.kmeans, clustering.kmeans_k_not_given)


@pytest.fixture(scope="module")
def halves(views: dict[str, EvalData]) -> tuple[EvalData, EvalData, EvalData]:
    """Training cells, censored test cells, the same test cells with types; donor d3 tests."""
    donors = np.asarray(views["labelled"]["donor"])
    train, test = np.flatnonzero(donors != "d3"), np.flatnonzero(donors == "d3")
    return views["labelled"].select(train), views["censored"].select(test), views["labelled"].select(test)


def _labels(data: EvalData, name: str = "label") -> np.ndarray:
    return np.asarray(data[name])


def _partition(clusters: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(clusters == c).tolist()) for c in np.unique(clusters)}


def test_perfect_gives_the_solution_and_nothing_else(halves: tuple[EvalData, EvalData, EvalData]) -> None:
    truth = halves[2]
    assert _labels(annotation.perfect(truth)).tolist() == _labels(truth).tolist()
    assert set(clustering.perfect(truth).fields) == {"cluster"}
    assert _labels(clustering.perfect(truth), "cluster").tolist() == _labels(truth).tolist()


@pytest.mark.parametrize("baseline", ANNOTATION, ids=lambda f: f.__name__)
def test_one_known_type_for_each_test_cell(baseline, halves: tuple[EvalData, EvalData, EvalData]) -> None:
    train, test, _ = halves
    given = baseline(train, test, seed=3)
    assert set(given.fields) == {"label"}
    assert list(given.ids) == list(test.ids)
    assert set(_labels(given)) <= set(_labels(train))


@pytest.mark.parametrize("baseline", ANNOTATION, ids=lambda f: f.__name__)
def test_permuting_or_dropping_test_cells_moves_no_prediction(
    baseline, halves: tuple[EvalData, EvalData, EvalData]
) -> None:
    train, test, _ = halves
    whole = dict(zip(test.ids, _labels(baseline(train, test, seed=1)), strict=True))
    for positions in (np.random.default_rng(0).permutation(test.n), np.arange(5), np.array([7])):
        part = test.select(positions)
        again = baseline(train, part, seed=1)
        assert dict(zip(again.ids, _labels(again), strict=True)) == {i: whole[i] for i in part.ids}


@pytest.mark.parametrize("baseline", [*ANNOTATION, *CLUSTERING], ids=lambda f: f"{f.__module__}.{f.__name__}")
def test_same_seed_same_prediction(baseline, halves: tuple[EvalData, EvalData, EvalData]) -> None:
    train, test, _ = halves
    name = "label" if baseline in ANNOTATION else "cluster"
    once, again = (_labels(baseline(train, test, seed=5), name).tolist() for _ in range(2))
    assert once == again


def test_test_expression_moves_nothing_that_is_fitted(halves: tuple[EvalData, EvalData, EvalData]) -> None:
    train, test, _ = halves
    extreme = np.asarray(test["expression"]).copy()
    extreme[1:] *= 1000.0  # every test cell but the first becomes an outlier
    changed = EvalData({**test.fields, "expression": extreme}, ids=test.ids, coords=test.coords)
    for baseline in (annotation.knn, annotation.logistic):
        assert _labels(baseline(train, changed))[0] == _labels(baseline(train, test))[0]


def test_majority_breaks_ties_by_name() -> None:
    train = EvalData({"label": np.asarray(["b", "a", "b", "a", "c"], object)}, ids=[*"12345"])
    test = EvalData({}, ids=["x", "y"])
    assert _labels(annotation.majority(train, test)).tolist() == ["a", "a"]


def test_random_has_the_frequencies_of_training() -> None:
    train = EvalData({"label": np.asarray(["a"] * 30 + ["b"] * 10, object)}, ids=[str(i) for i in range(40)])
    test = EvalData({}, ids=[f"t{i}" for i in range(4000)])
    counts = Counter(_labels(annotation.random(train, test, seed=0)).tolist())
    assert abs(counts["a"] - 3000) < 5 * np.sqrt(4000 * 0.75 * 0.25)
    assert _labels(annotation.random(train, test, seed=1)).tolist() != _labels(annotation.random(train, test)).tolist()


def test_sparse_expression_equals_dense(halves: tuple[EvalData, EvalData, EvalData]) -> None:
    sparse = pytest.importorskip("scipy.sparse", reason="scipy holds sparse matrices")
    parts = [
        EvalData({**d.fields, "expression": sparse.csr_matrix(np.asarray(d["expression"]))}, ids=d.ids)
        for d in halves[:2]
    ]
    for baseline in (annotation.knn, annotation.logistic):
        assert _labels(baseline(*parts)).tolist() == _labels(baseline(*halves[:2])).tolist()


def test_learning_beats_guessing(halves: tuple[EvalData, EvalData, EvalData]) -> None:
    train, test, truth = halves
    right = {f.__name__: np.mean(_labels(f(train, test)) == _labels(truth)) for f in ANNOTATION}
    assert right["majority"] == 0.4  # 16 of the 40 cells of a donor are of the most frequent type
    assert right["logistic"] > right["knn"] > right["majority"]


def test_data_without_expression_are_refused(halves: tuple[EvalData, EvalData, EvalData]) -> None:
    train, test, _ = halves
    bare = EvalData({"label": _labels(train)}, ids=train.ids)
    with pytest.raises(UsageError, match="expression"):
        annotation.knn(bare, test)


@pytest.mark.parametrize("baseline", CLUSTERING, ids=lambda f: f.__name__)
def test_clusters_need_no_training_data(baseline, halves: tuple[EvalData, EvalData, EvalData]) -> None:
    given = baseline(None, halves[1], seed=2)
    assert set(given.fields) == {"cluster"}
    assert _labels(given, "cluster").dtype == np.int64
    assert list(given.ids) == list(halves[1].ids)


def test_given_k_comes_from_the_public_types(halves: tuple[EvalData, EvalData, EvalData]) -> None:
    test = halves[1]
    assert len(np.unique(_labels(clustering.kmeans(None, test), "cluster"))) == len(test.coords["classes"])
    without = EvalData(test.fields, ids=test.ids, coords={"genes": test.coords["genes"]})
    for baseline in (clustering.kmeans, clustering.random):
        with pytest.raises(UsageError, match="classes"):
            baseline(None, without)
    free = _labels(clustering.kmeans_k_not_given(None, without), "cluster")
    assert _partition(free) == _partition(_labels(clustering.kmeans_k_not_given(None, test), "cluster"))


def test_one_cluster_is_one_cluster(halves: tuple[EvalData, EvalData, EvalData]) -> None:
    assert len(_partition(_labels(clustering.single_cluster(None, halves[1]), "cluster"))) == 1


def test_k_not_given_finds_separated_groups() -> None:
    centres = np.repeat(np.eye(3) * 50, 20, axis=0)
    X = centres + np.random.default_rng(0).normal(size=(60, 3))
    test = EvalData({"expression": np.hstack([X, X])}, ids=[str(i) for i in range(60)])
    clusters = _labels(clustering.kmeans_k_not_given(None, test), "cluster")
    assert _partition(clusters) == {frozenset(range(20 * g, 20 * g + 20)) for g in range(3)}


def test_draws_are_uniform_and_in_range() -> None:
    draws = draw_by_id((f"c{i}" for i in range(7000)), 7, seed=0)
    assert set(draws.tolist()) == set(range(7))
    assert np.bincount(draws).min() > 850
    assert draw_by_id([], 3, seed=0).tolist() == []
