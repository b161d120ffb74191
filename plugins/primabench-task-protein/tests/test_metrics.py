"""Metrics of assays and of the panel against scikit-learn, scipy, pandas and the published scripts' formulas."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from primabench_task_protein import proteingym_board, tree_mean
from primabench_task_protein.baselines.blosum import BLOSUM62, LETTERS
from scipy.stats import spearmanr
from sklearn.metrics import matthews_corrcoef, ndcg_score, roc_auc_score

import primabench_core as pb

pd = pytest.importorskip("pandas", reason="the reference of the tree is a pandas groupby")


def published_tree(value, uniprot, selection):
    """The tree as ProteinGym's own script walks it, without its rounding."""
    table = pd.DataFrame({"value": value, "UniProt_ID": uniprot, "coarse_selection_type": selection})
    by_protein = table.groupby(["coarse_selection_type", "UniProt_ID"])["value"].mean()
    by_type = by_protein.groupby("coarse_selection_type").mean()
    return by_type.mean(), by_type.to_dict()


def published_top_recall(truth, scores, top=0.9):
    best, taken = truth >= np.percentile(truth, top * 100), scores >= np.percentile(scores, top * 100)
    return (best & taken).sum() / best.sum()


def panel(seed, n=217):
    rng = np.random.default_rng(seed)
    kinds = np.asarray(["Activity", "Binding", "Expression", "OrganismalFitness", "Stability"], object)
    uniprot = np.asarray([f"P{i}" for i in rng.integers(0, 186, n)], object)
    return (
        rng.uniform(-0.2, 0.9, n),
        np.asarray([f"A{i}" for i in range(n)], object),
        uniprot,
        kinds[rng.integers(0, 5, n)],
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_average_is_the_published_tree(seed):
    value, assay, uniprot, selection = panel(seed)
    truth = {"assay": assay, "uniprot": uniprot, "selection": selection}
    found = pb.score("proteingym_average", {"value": value}, truth)
    expected, by_type = published_tree(value, uniprot, selection)
    assert abs(found.value - expected) < 1e-12
    assert found.per_unit == pytest.approx(by_type, abs=1e-12)
    assert found.value != pytest.approx(value.mean(), abs=1e-4)
    rounded = pb.score("proteingym_average", {"value": value}, truth, round_first=True)
    assert abs(rounded.value - published_tree(np.round(value, 3), uniprot, selection)[0]) < 1e-9
    assert rounded.value != found.value


def test_an_assay_that_stands_twice_is_refused():
    truth = {"assay": ["A", "A"], "uniprot": ["P", "P"], "selection": ["Activity", "Binding"]}
    with pytest.raises(pb.ContractError, match="assay"):
        pb.score("proteingym_average", {"value": [0.1, 0.2]}, truth)
    with pytest.raises(pb.ContractError, match="assay"):
        proteingym_board({"m": [0.1, 0.2]}, ["A", "A"], ["P", "Q"], ["Activity"] * 2)


def test_types_that_are_absent_are_counted():
    truth = {"assay": ["A"], "uniprot": ["P"], "selection": ["Activity"]}
    found = pb.score("proteingym_average", {"value": [0.3]}, truth)
    assert (found.values["n_types_absent"], found.flags) == (4, ())


def test_a_selection_type_of_another_name_is_flagged():
    truth = {"assay": ["A", "B"], "uniprot": ["P", "P"], "selection": ["Activity", "activity"]}
    found = pb.score("proteingym_average", {"value": [0.3, 0.5]}, truth)
    assert found.flags == ("unknown_selection_type",)
    rows = {name: [v for v in column for _ in range(3)] for name, column in truth.items()}
    panel = pb.score("fitness_spearman", {"score": [1.0, 2, 3] * 2}, {"value": [1.0, 2, 3] * 2, **rows})
    assert panel.flags == ("unknown_selection_type",)


def test_the_board_orders_models_and_gives_the_error_of_their_distance():
    value, assay, uniprot, selection = panel(1)
    noise = np.random.default_rng(2).normal(0, 0.05, len(value))
    models = {"second": value - 0.01 + noise, "best": value + 0.02, "third": value - 0.2}
    rows = proteingym_board(models, assay, uniprot, selection)
    assert [row.model for row in rows] == ["best", "second", "third"]
    assert rows[0].standard_error == 0
    assert rows[2].standard_error < 1e-12  # a constant distance
    assert math.isclose(rows[1].average, published_tree(models["second"], uniprot, selection)[0], abs_tol=1e-12)
    table = pd.DataFrame({"gap": models["second"] - models["best"], "u": uniprot, "s": selection})
    gaps = table.groupby(["s", "u"])["gap"].mean()
    rng = np.random.default_rng(5)
    draws = np.zeros(4000)
    for _, part in gaps.groupby("s"):
        draws += rng.choice(part.to_numpy(), (4000, len(part))).mean(axis=1) / 5
    assert math.isclose(rows[1].standard_error, draws.std(ddof=1), rel_tol=0.06)
    assert proteingym_board(models, assay, uniprot, selection) == rows
    with pytest.raises(pb.UsageError, match="217"):
        proteingym_board({"m": [0.1]}, assay, uniprot, selection)
    with pytest.raises(pb.UsageError, match="finite"):
        proteingym_board({"m": [math.nan]}, ["A"], ["P"], ["Activity"])
    one = proteingym_board({"a": [0.1], "b": [0.2]}, ["A"], ["P"], ["Activity"])
    assert [row.standard_error for row in one] == [None, None]


def scan(seed, n=80):
    rng = np.random.default_rng(seed)
    value = rng.normal(0, 1, n)
    return value + rng.normal(0, 1, n), value


@pytest.mark.parametrize("n", [2, 9, 10, 11, 30, 80, 101])
def test_top_recall_without_ties_is_that_of_proteingym(n):
    score, value = scan(n, n)
    found = pb.score("top_recall_10_percent", {"score": score}, {"value": value})
    assert math.isclose(found.value, published_top_recall(value, score))
    assert found.flags == ()


def test_top_recall_with_ties_is_the_mean_over_all_orders():
    value = np.asarray([5.0, 4.0, 3.0, 3.0, 1.0, 0.0])
    score = np.asarray([1.0, 2.0, 1.0, 1.0, 0.0, 2.5])
    found = pb.score("top_recall_10_percent", {"score": score}, {"value": value}, top=0.5)
    tied = np.flatnonzero(score == 1.0)
    expected = []
    for order in permutations(range(len(tied))):
        broken = score.copy()
        broken[tied] += np.asarray(order) * 1e-6
        expected.append(published_top_recall(value, broken, 0.5))
    assert math.isclose(found.value, np.mean(expected))
    assert found.flags == ("ties_at_cut",)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=2, max_size=40), st.randoms())
