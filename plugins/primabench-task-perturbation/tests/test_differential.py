"""The rank-sum test against scipy and scanpy, and metrics of differential expression on hand-made sides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from primabench_task_perturbation.de_metrics import _common, _depth
from primabench_task_perturbation.de_sides import Sides
from primabench_task_perturbation.wilcoxon import adjusted, differential
from scipy import sparse, stats

import primabench_core as pb


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_against_scipy_with_ties(seed, few_values):
    rng = np.random.default_rng(seed)
    x, control = rng.normal(size=(23, 5)), rng.normal(0.3, 1, (15, 5))
    if few_values:
        x, control = np.round(x), np.round(control)
    home = rng.integers(-1, 3, 23)
    home[:3] = [0, 1, 2]
    found = differential(x, home, 3, control)
    for p in range(3):
        raw = []
        for g in range(5):
            a, b = x[home == p, g], control[:, g]
            flat = len(np.unique(np.concatenate([a, b]))) == 1
            test = stats.mannwhitneyu(a, b, method="asymptotic", use_continuity=False)
            raw.append(1.0 if flat else test.pvalue)
        expected = stats.false_discovery_control(raw)
        assert 10.0 ** -found.significance[p].astype(float) == pytest.approx(expected, rel=1e-5)
        change = (x[home == p].mean(0) - control.mean(0)) / np.log(2)
        assert found.log_fold_change[p] == pytest.approx(change, rel=1e-5, abs=1e-6)


def test_adjusting_keeps_the_order_of_ties_and_never_passes_one():
    found = np.exp(adjusted(np.log([[0.9, 0.01, 0.01, 0.8, 1.0]])))
    assert found[0] == pytest.approx(stats.false_discovery_control([0.9, 0.01, 0.01, 0.8, 1.0]))


def test_p_values_beyond_float64_stay_ordered():
    rng = np.random.default_rng(0)
    control = rng.normal(size=(4000, 2))
    x = np.concatenate([rng.normal(9, 1, (4000, 1)), rng.normal(0.9, 1, (4000, 1))], axis=1)
    found = differential(x, np.zeros(4000, np.int64), 1, control).significance[0]
    assert np.isfinite(found).all()
    assert found[0] > 308 > found[1] > 50


def test_sparse_and_groups_without_cells():
    rng = np.random.default_rng(1)
    x = rng.poisson(0.5, (40, 70)).astype(np.float32)
    home = np.repeat([0, 2], 20)
    dense, thin = (differential(m[:], home, 3, m[:10]) for m in (x, sparse.csr_matrix(x)))
    assert dense.significance.tobytes() == thin.significance.tobytes()
    assert not dense.significance[1].any()
    assert not dense.log_fold_change[1].any()
    with pytest.raises(ValueError, match="control"):
        differential(x, home, 3, x[:0])


def test_on_real_cells_against_scipy(kang):
    monocytes = (kang.obs["cell_type"] == "CD14+ Monocytes").to_numpy()
    stimulated = (kang.obs["condition"] == "stim").to_numpy()
    x, control = (kang.X[monocytes & side] for side in (stimulated, ~stimulated))
    found = differential(x, np.zeros(x.shape[0], np.int64), 1, control)
    dense, reference = x.toarray(), control.toarray()
    moves = (np.ptp(np.concatenate([dense, reference]), axis=0) > 0).nonzero()[0]
    p = np.ones(dense.shape[1])
    p[moves] = stats.mannwhitneyu(
        dense[:, moves], reference[:, moves], axis=0, method="asymptotic", use_continuity=False
    ).pvalue
    assert found.significance[0] == pytest.approx(-np.log10(stats.false_discovery_control(p)), rel=1e-4, abs=1e-5)
    best = np.asarray(kang.var_names)[np.argsort(-found.significance[0])[:25]]
    assert {"ISG15", "IFI6", "IFIT1"} & set(best)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_on_real_cells_against_scanpy(kang):
    scanpy = pytest.importorskip("scanpy", reason="the reference is scanpy's test")
    cells = kang[kang.obs["cell_type"] == "CD14+ Monocytes"].copy()
    stimulated = (cells.obs["condition"] == "stim").to_numpy()
    found = differential(cells.X[stimulated], np.zeros(stimulated.sum(), np.int64), 1, cells.X[~stimulated])
    options = {"groups": ["stim"], "reference": "ctrl", "method": "wilcoxon", "tie_correct": True}
    scanpy.tl.rank_genes_groups(cells, "condition", **options)
    theirs = scanpy.get.rank_genes_groups_df(cells, "stim").set_index("names").loc[cells.var_names]
    with np.errstate(divide="ignore"):
        raw = theirs["pvals"].fillna(1.0).to_numpy()
    expected = -np.log10(stats.false_discovery_control(raw))
    assert found.significance[0] == pytest.approx(expected, rel=1e-4, abs=1e-5)


def sides(true_change, true_hits, change, hits):
    """Genes in the order of their names."""
    rows = [np.asarray([a]) for a in (true_change, true_hits, change, hits)]
    return Sides(*rows, significance=np.where(rows[3], 2.0, 0.0), order=np.arange(len(true_change)))


def test_overlap_and_precision_by_hand():
    both = sides([5, 4, 3, 2, 1], [1, 1, 1, 0, 0], [1, 5, 4, 3, 0], [0, 1, 1, 1, 0])
    both = Sides(
        both.true_change,
        both.true_hits.astype(bool),
        both.change,
        both.hits.astype(bool),
        both.significance,
        both.order,
    )
    assert _depth(both, 0, 0) == 3
    assert _depth(both, 0, 2) == 2
    assert _common(both, 0, 3) == {1, 2}
    assert _common(both, 0, 2) == {1}


@pytest.fixture(scope="module")
def interferon(kang):
    """Truth: half of the cells of each condition and type; prediction: the other stimulated half."""
    names = np.where(kang.obs["condition"] == "stim", kang.obs["cell_type"].astype(str) + ":stim", "control").astype(
        object
    )
    context = kang.obs["cell_type"].astype(str).to_numpy(object)
    half = np.arange(kang.n_obs) % 2 == 0
    value = np.asarray(kang.X.todense())
    most = np.sort(np.argsort(-value.mean(axis=0), kind="stable")[:120])  # tests of all genes take seconds
    value, genes = value[:, most], list(kang.var_names[most])
    truth = {"value": value[half], "perturbation": names[half], "context": context[half], "genes": genes}
    return truth, {"value": value[~half], "perturbation": names[~half], "genes": genes}


def test_the_other_half_of_the_cells_is_a_good_prediction(interferon):
    truth, prediction = interferon
    asked = ["pearson_delta", "cosine_delta", "perturbation_discrimination_cosine", "l2_pseudobulk", "energy_distance"]
    de = ["de_overlap_at_n", "de_recall", "de_direction_match", "de_spearman_lfc", "de_auroc", "de_average_precision"]
    run = pb.stream([*asked, *de], truth)
    run.update(predictions=prediction)
    result = run.compute()
    assert not [r.name for r in result if r.status == "failed"]
    assert result["pearson_delta"].value > 0.8
    assert result["l2_pseudobulk"].value < result["l2_pseudobulk"].values["no_change"]
    assert result["energy_distance"].value < 0.5 * result["energy_distance"].values["no_change"]
    monocytes = "CD14+ Monocytes:stim"
    assert result["de_overlap_at_n"].per_unit[monocytes] > 0.6
    assert result["de_direction_match"].per_unit[monocytes] > 0.9
    assert result["de_auroc"].per_unit[monocytes] > 0.9


def test_no_change_predicts_no_differential_gene(interferon):
    truth, prediction = interferon
    rng = np.random.default_rng(0)
    value, names = truth["value"], prediction["perturbation"]
    controls = {
        c: np.flatnonzero((truth["perturbation"] == "control") & (truth["context"] == c)) for c in set(truth["context"])
    }
    rows = [rng.choice(controls[n.removesuffix(":stim")]) for n in names if n != "control"]
    given = {"value": value[rows], "perturbation": names[names != "control"], "genes": truth["genes"]}
    run = pb.stream(["de_recall", "de_precision_at_n"], truth)
    run.update(predictions=given)
    recall, precision = run.compute()
    assert recall.mean_over_defined < 0.02
    assert precision.value is None


def test_a_perturbation_without_true_genes(cells):
    """Both empty, or predicted against nothing: named apart, never 0."""
    names = cells["truth"]["perturbation"]
    rng = np.random.default_rng(9)
    same = rng.normal(4, 0.8, cells["truth"]["value"].shape)
    truth = {**cells["truth"], "value": same}
    empty = pb.score("de_overlap_at_n", {"value": same, "perturbation": names, "genes": truth["genes"]}, truth)
    assert set(empty.values["undefined_reasons"]) == {"both_empty"}
    wrong = pb.score("de_overlap_at_n", cells["prediction"], truth)
    assert set(wrong.values["undefined_reasons"]) == {"no_reference_effect"}


def test_what_trivial_predictions_would_score_stands_beside(interferon):
    truth, prediction = interferon
    found = pb.score("de_auroc", prediction, truth)
    assert found.values["no_change"] == 0.5  # every gene is tied
    assert 0.6 < found.values["data_ceiling"] <= 1.0
    recall = pb.score("de_recall", prediction, truth)
    assert recall.values["no_change"] == 0.0
    assert 0.0 < recall.values["data_ceiling"] < 1.0
    assert "no_change" not in pb.score("de_recall", prediction, truth, baselines="none").values
    again = {key: value[::-1] if key in ("value", "perturbation", "context") else value for key, value in truth.items()}
    ids = [f"c{i}" for i in range(len(truth["value"]))]
    one, two = (pb.score("de_recall", prediction, {**side, "ids": i}) for side, i in ((truth, ids), (again, ids[::-1])))
    assert one.values["data_ceiling"] == pytest.approx(two.values["data_ceiling"], rel=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1.0, 100.0]))
def test_fold_changes_are_differences_of_what_is_given_whatever_rows_sum_to(seed, scale):
    """Pathology 6: nothing is taken for counts because it looks like counts."""
    rng = np.random.default_rng(seed)
    x = rng.poisson(3, (12, 6)).astype(float) * scale  # whole numbers, whole sums
    control = rng.normal(2, 1, (9, 6))
    found = differential(x, np.zeros(12, int), 1, control)
    assert found.log_fold_change[0] == pytest.approx((x.mean(0) - control.mean(0)) / np.log(2), rel=1e-5, abs=1e-5)
    moved = differential(x + 7, np.zeros(12, int), 1, control + 7)
    assert moved.log_fold_change == pytest.approx(found.log_fold_change, rel=1e-4, abs=1e-4)
    assert moved.significance.tobytes() == found.significance.tobytes()
