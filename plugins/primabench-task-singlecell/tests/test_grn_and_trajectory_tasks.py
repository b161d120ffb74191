"""The two tasks from build to score: made data, real embryos and the real network; nothing public tells an answer."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from primabench_task_singlecell.baselines import grn as grn_baselines
from primabench_task_singlecell.baselines import trajectory as trajectory_baselines
from primabench_task_singlecell.preparers import grn, trajectory
from primabench_task_singlecell.specs import grn as grn_specs
from primabench_task_singlecell.specs import trajectory as trajectory_specs
from primabench_task_singlecell.synthetic.line import draw_line
from primabench_task_singlecell.synthetic.network import draw_network

import primabench_core as pb
from primabench_core.evaluation.baselines import predict_baseline
from primabench_core.evaluation.oracle import evaluate_oracle
from primabench_core.store.access import dataset_content_hash
from primabench_core.store.build import build_dataset

GRN, TRAJECTORY = grn_specs.SYNTHETIC_KEY, trajectory_specs.SYNTHETIC_KEY


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store with both made datasets, named by the environment."""
    root = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIMABENCH_STORE", str(root))
        for key in (GRN, TRAJECTORY):
            build_dataset(key)
        yield root


@pytest.fixture(scope="module")
def real() -> Path:
    """The folder of small real files."""
    folder = os.environ.get("PRIMABENCH_TEST_DATA", "")
    if not folder:
        pytest.skip("set PRIMABENCH_TEST_DATA to the folder of small real files")
    return Path(folder) / "single_cell"


class Reader:
    """Stands in for the store."""

    def __init__(self, **views: pb.EvalData) -> None:
        self._views = views

    def artifact(self, view: str, name: str = "data") -> pb.EvalData:
        return self._views[view if name == "data" else name]


# -- network -----------------------------------------------------------------------------------------------------------


def test_made_data_have_the_pinned_hashes(store: Path) -> None:
    assert dataset_content_hash(GRN) == grn_specs.SYNTHETIC.content_hash
    assert dataset_content_hash(TRAJECTORY) == trajectory_specs.SYNTHETIC.content_hash


def test_candidates_are_public_and_edges_are_not(store: Path) -> None:
    train_path, test_path = pb.fetch_data(task="grn_inference", dataset=GRN)
    train = pb.load(train_path, task="grn_inference", split="train")
    test = pb.load(test_path, task="grn_inference", split="test")
    made = draw_network()
    assert np.array_equal(np.asarray(train["expression"]), made.expression)
    assert set(test.fields) == {"regulator", "target"}
    assert test.n == 204 == grn_specs.SYNTHETIC.n_units
    assert list(test.ids) == [f"{a}>{b}" for a, b in zip(test["regulator"], test["target"], strict=True)]
    assert list(test.ids) == sorted(test.ids)  # an order that tells nothing
    assert all(a != b for a, b in zip(test["regulator"], test["target"], strict=True))
    assert set(made.edges) < set(zip(test["regulator"], test["target"], strict=True))


def test_network_baselines_rank_as_they_should(store: Path) -> None:
    found = {
        name: pb.evaluate("grn_inference", predict_baseline("grn_inference", name, dataset=GRN), dataset=GRN, ci=None)
        for name in ("random", "correlation", "forest")
    }
    best = evaluate_oracle("grn_inference", "perfect", dataset=GRN, ci=None).scores
    density = 48 / 204
    assert best["auprc_ratio"] == best["early_precision_ratio"] == pytest.approx(1 / density, rel=1e-15)
    assert best["average_precision"] == best["auroc"] == best["mean_regulator_average_precision"] == 1.0
    assert 0.6 < found["random"]["auprc_ratio"].value < 1.6
    assert found["correlation"]["auprc_ratio"].value > 3.5
    assert found["forest"]["auprc_ratio"].value > 3.5
    assert (
        found["correlation"]["average_precision"].value
        == found["correlation"]["auprc_ratio"].values["average_precision"]
    )