def test_metrics_of_assays_do_not_depend_on_the_order_of_rows(rows, random):
    mixed = rows.copy()
    random.shuffle(mixed)
    for metric in ("top_recall_10_percent", "ndcg_at_10_percent"):
        first, again = (
            pb.score(metric, {"score": [float(a) for a, _ in r]}, {"value": [float(b) for _, b in r]})
            for r in (rows, mixed)
        )
        assert first.reason == again.reason
        assert first.value is None or math.isclose(first.value, again.value, rel_tol=1e-12)
        assert first.value is None or 0 <= first.value <= 1 + 1e-12


@pytest.mark.parametrize("metric", ["top_recall_10_percent", "ndcg_at_10_percent"])
def test_constant_fitness_has_no_value(metric):
    found = pb.score(metric, {"score": [1.0, 2.0, 3.0]}, {"value": [2.0, 2.0, 2.0]})
    assert (found.value, found.reason) == (None, "constant_truth")
    assert pb.score("top_recall_10_percent", {"score": [1.0]}, {"value": [2.0]}).reason == "too_few_items"


def test_mcc_at_the_median_counts_ties_as_fit():
    score, value = scan(3)
    label = (value > 0.2).astype(np.int64)
    found = pb.score("mcc_at_median", {"score": score}, {"label": label})
    assert math.isclose(found.value, matthews_corrcoef(label, score >= np.median(score)))
    assert found.values["predicted_positive_rate"] == 0.5
    tied = pb.score("mcc_at_median", {"score": np.round(score)}, {"label": label})
    assert tied.values["predicted_positive_rate"] > 0.5
    assert pb.score("mcc_at_median", {"score": [1.0, 1.0]}, {"label": [0, 1]}).value == 0.0


