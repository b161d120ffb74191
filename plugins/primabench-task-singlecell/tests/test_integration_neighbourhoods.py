"""LISI, entropy and kBET on made cells against scipy and by hand; approximate neighbours."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from integration_cells import cells, made_view, view
from primabench_task_singlecell.integration import clusters, kbet, lisi, work

from primabench_core.errors import ParameterError


def test_weights_have_the_entropy_of_the_perplexity() -> None:
    distance = np.sort(np.random.default_rng(0).random((50, 30)), axis=1) * np.logspace(-8, 8, 50)[:, None]
    weights, tied = lisi.perplexity_weights(distance, 10.0)
    assert tied == 0
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    entropy = -(weights * np.log(np.maximum(weights, 1e-300))).sum(axis=1)
    np.testing.assert_allclose(np.exp(entropy), 10.0, rtol=1e-10)
    assert (np.diff(weights, axis=1) <= 0).all()  # nearer ones weigh more


def test_equally_near_neighbours_weigh_the_same_where_no_beta_does() -> None:
    weights, tied = lisi.perplexity_weights(np.asarray([[0.0, 0.0, 0.0, 5.0]]), 2.0)
    np.testing.assert_allclose(weights, [[1 / 3, 1 / 3, 1 / 3, 0.0]])
    assert tied == 1


def test_lisi_of_far_batches_is_0_and_of_far_types_is_1() -> None:
    made = cells(80)
    far = {**made, "embedding": made["embedding"] + 1e4 * made["batch"][:, None]}
    assert lisi.ilisi(made_view(far), k=9).value == 0.0
    far["label"] = made["batch"]
    assert lisi.clisi(made_view(far), k=9).value == 1.0


@pytest.mark.parametrize("perplexity", [9.0, 30.0, 1.0, 0.5])
def test_a_perplexity_that_cannot_be_reached_is_refused(perplexity: float) -> None:
    with pytest.raises(ParameterError, match="perplexity"):
        lisi.ilisi(made_view(cells()), k=9, perplexity=perplexity)


def test_more_neighbours_than_usual_are_looked_for_once_more_with_their_distances() -> None:
    made = cells(300)
    few = made_view(made)
    lisi.ilisi(few)
    assert work.panel_of(few).scans == 1
    wide = lisi.ilisi(few, k=120)
    assert work.panel_of(few).scans == 2
    assert wide.value == lisi.ilisi(made_view(made), k=120).value is not None
    assert kbet.kbet_fixed_k(few, k=250).value is not None
    assert work.panel_of(few).scans == 3
    assert lisi.clisi(few, k=120).value is not None
    assert work.panel_of(few).scans == 3


def test_entropy_is_1_for_equal_shares_and_0_for_one() -> None:
    line = np.arange(60.0)[:, None]
    mixed = view({"embedding": line}, batch=np.arange(60) % 2)
    assert lisi.entropy_per_cell(mixed, k=40).value == pytest.approx(1.0, abs=2e-3)
    apart = view({"embedding": line + 1e3 * (np.arange(60) // 30)[:, None]}, batch=np.arange(60) // 30)
    assert lisi.entropy_per_cell(apart, k=10).value == 0.0


def test_chi_squared_acceptance_is_that_of_scipy() -> None:
    from scipy.stats import chisquare

    rng = np.random.default_rng(0)
    whole, near = rng.integers(0, 3, 90), rng.integers(0, 3, (40, 20))
    share = np.bincount(whole) / 90
    p = [chisquare(np.bincount(row, minlength=3), share * 20).pvalue for row in near]
    assert kbet.accepted(near, whole, 0.05) == np.mean(np.asarray(p) >= 0.05)


def test_kbet_looks_inside_types_and_names_those_it_cannot_look_at() -> None:
    rng = np.random.default_rng(1)
    n = 260
    label, batch = np.arange(n) % 2, rng.integers(0, 2, n)
    label[:5], label[5:30], batch[5:30] = 2, 3, 0
    points = rng.standard_normal((n, 3)) + 50.0 * label[:, None]
    points[:, 0] += 40.0 * batch * (label == 1)  # batches of type 1 lie apart
    outcome = kbet.kbet(view({"embedding": points}, label=label, batch=batch))
    assert outcome.per_unit["c0"] > 0.8  # type: ignore[operator]
    assert outcome.per_unit["c1"] == 0.0
    assert outcome.per_unit["c2"] is outcome.per_unit["c3"] is None
    assert (outcome.n_undefined, outcome.coverage) == (2, 0.5)


def test_neighbours_inside_a_type_are_exact_whether_the_scan_had_them_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    made = cells(600, types=2, width=2)
    again: list[int] = []
    real = kbet.scan
    monkeypatch.setattr(kbet, "scan", lambda *a, **more: (again.append(len(more["only"])), real(*a, **more))[1])
    whole = kbet.kbet(made_view(made))
    before = sum(again)
    monkeypatch.setattr(work, "PANEL_K", 12)  # then as many as the graph needs: too few of the own type
    few = kbet.kbet(made_view(made))
    assert sum(again) - before > max(before, 20)
    assert whole.value == few.value is not None
    assert dict(whole.per_unit) == dict(few.per_unit)


def test_approximate_neighbours_are_flagged_and_never_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("pynndescent") is None:  # importing it compiles for minutes
        pytest.skip("approximate neighbours are an extra")
    made = cells()
    state = made_view(made)
    asked: list[int] = []

    def found(points: np.ndarray, k: int) -> work.Neighbours:  # the library compiles for a minute: not here
        asked.append(k)
        return work.scan(points, k).neighbours

    monkeypatch.setattr(work, "approximate", found)
    for metric in (clusters.graph_connectivity, clusters.nmi_leiden, lisi.ilisi, kbet.kbet_fixed_k):
        exact, other = metric(state), metric(state, search="approximate")
        assert not exact.flags
        assert other.flags == ("approximate_neighbours",)
        assert other.values["neighbours_by"].startswith("pynndescent ")
        assert exact.value == pytest.approx(other.value)
    assert asked == [15, 90, 50]  # nothing for the exact ones
    with pytest.raises(ParameterError, match="search"):
        clusters.graph_connectivity(state, search="fast")


@pytest.mark.slow
def test_approximate_neighbours_are_mostly_the_nearest() -> None:
    pytest.importorskip("pynndescent", reason="approximate neighbours are an extra")
    points = cells(600)["embedding"]
    exact, found = work.scan(points, 15).neighbours, work.approximate(points, 15)
    assert not (found.index == np.arange(600)[:, None]).any()
    shared = [len(np.intersect1d(a, b)) for a, b in zip(exact.index, found.index, strict=True)]
    assert np.mean(shared) > 14
