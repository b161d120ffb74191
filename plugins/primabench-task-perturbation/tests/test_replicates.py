"""Replicates that a prediction names, against those of the truth; what the test between them holds."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from perturbed_cells import made
from primabench_task_perturbation import pseudobulk
from primabench_task_perturbation.pseudobulk import OWN, PAIRED, UNPAIRED, differential, profiles_of_groups
from scipy import sparse

import primabench_core as pb

DE = ["de_overlap_at_n", "de_recall", "de_direction_match", "de_spearman_lfc", "de_count_spearman", "de_auroc"]
PER_UNIT = [name for name in DE if name != "de_count_spearman"]


def sides(donors=4, n=240):
    """A truth of donors d0 …, each under every condition, and the same cells as its prediction."""
    truth = made(seed=4, n=n)["truth"]
    truth["replicate"] = np.array([f"d{i // 6 % donors}" for i in range(n)], object)
    return truth, dict(truth)


def scored(prediction, truth, **more):
    return {name: pb.score(name, prediction, truth, **more) for name in DE}


def test_a_perfect_prediction_under_other_names_of_donors_has_a_reason_and_no_zero():
    truth, prediction = sides()
    prediction["replicate"] = np.array([name.upper() for name in truth["replicate"]], object)
    for name, found in scored(prediction, truth).items():
        assert (found.value, found.reason) == (None, "not_applicable"), name
        assert "names 4 replicates that the truth has not" in found.detail
        assert "in 200 cells" in found.detail
        assert "d0" not in found.detail  # of a truth that nobody may see
    for name, found in scored(truth, truth).items():
        assert found.value == 1.0, name
    assert pb.score("de_recall", prediction, truth, test="wilcoxon").value == 1.0


def test_one_donor_that_is_misspelt_is_not_dropped_in_silence():
    truth, prediction = sides()
    prediction["replicate"] = np.where(truth["replicate"] == "d3", "d 3", truth["replicate"])
    for found in scored(prediction, truth).values():
        assert (found.value, found.reason) == (None, "not_applicable")
        assert "names 1 replicates" in found.detail
        assert "in 50 cells" in found.detail


@pytest.mark.parametrize("many", [1, 200])
def test_predicted_cells_without_a_donor_are_counted_and_not_dropped(many):
    truth, prediction = sides()
    held = np.flatnonzero(truth["perturbation"] != "control")[:many]
    prediction["replicate"] = truth["replicate"].copy()
    prediction["replicate"][held] = "none"
    for found in scored(prediction, truth).values():
        assert (found.value, found.reason) == (None, "not_applicable")
        assert f"the replicate of {many} cells" in found.detail


def test_a_donor_of_another_perturbation_is_none_of_this_one():
    """Without control cells of the donor the pairs would leave it out."""
    truth, prediction = sides()
    names = truth["perturbation"]
    held = truth["replicate"].copy()
    held[(names == "p2") & (held == "d3")] = "x"  # a donor without control cells, under one perturbation
    truth["replicate"] = held
    same = pb.score("de_recall", {**prediction, "replicate": held}, truth)
    assert same.value == 1.0
    prediction["replicate"] = np.where((names == "p1") & (truth["replicate"] == "d3"), "x", held)
    assert "names 1 replicates" in pb.score("de_recall", prediction, truth).detail


def test_fewer_than_two_shared_donors_of_a_paired_truth_are_a_gap():
    """Two donors on each side would do for a pooled variance; the truth was tested within donors."""
    truth, prediction = sides(n=360)
    names, held = truth["perturbation"], truth["replicate"].copy()
    one = np.flatnonzero((names == "p1") & (held == "d3"))
    held[one] = "x"  # under p1 the truth has d0, d1, d2 and x, and x has no control cells
    truth["replicate"] = held
    prediction["replicate"] = held.copy()
    prediction["replicate"][(names == "p1") & np.isin(held, ["d1", "d2"])] = "x"
    for name in PER_UNIT:
        found = pb.score(name, prediction, truth, policy="defined_only")
        assert found.per_unit["p1"] is None, name
        same = pb.score(name, truth, truth, policy="defined_only")
        assert same.per_unit["p1"] == 1.0, name
        assert {**found.per_unit, "p1": 1.0} == same.per_unit, name
    counted = pb.score("de_count_spearman", prediction, truth)
    assert counted.reason == "too_few_items"
    assert "predicted: 1 of at least 2 replicates that carry both conditions" in counted.detail


def test_a_truth_of_other_donors_on_each_side_is_pooled_on_both():
    truth, prediction = sides()
    names = truth["perturbation"]
    truth["replicate"] = np.where(names == "control", "c" + truth["replicate"].astype(str), truth["replicate"])
    prediction["replicate"] = truth["replicate"].copy()
    for name, found in scored(prediction, truth).items():
        assert found.value == 1.0, name
    # donors of control under a perturbation: known, and no reason to pair them
    prediction["replicate"] = np.where(names == "p0", "c" + sides()[0]["replicate"].astype(str), truth["replicate"])
    found = pb.score("de_recall", prediction, truth)
    assert found.per_unit["p0"] == 1.0


def test_the_design_is_that_which_is_asked_for():
    rng = np.random.default_rng(2)
    x, y = (np.log1p(rng.poisson(3, (40, 5)).astype(float)) for _ in range(2))
    names = np.array([f"d{i % 4}" for i in range(40)], object)
    home = np.zeros(40, int)

    def found(mine, design=None):
        design = None if design is None else np.array([design], np.int8)
        return differential(x, home, mine, 1, y, names, design)

    bits = {kind: found(names, kind).significance.tobytes() for kind in (OWN, PAIRED, UNPAIRED)}
    assert bits[OWN] == bits[PAIRED] == found(names).significance.tobytes()
    assert bits[UNPAIRED] != bits[PAIRED]
    assert bits[UNPAIRED] == found(np.array(["e" + n for n in names], object)).significance.tobytes()
    one = np.where(names == "d0", "d0", "e")
    assert found(one).gaps == {}
    assert list(found(one, PAIRED).gaps) == [0]
    assert not found(one, PAIRED).significance.any()


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_blocks_of_groups_and_rows_change_no_bit(monkeypatch, storage):
    rng = np.random.default_rng(0)
    x = np.log1p(rng.poisson(0.7, (300, 9)) * rng.gamma(2, 1, (300, 1))).astype(np.float32)
    names = np.array([f"d{i}" for i in rng.integers(0, 6, 300)], object)
    home = rng.integers(-1, 12, 300)
    names[home == 3] = "d1"  # one replicate
    home[home == 7] = 6  # a group without cells
    control = np.flatnonzero(home < 0)

    def found():
        test = differential(storage(x), home, names, 12, storage(x[control]), names[control])
        profiles, counts = profiles_of_groups(storage(x), home, 12)
        return test.significance.tobytes(), test.log_fold_change.tobytes(), test.gaps, profiles.tobytes(), counts.sum()

    whole = found()
    assert sorted(whole[2]) == [3, 7]
    for sums, rows in ((1, 1), (9 * 7, 8 * 9 * 5), (9 * 64, 1 << 20)):
        monkeypatch.setattr(pseudobulk, "_BLOCK_SUMS", sums)
        monkeypatch.setattr(pseudobulk, "_BLOCK_BYTES", rows)
        assert found() == whole


def test_what_the_test_holds_does_not_grow_with_perturbations_and_donors():
    """60 perturbations of 10 donors and 2,000 genes: their sums at once would take 77 MB at 64 bytes."""
    rng = np.random.default_rng(1)
    n, k, m = 60, 10, 2000
    x = sparse.random_array((n * k, m), density=0.05, format="csr", dtype=np.float32, rng=rng)
    names = np.tile(np.array([f"d{i}" for i in range(k)], object), n)
    home = np.repeat(np.arange(n), k)
    differential(x[:40], home[:40], names[:40], 4, x[: 2 * k], names[: 2 * k])  # libraries are loaded
    tracemalloc.start()
    found = differential(x, home, names, n, x[: 2 * k], names[: 2 * k])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not found.gaps
    assert peak < (1 << 26) + 8 * n * m + 24 * k * m
