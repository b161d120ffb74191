"""Values of metrics against scipy, scanpy and hand calculation; gaps and degenerate input."""

from __future__ import annotations

import numpy as np
import pytest
from perturbed_cells import GENES, made
from scipy import sparse, stats
from scipy.spatial.distance import cdist

import primabench_core as pb

MEANS = [
    "l2_pseudobulk",
    "mse_pseudobulk",
    "mae_pseudobulk",
    "pearson_delta",
    "spearman_delta",
    "cosine_delta",
    "pearson_delta_centred",
    "pearson_delta_leave_one_out",
    "perturbation_discrimination_l1",
    "perturbation_discrimination_l2",
    "perturbation_discrimination_cosine",
    "perturbation_rank",
]


def score(name, case, **params):
    return pb.score(name, case["prediction"], case["truth"], **params)


def means(side):
    names = np.asarray(side["perturbation"], object)
    return {n: np.asarray(side["value"])[names == n].mean(axis=0) for n in sorted(set(names))}


def test_errors_and_effects_against_scipy(cells):
    predicted, true = means(cells["prediction"]), means(cells["truth"])
    control, kinds = true["control"], [n for n in true if n != "control"]
    delta = {n: (predicted[n] - control, true[n] - control) for n in kinds}
    centre = np.mean([true[n] for n in kinds], axis=0)
    expected = {
        "l2_pseudobulk": np.mean([np.linalg.norm(predicted[n] - true[n]) for n in kinds]),
        "mse_pseudobulk": np.mean([np.mean((predicted[n] - true[n]) ** 2) for n in kinds]),
        "mae_pseudobulk": np.mean([np.mean(np.abs(predicted[n] - true[n])) for n in kinds]),
        "pearson_delta": np.mean([stats.pearsonr(*delta[n])[0] for n in kinds]),
        "spearman_delta": np.mean([stats.spearmanr(*delta[n])[0] for n in kinds]),
        "cosine_delta": np.mean([x @ y / np.linalg.norm(x) / np.linalg.norm(y) for x, y in delta.values()]),
        "pearson_delta_centred": np.mean([stats.pearsonr(predicted[n] - centre, true[n] - centre)[0] for n in kinds]),
        "pearson_delta_leave_one_out": np.mean(
            [
                stats.pearsonr(
                    *(side[n] - np.mean([true[q] for q in kinds if q != n], axis=0) for side in (predicted, true))
                )[0]
                for n in kinds
            ]
        ),
    }
    for name, value in expected.items():
        assert score(name, cells).value == pytest.approx(value, rel=1e-10), name


@pytest.mark.parametrize(("name", "metric"), [("l1", "cityblock"), ("l2", "euclidean"), ("cosine", "cosine")])
def test_discrimination_and_rank_against_scipy(cells, name, metric):
    rng = np.random.default_rng(3)
    cells["prediction"]["value"] = cells["prediction"]["value"] + rng.normal(0, 6, (1, 12))
    predicted, true = means(cells["prediction"]), means(cells["truth"])
    kinds = [n for n in true if n != "control"]
    d = cdist([predicted[n] - true["control"] for n in kinds], [true[n] - true["control"] for n in kinds], metric)
    ranks = [stats.rankdata(row)[p] - 1 for p, row in enumerate(d)]
    found = score(f"perturbation_discrimination_{name}", cells)
    assert found.value == pytest.approx(1 - np.mean(ranks) / len(kinds))
    rescaled = score(f"perturbation_discrimination_{name}_rescaled", cells)
    assert rescaled.value == pytest.approx(1 - np.mean(ranks) / (len(kinds) - 1))
    ranks = [stats.rankdata(column)[p] - 1 for p, column in enumerate(d.T)]
    expected = np.mean(ranks) / (len(kinds) - 1)
    assert score("perturbation_rank", cells, distance=name).value == pytest.approx(expected)


def test_mid_ranks_of_equal_predictions_are_chance(cells):
    truth = {**cells["truth"], "control": cells["truth"]["value"][0]}
    keep = cells["truth"]["perturbation"] != "control"
    truth = {**truth, "value": truth["value"][keep], "perturbation": truth["perturbation"][keep]}
    same = np.tile(truth["value"][0], (keep.sum(), 1))
    found = pb.score("perturbation_rank", {"value": same, "perturbation": truth["perturbation"]}, truth)
    assert found.value == 0.5