def test_a_table_of_edges_is_a_prediction(store: Path, tmp_path: Path) -> None:
    made = draw_network()
    table = pd.DataFrame(made.edges, columns=["regulator", "target"]).assign(weight=-2.0)
    table.to_csv(tmp_path / "edges.csv", index=False)
    ways = [pb.evaluate("grn_inference", given, dataset=GRN, ci=None) for given in (table, tmp_path / "edges.csv")]
    run = pb.Evaluation("grn_inference", dataset=GRN)
    run.update(edges=[(a, b, 2.0) for a, b in made.edges[20:]])
    run.update(edges=[(a, b, 2.0) for a, b in made.edges[:30]])
    run.update(edges=[("regulator_0", "regulator_0", 9.0), ("gene_00", "gene_01", 9.0)])
    ways.append(run.compute())
    many = pb.evaluate_many({"a": tmp_path / "edges.csv"}, task="grn_inference", dataset=GRN, ci=None, progress=False)
    ways += many.values()
    assert len({tuple(way.scores.items()) for way in ways}) == len({way.predictions_sha256 for way in ways}) == 1
    assert ways[0].scores["average_precision"] == 1.0
    assert ways[2]["auprc_ratio"].n_excluded == {"outside": 2}
    assert ways[0].coverage == 48 / 204
    with pytest.raises(pb.ContractError, match="gene_99"):
        pb.evaluate("grn_inference", {"edges": [("regulator_0", "gene_99", 1.0)]}, dataset=GRN, ci=None)


def test_intervals_resample_regulators(store: Path) -> None:
    prediction = predict_baseline("grn_inference", "correlation", dataset=GRN)
    result = pb.evaluate("grn_inference", prediction, dataset=GRN, ci=0.9)
    for name in ("auprc_ratio", "early_precision_ratio", "auroc"):
        interval = result[name].interval
        assert interval.low <= result[name].value <= interval.high


def test_a_network_without_expressed_edges_is_refused() -> None:
    cells = pb.EvalData({"expression": np.ones((2, 2))}, ids=["a", "b"], coords={"genes": ("A", "B")})

    def network(*pairs: tuple[str, str]) -> pb.EvalData:
        columns = np.asarray(pairs, object)
        return pb.EvalData({"regulator": columns[:, 0], "target": columns[:, 1]})

    splits = grn.prepare(Reader(measured=cells, edges=network(("A", "B"), ("A", "A"), ("Z", "B"))))
    assert splits.solution.ids == ("A>B",)
    for pairs in ((("A", "Z"),), (("Z", "B"),), (("A", "A"),)):
        with pytest.raises(pb.CorruptDataError, match="no edge"):
            grn.prepare(Reader(measured=cells, edges=network(*pairs)))
    nameless = pb.EvalData({"expression": np.ones((2, 2))}, ids=["a", "b"])
    with pytest.raises(pb.CorruptDataError, match="names of genes"):
        grn.prepare(Reader(measured=nameless, edges=network(("A", "B"))))


def test_baselines_of_genes_that_do_not_vary_and_of_sparse_expression() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    made = draw_network()
    X = made.expression.copy()
    X[:, made.genes.index("gene_00")] = 1.0
    X[:, made.genes.index("regulator_3")] = 0.0
    pairs = [(a, b) for a in made.genes[:4] for b in made.genes[:12] if a != b]
    columns = np.asarray(pairs, object)
    test = pb.EvalData({"regulator": columns[:, 0], "target": columns[:, 1]}, ids=[f"{a}>{b}" for a, b in pairs])
    dense = pb.EvalData({"expression": X}, coords={"genes": made.genes})
    thin = pb.EvalData({"expression": sparse.csr_matrix(X)}, coords={"genes": made.genes})
    for baseline in (grn_baselines.correlation, grn_baselines.forest):
        weight = dict(zip(pairs, baseline(dense, test)["score"].tolist(), strict=True))
        assert all(w == 0 for (a, b), w in weight.items() if b == "gene_00" or "regulator_3" in (a, b))
        assert np.array_equal(baseline(thin, test)["score"], baseline(dense, test)["score"])
        assert np.isfinite(list(weight.values())).all()
    with pytest.raises(pb.UsageError, match="names of genes"):
        grn_baselines.correlation(pb.EvalData({"expression": X}), test)


