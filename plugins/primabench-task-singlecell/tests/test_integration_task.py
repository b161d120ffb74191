"""Tasks batch_integration and embedding_quality through the public names, on made cells and on Kang's by condition."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from primabench_task_singlecell.integration.genes import set_score
from primabench_task_singlecell.preparers import integration as preparers
from primabench_task_singlecell.specs import embedding_quality, integration

import primabench_core as pb
from primabench_core.evaluation.baselines import predict_baseline
from primabench_core.evaluation.oracle import evaluate_oracle
from primabench_core.store.access import dataset_content_hash
from primabench_core.store.build import build_dataset

TASK, KEY = integration.NAME, integration.SYNTHETIC_KEY
QUALITY, QUALITY_KEY = embedding_quality.NAME, embedding_quality.SYNTHETIC_KEY
FAST = ["silhouette_label", "ilisi", "graph_connectivity", "pcr_comparison", "kbet"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store with both synthetic datasets, named by the environment."""
    root = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIMABENCH_STORE", str(root))
        for key in (KEY, QUALITY_KEY):
            build_dataset(key)
        yield root


def cells(task: str, key: str) -> pb.EvalData:
    return pb.load(pb.fetch_data(task=task, dataset=key)[1], task=task, split="test")


def test_pinned_content_hashes(store: Path) -> None:
    assert dataset_content_hash(KEY) == integration.SYNTHETIC.content_hash
    assert dataset_content_hash(QUALITY_KEY) == embedding_quality.SYNTHETIC.content_hash


def test_public_cells_have_batches_and_no_types(store: Path) -> None:
    test = cells(TASK, KEY)
    assert set(np.asarray(test["label"][:], object)) == {None}
    assert set(np.asarray(test["batch"][:], object)) == {"d1", "d2", "d3"}
    assert not {"embedding", "neighbours", "rate"} & set(test.fields)
    role = np.asarray(test["role"][:], object)
    for batch in ("d1", "d2", "d3"):
        rows = np.asarray(test["batch"][:], object) == batch
        assert (role[rows] == "score").sum() == rows.sum() // 10


def test_baselines_rank_as_they_should(store: Path) -> None:
    def scores(name: str) -> dict[str, Any]:
        return dict(pb.evaluate(TASK, predict_baseline(TASK, name, dataset=KEY), dataset=KEY, ci=None).scores)

    perfect = evaluate_oracle(TASK, "perfect", dataset=KEY, ci=None).scores
    random, nothing, centred = (scores(name) for name in ("random", "unintegrated", "batch_centred"))
    assert perfect["bio_score"] > 0.99
    order = [s["aggregate_unscaled"] for s in (perfect, centred, nothing, random)]
    assert order == sorted(order, reverse=True)
    assert nothing["pcr_comparison"] < 0.01 < centred["pcr_comparison"]
    assert nothing["hvg_overlap"] is None  # an embedding has no genes
    assert 0 < centred["hvg_overlap"] <= 1
    assert perfect["entropy_per_cell"] is None  # 116 cells have no 200 neighbours


def test_any_order_of_batches_of_rows_gives_the_same_values(store: Path) -> None:
    predictions = predict_baseline(TASK, "unintegrated", dataset=KEY)
    whole = pb.evaluate(TASK, predictions, dataset=KEY, metrics=FAST, ci=None)
    run = pb.Evaluation(task=TASK, dataset=KEY, metrics=FAST)
    for part in np.array_split(np.random.default_rng(0).permutation(predictions.n), 5):
        run.update(predictions=predictions.select(part))
        run = pickle.loads(pickle.dumps(run))
    assert run.compute().scores == whole.scores


def test_results_name_the_library_of_leiden(store: Path) -> None:
    predictions = predict_baseline(TASK, "unintegrated", dataset=KEY)
    result = pb.evaluate(TASK, predictions, dataset=KEY, metrics=["nmi_leiden"], ci=None)["nmi_leiden"]
    assert result.libraries["graspologic-native"] not in ("", "not installed")
    assert 0.1 <= result.values["resolution"] <= 2.0


