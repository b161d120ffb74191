"""Through the public names: build, fetch, load, predict, evaluate; on made cells and on pbmc68k_reduced."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from primabench_task_singlecell.specs import PBMC68K
from primabench_task_singlecell.specs import annotation as annotation_specs
from primabench_task_singlecell.specs import clustering as clustering_specs

import primabench_core as pb
from primabench_core.evaluation.baselines import predict_baseline
from primabench_core.evaluation.oracle import evaluate_oracle
from primabench_core.store.access import dataset_content_hash
from primabench_core.store.build import build_dataset

ANNOTATION, CLUSTERING = annotation_specs.SYNTHETIC_KEY, clustering_specs.SYNTHETIC_KEY
TASKS = [("cell_type_annotation", ANNOTATION), ("clustering", CLUSTERING)]
BASELINES = {
    "cell_type_annotation": ("majority", "random", "knn", "logistic"),
    "clustering": ("random", "single_cluster", "kmeans", "kmeans_k_not_given"),
}

BEST = {
    spec.name: {use.name: 0.0 if use.name == "n_unpredicted_classes" else 1.0 for use in spec.metrics}
    for spec in (annotation_specs.TASK, clustering_specs.TASK)
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store with both synthetic datasets, named by the environment."""
    root = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIMABENCH_STORE", str(root))
        for _, key in TASKS:
            build_dataset(key)
        yield root


@pytest.fixture(scope="module")
def pbmc68k(store: Path) -> str:
    """The key of pbmc68k_reduced, built into the store."""
    pytest.importorskip("scanpy", reason="the cells of pbmc68k_reduced are a file of the scanpy package")
    pytest.importorskip("primabench_recipes", reason="the recipe of pbmc68k_reduced is in primabench-recipes")
    build_dataset(PBMC68K)
    return PBMC68K


def _labels(data: pb.EvalData) -> list[object]:
    return np.asarray(data["label"], object).tolist()


@pytest.mark.parametrize(("task", "key"), TASKS)
def test_two_builds_have_the_pinned_content_hash(task: str, key: str, store: Path, tmp_path: Path) -> None:
    again = build_dataset(key, store=tmp_path)
    specs = annotation_specs if task == "cell_type_annotation" else clustering_specs
    assert again.content_hash == dataset_content_hash(key) == specs.SYNTHETIC.content_hash


@pytest.mark.parametrize(("task", "key"), TASKS)
def test_no_public_path_leads_to_a_type_of_a_test_cell(task: str, key: str, store: Path) -> None:
    train, test = pb.fetch_data(task=task, dataset=key)
    assert not {"private", "labelled", "solution"} & {*train.parts, *test.parts}
    cells = pb.load(test, task=task, split="test")
    assert set(_labels(cells)) == {None}
    assert len(cells.coords["classes"]) == 4
    if task == "cell_type_annotation":
        known = pb.load(train, task=task, split="train")
        assert not set(known.ids) & set(cells.ids)
        assert set(_labels(known)) == {"alpha", "beta", "gamma", "delta"}
    else:
        assert train == test


@pytest.mark.parametrize(("task", "key"), TASKS)
def test_perfect_reaches_the_best_of_every_metric(task: str, key: str, store: Path) -> None:
    assert evaluate_oracle(task, "perfect", dataset=key, ci=None).scores == BEST[task]


@pytest.mark.parametrize(
    ("task", "key", "baseline"), [(task, key, baseline) for task, key in TASKS for baseline in BASELINES[task]]
)
def test_every_baseline_is_scored_to_the_same_bits_in_any_order(
    task: str, key: str, baseline: str, store: Path
) -> None:
    predictions = predict_baseline(task, baseline, dataset=key, seed=1)
    whole = pb.evaluate(task, predictions, dataset=key, ci=None)
    run = pb.Evaluation(task=task, dataset=key)
    for part in np.array_split(np.random.default_rng(0).permutation(predictions.n), 7):
        run.update(predictions=predictions.select(part))
        run = pickle.loads(pickle.dumps(run))
    assert run.compute().scores == whole.scores
    assert run.compute().scores_hash == whole.scores_hash
    assert None not in whole.scores.values()


def test_majority_scores_the_share_of_its_class(store: Path) -> None:
    result = pb.evaluate(
        "cell_type_annotation",
        predict_baseline("cell_type_annotation", "majority", dataset=ANNOTATION),
        dataset=ANNOTATION,
        ci=None,
    )
    assert result.scores["accuracy"] == result.scores["micro_f1"] == 0.4  # 16 of 40
    assert result.scores["balanced_accuracy"] == 0.25
    assert result.scores["mcc"] == 0.0


