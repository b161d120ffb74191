"""Values against scikit-learn, scipy and hand calculation; ties, one class, gaps; laws by hypothesis."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from primabench_task_genome.metrics.sequences import fold_summary
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import average_precision_score, matthews_corrcoef, roc_auc_score

import primabench_core as pb


def made(seed, n=120, ties=True):
    rng = np.random.default_rng(seed)
    score = np.round(rng.normal(0, 1, n), 1) if ties else rng.normal(0, 1, n)
    label = (rng.random(n) < 0.3 + 0.2 * (score > 0)).astype(np.int64)
    groups = np.asarray([f"g{i}" for i in rng.integers(0, 9, n)], object)
    return score, label, groups


@pytest.mark.parametrize("seed", range(5))
def test_chromosome_weighted_average_precision_is_that_of_sklearn(seed):
    score, label, chromosome = made(seed)
    label[chromosome == "g0"] = 0
    parts = {}
    for name in sorted(set(chromosome)):
        rows = chromosome == name
        if 0 < label[rows].sum() < rows.sum():
            parts[name] = (rows.sum(), average_precision_score(label[rows], score[rows]))
    expected = sum(n * v for n, v in parts.values()) / sum(n for n, _ in parts.values())
    found = pb.score("auprc_by_chrom_weighted_average", {"score": score}, {"label": label, "chromosome": chromosome})
    assert math.isclose(found.value, expected, rel_tol=1e-12)
    assert found.n == sum(n for n, _ in parts.values())
    assert found.n_excluded == {"single_class": 120 - found.n}
    assert found.per_unit == pytest.approx({k: v for k, (_, v) in parts.items()})
    assert 0 < found.values["standard_error"] < 0.3
    assert found.values["n_chromosomes"] == len(parts)


def test_the_standard_error_is_that_of_a_bootstrap_over_chromosomes():
    score, label, chromosome = made(3, n=900)
    found = pb.score("auprc_by_chrom_weighted_average", {"score": score}, {"label": label, "chromosome": chromosome})
    sizes = {name: int((chromosome == name).sum()) for name in found.per_unit}
    rng = np.random.default_rng(0)
    names = list(found.per_unit)
    draws = []
    for _ in range(4000):
        some = [names[i] for i in rng.integers(0, len(names), len(names))]
        draws.append(sum(sizes[n] * found.per_unit[n] for n in some) / sum(sizes[n] for n in some))
    assert math.isclose(found.values["standard_error"], np.std(draws, ddof=1), rel_tol=0.1)


def mcc_of_best(label, score):
    """As many called as there are positives, all of those that share the last score."""
    return matthews_corrcoef(label, score >= sorted(score)[-label.sum()])


@pytest.mark.parametrize("metric", ["auroc", "average_precision", "mcc_at_prevalence"])
def test_means_over_genes(metric):
    score, label, gene = made(7)
    label[gene == "g1"] = 1
    function = {"auroc": roc_auc_score, "average_precision": average_precision_score, "mcc_at_prevalence": mcc_of_best}[
        metric
    ]
    expected = {}
    for name in set(gene):
        rows = gene == name
        expected[name] = function(label[rows], score[rows]) if 0 < label[rows].sum() < rows.sum() else None
    defined = [v for v in expected.values() if v is not None]
    truth = {"label": label, "gene": gene}
    found = pb.score(f"{metric}_mean_over_genes", {"score": score}, truth)
    assert math.isclose(found.value, np.mean(defined), rel_tol=1e-12)
    assert found.per_unit == pytest.approx(expected)
    assert found.n_undefined == len(expected) - len(defined)
    assert 0 < found.values["mean_prevalence"] < 1
    strict = pb.score(f"{metric}_mean_over_genes", {"score": score}, truth, policy="strict")
    assert (strict.value, strict.reason) == (None, "component_undefined")


def test_knowing_the_gene_alone_is_worth_nothing_within_genes():
    gene = np.repeat([f"g{i}" for i in range(10)], 20)
    label = (np.arange(200) % 20 < np.repeat([1, 19] * 5, 20)).astype(np.int64)
    score = np.repeat([0.0, 1.0] * 5, 20)
    truth = {"label": label, "gene": gene.astype(object)}
    assert pb.score("auroc", {"score": score}, {"label": label}).value > 0.9
    assert pb.score("auroc_mean_over_genes", {"score": score}, truth).value == 0.5


def test_mcc_at_prevalence_calls_as_many_as_there_are():
    score, label, _ = made(1, ties=False)
    total = label.sum()
    called = score >= np.sort(score)[-total]
    found = pb.score("mcc_at_prevalence", {"score": score}, {"label": label})
    assert math.isclose(found.value, matthews_corrcoef(label, called), rel_tol=1e-12)
    assert found.values["called"] == pytest.approx(total / len(label))
    constant = pb.score("mcc_at_prevalence", {"score": np.ones(4)}, {"label": [0, 1, 1, 0]})
    assert constant.value == 0.0
    assert set(constant.flags) == {"constant_margin", "ties_at_cut"}


def test_the_error_of_average_precision_is_that_of_a_bootstrap_within_classes():
    score, label, _ = made(2, n=150)
    rng, draws = np.random.default_rng(0), []
    rows = [np.flatnonzero(label == c) for c in (0, 1)]
    for _ in range(500):
        some = np.concatenate([rng.choice(r, len(r)) for r in rows])
        draws.append(average_precision_score(label[some], score[some]))
    found = pb.score("average_precision_standard_error", {"score": score}, {"label": label})
    assert math.isclose(found.value, np.std(draws, ddof=1), rel_tol=0.15)
    assert math.isclose(found.values["mean"], np.mean(draws), abs_tol=4 * np.std(draws) / 300**0.5)
    order = np.random.default_rng(1).permutation(150)
    again = pb.score("average_precision_standard_error", {"score": score[order]}, {"label": label[order]})
    assert again.value == found.value


def test_each_resample_has_the_average_precision_of_sklearn():
    """Drawn again by the same positions, row by row: no error of the levels can hide in the spread."""
    from primabench_task_genome.metrics import variants

    from primabench_core.statistics import draw_below

    score, label, _ = made(4, n=90)
    drawn = []
    for draw in range(variants.DRAWS):
        best = np.sort(score[label == 1])[::-1][draw_below(0, draw, int(label.sum()), int(label.sum()))]
        rest = np.sort(score[label == 0])[::-1][draw_below(1, draw, int((1 - label).sum()), int((1 - label).sum()))]
        truth = np.repeat([1, 0], [len(best), len(rest)])
        drawn.append(average_precision_score(truth, np.concatenate([best, rest])))
    found = pb.score("average_precision_standard_error", {"score": score}, {"label": label})
    assert math.isclose(found.value, np.std(drawn, ddof=1), rel_tol=1e-9)
    assert math.isclose(found.values["mean"], np.mean(drawn), rel_tol=1e-9)


def test_perfect_and_constant_scores_have_no_spread():
    label = np.asarray([1, 0, 0, 1, 0])
    for score in (label.astype(float), np.ones(5)):
        assert pb.score("average_precision_standard_error", {"score": score}, {"label": label}).value == 0.0


@pytest.mark.parametrize(
    ("metric", "extra"),
    [("mcc_at_prevalence", {}), ("average_precision_standard_error", {}),
     ("mcc_at_prevalence_mean_over_genes", {"gene": ["a", "a", "b"]}),
     ("auprc_by_chrom_weighted_average", {"chromosome": ["1", "1", "2"]}),
     ("auroc_mean_over_genes", {"gene": ["a", "a", "b"]}),
     ("average_precision_mean_over_genes", {"gene": ["a", "a", "b"]})],
)  # fmt: skip
def test_one_class_has_no_value(metric, extra):
    for label in ([0, 0, 0], [1, 1, 1]):
        found = pb.score(metric, {"score": [0.1, 0.2, 0.3]}, {"label": label, **extra})
        assert found.value is None
        assert found.reason in ("single_class", "component_undefined")


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.1, 10), st.floats(-5, 5))
def test_scores_count_by_order_alone(seed, scale, shift):
    score, label, group = made(seed, n=40)
    truth = {"label": label, "chromosome": group, "gene": group}
    for metric in ("auprc_by_chrom_weighted_average", "auroc_mean_over_genes", "mcc_at_prevalence"):
        needed = {k: v for k, v in truth.items() if k == "label" or (k in ("chromosome", "gene") and _reads(metric, k))}
        first = pb.score(metric, {"score": score}, needed)
        again = pb.score(metric, {"score": np.round(score * 10) * scale + shift}, needed)
        assert (first.value, first.reason) == (again.value, again.reason)


def _reads(metric, field):
    return {"auprc_by_chrom_weighted_average": "chromosome", "auroc_mean_over_genes": "gene"}.get(metric) == field


def test_significance_is_asked_of_the_size():
    rng = np.random.default_rng(2)
    value, significant = rng.normal(0, 1, 80), (np.arange(80) % 4 == 0).astype(np.int64)
    for metric, function in (("auroc", roc_auc_score), ("average_precision", average_precision_score)):
        found = pb.score(f"significance_{metric}", {"value": value}, {"significant": significant})
        assert math.isclose(found.value, function(significant, np.abs(value)), rel_tol=1e-12)
    assert pb.score("significance_auroc", {"value": value}, {"significant": significant}).value == (
        pb.score("significance_auroc", {"value": -value}, {"significant": significant}).value
    )


def test_mcc_over_folds_is_a_mean_and_not_the_pooled_value():
    rng = np.random.default_rng(4)
    label, called, fold = (rng.integers(0, k, 200) for k in (3, 3, 5))
    called = np.where(rng.random(200) < 0.6, label, called)
    parts = [matthews_corrcoef(label[fold == f], called[fold == f]) for f in range(5)]
    found = pb.score("mcc_mean_over_folds", {"label": called}, {"label": label, "fold": fold})
    assert math.isclose(found.value, np.mean(parts), rel_tol=1e-12)
    assert math.isclose(found.values["standard_deviation"], np.std(parts, ddof=1), rel_tol=1e-12)
    assert found.value != pb.score("mcc", {"label": called}, {"label": label}).value
    one = pb.score("mcc_mean_over_folds", {"label": [0, 1]}, {"label": [0, 1], "fold": [0, 0]})
    assert one.values["standard_deviation"] is None
    broken = pb.score("mcc_mean_over_folds", {"label": [0, 1, 1]}, {"label": [0, 1, 1], "fold": [0, 0, 1]})
    assert broken.reason == "component_undefined"
    assert fold_summary([0.2, None]) == {"mean": None, "standard_deviation": None, "n_folds": 2}
    assert fold_summary([0.2])["standard_deviation"] is None


def test_leaks_are_counted_and_left_out():
    seen = np.asarray(["no", "exact", "near", "reverse_complement", "no", "no"], object)
    truth = {"label": [0, 1, 1, 1, 0, 1], "seen": seen}
    called = {"label": [0, 1, 1, 1, 1, 1]}
    found = pb.score("leaked_share", called, truth)
    assert found.value == 0.5
    assert dict(found.values) == {"n_exact": 1, "n_reverse_complement": 1, "n_near": 1}
    clean = pb.score("mcc_without_leaks", called, truth)
    assert math.isclose(clean.value, matthews_corrcoef([0, 0, 1], [0, 1, 1]))
    assert clean.n == 3
    assert clean.n_excluded == {"seen_in_train": 3}


def test_all_rows_seen_leave_nothing_to_score():
    found = pb.score(
        "mcc_without_leaks", {"label": [0, 1]}, {"label": [0, 1], "seen": np.asarray(["near"] * 2, object)}
    )
    assert (found.value, found.n) == (None, 0)


def tracks(seed=0, regions=6, bins=5, width=3):
    rng = np.random.default_rng(seed)
    true = rng.gamma(1, 1, (regions * bins, width))
    value = true + rng.normal(0, 1, true.shape)
    return value, true, np.repeat([f"r{i}" for i in range(regions)], bins).astype(object)


def test_pearson_runs_over_all_bins_of_a_track():
    value, true, _ = tracks()
    names = {"genes": ("a", "b", "c")}
    found = pb.score("pearson_over_bins_then_mean_over_tracks", {"value": value, **names}, {"value": true, **names})
    expected = {n: pearsonr(value[:, j], true[:, j]).statistic for j, n in enumerate("abc")}
    assert found.per_unit == pytest.approx(expected, rel=1e-12)
    assert math.isclose(found.value, np.mean(list(expected.values())), rel_tol=1e-12)


def test_counts_are_totals_of_regions():
    value, true, region = tracks(1)
    truth = {"value": true, "region": region}
    found = pb.score("spearman_over_counts_then_mean_over_tracks", {"value": value}, truth)
    sums = [side.reshape(6, 5, 3).sum(1) for side in (value, true)]
    expected = np.mean([spearmanr(sums[0][:, j], sums[1][:, j]).statistic for j in range(3)])
    assert math.isclose(found.value, expected, rel_tol=1e-12)
    few = {"value": true[:10], "region": region[:10]}
    assert pb.score("spearman_over_counts_then_mean_over_tracks", {"value": value[:10]}, few).value is None


@pytest.mark.parametrize("metric", ["auroc", "average_precision"])
def test_padding_is_left_out_by_equality_and_not_by_bits(metric):
    value, true, _ = tracks(2)
    peak = (true > 1).astype(np.float64)
    peak[3::4, 0] = -100.0
    function = {"auroc": roc_auc_score, "average_precision": average_precision_score}[metric]
    expected = [function(peak[k, j], value[k, j]) for j in range(3) for k in [peak[:, j] != -100]]
    found = pb.score(f"{metric}_over_bins_then_mean_over_tracks", {"value": value}, {"peak": peak})
    assert math.isclose(found.value, np.mean(expected), rel_tol=1e-12)
    peak[:, 1] = -100.0
    without = pb.score(f"{metric}_over_bins_then_mean_over_tracks", {"value": value}, {"peak": peak})
    assert without.n_undefined == 1
    assert math.isclose(without.value, (expected[0] + expected[2]) / 2, rel_tol=1e-12)


@pytest.mark.parametrize("metric", ["auroc", "average_precision"])
@pytest.mark.parametrize("wrong", [0.5, -1.0, -99.0])
def test_what_is_neither_peak_nor_padding_is_refused_and_not_called_negative(metric, wrong):
    value, true, _ = tracks(3)
    peak = (true > 1).astype(np.float64)
    peak[4, 1] = wrong
    with pytest.raises(pb.ContractError, match=rf"peak: expected 1, 0 or -100, found {wrong:g} in 1 row"):
        pb.score(f"{metric}_over_bins_then_mean_over_tracks", {"value": value}, {"peak": peak})


def test_sides_with_another_number_of_tracks_are_refused():
    value, true, _ = tracks(4)
    peak = (true > 1).astype(np.float64)
    with pytest.raises(pb.ContractError, match="found 2 against 3"):
        pb.score("auroc_over_bins_then_mean_over_tracks", {"value": value[:, :2]}, {"peak": peak})
