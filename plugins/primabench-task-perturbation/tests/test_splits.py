"""Names, classes of held-out perturbations, and what preparers give to whom."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from primabench_task_perturbation.names import normalised, parts_of
from primabench_task_perturbation.preparers.cells import Cells, log_normalised, splits_of
from primabench_task_perturbation.specs.prediction import NAME, SYNTHETIC, SYNTHETIC_KEY
from primabench_task_perturbation.splitting import leave_perturbation_out, simulation
from primabench_task_perturbation.synthetic.cells import draw

import primabench_core as pb
from primabench_core.evaluation.baselines import predict_baseline
from primabench_core.evaluation.oracle import evaluate_oracle
from primabench_core.store.access import open_solution
from primabench_core.store.build import build_dataset

LETTERS = [chr(65 + i) for i in range(12)]
SCREEN = [*LETTERS, *(normalised((a, b)) for i, a in enumerate(LETTERS) for b in LETTERS[i + 1 :])]


@given(st.lists(st.sampled_from([*LETTERS, "ctrl", "control", ""]), max_size=3))
def test_a_name_is_the_set_of_its_parts(parts):
    name = normalised(parts)
    assert name == normalised(reversed(parts))
    assert set(parts_of(name)) == {p for p in parts if p in LETTERS}


@given(st.permutations(SCREEN), st.integers(0, 5))
def test_classes_of_simulation(names, seed):
    found = simulation(names, seed=seed)
    assert found == simulation(SCREEN, seed=seed)
    seen = {n for n in LETTERS if found[n] == "train"}
    assert len(seen) == 9  # three quarters of twelve
    for name, kind in found.items():
        parts = parts_of(name)
        if len(parts) == 1:
            assert kind == ("train" if parts[0] in seen else "unseen_single")
        else:
            count = len(seen & set(parts))
            assert kind in {0: {"combo_seen0"}, 1: {"combo_seen1"}, 2: {"combo_seen2", "train"}}[count]
    both = [n for n in names if len(parts_of(n)) == 2 and set(parts_of(n)) <= seen]
    assert sum(found[n] == "train" for n in both) == int(0.75 * len(both) + 0.5)


def test_no_gene_of_a_left_out_perturbation_is_trained_on():
    found = leave_perturbation_out(SCREEN, seed=3, share=0.05)
    alone = {n for n, k in found.items() if k == "unseen" and len(parts_of(n)) == 1}
    assert not [n for n, k in found.items() if k == "train" and alone & set(parts_of(n))]
    assert set(found.values()) == {"train", "unseen"}
    assert list(leave_perturbation_out(LETTERS).values()).count("unseen") == 3


def test_log_normalising_leaves_empty_cells_alone():
    found = log_normalised(np.array([[1.0, 3.0], [0.0, 0.0]])).toarray()
    assert found == pytest.approx(np.array([[np.log1p(2500), np.log1p(7500)], [0, 0]]), rel=1e-6)


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIMABENCH_STORE", str(root))
        assert build_dataset(SYNTHETIC_KEY).content_hash == SYNTHETIC.content_hash
        yield root


def test_the_made_cells_are_the_same_everywhere():
    drawn = draw()
    assert drawn.counts.shape == (448, 48)
    assert drawn.perturbation.count("control") == 64
    assert (drawn.counts.sum(), drawn.counts.max()) == (70_262, 53)


def test_nothing_public_holds_an_expression_of_a_held_out_perturbation(store):
    train_path, test_path = pb.fetch_data(NAME, dataset=SYNTHETIC_KEY)
    train, test = (pb.load(p, task=NAME, split=s) for p, s in ((train_path, "train"), (test_path, "test")))
    assert not set(test.ids) & set(train["perturbation"].tolist())
    assert set(test.fields) == {"target_genes", "split_class"}
    assert set(test["split_class"].tolist()) == {"unseen_single", "combo_seen0", "combo_seen1", "combo_seen2"}
    assert "control" in train["perturbation"].tolist()
    with pytest.raises((pb.UsageError, pb.PrimaBenchError)):
        pb.load(next(Path(store).rglob("solution.zarr")), task=NAME)


def test_the_solution_carries_its_test_and_lists(store):
    solution = open_solution(NAME, SYNTHETIC_KEY)
    assert solution.coords["de_method"] == ("wilcoxon-bh/1",)
    roles = np.asarray(solution["role"], object)
    names = np.asarray(solution["perturbation"], object)
    assert (roles == "cell").sum() == 10 * 16 + 64
    assert {r: int((roles == r).sum()) for r in ("log_fold_change", "significance", "rank", "target")} == dict.fromkeys(
        ("log_fold_change", "significance", "rank", "target"), 10
    )
    genes = list(solution.coords["genes"])
    at = np.flatnonzero((roles == "significance") & (names == "GENE00"))[0]
    assert np.asarray(solution["value"])[at][genes.index("GENE00")] > 3  # its own gene is activated


@pytest.mark.parametrize("baseline", ["no_change", "mean_of_train", "additive", "random"])
def test_baselines_are_scored_to_the_same_bits_in_any_order_and_as_reported_beside(store, baseline):
    predictions = predict_baseline(NAME, baseline, dataset=SYNTHETIC_KEY, seed=1)
    metrics = ["l2_pseudobulk", "mse_pseudobulk", "weighted_mse", "pearson_delta_centred", "perturbation_rank"]
    whole = pb.evaluate(NAME, predictions, dataset=SYNTHETIC_KEY, metrics=metrics, ci=None)
    run = pb.Evaluation(task=NAME, dataset=SYNTHETIC_KEY, metrics=metrics)
    for part in np.array_split(np.random.default_rng(0).permutation(predictions.n), 4):
        run.update(predictions=predictions.select(part))
        run = pickle.loads(pickle.dumps(run))
    assert run.compute().scores_hash == whole.scores_hash
    if baseline in ("no_change", "mean_of_train"):
        for result in whole:
            assert result.value == pytest.approx(result.values[baseline], rel=1e-6, abs=1e-8)


def test_baselines_rank_as_they_should(store):
    def value(name):
        prediction = predict_baseline(NAME, name, dataset=SYNTHETIC_KEY)
        return pb.evaluate(NAME, prediction, dataset=SYNTHETIC_KEY, metrics=["l2_pseudobulk"], ci=None).results[0].value

    assert value("additive") < value("mean_of_train") < value("no_change") < value("random")


def test_the_oracle_reaches_the_best_of_every_metric(store):
    from primabench_core.discovery.metrics import resolve_metric

    result = evaluate_oracle(NAME, "perfect", dataset=SYNTHETIC_KEY, ci=None)
    for found in result:
        best = resolve_metric(found.name).spec.best
        assert found.value == pytest.approx(best, abs=1e-9), found.name


def test_predictions_in_files(store, tmp_path):
    anndata = pytest.importorskip("anndata", reason="predictions of cells come as h5ad")
    import pandas as pd
    from scipy import sparse

    solution = open_solution(NAME, SYNTHETIC_KEY)
    rows = np.flatnonzero(np.asarray(solution["role"], object) == "cell")
    names = np.asarray(solution["perturbation"], object)[rows]
    value = np.asarray(solution["value"])[rows]
    given = anndata.AnnData(
        sparse.csr_matrix(value),
        obs=pd.DataFrame({"perturbation": names.astype(str)}, index=[f"mine{i}" for i in range(len(rows))]),
        var=pd.DataFrame(index=list(solution.coords["genes"])),
    )
    given.write_h5ad(tmp_path / "cells.h5ad")
    metrics = ["l2_pseudobulk", "de_recall"]
    for source in (given, tmp_path / "cells.h5ad"):
        result = pb.evaluate(NAME, source, dataset=SYNTHETIC_KEY, metrics=metrics, ci=None)
        assert result.scores == {"l2_pseudobulk": 0.0, "de_recall": 1.0}
        assert result["l2_pseudobulk"].n_excluded == {"outside": 64}


def test_intervals_resample_perturbations(store):
    prediction = predict_baseline(NAME, "additive", dataset=SYNTHETIC_KEY)
    metrics = ["l2_pseudobulk", "pearson_delta", "perturbation_rank"]
    result = pb.evaluate(NAME, prediction, dataset=SYNTHETIC_KEY, metrics=metrics)
    for name in metrics[:2]:
        interval = result[name].interval
        values = np.array(list(result[name].per_unit.values()))
        assert interval.low < result[name].value < interval.high
        assert interval.high - interval.low == pytest.approx(3.92 * values.std() / len(values) ** 0.5, rel=0.3)
    assert result["perturbation_rank"].interval.low is None


class Reader:
    """What a preparer asks of a dataset."""

    def __init__(self, labelled):
        self.labelled = labelled

    def artifact(self, view):
        assert view == "labelled"
        return self.labelled


def test_treatments_are_held_out_by_donor_against_controls_of_their_type(kang):
    from primabench_task_perturbation.preparers.treatments import prepare

    donors = np.array([f"d{i % 4}" for i in range(kang.n_obs)], object)
    fields = {
        "counts": np.round(np.expm1(kang.X.toarray())),
        "condition": np.where(kang.obs["condition"] == "stim", "stimulated", "control").astype(object),
        "donor": donors,
        "cell_type": kang.obs["cell_type"].astype(str).to_numpy(object),
    }
    data = pb.EvalData(fields, ids=list(map(str, kang.obs_names)), coords={"genes": list(kang.var_names)})
    found = prepare(Reader(data))
    place = {name: i for i, name in enumerate(data.ids)}
    cells = [i for i, r in zip(found.solution.ids, found.solution["role"], strict=True) if r == "cell"]
    held = {donors[place[i]] for i in cells}
    assert len(held) == 1
    assert not held & {donors[place[i]] for i in found.train.ids}
    assert set(found.test.ids) <= {f"{t}:stimulated" for t in set(fields["cell_type"])}
    truth = found.solution
    change = {
        n: r
        for n, r, k in zip(truth["perturbation"], truth["value"].toarray(), truth["role"], strict=True)
        if k == "log_fold_change"
    }
    isg = list(truth.coords["genes"]).index("ISG15")
    assert all(row[isg] > 1 for row in change.values())
    named = {n: c for n, c in zip(truth["perturbation"], truth["context"], strict=True) if n != "control"}
    assert all(name == f"{context}:stimulated" for name, context in named.items())


def test_screens_choose_genes_on_training_cells_and_keep_those_aimed_at(monkeypatch):
    from primabench_task_perturbation.preparers import screens

    monkeypatch.setattr(screens, "GENES", 15)
    drawn = draw()
    data = pb.EvalData(
        {"counts": drawn.counts.astype(float), "perturbation": np.array(drawn.perturbation, object)},
        ids=drawn.ids,
        coords={"genes": drawn.genes},
    )
    found = screens.prepare_simulation(Reader(data))
    genes = found.train.coords["genes"]
    assert {f"GENE{g:02d}" for g in range(12)} <= set(genes)
    assert len(genes) < 30
    held = np.isin(data["perturbation"], found.test.ids)
    changed = drawn.counts.copy()
    changed[held] = np.random.default_rng(0).permuted(changed[held], axis=1)
    other = pb.EvalData({**data.fields, "counts": changed.astype(float)}, ids=data.ids, coords=data.coords)
    assert screens.prepare_simulation(Reader(other)).train == found.train
    left = screens.prepare_leave_out(Reader(data))
    assert set(left.test["split_class"]) == {"unseen"}
    assert not set(left.test.ids) & set(left.train["perturbation"])


def test_a_donor_whose_name_contains_the_joint_is_refused():
    names = np.array(["control", "control", "A", "A", "B", "B"] * 2, object)
    donors = np.array(["a", "a+b"] * 6, object)

    def cells(replicate):
        value = np.arange(36, dtype=np.float32).reshape(12, 3) / 36
        return Cells([str(i) for i in range(12)], ["g0", "g1", "g2"], value, names, replicate=replicate)

    with pytest.raises(pb.CorruptDataError, match=r"1 names of replicates contain '\+'.*'a\+b'"):
        splits_of(cells(donors), {"A": "train", "B": "single"})
    told = splits_of(cells(np.where(donors == "a+b", "b", donors)), {"A": "train", "B": "single"})
    assert list(told.test["replicates"]) == ["a+b"]