def test_one_cluster_scores_zero(store: Path) -> None:
    predictions = predict_baseline("clustering", "single_cluster", dataset=CLUSTERING)
    result = pb.evaluate("clustering", predictions, dataset=CLUSTERING, ci=None)
    assert result.scores["ari"] == 0.0
    assert result.scores["nmi"] == 0.0


def test_cluster_names_carry_no_meaning(store: Path) -> None:
    predictions = predict_baseline("clustering", "kmeans", dataset=CLUSTERING)
    clusters = np.asarray(predictions["cluster"])
    renamed = pb.EvalData({"cluster": np.asarray([f"group {9 - c}" for c in clusters], object)}, ids=predictions.ids)
    scores = [pb.evaluate("clustering", p, dataset=CLUSTERING, ci=None).scores for p in (predictions, renamed)]
    assert scores[0] == scores[1]


def test_an_unknown_type_counts_as_an_error(store: Path) -> None:
    predictions = predict_baseline("cell_type_annotation", "majority", dataset=ANNOTATION)
    label = np.asarray(predictions["label"], object).copy()
    right = pb.evaluate("cell_type_annotation", predictions, dataset=ANNOTATION, ci=None).scores["accuracy"]
    label[:] = "unheard of"
    unknown = pb.EvalData({"label": label}, ids=predictions.ids)
    result = pb.evaluate("cell_type_annotation", unknown, dataset=ANNOTATION, ci=None)
    assert (right, result.scores["accuracy"], result.scores["macro_f1_truth_labels"]) == (0.4, 0.0, 0.0)


def test_a_cell_that_was_not_predicted_is_an_error(store: Path) -> None:
    predictions = predict_baseline("cell_type_annotation", "majority", dataset=ANNOTATION)
    with pytest.raises(pb.CoverageError):
        pb.evaluate("cell_type_annotation", predictions.select(np.arange(39)), dataset=ANNOTATION, ci=None)


def test_probabilities_may_come_along_and_are_scored_on_demand(store: Path) -> None:
    _, test_path = pb.fetch_data(task="cell_type_annotation", dataset=ANNOTATION)
    test = pb.load(test_path, task="cell_type_annotation", split="test")
    guess = np.tile([0.4, 0.3, 0.1, 0.2], (test.n, 1))
    labels = np.full(test.n, "alpha", object)
    classes = test.coords["classes"]
    both = pb.EvalData({"label": labels, "probability": guess}, ids=test.ids, coords={"classes": classes})
    alone = pb.EvalData({"label": labels}, ids=test.ids)
    panel = [pb.evaluate("cell_type_annotation", p, dataset=ANNOTATION, ci=None).scores for p in (both, alone)]
    assert panel[0] == panel[1]
    run = {"dataset": ANNOTATION, "metrics": ["auroc_ovr_macro"], "ci": None}
    assert pb.evaluate("cell_type_annotation", both, **run).scores == {"auroc_ovr_macro": 0.5}
    with pytest.raises(pb.ContractError, match="probability"):
        pb.evaluate("cell_type_annotation", alone, **run)


def test_pbmc68k_splits(pbmc68k: str) -> None:
    train_path, test_path = pb.fetch_data(task="cell_type_annotation")
    train = pb.load(train_path, task="cell_type_annotation", split="train")
    test = pb.load(test_path, task="cell_type_annotation", split="test")
    assert (train.n, test.n) == (353, 347)
    assert not set(train.ids) & set(test.ids)
    assert set(_labels(test)) == {None}
    assert min(Counter(_labels(train)).values()) == 4  # the rarest of ten types has eight cells
    assert len(set(_labels(train))) == len(test.coords["classes"]) == 10
    one, other = pb.fetch_data(task="clustering")
    assert one == other
    assert pb.load(one, task="clustering", split="test").n == 700


def test_pbmc68k_baselines_rank_as_they_should(pbmc68k: str) -> None:
    def score(task: str, baseline: str) -> float:
        result = pb.evaluate(task, predict_baseline(task, baseline), ci=None)
        value = result.scores[{"cell_type_annotation": "macro_f1_truth_labels", "clustering": "ari"}[task]]
        assert value is not None
        return value

    f1 = {name: score("cell_type_annotation", name) for name in BASELINES["cell_type_annotation"]}
    assert f1["logistic"] > f1["knn"] > f1["random"] > f1["majority"] > 0
    ari = {name: score("clustering", name) for name in BASELINES["clustering"]}
    assert ari["kmeans"] > 0.4
    assert ari["kmeans_k_not_given"] > 0.3
    assert abs(ari["random"]) < 0.02
    assert ari["single_cluster"] == 0
    for task in BASELINES:
        assert evaluate_oracle(task, "perfect", ci=None).scores == BEST[task]