def test_sparse_permuted_and_half_precision_cells_score_the_same(cells):
    x = np.where(cells["prediction"]["value"] > 4, cells["prediction"]["value"], 0).astype(np.float32)
    cells["prediction"]["value"] = x
    order = np.random.default_rng(1).permutation(12)
    matrix = sparse.csr_matrix(x)
    matrix.data[:3] = 0  # explicit zeros
    x = matrix.toarray()
    cells["prediction"]["value"] = x
    for name in MEANS:
        expected = score(name, cells).value
        for value, genes in ((matrix, GENES), (sparse.coo_matrix(x), GENES), (x[:, order], [GENES[i] for i in order])):
            given = {**cells["prediction"], "value": value, "genes": genes}
            assert pb.score(name, given, cells["truth"]).value == expected, name


def test_a_global_shift_lifts_the_mean_baseline_but_not_centred_deltas(cells):
    """Pathology 1 and 2: what all perturbed cells share counts for nothing once centred."""
    truth, mean = cells["truth"], []
    shift = np.where(truth["perturbation"] == "control", 0.0, 1.0)[:, None] * np.linspace(-6, 6, 12)
    for value in (truth["value"], truth["value"] + shift):
        found = pb.score(
            "pearson_delta", cells["prediction"], {**truth, "value": value, "mean_of_train": mean_of(truth, value)}
        )
        mean.append(found.values["mean_of_train"])
    assert mean[1] > 0.9 > mean[0]
    moved = {**cells["prediction"], "value": cells["prediction"]["value"] + shift}
    centred = [
        pb.score("pearson_delta_centred", *sides).value
        for sides in ((cells["prediction"], truth), (moved, {**truth, "value": truth["value"] + shift}))
    ]
    assert centred[0] == pytest.approx(centred[1], abs=1e-12)


def mean_of(truth, value):
    names = truth["perturbation"]
    return np.mean([value[names == n].mean(axis=0) for n in sorted(set(names)) if n != "control"], axis=0)


def test_a_control_that_the_prediction_brings_changes_nothing(cells):
    """Pathology 3: swapping predicted control cells, or sending a profile."""
    names = cells["prediction"]["perturbation"]
    for name in MEANS:
        expected = score(name, cells).value
        swapped = cells["prediction"]["value"].copy()
        swapped[names == "control"] = 99.0
        given = {**cells["prediction"], "value": swapped, "control": np.zeros(12)}
        assert pb.score(name, given, cells["truth"]).value == expected
        keep = names != "control"
        without = {"value": swapped[keep], "perturbation": names[keep], "genes": GENES}
        assert pb.score(name, without, cells["truth"]).value == expected


def test_scaling_up_effects_helps_l1_and_leaves_the_cosine_alone():
    """Pathology 4."""
    case = made(n=60, kinds=9, seed=5)
    control = means(case["truth"])["control"]
    gained = []
    for factor in (0.05, 4.0):
        scaled = {**case["prediction"], "value": control + factor * (case["prediction"]["value"] - control)}
        gained.append([pb.score(n, scaled, case["truth"]).value for n in MEANS[-4:-1]])
    assert gained[1][0] > gained[0][0]
    assert gained[0][2] == pytest.approx(gained[1][2])


def test_opposite_signs_are_no_success(cells):
    """Pathology 5: |effects| of the mirror image are equal, effects are not."""
    control = means(cells["truth"])["control"]
    mirror = {**cells["truth"], "value": 2 * control - cells["truth"]["value"]}
    for distance in ("l1", "l2", "cosine"):
        assert pb.score(f"perturbation_discrimination_{distance}", mirror, cells["truth"]).value < 0.8
    assert pb.score("pearson_delta", mirror, cells["truth"]).value == pytest.approx(-1)


def test_the_target_gene_is_left_out_by_its_exact_name_or_by_what_the_solution_says():
    """Pathology 10."""
    truth = {
        "value": [[9.0, 1.1, 1.2, 1.3], [1.3, 9.0, 1.5, 1.6], [9.0, 9.0, 1.9, 1.0]],
        "perturbation": ["A", "B", "A+B"],
        "control": [1.0] * 4,
        "genes": ["A", "B", "C", "D"],
    }
    cheat = {
        "value": [[9.0, 1.0, 1.0, 1.0], [1.0, 9.0, 1.0, 1.0], [9.0, 9.0, 1.0, 1.0]],
        "perturbation": truth["perturbation"],
    }
    kept = pb.score("perturbation_discrimination_l1", cheat, truth, exclude_target_gene=False)
    assert kept.value == 1.0
    by_name = pb.score("perturbation_discrimination_l1", cheat, truth)
    assert by_name.per_unit["A+B"] == 1.0  # names are opaque: nothing looks inside
    told = {**truth, "target_genes": {"A": ["A"], "B": ["B"], "A+B": ["A", "B"]}}
    assert pb.score("perturbation_discrimination_l1", cheat, told).per_unit["A+B"] < 1.0