def test_expected_counts_are_scored_on_held_out_cells(store: Path) -> None:
    test = cells(TASK, KEY)
    order = [list(test.coords["all_genes"]).index(g) for g in test.coords["genes"]]
    counts = test["all_counts"].toarray().astype(np.float64)[:, order]
    batch = np.asarray(test["batch"][:], object)
    flat = np.stack([counts[batch == b].mean(axis=0) for b in batch]) + 0.01
    latent = np.asarray(predict_baseline(TASK, "unintegrated", dataset=KEY)["embedding"])
    metrics = ["poisson_deviance", "nb_deviance", "reconstruction_pearson"]

    def score(rate: np.ndarray) -> Any:
        made = pb.EvalData({"embedding": latent, "rate": rate}, ids=test.ids, coords={"genes": test.coords["genes"]})
        return pb.evaluate(TASK, made, dataset=KEY, metrics=metrics, ci=None)

    by_batch, same = score(flat), score(np.tile(flat.mean(axis=0), (test.n, 1)))
    role = np.asarray(test["role"][:], object) == "score"
    assert by_batch["poisson_deviance"].n == role.sum()
    assert by_batch.scores["poisson_deviance"] < same.scores["poisson_deviance"]
    assert by_batch.scores["reconstruction_pearson"] > same.scores["reconstruction_pearson"]
    spoiled = flat.copy()
    spoiled[~role] = 1e6  # cells that were fitted on do not count
    assert score(spoiled).scores == by_batch.scores


def test_a_graph_alone_is_a_prediction(store: Path) -> None:
    test = cells(TASK, KEY)
    points = np.asarray(predict_baseline(TASK, "unintegrated", dataset=KEY)["embedding"])
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    index = np.argsort(distance, axis=1, kind="stable")[:, :95]
    graph = {"neighbours": index, "neighbour_distances": np.take_along_axis(distance, index, axis=1)}
    graph = {name: value.astype(np.float64) for name, value in graph.items()}
    scored = pb.evaluate(TASK, pb.EvalData(graph, ids=test.ids), dataset=KEY, ci=None)
    known = pb.evaluate(TASK, predict_baseline(TASK, "unintegrated", dataset=KEY), dataset=KEY, ci=None)
    for name in ("ilisi", "clisi", "graph_connectivity", "nmi_leiden", "ari_leiden", "kbet_fixed_k"):
        assert scored.scores[name] == pytest.approx(known.scores[name], abs=1e-9)
    for name in ("silhouette_label", "bras", "kbet", "pcr_comparison", "nmi_kmeans", "hvg_overlap"):
        assert (scored.scores[name], scored[name].reason) == (None, "not_applicable")
    assert scored["aggregate_unscaled"].reason == "component_undefined"


def test_a_prediction_without_any_representation_is_refused(store: Path) -> None:
    test = cells(TASK, KEY)
    rate = pb.EvalData({"rate": np.ones((test.n, 40))}, ids=test.ids, coords={"genes": test.coords["genes"]})
    with pytest.raises(pb.ContractError, match="embedding"):
        pb.evaluate(TASK, rate, dataset=KEY, ci=None)


def test_kang_by_condition_is_prepared_and_scored() -> None:
    anndata = pytest.importorskip("anndata", reason="the fixture is an AnnData file")
    folder = os.environ.get("PRIMABENCH_TEST_DATA", "")
    if not folder:
        pytest.skip("PRIMABENCH_TEST_DATA names no folder with the small real data")
    data = anndata.read_h5ad(Path(folder) / "single_cell/kang_ifnb_pbmc_donor101/kang_ifnb_donor101.h5ad")
    text = {key: np.asarray(data.obs[key].astype(str), object) for key in ("cell_type", "condition")}
    labelled = pb.EvalData(
        {"counts": data.X, **text}, ids=list(data.obs_names), coords={"genes": tuple(map(str, data.var_names))}
    )

    class Reader:
        def artifact(self, view: str) -> pb.EvalData:
            assert view == "labelled"
            return labelled

    splits = preparers.prepare_kang(Reader())  # type: ignore[arg-type]
    assert set(np.asarray(splits.test["label"], object)) == {None}
    assert splits.solution["counts"].shape == splits.solution["expression"].shape == (954, 1267)
    truth = {key: splits.solution[key] for key in ("label", "batch", "embedding")}
    before = pb.score("ilisi", {"embedding": truth["embedding"]}, {"batch": truth["batch"]}).value
    assert 0 < before < 0.6  # type: ignore[operator]  # interferon moves every type