def test_the_real_network(real: Path) -> None:
    place = real / "grn_mesc_semrau"
    with gzip.open(place / "semrau_rna_filtered_log2.tsv.gz", "rt") as stream:
        next(stream)
        rows = [line.rstrip("\n").split("\t") for line in stream]
    genes = tuple(row[0] for row in rows)
    expression = np.asarray([row[1:] for row in rows], np.float32).T
    edges = np.asarray(
        [line.split("\t") for line in (place / "mESC_ground_truth.tsv").read_text().splitlines()], object
    )
    cells = pb.EvalData({"expression": expression}, coords={"genes": genes})
    network = pb.EvalData({"regulator": edges[:, 0], "target": edges[:, 1]})
    splits = grn.prepare(Reader(measured=cells, edges=network))
    label = np.asarray(splits.solution["label"])
    assert expression.shape == (384, 10_243)
    assert (len(label), int(label.sum()), len(set(splits.solution["regulator"]))) == (139_692, 4393, 42)
    truth = {"label": label, "regulator": splits.solution["regulator"], "genes": genes, "ids": splits.solution.ids}
    found = grn_baselines.correlation(splits.train, splits.test)
    assert pb.score("auprc_ratio", found, truth).value == pytest.approx(1.2966, abs=5e-4)
    a, b = "Sox2", "Klf4"
    x, y = expression[:, genes.index(a)], expression[:, genes.index(b)]
    if f"{a}>{b}" in found.ids:
        at = found.ids.index(f"{a}>{b}")
        assert found["score"][at] == pytest.approx(abs(np.corrcoef(x, y)[0, 1]), abs=1e-6)


# -- trajectory --------------------------------------------------------------------------------------------------------


def test_stages_are_hidden_but_for_one_root(store: Path) -> None:
    one, other = pb.fetch_data(task="trajectory_inference", dataset=TRAJECTORY)
    assert one == other
    test = pb.load(one, task="trajectory_inference", split="test")
    labelled, _ = draw_line()
    assert np.isnan(np.asarray(test["stage"])).all()
    root = np.asarray(test["root"])
    assert sorted(root.tolist()) == [0] * 99 + [1]
    assert np.asarray(labelled["stage"])[root == 1].tolist() == [0.0]
    assert np.array_equal(np.asarray(test["expression"]), np.asarray(labelled["expression"]))
    stage = np.asarray(labelled["stage"])
    assert abs(np.corrcoef(np.arange(100), stage)[0, 1]) < 0.3  # the order of rows says nothing
    assert sorted(np.bincount(stage.astype(int)).tolist()) == [20] * 5


def test_trajectory_baselines_rank_as_they_should(store: Path) -> None:
    found = {
        name: pb.evaluate(
            "trajectory_inference",
            predict_baseline("trajectory_inference", name, dataset=TRAJECTORY),
            dataset=TRAJECTORY,
            ci=None,
        ).scores
        for name in ("random", "root_distance", "correlation", "geodesic")
    }
    best = evaluate_oracle("trajectory_inference", "perfect", dataset=TRAJECTORY, ci=None)
    assert [best[m].value for m in best.scores][:3] == [1.0, 1.0, 1.0]
    assert best["cbdir"].reason == best["iccoh"].reason == "not_applicable"
    assert abs(found["random"]["pseudotime_spearman"]) < 0.25
    assert abs(found["random"]["cbdir"]) < 0.15
    assert all(found[name]["pseudotime_spearman"] > 0.5 for name in ("root_distance", "correlation", "geodesic"))
    assert found["correlation"]["cbdir"] is None
    assert all(found[name]["iccoh"] > 0.2 for name in ("root_distance", "geodesic"))


def test_pseudotime_is_needed_and_velocity_is_not(store: Path) -> None:
    prediction = predict_baseline("trajectory_inference", "root_distance", dataset=TRAJECTORY)
    alone = pb.EvalData({"velocity": prediction["velocity"]}, ids=prediction.ids, coords=prediction.coords)
    with pytest.raises(pb.ContractError, match="pseudotime"):
        pb.evaluate("trajectory_inference", alone, dataset=TRAJECTORY, ci=None)
    genes = prediction.coords["genes"]
    mixed = pb.EvalData(
        {"pseudotime": prediction["pseudotime"], "velocity": prediction["velocity"][:, ::-1]},
        ids=prediction.ids,
        coords={"genes": genes[::-1]},
    ).select(np.random.default_rng(0).permutation(prediction.n))
    whole, again = (pb.evaluate("trajectory_inference", p, dataset=TRAJECTORY, ci=None) for p in (prediction, mixed))
    assert whole.scores == pytest.approx(again.scores, abs=1e-12)
    assert whole.predictions_sha256 == again.predictions_sha256