def test_sizes_of_groups_do_not_weigh(cells):
    """Pathology 7 and 9: repeating cells of one perturbation changes no mean of means."""
    names = cells["prediction"]["perturbation"]
    again = np.concatenate([np.arange(len(names)), *[np.flatnonzero(names == "p1")] * 4])
    more = {side: {**cells[side], "value": cells[side]["value"][again], "perturbation": names[again]} for side in cells}
    for name in MEANS:
        assert score(name, more).value == pytest.approx(score(name, cells).value, rel=1e-12), name


def test_asking_for_fewer_metrics_changes_no_value(cells):
    """Pathology 8."""
    asked = [*MEANS, "energy_distance", "mmd_rbf", "de_recall"]
    run = pb.stream(asked, cells["truth"])
    run.update(predictions=cells["prediction"])
    together = run.compute().scores
    assert together == {name: score(name, cells).value for name in asked}


def test_perturbations_without_an_effect_are_undefined_and_counted(cells):
    control = means(cells["truth"])["control"]
    names = sorted(set(cells["truth"]["perturbation"]) - {"control"})
    flat = {"value": np.tile(control, (len(names), 1)), "perturbation": names}
    for name in ("pearson_delta", "spearman_delta", "cosine_delta"):
        found = pb.score(name, flat, cells["truth"])
        assert (found.value, found.reason, found.n_undefined) == (None, "component_undefined", 5)
        assert found.values["undefined_reasons"] == {"constant_prediction": 5}
        assert pb.score(name, flat, cells["truth"], policy="penalise_constant_prediction").value == 0.0
    almost = {**flat, "value": flat["value"] * (1 + 1e-15)}  # rounding noise is no effect either
    assert pb.score("pearson_delta", almost, cells["truth"]).n_undefined == 5


def test_top_control_genes_tie_by_name_and_fall_back_to_all():
    truth = {"value": [[1.0, 2.0, 3.0]], "perturbation": ["p"], "control": [5.0, 5.0, 1.0], "genes": ["z", "a", "b"]}
    given = {"value": [[0.0, 0.0, 0.0]], "perturbation": ["p"]}
    assert pb.score("l2_pseudobulk", given, truth, top_k_control_genes=1).value == 2.0  # gene a
    found = pb.score("l2_pseudobulk_top_1000_control_genes", given, truth)
    assert (found.value, found.flags) == (pytest.approx(14**0.5), ("fewer_genes",))


def test_lists_and_weights_of_differential_genes():
    change = np.array([2.0, -1.0, 0.5, 3.0])
    truth = {
        "value": [[1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 1.0, 2.0]],
        "perturbation": ["p", "q"],
        "control": [1.0, 1.0, 1.0, 1.5],
        "genes": ["a", "b", "c", "d"],
        "log_fold_change": {"p": change, "q": change},
        "significance": {"p": [3.0, 2.0, 1.0, 3.0], "q": [0.0] * 4},
    }
    given = {"value": [[1.5, 2.0, 0.0, 5.0], [1.0, 1.0, 1.0, 1.0]], "perturbation": ["p", "q"]}
    weighted = pb.score("weighted_mse", given, truth)
    assert weighted.per_unit == {"p": pytest.approx((2 * 0.25 + 0 + 3 * 1) / 6), "q": None}
    assert weighted.values["undefined_reasons"] == {"no_reference_effect": 1}
    listed = pb.score("mse_top_20_de_genes", given, truth)
    assert listed.per_unit["p"] == pytest.approx((0.25 + 0 + 1) / 3)  # a, b, d; c is not below the threshold
    w, x, y = np.array([2, 1, 0, 3]) / 6, np.array([0.5, 1, -1, 3.5]), np.array([0, 1, 2, 2.5])
    expected = 1 - (w * (x - y) ** 2).sum() / (w * (y - (w * y).sum()) ** 2).sum()
    assert pb.score("weighted_r2_delta", given, truth).per_unit["p"] == pytest.approx(expected)
    found = pb.score("pearson_delta_top_20_de_genes", given, truth)
    assert found.per_unit["p"] == pytest.approx(stats.pearsonr(x[[0, 1, 3]], y[[0, 1, 3]])[0])
    no_list = {k: v for k, v in truth.items() if k not in ("log_fold_change", "significance")}
    for name in ("weighted_mse", "mse_top_20_de_genes", "pearson_delta_top_20_de_genes"):
        assert pb.score(name, given, no_list).reason == "not_applicable"


