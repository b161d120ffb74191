"""The test between replicates against scipy and the formulas of its source; what metrics do with and without them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from perturbed_cells import GENES, made
from primabench_task_perturbation.arrange import arrange
from primabench_task_perturbation.pseudobulk import METHOD, differential, fitted, log_p_of, profiles_of_groups
from scipy import optimize, sparse, special, stats

import primabench_core as pb

DE = ["de_overlap_at_n", "de_recall", "de_direction_match", "de_spearman_lfc", "de_count_spearman", "de_auroc"]


def screen(seed, m, donors=4, cells=40, shift=0.0):
    """Log values of treated and control cells of the same donors."""
    rng = np.random.default_rng(seed)
    own = rng.gamma(3, 1, (donors, m))
    name = np.array([f"d{i % donors}" for i in range(cells)], object)
    sides = [rng.poisson(own[np.arange(cells) % donors] * factor) for factor in (np.exp(shift), 1.0)]
    return np.log1p(sides[0].astype(float)), np.log1p(sides[1].astype(float)), name


def by_hand(x, names):
    """log2(1 + counts per 10,000), donor by donor, as the definition says."""
    return {d: np.log2(1 + np.expm1(x[names == d]).sum(0) / (names == d).sum()) for d in sorted(set(names))}


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5))
def test_without_a_prior_it_is_the_paired_t_test_of_scipy(seed, donors):
    x, y, names = screen(seed, 2, donors)  # of two genes no prior is estimated
    found = differential(x, np.zeros(len(x), int), names, 1, y, names)
    a, b = (np.array(list(by_hand(side, names).values())) for side in (x, y))
    p = stats.ttest_rel(a, b, axis=0).pvalue
    assert 10.0 ** -found.significance[0].astype(float) == pytest.approx(stats.false_discovery_control(p), rel=1e-4)
    assert found.log_fold_change[0] == pytest.approx((a - b).mean(0), rel=1e-5, abs=1e-6)


def test_other_donors_on_each_side_are_compared_with_a_pooled_variance():
    x, y, names = screen(3, 2)
    others = np.array([f"c{name}" for name in names], object)
    found = differential(x[:30], np.zeros(30, int), names[:30], 1, y, others)
    a, b = (np.array(list(by_hand(*side).values())) for side in ((x[:30], names[:30]), (y, others)))
    p = stats.ttest_ind(a, b, axis=0).pvalue
    assert 10.0 ** -found.significance[0].astype(float) == pytest.approx(stats.false_discovery_control(p), rel=1e-4)


def test_variances_are_shrunk_as_the_source_says():
    x, y, names = screen(5, 60, shift=np.where(np.arange(60) < 6, 1.0, 0.0))
    found = differential(x, np.zeros(len(x), int), names, 1, y, names)
    d = np.array(list(by_hand(x, names).values())) - np.array(list(by_hand(y, names).values()))
    variance, degrees = d.var(axis=0, ddof=1), 3
    e = np.log(variance) - special.digamma(degrees / 2) + np.log(degrees / 2)
    excess = e.var(ddof=1) - special.polygamma(1, degrees / 2)
    if excess > 0:
        d0 = optimize.fsolve(lambda u: special.polygamma(1, u / 2) - excess, 2.0)[0]
        s0 = np.exp(e.mean() + special.digamma(d0 / 2) - np.log(d0 / 2))
        t = d.mean(0) / np.sqrt((d0 * s0 + degrees * variance) / (d0 + degrees) / 4)
        p = 2 * stats.t.sf(np.abs(t), d0 + degrees)
    else:
        p = 2 * stats.norm.sf(np.abs(d.mean(0) / np.sqrt(np.exp(e.mean()) / 4)))
    assert 10.0 ** -found.significance[0].astype(float) == pytest.approx(stats.false_discovery_control(p), rel=1e-3)
    assert (found.significance[0][:6] > 1.3).sum() > (found.significance[0][6:] > 1.3).sum()


@pytest.mark.parametrize(("d0", "s0"), [(4.0, 0.3), (20.0, 2.0)])
def test_the_prior_of_drawn_variances_is_found_again(d0, s0):
    rng = np.random.default_rng(1)
    variance = s0 * stats.f.rvs(3, d0, size=40_000, random_state=rng)
    prior = fitted(variance, 3)
    assert prior.degrees == pytest.approx(d0, rel=0.1)
    assert prior.variance == pytest.approx(s0, rel=0.05)
    assert fitted(stats.chi2.rvs(3, size=40, random_state=2) * 0 + 0.7, 3).degrees == np.inf


def test_p_values_of_t_and_beyond_float64():
    t = np.array([0.0, 0.5, -3.0, 40.0])
    for degrees in (1.0, 2.5, 30.0):
        assert np.exp(log_p_of(t, degrees)) == pytest.approx(2 * stats.t.sf(np.abs(t), degrees), rel=1e-9)
    assert log_p_of(np.array([1e150]), 2.0)[0] == pytest.approx(-300 * np.log(10), rel=1e-12)  # about 1/t²
    x = 400 / (400 + 1e10)  # the leading term, as t is large
    expected = 200 * np.log(x) - np.log(200) - special.betaln(200, 0.5)
    assert log_p_of(np.array([1e5]), 400.0)[0] == pytest.approx(expected, rel=1e-9)
    assert np.exp(log_p_of(np.array([1.96]), np.inf)) == pytest.approx(0.05, abs=1e-4)


def test_constants_ties_and_genes_that_nobody_expresses():
    x, y, names = screen(7, 8)
    x[:, 0] = y[:, 0] = 0.0  # not expressed
    x[:, 1] = y[:, 1] = np.log(3.0)  # the same everywhere
    x[:, 2], y[:, 2] = np.log(5.0), np.log(3.0)  # another constant on each side
    x[:, 4], y[:, 4] = x[:, 3], y[:, 3]  # a twin
    found = differential(x, np.zeros(len(x), int), names, 1, y, names)
    assert not found.significance[0, :2].any()
    assert not found.log_fold_change[0, :2].any()
    assert found.log_fold_change[0, 2] == pytest.approx(np.log2(5 / 3))
    assert np.isfinite(found.significance).all()
    assert found.significance[0, 2] > 0
    assert found.significance[0, 3] == found.significance[0, 4]
    two = differential(x[:, 1:3], np.zeros(len(x), int), names, 1, y[:, 1:3], names)
    assert not two.significance.any()  # nothing varies, so nothing is known about chance


def test_order_of_cells_names_of_donors_and_storage_do_not_matter():
    x, y, names = screen(9, 30)
    x[x < 1] = y[y < 1] = 0
    home = np.arange(len(x)) // 4 % 2
    whole = differential(x, home, names, 2, y, names)
    order = np.random.default_rng(0).permutation(len(x))
    other = np.array([f"z{9 - int(n[1:])}" for n in names], object)
    again = differential(sparse.csr_matrix(x[order]), home[order], names[order], 2, sparse.csr_matrix(y), names)
    renamed = differential(x, home, other, 2, y, other)
    assert whole.significance.tobytes() == again.significance.tobytes()
    assert renamed.significance == pytest.approx(whole.significance, rel=1e-5)


def test_one_replicate_is_a_gap_and_cells_without_a_name_are_left_out():
    x, y, names = screen(11, 6)
    home = (names == "d0").astype(int)  # the second group is one donor
    found = differential(x, home, names, 2, y, names)
    assert found.gaps == {1: "1 and 4 replicates of at least 2 in each condition"}
    assert not found.significance[1].any()
    partly = np.where(names == "d3", "none", names)
    left = differential(x, home * 0, partly, 1, y, names)
    kept = names != "d3"
    expected = differential(x[kept], home[kept] * 0, names[kept], 1, y[kept], names[kept])
    assert left.significance.tobytes() == expected.significance.tobytes()


def test_negative_sums_are_zero_and_what_is_no_logarithm_is_refused():
    profile, counts = profiles_of_groups(np.array([[-2.0, 1.0], [-1.0, 1.0]]), np.array([0, 0]), 2)
    assert profile[0].tolist() == pytest.approx([0.0, 1 / np.log(2)])
    assert counts.tolist() == [2, 0]
    assert not profile[1].any()
    with pytest.raises(OverflowError, match="logarithms"):
        profiles_of_groups(np.array([[800.0]]), np.array([0]), 1)


@pytest.fixture
def donors():
    """Truth and prediction with the donor of each cell."""
    case = made(seed=4, n=240)
    names = np.array([f"d{i // 6 % 4}" for i in range(240)], object)
    for side in case.values():
        side["replicate"] = names
    return case


def test_both_sides_are_tested_between_replicates(donors):
    truth, same = donors["truth"], {k: v for k, v in donors["truth"].items() if k != "role"}
    for name in DE:
        assert pb.score(name, same, truth).value == 1.0, name
        cells = pb.score(name, donors["prediction"], truth, test="wilcoxon")
        assert cells.value is not None, name
    found = pb.score("de_auroc", donors["prediction"], truth)
    assert 0.5 < found.value <= 1.0
    assert found.value == pb.score("de_auroc", donors["prediction"], truth, test="pseudobulk").value
    assert found.value != pb.score("de_auroc", donors["prediction"], truth, test="wilcoxon").value


def test_without_replicates_on_either_side_there_is_no_such_test(donors):
    truth, prediction = donors["truth"], donors["prediction"]
    bare = {k: v for k, v in prediction.items() if k != "replicate"}
    for name in DE:
        found = pb.score(name, bare, truth)
        assert (found.reason, found.value) == ("not_applicable", None)
        assert "prediction" in found.detail
    plain = {k: v for k, v in truth.items() if k != "replicate"}
    found = pb.score("de_recall", prediction, plain, test="pseudobulk")
    assert (found.reason, "truth" in found.detail) == ("not_applicable", True)
    assert pb.score("de_recall", prediction, plain).value is not None  # Wilcoxon


def test_a_perturbation_of_one_predicted_replicate_has_a_reason_and_others_keep_their_values(donors):
    names = donors["prediction"]["perturbation"]
    donors["prediction"]["replicate"] = np.where(names == "p1", "d0", donors["prediction"]["replicate"])
    found = pb.score("de_recall", donors["prediction"], donors["truth"], policy="defined_only")
    assert found.per_unit["p1"] is None
    assert sum(v is not None for v in found.per_unit.values()) == 4
    assert pb.score("de_recall", donors["prediction"], donors["truth"]).value is None
    counted = pb.score("de_count_spearman", donors["prediction"], donors["truth"])
    assert (counted.reason, "predicted: 1 and 4" in counted.detail) == ("too_few_items", True)


def test_values_that_are_no_logarithms_are_a_numerical_failure(donors):
    prediction = {**donors["prediction"], "value": donors["prediction"]["value"] * 500}
    assert pb.score("de_recall", prediction, donors["truth"]).reason == "numerical_failure"


def test_lists_of_a_solution_name_their_test(donors):
    """Lists of one test are not taken for those of another: then the cells of the truth are tested."""
    truth = dict(donors["truth"])
    flat = {f"p{i}": np.zeros(12) for i in range(5)}
    rows = dict(arrange({**truth, "log_fold_change": flat, "significance": flat}))
    genes = rows.pop("genes")
    data = pb.EvalData(rows, coords={"genes": genes, "de_method": ["wilcoxon-bh/1"]})
    by_list = pb.score("de_recall", donors["prediction"], data, policy="defined_only")
    assert by_list.value is None  # the lists say that nothing is differential
    tested = pb.score("de_recall", donors["prediction"], data, test="pseudobulk", policy="defined_only")
    assert tested.value == pb.score("de_recall", donors["prediction"], truth, policy="defined_only").value
    other = pb.EvalData(rows, coords={"genes": genes, "de_method": ["another/2"]})
    assert "another/2" in pb.score("de_recall", donors["prediction"], other).detail


def test_a_solution_of_donors_is_tested_between_them(kang):
    from primabench_task_perturbation.preparers.treatments import prepare
    from test_splits import Reader

    held = np.array([f"d{i % 8}" for i in range(kang.n_obs)], object)
    fields = {
        "counts": np.round(np.expm1(kang.X.toarray())),
        "condition": np.where(kang.obs["condition"] == "stim", "stimulated", "control").astype(object),
        "donor": held,
        "cell_type": kang.obs["cell_type"].astype(str).to_numpy(object),
    }
    found = prepare(Reader(pb.EvalData(fields, ids=list(map(str, kang.obs_names)), coords={"genes": kang.var_names})))
    solution = found.solution
    assert solution.coords["de_method"] == (METHOD,)
    roles = np.asarray(solution["role"], object)
    donors = sorted(set(solution["replicate"][roles == "cell"]))
    assert len(donors) == 2
    assert set(solution["replicate"][roles != "cell"]) == {"none"}
    assert set(found.test["replicates"]) == {"+".join(donors)}
    assert not set(found.train["replicate"]) & set(donors)
    genes = np.asarray(solution.coords["genes"], object)
    ranks = solution["value"][np.flatnonzero(roles == "rank")].toarray()
    best = {gene for row in ranks for gene in genes[(row > 0) & (row <= 20)]}
    assert {"ISG15", "IFI6"} & best


def test_genes_of_equal_change_are_taken_by_name():
    """The value does not depend on the order of columns."""
    change = {"p": np.repeat(1.0, 12)}
    truth = {
        "value": np.full((1, 12), 2.0),
        "perturbation": ["p"],
        "control": np.random.default_rng(0).normal(size=(9, 12)),
    }
    truth |= {"log_fold_change": change, "significance": {"p": np.repeat(9.0, 12)}}
    rng = np.random.default_rng(1)
    x = np.concatenate([np.full((20, 6), 7.0), rng.normal(size=(20, 6))], axis=1)
    values = set()
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(12)
        moved = {**truth, "genes": [GENES[i] for i in order], "value": truth["value"][:, order]}
        moved["control"] = truth["control"][:, order]
        prediction = {"value": x[:, order], "perturbation": ["p"] * 20, "genes": moved["genes"]}
        values.add(pb.score("de_overlap_at_n", prediction, moved, k=3).value)
    assert len(values) == 1