def whole(seed=0):
    rng = np.random.default_rng(seed)
    parts = []
    for i, n in enumerate((40, 25, 60, 31)):
        score, value = scan(seed + i, n)
        parts.append((np.round(score, 1), value, (value > 0).astype(np.int64), np.full(n, i)))
    score, value, label, number = (np.concatenate(c) for c in zip(*parts, strict=True))
    names = {
        "assay": np.asarray([f"A{i}" for i in number], object),
        "uniprot": np.asarray([("P", "P", "Q", "R")[i] for i in number], object),
        "selection": np.asarray([("Activity", "Activity", "Activity", "Stability")[i] for i in number], object),
        "taxon": np.asarray([("Human", "Human", "Virus", "Virus")[i] for i in number], object),
        "mutation_depth": np.asarray([str(d) for d in rng.integers(1, 3, len(number))], object),
    }
    return score, value, label, number, names


def ndcg(score, value):
    gains = (value - value.min()) / np.ptp(value)
    return ndcg_score([gains], [score], k=max(1, len(value) // 10))


REFERENCES = {
    "spearman": lambda s, v, y: spearmanr(s, v).statistic,
    "auroc": lambda s, v, y: roc_auc_score(y, s),
    "mcc": lambda s, v, y: matthews_corrcoef(y, s >= np.median(s)),
    "ndcg_at_10_percent": lambda s, v, y: ndcg(s, v),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_the_panel_is_each_assay_and_then_the_tree(name):
    score, value, label, number, names = whole()
    answer = {"label": label} if name in ("auroc", "mcc") else {"value": value}
    found = pb.score(f"fitness_{name}", {"score": score}, {**answer, **names})
    each = [REFERENCES[name](score[number == i], value[number == i], label[number == i]) for i in range(4)]
    assert found.per_unit == pytest.approx({f"A{i}": v for i, v in enumerate(each)}, rel=1e-9)
    activity = ((each[0] + each[1]) / 2 + each[2]) / 2
    assert math.isclose(found.value, (activity + each[3]) / 2, rel_tol=1e-9)
    assert math.isclose(found.values["selection=Activity"], activity, rel_tol=1e-9)
    assert math.isclose(found.values["taxon=Human"], (each[0] + each[1]) / 2, rel_tol=1e-9)
    assert math.isclose(found.values["taxon=Virus"], (each[2] + each[3]) / 2, rel_tol=1e-9)
    deep = [
        REFERENCES[name](score[rows], value[rows], label[rows])
        for i in range(4)
        for rows in [(number == i) & (names["mutation_depth"] == "2")]
    ]
    expected = np.mean([np.mean(deep[:2]), deep[2], deep[3]])
    assert math.isclose(found.values["mutation_depth=2"], expected, rel_tol=1e-9)


def test_mutation_depths_are_averaged_over_proteins_and_selection_types():
    score, value, _, number, names = whole()
    names["selection"] = np.asarray([("Activity", "Stability", "Activity", "Stability")[i] for i in number], object)
    found = pb.score("fitness_spearman", {"score": score}, {"value": value, **names})
    rows = [(number == i) & (names["mutation_depth"] == "1") for i in range(4)]
    each = [spearmanr(score[r], value[r]).statistic for r in rows]
    assert math.isclose(found.values["mutation_depth=1"], np.mean(each), rel_tol=1e-9)
    whole_assays = [found.per_unit[f"A{i}"] for i in range(4)]
    assert math.isclose(found.values["taxon=Human"], np.mean(whole_assays[:2]), rel_tol=1e-9)


def test_policies_for_assays_without_a_value():
    score, value, _, number, names = whole()
    del names["mutation_depth"]
    score = np.where(number == 3, 1.0, score)
    truth = {"value": value, **names}
    strict = pb.score("fitness_spearman", {"score": score}, truth)
    assert (strict.value, strict.reason, strict.n_undefined) == (None, "component_undefined", 1)
    defined = pb.score("fitness_spearman", {"score": score}, truth, policy="defined_only")
    assert defined.values["n_types"] == 2
    assert "selection=Stability" not in defined.values
    punished = pb.score("fitness_spearman", {"score": score}, truth, policy="penalise_constant_prediction")
    assert math.isclose(punished.value, defined.value / 2)
    assert punished.per_unit["A3"] is None
    flat = pb.score(
        "fitness_spearman",
        {"score": score},
        {**truth, "value": np.where(number == 2, 1.0, value)},
        policy="penalise_constant_prediction",
    )
    assert flat.n_undefined == 2
    assert flat.values["selection=Stability"] == 0.0


def test_constant_predictions_within_a_depth_count_as_zero_where_the_policy_says_so():
    score, value, _, number, names = whole()
    deep = names["mutation_depth"] == "2"
    score = np.where((number == 0) & deep, 1.0, score)
    truth = {"value": value, **names}
    defined = pb.score("fitness_spearman", {"score": score}, truth)
    each = [spearmanr(score[r], value[r]).statistic for i in range(1, 4) for r in [(number == i) & deep]]
    assert math.isclose(defined.values["mutation_depth=2"], np.mean(each), rel_tol=1e-9)
    assert defined.values["n_undefined mutation_depth=2"] == 1
    punished = pb.score("fitness_spearman", {"score": score}, truth, policy="penalise_constant_prediction")
    expected = np.mean([each[0] / 2, each[1], each[2]])
    assert math.isclose(punished.values["mutation_depth=2"], expected, rel_tol=1e-9)
    assert "n_undefined mutation_depth=2" not in punished.values


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (([0.1, math.nan], ["P", "Q"], ["Activity"] * 2), "row 1 .Q, Activity. is nan"),
        (([0.1], ["P", "Q"], ["Activity"]), "1 values, 2 proteins"),
        (([], [], []), "no assay"),
    ],
)
def test_a_tree_with_gaps_is_refused(columns, said):
    with pytest.raises(pb.UsageError, match=said):
        tree_mean(*columns)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"values": {"m": [0.1, math.inf]}}, "'m' has no finite value of assay 'B'$"),
        ({"values": {"m": [math.nan, math.nan]}}, "'A' and 1 more"),
        ({"uniprot": ["P"]}, "2 assays, 1 proteins"),
        ({"draws": 1}, "draws is a whole number from 2"),
        ({"values": {}}, "needs models"),
    ],
)
def test_a_board_with_gaps_is_refused(change, said):
    arguments = {"values": {"m": [0.1, 0.2]}, "assay": ["A", "B"], "uniprot": ["P", "Q"], "selection": ["Binding"] * 2}
    with pytest.raises(pb.UsageError, match=said):
        proteingym_board(**{**arguments, **change})