@pytest.mark.parametrize("name", ["random", "root_distance", "correlation", "geodesic"])
def test_order_of_cells_moves_no_prediction(name: str) -> None:
    labelled, _ = draw_line()
    root = trajectory.root_of(list(labelled.ids), np.asarray(labelled["stage"]))
    test = pb.EvalData({"expression": labelled["expression"], "root": root}, ids=labelled.ids, coords=labelled.coords)
    baseline = getattr(trajectory_baselines, name)
    whole = baseline(None, test, seed=4)
    mixed = test.select(np.random.default_rng(1).permutation(test.n))
    again = baseline(None, mixed, seed=4).select(list(test.ids))
    for field in whole.fields:
        assert np.allclose(whole[field], again[field], atol=1e-6)
    assert np.isfinite(np.asarray(whole["pseudotime"])).all()
    if name != "random":
        assert int(np.argmin(whole["pseudotime"])) == int(np.flatnonzero(root)[0])
        with pytest.raises(pb.UsageError, match="one root cell"):
            baseline(None, pb.EvalData({"expression": labelled["expression"]}, ids=labelled.ids))


def test_preparers_refuse_what_has_no_course() -> None:
    data = {"expression": np.eye(2), "stage": np.asarray([1.0, 1.0])}
    coords = {"genes": ("A", "B")}
    with pytest.raises(pb.CorruptDataError, match="one stage"):
        trajectory.prepare(Reader(labelled=pb.EvalData(data, ids=["a", "b"], coords=coords)))
    with pytest.raises(pb.CorruptDataError, match="ids"):
        trajectory.prepare(Reader(labelled=pb.EvalData({**data, "stage": np.asarray([0.0, 1.0])}, coords=coords)))


def test_pancreas_gives_counts_stages_and_scored_genes() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(0)
    kinds = np.asarray(["Ductal", "Ngn3 low EP", "Ngn3 high EP", "Pre-endocrine", "Alpha", "Beta"] * 10, object)
    spliced, unspliced = (sparse.csr_matrix(rng.poisson(2.0, (60, 30)).astype(np.float32)) for _ in range(2))
    cells = pb.EvalData(
        {"spliced": spliced, "unspliced": unspliced, "label": kinds},
        ids=[f"c{i}" for i in range(60)],
        coords={"genes": tuple(f"g{i}" for i in range(30))},
    )
    splits = trajectory.prepare_pancreas(Reader(labelled=cells))
    assert set(splits.test.fields) == {"expression", "root", "stage", "spliced", "unspliced"}
    assert np.asarray(splits.solution["stage"])[:6].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 4.0]
    assert splits.solution["cluster"].tolist() == kinds.tolist()
    assert splits.test["expression"].shape == splits.solution["expression"].shape == (60, 30)
    assert kinds[np.asarray(splits.test["root"]) == 1].tolist() == ["Ductal"]
    strange = pb.EvalData(
        {**cells.fields, "label": np.asarray(["Gamma"] * 60, object)}, ids=cells.ids, coords=cells.coords
    )
    with pytest.raises(pb.CorruptDataError, match="'Gamma' has no stage"):
        trajectory.prepare_pancreas(Reader(labelled=strange))


def test_real_embryos(real: Path) -> None:
    place = real / "guo2010_embryo_qpcr"
    expression = pd.read_csv(place / "expression.csv.gz", index_col=0)
    about = pd.read_csv(place / "cells.csv", index_col=0).loc[expression.index]
    names = [f"cell-{i:06d}" for i in range(428)]
    cells = pb.EvalData(
        {
            "expression": expression.to_numpy(np.float32),
            "stage": np.log2(about["num_cells"].to_numpy(np.float64)),
            "embryo": np.asarray([name.partition(".")[0] for name in expression.index], object),
        },
        ids=names,
        coords={"genes": tuple(expression.columns)},
    )
    splits = trajectory.prepare(Reader(labelled=cells))
    assert set(splits.test.fields) == {"expression", "root", "stage"}
    assert len(set(splits.solution["sample"])) == 42
    truth = {"stage": splits.solution["stage"], "ids": names}
    found = {
        name: pb.score(
            "pseudotime_spearman",
            pb.EvalData(
                {"pseudotime": getattr(trajectory_baselines, name)(None, splits.test)["pseudotime"]}, ids=names
            ),
            truth,
        ).value
        for name in ("random", "root_distance", "correlation", "geodesic")
    }
    assert abs(found["random"]) < 0.15
    assert found["geodesic"] > 0.7
    assert found["root_distance"] > 0.5
    assert found["correlation"] > 0.5