def test_trivial_predictions_stand_beside(cells):
    truth = {**cells["truth"], "mean_of_train": np.full(12, 4.0), "additive": {"p0": np.full(12, 5.0)}}
    found = pb.score("mse_pseudobulk", cells["prediction"], truth)
    true = means(cells["truth"])
    kinds = [n for n in true if n != "control"]
    assert found.values["no_change"] == pytest.approx(
        np.mean([np.mean((true[n] - true["control"]) ** 2) for n in kinds])
    )
    assert found.values["mean_of_train"] == pytest.approx(np.mean([np.mean((true[n] - 4) ** 2) for n in kinds]))
    assert found.values["additive"] == pytest.approx(np.mean((true["p0"] - 5) ** 2))
    assert found.values["n_additive"] == 1
    assert 0 < found.values["data_ceiling"] < found.values["no_change"]
    base = found.values["no_change"]
    assert found.values["relative_to_no_change"] == pytest.approx((found.value - base) / (0 - base))
    assert "no_change" not in pb.score("mse_pseudobulk", cells["prediction"], truth, baselines="none").values


def test_controls_of_their_own_context():
    truth = {
        "value": [[0.0, 0.0, 0.0], [10.0, 10.0, 11.0], [1.0, 2.0, 3.0], [11.0, 9.0, 10.0]],
        "perturbation": ["control", "control", "p", "q"],
        "context": ["T", "B", "T", "B"],
    }
    given = {"value": [[1.0, 2.0, 4.0], [12.0, 9.0, 9.5]], "perturbation": ["p", "q"]}
    found = pb.score("pearson_delta", given, truth)
    assert found.per_unit["q"] == pytest.approx(stats.pearsonr([2, -1, -1.5], [1, -1, -1])[0])


def test_a_perturbation_in_two_contexts_is_refused_whatever_the_order_of_rows():
    rng = np.random.default_rng(0)
    names, contexts = ["control"] * 2 + ["p", "p", "q"], ["T", "B", "T", "B", "B"]
    value = rng.normal(size=(5, 4))
    for order in ([0, 1, 2, 3, 4], [0, 1, 3, 2, 4]):
        truth = {
            "value": value[order],
            "perturbation": [names[i] for i in order],
            "context": [contexts[i] for i in order],
        }
        with pytest.raises(pb.ContractError, match="context") as error:
            pb.score("pearson_delta", {"value": value[2:], "perturbation": names[2:]}, truth)
        assert error.value.violations[0].ids == ("p",)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize("m", [4, 40])
def test_what_float64_cannot_hold_is_undefined_and_leaves_other_metrics_alone(m):
    truth = {"value": np.full((2, m), -1e200), "perturbation": ["a", "b"]}
    given = {"value": np.array([[1e200] * m, [-1e200] * m]), "perturbation": ["a", "b"]}
    run = pb.stream(["mse_pseudobulk", "mae_pseudobulk"], truth)
    run.update(**given)
    result = run.compute()
    assert result["mse_pseudobulk"].value is None
    assert result["mse_pseudobulk"].per_unit == {"a": None, "b": 0.0}
    assert result["mae_pseudobulk"].value == pytest.approx(1e200)


def test_energy_mmd_and_wasserstein_against_scipy():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(17, 90)), rng.normal(0.2, 1, (17, 90))  # more columns than direct distances take
    truth, given = {"value": y}, {"value": x}
    d = [cdist(a, b) for a, b in ((x, y), (x, x), (y, y))]
    assert pb.score("energy_distance", given, truth).value == pytest.approx(2 * d[0].mean() - d[1].mean() - d[2].mean())
    squared = [m**2 for m in d]
    found = pb.score("energy_distance_squared", given, truth).value
    assert found == pytest.approx(2 * squared[0].mean() - squared[1].mean() - squared[2].mean())
    gamma = 1 / np.median(squared[2][np.triu_indices(17, 1)])
    k = [np.exp(-gamma * m) for m in squared]
    assert pb.score("mmd_rbf", given, truth).value == pytest.approx(k[1].mean() + k[2].mean() - 2 * k[0].mean())
    root = pb.score("mmd_rbf", given, truth, squared=False, gamma=0.01).value
    assert root == pytest.approx(pb.score("mmd_rbf", given, truth, gamma=0.01).value ** 0.5)
    line = {"value": np.sort(rng.normal(size=40))[:, None] * [1.0, 0.0, 0.0]}
    other = {"value": rng.normal(1, 2, 40)[:, None] * [1.0, 0.0, 0.0]}
    expected = stats.wasserstein_distance(line["value"][:, 0], other["value"][:, 0])
    assert pb.score("wasserstein", line, other, order=1).value == pytest.approx(expected)