def test_the_part_that_counts_as_best_may_be_a_number_of_numpy():
    score, value = scan(7)
    found = [
        pb.score("top_recall_10_percent", {"score": score}, {"value": value}, top=t) for t in (0.3, np.float64(0.3))
    ]
    assert found[0].value == found[1].value


def test_rows_of_one_assay_must_agree():
    truth = {"value": [1.0, 2.0], "assay": ["A", "A"], "uniprot": ["P", "Q"], "selection": ["Activity"] * 2}
    with pytest.raises(pb.ContractError, match=r"uniprot.* 2 in assay A \(P, Q\)"):
        pb.score("fitness_spearman", {"score": [1.0, 2.0]}, truth)


def test_blosum62_is_whole_and_symmetric():
    assert len(BLOSUM62) == 400
    assert all(BLOSUM62[a, b] == BLOSUM62[b, a] for a in LETTERS for b in LETTERS)
    assert [BLOSUM62[a, a] for a in LETTERS] == [4, 5, 6, 6, 9, 5, 5, 6, 8, 4, 4, 5, 5, 6, 7, 4, 5, 11, 7, 4]
    known = {"AR": -1, "WC": -2, "IV": 3, "DE": 2, "KR": 2, "FY": 3, "PW": -4, "HY": 2, "ST": 1, "NG": 0, "LM": 2}
    assert all(BLOSUM62[tuple(pair)] == score for pair, score in known.items())