def test_immune_cells_get_cycle_scores_and_keep_the_curated_time() -> None:
    from scipy.sparse import csr_matrix

    text = Path(preparers.__file__).parents[1].joinpath("integration/cell_cycle_human.tsv").read_text()
    genes = (*(line.split("\t")[0] for line in text.splitlines()), *(f"other {i}" for i in range(60)))
    rng = np.random.default_rng(0)
    counts = rng.poisson(2.0, (60, len(genes))).astype(np.float32)
    time = np.where(np.arange(60) % 3, np.linspace(0, 1, 60), np.nan)
    fields = {
        "counts": csr_matrix(counts), "expression": csr_matrix(np.log1p(counts)), "pseudotime": time,
        "batch": np.asarray(["a", "b"], object)[np.arange(60) % 2], "whole_counts": np.ones(60, np.int64),
        "label": np.asarray(["x", "y", "z"], object)[np.arange(60) // 20],
    }  # fmt: skip
    labelled = pb.EvalData(fields, ids=[f"c{i}" for i in range(60)], coords={"genes": genes})

    class Reader:
        def artifact(self, view: str) -> pb.EvalData:
            assert view == "labelled"
            return labelled

    splits = preparers.prepare_immune_human(Reader())  # type: ignore[arg-type]
    assert splits.test["expression"].shape == (60, len(genes))  # fewer than are scored at most
    assert splits.test["all_counts"].shape == (60, len(genes))
    assert not {"pseudotime", "cell_cycle"} & set(splits.test.fields)
    np.testing.assert_array_equal(splits.solution["pseudotime"], time)
    assert splits.solution["cell_cycle"].shape == (60, 2)
    assert np.std(splits.solution["cell_cycle"], axis=0).min() > 0
    assert splits.solution["embedding"].shape == (60, 50)
    np.testing.assert_array_equal(splits.solution["counts"], counts)


def test_scored_genes_vary_inside_batches() -> None:
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    matrix = rng.poisson(2.0, (60, 40)).astype(np.float64)
    matrix[:, 7] = rng.poisson(20.0, 60) * (rng.random(60) < 0.1)  # bursts
    matrix[:, 9] = 5.0 * (np.arange(60) % 2)  # differs between batches alone
    batches = np.asarray(["a", "b"], object)[np.arange(60) % 2]
    chosen = preparers.scored_genes(csr_matrix(matrix), batches, most=10)
    assert len(chosen) == 10
    assert 7 in chosen
    assert 9 not in chosen
    assert (np.diff(chosen) > 0).all()


def test_cell_cycle_scores_tell_cycling_cells() -> None:
    genes = tuple(
        line.split("\t")[0]
        for line in Path(preparers.__file__)
        .parents[1]
        .joinpath("integration/cell_cycle_human.tsv")
        .read_text()
        .split("\n")
        if line
    )
    rng = np.random.default_rng(0)
    names = (*genes, *(f"other {i}" for i in range(200)))
    matrix = rng.random((50, len(names)))
    matrix[:10, :43] += 3.0  # S genes come first
    scores = preparers.human_cycle(matrix, names)
    assert scores is not None
    assert scores[:10, 0].min() > scores[10:, 0].max()
    assert preparers.human_cycle(matrix[:, 97:], names[97:]) is None
    with pytest.raises(pb.UsageError):
        set_score(matrix, names, ["nobody"])


def test_probes_read_types_across_donors(store: Path) -> None:
    perfect = evaluate_oracle(QUALITY, "perfect", dataset=QUALITY_KEY, ci=None)
    assert all(v == pytest.approx(1.0) for v in perfect.scores.values())
    random, components = (
        pb.evaluate(QUALITY, predict_baseline(QUALITY, name, dataset=QUALITY_KEY), dataset=QUALITY_KEY, ci=None)
        for name in ("random", "components")
    )
    for name in perfect.scores:
        assert random.scores[name] < components.scores[name]  # type: ignore[operator]
        assert len(components[name].values["probe_sha256"]) == 64
    assert set(components["label_transfer"].per_unit) == {
        f"{a} -> {b}" for a in ("d1", "d2", "d3") for b in ("d1", "d2", "d3") if a != b
    }


def test_a_type_that_a_domain_lacks_is_wrong_or_left_out_as_declared() -> None:
    label = np.asarray(["a", "b", "c"], object)[np.arange(30) % 3]
    domain = np.asarray(["x", "y"], object)[np.arange(30) // 15]
    label[(domain == "x") & (label == "c")] = "a"
    embedding = 10.0 * np.eye(3)[np.arange(30) % 3]
    truth = {"label": label, "domain": domain}
    every = pb.score("label_transfer", {"embedding": embedding}, truth, k=3, score="accuracy")
    shared = pb.score("label_transfer", {"embedding": embedding}, truth, k=3, score="accuracy", labels="shared")
    assert every.per_unit["x -> y"] == pytest.approx(2 / 3)  # all cells of type c are called something else
    assert shared.per_unit["x -> y"] == 1.0
    one = pb.score("label_transfer", {"embedding": embedding}, {**truth, "domain": np.full(30, "x", object)})
    assert (one.value, one.reason) == (None, "single_batch")