def test_samples_are_bounded_and_belong_to_ids():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(300, 4)), rng.normal(size=(200, 4))
    truth = {"value": y, "ids": [f"t{i}" for i in range(200)]}
    ids = [f"c{i}" for i in range(300)]
    full = pb.score("energy_distance", {"value": x, "ids": ids}, truth, max_cells=1000).value
    few = {
        s: pb.score("energy_distance", {"value": x, "ids": ids}, truth, max_cells=40, sampling_seed=s).value
        for s in (0, 1)
    }
    assert len({full, *few.values()}) == 3
    order = rng.permutation(300)
    mixed = {"value": x[order], "ids": [ids[i] for i in order]}
    assert pb.score("energy_distance", mixed, truth, max_cells=40).value == few[0]


def test_energy_distances_to_control_correlate(cells):
    found = score("pearson_edistance", cells)
    names = cells["truth"]["perturbation"]

    def to_control(side):
        c = cells["truth"]["value"][names == "control"]
        out = []
        for n in sorted(set(names) - {"control"}):
            x = cells[side]["value"][names == n]
            out.append(2 * cdist(x, c).mean() - cdist(x, x).mean() - cdist(c, c).mean())
        return out

    assert found.value == pytest.approx(stats.pearsonr(to_control("prediction"), to_control("truth"))[0])


def test_profiles_are_no_cells(cells):
    kinds = sorted(set(cells["truth"]["perturbation"]) - {"control"})
    profiles = {"value": np.stack([means(cells["prediction"])[n] for n in kinds]), "perturbation": kinds}
    for name in MEANS:
        assert pb.score(name, profiles, cells["truth"]).value == pytest.approx(score(name, cells).value, rel=1e-9)
    for name in ("energy_distance", "mmd_rbf", "wasserstein", "pearson_edistance", "de_recall", "de_count_spearman"):
        assert pb.score(name, profiles, cells["truth"]).reason == "not_applicable"


def test_one_perturbation_cannot_be_discriminated():
    truth = {"value": [[1.0, 2.0, 4.0]], "perturbation": ["p"], "control": [0.0, 0.0, 0.0]}
    given = {"value": [[1.0, 2.0, 3.0]], "perturbation": ["p"]}
    for name in (*MEANS[-4:], "pearson_delta_leave_one_out"):
        assert pb.score(name, given, truth).values["undefined_reasons"] == {"too_few_items": 1}


def test_rowwise_scores_against_hand():
    truth = {"value": [[4.0, -9.0, 1.0], [0.0, 2.0, -2.0]], "perturbation": ["a", "b"]}
    given = {"value": [[3.0, -4.0, 2.0], [0.0, 1.0, -2.0]], "perturbation": ["a", "b"]}
    x, y = np.asarray(given["value"]), np.clip(truth["value"], -4, 4)
    assert pb.score("mean_rowwise_rmse", given, truth).value == pytest.approx(np.sqrt(((x - y) ** 2).mean(1)).mean())
    expected = np.mean([stats.pearsonr(a, b)[0] for a, b in zip(x, y, strict=True)])
    assert pb.score("mean_rowwise_pearson", given, truth).value == pytest.approx(expected)
    cosine = np.mean([a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(x, y, strict=True)])
    assert pb.score("mean_rowwise_cosine", given, truth).value == pytest.approx(cosine)
    with pytest.raises(pb.ContractError, match="value"):
        pb.score("mean_rowwise_rmse", {**given, "value": [[np.nan, 1, 2], [0, 0, 0]]}, truth)


@pytest.mark.parametrize(
    ("key", "given", "said"),
    [
        ("control", [0.0, 1.0], "control"),
        ("de_genes", {"p0": ["no gene"]}, "gene"),
        ("de_genes", {"nobody": ["g00"]}, "nobody"),
        ("mean_of_train", [1.0], "mean_of_train"),
    ],
)
def test_truths_that_do_not_fit_are_refused_by_name(cells, key, given, said):
    with pytest.raises(pb.ContractError, match=said):
        pb.score("l2_pseudobulk", cells["prediction"], {**cells["truth"], key: given})


def test_a_truth_without_control_is_refused_where_one_is_needed():
    truth = {"value": [[1.0, 2.0, 4.0]], "perturbation": ["p"]}
    given = {"value": [[1.0, 2.0, 3.0]], "perturbation": ["p"]}
    assert pb.score("l2_pseudobulk", given, truth).value == 1.0
    with pytest.raises(pb.ContractError, match="control"):
        pb.score("pearson_delta", given, truth)
