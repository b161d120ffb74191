"""Pseudotime against scipy and plain loops; velocities against scikit-learn's neighbours, plain loops and by hand."""

from __future__ import annotations

import math
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr
from sklearn.neighbors import NearestNeighbors

import primabench_core as pb

ORDER = ("pseudotime_spearman", "pseudotime_kendall_tau_b", "adjacent_stage_accuracy")


def adjacent(time: np.ndarray, stage: np.ndarray) -> tuple[float, float]:
    """Mean over steps, and pooled, pair by pair."""
    steps, wins, pairs = [], 0.0, 0
    levels = sorted(set(stage.tolist()))
    for low, high in pairwise(levels):
        credit = [1.0 if b > a else 0.5 if a == b else 0.0 for a in time[stage == low] for b in time[stage == high]]
        steps.append(sum(credit) / len(credit))
        wins, pairs = wins + sum(credit), pairs + len(credit)
    return sum(steps) / len(steps), wins / pairs


NUMBERS = st.lists(
    st.tuples(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 3.0]), st.sampled_from([0.0, 1.0, 2.0, 5.0])),
    min_size=3,
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(NUMBERS)
def test_orders_equal_those_of_the_references(rows: list[tuple[float, float]]) -> None:
    time, stage = np.asarray(rows).T
    found = {m: pb.score(m, {"pseudotime": time}, {"stage": stage}) for m in ORDER}
    if len(set(stage)) == 1:
        assert {r.reason for r in found.values()} == {"constant_truth"}
        return
    mean, pooled = adjacent(time, stage)
    assert found["adjacent_stage_accuracy"].value == pytest.approx(mean, rel=1e-12)
    assert found["adjacent_stage_accuracy"].values["pooled"] == pytest.approx(pooled, rel=1e-12)
    if len(set(time)) == 1:
        assert {found[m].reason for m in ORDER[:2]} == {"constant_prediction"}
        assert found["adjacent_stage_accuracy"].value == 0.5
        return
    assert found["pseudotime_spearman"].value == pytest.approx(spearmanr(time, stage).statistic, abs=1e-12)
    assert found["pseudotime_kendall_tau_b"].value == pytest.approx(kendalltau(time, stage).statistic, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(NUMBERS, st.randoms(use_true_random=False))
def test_only_order_matters_and_the_sign_is_kept(rows: list[tuple[float, float]], random: object) -> None:
    time, stage = np.asarray(rows).T
    ids = [f"c{i}" for i in range(len(rows))]
    mixed = list(range(len(rows)))
    random.shuffle(mixed)  # type: ignore[attr-defined]
    for metric in ORDER:

        def of(t: np.ndarray, s: np.ndarray, at: list[int], metric: str = metric) -> float | None:
            prediction = {"pseudotime": t[at], "ids": [ids[i] for i in at]}
            return pb.score(metric, prediction, {"stage": s, "ids": ids}).value

        straight = list(range(len(rows)))
        whole = of(time, stage, straight)
        assert of(time, stage, mixed) == whole
        assert of(np.exp(time) * 7 - 3, stage, straight) == whole
        assert of(time, 2.0**stage, straight) == whole
        reverse = of(-time, stage, straight)
        if whole is None:
            assert reverse is None
        else:
            turned = 1 - whole if metric == "adjacent_stage_accuracy" else -whole
            assert reverse == pytest.approx(turned, abs=1e-12)


def test_steps_weigh_equally_whatever_their_cells() -> None:
    stage = np.repeat([0.0, 1.0, 4.0], [1, 1, 50])
    time = np.concatenate([[5.0, 1.0], np.arange(50.0) + 10])  # the small step is wrong, the large one right
    found = pb.score("adjacent_stage_accuracy", {"pseudotime": time}, {"stage": stage})
    assert dict(found.per_unit) == {"0>1": 0.0, "1>4": 1.0}
    assert (found.value, found.values["pooled"]) == (0.5, 50 / 51)


def test_cells_off_the_trajectory_are_left_out_and_counted() -> None:
    stage = np.asarray([0.0, 1.0, np.nan, 2.0])
    found = pb.score("pseudotime_spearman", {"pseudotime": [0.1, 0.2, 99.0, 0.3]}, {"stage": stage})
    assert (found.value, found.n, dict(found.n_excluded)) == (1.0, 3, {"no_truth": 1})


def test_undefined_orders_say_why() -> None:
    for metric in ORDER:
        empty = pb.score(metric, {"pseudotime": np.zeros(0)}, {"stage": np.zeros(0)})
        assert (empty.value, empty.reason) == (None, "too_few_items")
        with pytest.raises(pb.ContractError, match="pseudotime"):
            pb.score(metric, {"pseudotime": [0.0, np.nan, 1.0]}, {"stage": [0.0, 1.0, 2.0]})
        with pytest.raises(pb.ContractError, match="stage"):
            pb.score(metric, {"pseudotime": [0.0, 1.0]}, {"stage": [[0.0, 1.0], [1.0, 2.0]]})


# -- velocities --------------------------------------------------------------------------------------------------------


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def near(place: np.ndarray, k: int) -> np.ndarray:
    found = NearestNeighbors(n_neighbors=k + 1, algorithm="brute").fit(place).kneighbors(place)[1]
    return np.asarray([[j for j in row if j != i][:k] for i, row in enumerate(found)])


def slow_cbdir(velocity: np.ndarray, place: np.ndarray, stage: np.ndarray, k: int) -> tuple[float, dict[str, float]]:
    levels = sorted(set(stage.tolist()))
    after = dict(pairwise(levels))
    cells: dict[str, list[float]] = {}
    for i, row in enumerate(near(place, k)):
        ahead = [j for j in row if stage[i] in after and stage[j] == after[stage[i]]]
        if ahead:
            step = f"{stage[i]:g}>{after[stage[i]]:g}"
            score = np.mean([cosine(velocity[i], place[j] - place[i]) for j in ahead])
            cells.setdefault(step, []).append(float(score))
    return float(np.mean([v for found in cells.values() for v in found])), {
        s: float(np.mean(v)) for s, v in cells.items()
    }


def slow_iccoh(velocity: np.ndarray, place: np.ndarray, cluster: np.ndarray, k: int) -> float:
    scores = []
    for i, row in enumerate(near(place, k)):
        own = [j for j in row if cluster[j] == cluster[i]]
        if own:
            scores.append(np.mean([cosine(velocity[i], velocity[j]) for j in own]))
    return float(np.mean(scores))


@pytest.fixture
def cells() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    stage = rng.integers(0, 4, 80).astype(float)
    place = np.stack([stage + rng.normal(0, 0.6, 80), rng.normal(0, 1, 80), rng.normal(0, 1, 80)], axis=1)
    return {
        "stage": stage,
        "expression": place,
        "velocity": rng.normal([0.5, 0, 0], 1, (80, 3)),
        "cluster": np.asarray(["ab"[i] for i in rng.integers(0, 2, 80)], object),
    }


def score(metric: str, cells: dict, *, cluster: bool = True, **params: object) -> pb.MetricResult:
    truth = {name: cells[name] for name in ("stage", "expression", "cluster") if cluster or name != "cluster"}
    return pb.score(metric, {"velocity": cells["velocity"]}, truth, **params)


@pytest.mark.parametrize("k", [1, 5, 30])
def test_velocities_equal_plain_loops(cells: dict[str, np.ndarray], k: int) -> None:
    found = score("cbdir", cells, k=k)
    value, steps = slow_cbdir(cells["velocity"], cells["expression"], cells["stage"], k)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert dict(found.per_unit) == pytest.approx(steps, abs=1e-12)
    assert found.values["mean_over_steps"] == pytest.approx(np.mean(list(steps.values())), abs=1e-12)
    coherent = score("iccoh", cells, k=k)
    assert coherent.value == pytest.approx(
        slow_iccoh(cells["velocity"], cells["expression"], cells["cluster"], k), abs=1e-12
    )
    by_stage = score("iccoh", cells, k=k, cluster=False)
    assert by_stage.value == pytest.approx(
        slow_iccoh(cells["velocity"], cells["expression"], cells["stage"], k), abs=1e-12
    )


def test_by_hand_on_a_line() -> None:
    place = np.asarray([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    velocity = np.asarray([[1.0, 0.0], [1.0, 1.0], [-2.0, 0.0], [0.0, 5.0]])
    truth = {"stage": [0.0, 0.0, 1.0, 1.0], "expression": place}
    found = pb.score("cbdir", {"velocity": velocity}, truth, k=2)
    # of stage 0: cell 0 sees 1 and 2, of which 2 is ahead (cosine 1); cell 1 sees 0 and 2 (cosine 1 / sqrt 2)
    assert found.value == pytest.approx((1 + 1 / math.sqrt(2)) / 2, abs=1e-15)
    assert found.values["n_boundary_cells"] == 2
    coherent = pb.score("iccoh", {"velocity": velocity}, truth, k=1)
    # nearest, ties by order: 1 of 0, 0 of 1, 1 of 2 (another stage), 2 of 3
    assert coherent.value == pytest.approx((2 / math.sqrt(2) + 0.0) / 3, abs=1e-15)


def test_length_and_shared_moves_of_velocities_do_not_matter(cells: dict[str, np.ndarray]) -> None:
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    lengths = 10.0 ** rng.integers(-150, 150, (80, 1))
    for metric in ("cbdir", "iccoh"):
        value = score(metric, cells).value
        assert score(metric, {**cells, "velocity": cells["velocity"] * lengths}).value == pytest.approx(value, abs=1e-9)
        turned = {**cells, "velocity": cells["velocity"] @ turn, "expression": cells["expression"] @ turn}
        assert score(metric, turned).value == pytest.approx(value, abs=1e-9)
        moved = {**cells, "expression": cells["expression"] + 5.0}
        assert score(metric, moved).value == pytest.approx(value, abs=1e-9)
    assert score("cbdir", {**cells, "velocity": -cells["velocity"]}).value == pytest.approx(
        -score("cbdir", cells).value, abs=1e-12
    )


def test_a_constant_velocity_is_coherent_and_not_right(cells: dict[str, np.ndarray]) -> None:
    constant = {**cells, "velocity": np.tile([-1.0, 0.0, 0.0], (80, 1))}
    assert score("iccoh", constant).value == pytest.approx(1.0, abs=1e-12)
    assert score("cbdir", constant).value < 0


def test_a_velocity_of_length_zero_has_no_direction(cells: dict[str, np.ndarray]) -> None:
    whole = score("cbdir", cells, k=10)
    first = int(np.flatnonzero(cells["stage"] == 0)[0])
    still = {**cells, "velocity": cells["velocity"].copy()}
    still["velocity"][first] = 0.0
    strict = score("cbdir", still, k=10)
    assert (strict.value, strict.reason) == (None, "component_undefined")
    kept = score("cbdir", still, k=10, policy="defined_only")
    punished = score("cbdir", still, k=10, policy="penalise_constant_prediction")
    n = whole.values["n_boundary_cells"]
    assert kept.values["n_boundary_cells"] == n
    assert kept.n_undefined == strict.n_undefined == 1
    assert punished.value == pytest.approx(kept.value * (n - 1) / n, abs=1e-12)
    nothing = score("cbdir", {**cells, "velocity": np.zeros((80, 3))}, k=10, policy="defined_only")
    assert nothing.value is None
    assert score("iccoh", still, k=10).reason == "component_undefined"


def test_cells_at_one_place_give_no_direction_and_harm_nobody() -> None:
    place = np.asarray([[0.0], [0.0], [1.0]])
    truth = {"stage": [0.0, 1.0, 1.0], "expression": place}
    found = pb.score("cbdir", {"velocity": [[2.0], [1.0], [1.0]]}, truth, k=2)
    assert found.value == 1.0  # of cell 0: cell 1 is no direction, cell 2 lies ahead
    alone = pb.score("cbdir", {"velocity": [[2.0], [1.0]]}, {"stage": [0.0, 1.0], "expression": place[:2]}, k=1)
    assert (alone.value, alone.reason) == (None, "no_comparable_pair")


def test_undefined_velocities_say_why(cells: dict[str, np.ndarray]) -> None:
    one_stage = score("cbdir", {**cells, "stage": np.zeros(80)})
    assert (one_stage.value, one_stage.reason) == (None, "constant_truth")
    far = {**cells, "expression": cells["stage"][:, None] * 1e6 + cells["expression"]}
    apart = score("cbdir", far, k=2)
    assert (apart.value, apart.reason) == (None, "no_comparable_pair")
    few = score("iccoh", {name: value[:5] for name, value in cells.items()})
    assert "fewer_neighbours" in few.flags or few.value is None
    with pytest.raises(pb.ContractError, match="velocity"):
        score("cbdir", {**cells, "velocity": cells["velocity"][:, :2]})
    bad = cells["velocity"].copy()
    bad[0, 0] = np.nan
    with pytest.raises(pb.ContractError, match="velocity"):
        score("cbdir", {**cells, "velocity": bad})


def test_genes_are_joined_by_name_and_order_of_cells_is_free(cells: dict[str, np.ndarray]) -> None:
    ids, genes = [f"c{i:02d}" for i in range(80)], ["A", "B", "C"]
    truth = {**{n: cells[n] for n in ("stage", "expression", "cluster")}, "ids": ids, "genes": genes}
    order, columns = np.random.default_rng(1).permutation(80), [2, 0, 1]
    moved = {
        "velocity": cells["velocity"][np.ix_(order, columns)],
        "ids": [ids[i] for i in order],
        "genes": [genes[j] for j in columns],
    }
    for metric in ("cbdir", "iccoh"):
        given = {"velocity": cells["velocity"], "ids": ids, "genes": genes}
        assert pb.score(metric, moved, truth).value == pytest.approx(pb.score(metric, given, truth).value, abs=1e-12)
    with pytest.raises(pb.ContractError, match="D"):
        pb.score("cbdir", {**moved, "genes": ["A", "B", "D"]}, truth)


# -- real cells --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def embryo() -> tuple[np.ndarray, np.ndarray]:
    """Expression (428 x 48) and stage of the embryos of Guo et al. 2010."""
    folder = os.environ.get("PRIMABENCH_TEST_DATA", "")
    if not folder:
        pytest.skip("set PRIMABENCH_TEST_DATA to the folder of small real files")
    place = Path(folder) / "single_cell" / "guo2010_embryo_qpcr"
    expression = pd.read_csv(place / "expression.csv.gz", index_col=0)
    about = pd.read_csv(place / "cells.csv", index_col=0)
    return expression.to_numpy(np.float64), np.log2(about.loc[expression.index, "num_cells"].to_numpy(np.float64))


def test_real_embryos_against_scipy_and_plain_loops(embryo: tuple[np.ndarray, np.ndarray]) -> None:
    expression, stage = embryo
    assert np.unique(stage).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    time = np.round(np.linalg.norm(expression - expression[stage == 1].mean(axis=0), axis=1), 0)  # with ties
    found = {m: pb.score(m, {"pseudotime": time}, {"stage": stage}).value for m in ORDER}
    assert found["pseudotime_spearman"] == pytest.approx(spearmanr(time, stage).statistic, abs=1e-12)
    assert found["pseudotime_kendall_tau_b"] == pytest.approx(kendalltau(time, stage).statistic, abs=1e-12)
    assert found["adjacent_stage_accuracy"] == pytest.approx(adjacent(time, stage)[0], abs=1e-12)
    assert found["pseudotime_spearman"] > 0.5
    velocity = expression - expression[stage == 1].mean(axis=0)
    truth = {"stage": stage, "expression": expression}
    direction = pb.score("cbdir", {"velocity": velocity}, truth)
    assert direction.value == pytest.approx(slow_cbdir(velocity, expression, stage, 30)[0], abs=1e-9)
    coherent = pb.score("iccoh", {"velocity": velocity}, truth)
    assert coherent.value == pytest.approx(slow_iccoh(velocity, expression, stage, 30), abs=1e-9)
