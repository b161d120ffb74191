"""The panel on made cells against scikit-learn, scipy, networkx-like reasoning and hand calculation."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from integration_cells import cells, labels, made_view, view
from primabench_task_singlecell.integration import (
    clusters,
    genes,
    kbet,
    lisi,
    panel,
    pseudotime,
    reconstruction,
    silhouettes,
    variance,
    work,
)
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, silhouette_samples

from primabench_core.errors import ContractError, ParameterError
from primabench_core.spec import Outcome

PANEL = (
    silhouettes.silhouette_label, silhouettes.silhouette_batch, silhouettes.bras, silhouettes.isolated_labels_asw,
    clusters.isolated_labels_f1, clusters.graph_connectivity, clusters.nmi_kmeans, clusters.ari_kmeans,
    clusters.nmi_leiden, clusters.ari_leiden, lisi.ilisi, lisi.clisi, kbet.kbet, kbet.kbet_fixed_k,
    variance.pcr_comparison, panel.bio_score, panel.batch_score, panel.aggregate_unscaled,
)  # fmt: skip
COORDINATES = (
    silhouettes.silhouette_label, silhouettes.silhouette_batch, silhouettes.bras, clusters.nmi_kmeans,
    clusters.ari_kmeans, kbet.kbet, variance.pcr_comparison,
)  # fmt: skip


def isolated(n: int = 150) -> dict[str, np.ndarray]:
    made = cells(n)
    made["batch"][made["label"] == 2] = 0
    return made


def test_the_whole_panel_takes_one_pass_over_the_pairs() -> None:
    state = made_view(isolated())
    outcomes = [metric(state) for metric in PANEL]
    assert all(isinstance(o, Outcome) and o.value is not None for o in outcomes), outcomes
    assert work.panel_of(state).scans == 1


def test_no_value_depends_on_which_other_metrics_were_asked_first() -> None:
    made = isolated()
    state = made_view(made)
    forwards = [metric(state).value for metric in PANEL]
    alone = [metric(made_view(made)).value for metric in reversed(PANEL)][::-1]
    assert forwards == alone


def test_silhouettes_are_those_of_scikit_learn() -> None:
    made = isolated()
    state, label = made_view(made), made["label"]
    s = silhouette_samples(made["embedding"], label)
    assert silhouettes.silhouette_label(state).value == pytest.approx((s.mean() + 1) / 2, abs=1e-12)
    assert silhouettes.silhouette_label(state, rescale=False).value == pytest.approx(s.mean(), abs=1e-12)
    rare = silhouettes.isolated_labels_asw(state)
    assert rare.value == pytest.approx((s[label == 2].mean() + 1) / 2, abs=1e-12)
    assert dict(rare.per_unit) == {"c2": rare.value}
    per_type = [
        1 - np.abs(silhouette_samples(made["embedding"][label == c], made["batch"][label == c])).mean() for c in (0, 1)
    ]
    batch = silhouettes.silhouette_batch(state)
    assert batch.value == pytest.approx(np.mean(per_type), abs=1e-12)
    assert (batch.per_unit["c2"], batch.n_undefined) == (None, 1)


def test_bras_is_the_plain_double_loop() -> None:
    made = cells(60, batches=3)
    x = made["embedding"] / np.linalg.norm(made["embedding"], axis=1, keepdims=True)
    distance = 1 - x @ x.T
    means = []
    for c in range(3):
        rows = np.flatnonzero(made["label"] == c)
        values = []
        for i in rows:
            own = [j for j in rows if j != i and made["batch"][j] == made["batch"][i]]
            other = [j for j in rows if made["batch"][j] != made["batch"][i]]
            a, b = (distance[i, side].mean() if side else 0.0 for side in (own, other))
            values.append(1 - abs((b - a) / max(a, b)) if own else 1.0)
        means.append(np.mean(values))
    assert silhouettes.bras(made_view(made)).value == pytest.approx(np.mean(means), abs=1e-12)


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
    made = cells(200, types=4)
    state = made_view(made)
    whole = kbet.kbet(state)
    monkeypatch.setattr(work, "PANEL_K", 12)  # far too few of the own type among them
    few = kbet.kbet(made_view(made))
    assert whole.value == few.value
    assert dict(whole.per_unit) == dict(few.per_unit)


def test_connectivity_goes_both_ways() -> None:
    points = np.asarray([[0.0], [1.0], [2.1], [3.3], [10.0], [11.05], [12.2], [30.0], [31.4]])
    label = np.asarray([0, 0, 0, 0, 1, 1, 1, 0, 1])
    assert clusters.graph_connectivity(view({"embedding": points}, label=label), k=2).value == pytest.approx(0.9)


def test_kmeans_and_leiden_agree_with_scikit_learn_on_their_clusters() -> None:
    made = cells(150)
    state = made_view(made)
    found = clusters._kmeans(work.panel_of(state), 10)
    truth = made["label"]
    assert clusters.ari_kmeans(state).value == pytest.approx(adjusted_rand_score(truth, found), abs=1e-12)
    assert clusters.nmi_kmeans(state).value == pytest.approx(normalized_mutual_info_score(truth, found), abs=1e-12)
    sweep = clusters.leiden_sweep(work.panel_of(state), 15, "exact")
    scores = [normalized_mutual_info_score(truth, c) for c in sweep]
    best = clusters.nmi_leiden(state)
    assert best.value == pytest.approx(max(scores), abs=1e-12)
    assert best.values["resolution"] == clusters.RESOLUTIONS[int(np.argmax(np.round(scores, 12)))]
    assert clusters.ari_leiden(state).value == pytest.approx(
        adjusted_rand_score(truth, sweep[int(np.argmax(np.round(scores, 12)))]), abs=1e-12
    )


def test_best_f1_of_an_isolated_type_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [np.asarray([0, 0, 1, 1, 1, 1]), np.asarray([0, 1, 2, 2, 2, 2])]
    monkeypatch.setattr(clusters, "leiden_sweep", lambda *_: found)
    state = view({"embedding": np.arange(6.0)[:, None]}, label=[0, 0, 1, 1, 1, 0], batch=[0, 1, 0, 0, 0, 0])
    assert clusters.isolated_labels_f1(state).value == pytest.approx(2 * 3 / (4 + 3))


def test_leiden_reaches_the_modularity_of_the_reference_implementation() -> None:
    igraph = pytest.importorskip("igraph", reason="the reference implementation is copyleft and no dependency")
    leidenalg = pytest.importorskip("leidenalg", reason="the reference implementation is copyleft and no dependency")
    state = made_view(cells(300, types=6))
    graph = work.panel_of(state).graph(15)
    peer = igraph.Graph.Weighted_Adjacency(graph, mode="undirected")
    for resolution in (0.5, 1.0, 2.0):
        partition = leidenalg.find_partition(
            peer, leidenalg.RBConfigurationVertexPartition, resolution_parameter=resolution, seed=0
        )
        ours = leidenalg.RBConfigurationVertexPartition(
            peer, clusters.leiden(graph, resolution).tolist(), resolution_parameter=resolution
        )
        assert ours.quality() >= 0.99 * partition.quality()


def test_pcr_is_the_regression_on_all_components() -> None:
    made = cells(90, batches=3)
    onehot = np.eye(3)[made["batch"]]

    def pcr(space: np.ndarray, components: int) -> float:
        scores = PCA(components, svd_solver="full").fit_transform(space)
        r2 = [LinearRegression().fit(onehot, column).score(onehot, column) for column in scores.T]
        return float(np.average(r2, weights=scores.var(axis=0)))

    for components, number in (("all", 5), (2, 2)):
        pre, post = (pcr(made[side], number) for side in ("before", "embedding"))
        outcome = variance.pcr_comparison(made_view(made), components=components)
        assert outcome.values["pcr_pre"] == pytest.approx(pre, abs=1e-10)
        assert outcome.values["pcr_post"] == pytest.approx(post, abs=1e-10)
        assert outcome.value == pytest.approx(max(0.0, (pre - post) / pre), abs=1e-9)
    harmed = made_view({**made, "embedding": made["before"], "before": made["embedding"]})
    worse = variance.pcr_comparison(harmed)
    assert worse.value == 0.0
    assert worse.values["pcr_comparison_unclipped"] == variance.pcr_comparison(harmed, clip=False).value < 0


def test_a_collapsed_embedding_has_no_pcr() -> None:
    made = cells()
    outcome = variance.pcr_comparison(made_view({**made, "embedding": np.full_like(made["embedding"], 1 / 3)}))
    assert (outcome.value, outcome.reason) == (None, "constant_prediction")


def test_cell_cycle_by_linear_regression() -> None:
    made = cells(80)
    rng = np.random.default_rng(0)
    scores = made["before"][:, :2] + rng.standard_normal((80, 2))
    outcome = variance.cell_cycle_conservation(made_view(made, cell_cycle=scores))
    for b in (0, 1):
        rows = made["batch"] == b
        shares = []
        for side in ("before", "embedding"):
            space = made[side][rows] - made[side][rows].mean(axis=0)
            fit = LinearRegression().fit(scores[rows], space)
            shares.append(1 - np.square(space - fit.predict(scores[rows])).sum() / np.square(space).sum())
        expected = max(0.0, 1 - abs(shares[1] - shares[0]) / shares[0])
        assert outcome.per_unit[f"c{b}"] == pytest.approx(expected, abs=1e-10)
    assert outcome.value == pytest.approx(np.mean(list(outcome.per_unit.values())))
    flat = variance.cell_cycle_conservation(made_view(made, cell_cycle=np.ones((80, 2))))
    assert (flat.value, flat.reason, flat.n_undefined) == (None, "component_undefined", 2)


def test_variable_genes_are_those_of_scanpy() -> None:
    scanpy = pytest.importorskip("scanpy", reason="scanpy is the reference")
    anndata = pytest.importorskip("anndata", reason="scanpy needs it")
    rng = np.random.default_rng(0)
    matrix = np.log1p(rng.poisson(rng.gamma(1, 2, 200) * rng.gamma(2, 0.5, (60, 200)))).astype(np.float64)
    matrix = matrix[:, (matrix != 0).any(axis=0)]
    chosen = scanpy.pp.highly_variable_genes(
        anndata.AnnData(matrix), flavor="cell_ranger", n_top_genes=50, inplace=False
    )
    np.testing.assert_array_equal(genes.variable_genes(matrix, 50), np.flatnonzero(chosen["highly_variable"]))


def test_pseudotime_orders_a_line_and_leaves_lost_cells_last() -> None:
    rng = np.random.default_rng(0)
    time = np.sort(rng.random(120))
    points = np.stack([time, time**2], axis=1) * 10
    straight = view({"embedding": points}, pseudotime=time)
    assert pseudotime.trajectory_conservation(straight).value > 0.99  # type: ignore[operator]
    mixed = view({"embedding": points[rng.permutation(120)]}, pseudotime=time)
    assert pseudotime.trajectory_conservation(mixed).value < 0.75  # type: ignore[operator]
    points[100:] += 500.0
    broken = pseudotime.trajectory_conservation(view({"embedding": points}, pseudotime=time))
    assert broken.values["n_without_path"] == 20
    assert broken.value > 0.9  # type: ignore[operator]


def test_deviances_by_hand_and_only_of_held_out_cells() -> None:
    counts, rate = np.asarray([[2.0, 0.0], [1.0, 3.0], [9.0, 9.0]]), np.asarray([[1.0, 0.5], [1.0, 3.0], [1.0, 1.0]])
    state = view({"rate": rate}, counts=counts, role=labels(np.asarray(["score", "score", "fit"])))
    state.truth["role"] = work.Labels(np.asarray([1, 1, 0]), ("fit", "score"))  # type: ignore[index]
    expected = np.mean([2 * (2 * np.log(2) - 1), 0.0]) / 2 + np.mean([2 * 0.5, 0.0]) / 2
    assert reconstruction.poisson_deviance(state).value == pytest.approx(expected)
    large = reconstruction.nb_deviance(state, theta=1e9).value
    assert large == pytest.approx(expected, rel=1e-6)  # without dispersion it is Poisson
    assert reconstruction.poisson_deviance(view({"rate": rate}, counts=counts)).flags == ("not_held_out",)
    zero = reconstruction.poisson_deviance(view({"rate": rate * 0}, counts=counts))
    assert (zero.value, zero.reason) == (None, "numerical_failure")
    profile = reconstruction.reconstruction_pearson(view({"rate": counts * 7}, counts=counts))
    assert profile.value == pytest.approx(1.0)
    assert profile.coverage == pytest.approx(2 / 3)  # the third cell's profile does not vary


@pytest.mark.parametrize("metric", PANEL, ids=lambda m: m.__name__)
def test_one_batch_or_one_label_has_a_reason_and_no_number(metric: object) -> None:
    made = isolated()
    for name in ("label", "batch"):
        outcome = metric(made_view({**made, name: np.zeros_like(made[name])}))  # type: ignore[operator]
        if outcome.value is None:
            assert outcome.reason in {"single_label", "single_batch", "no_isolated_label", "component_undefined"}
        else:  # what does not read that field
            assert metric in (
                silhouettes.silhouette_label, clusters.graph_connectivity, clusters.nmi_kmeans, clusters.ari_kmeans,
                clusters.nmi_leiden, clusters.ari_leiden, lisi.ilisi, lisi.clisi, kbet.kbet, kbet.kbet_fixed_k,
                variance.pcr_comparison, silhouettes.bras, silhouettes.silhouette_batch, panel.bio_score,
                panel.batch_score,
            )  # fmt: skip


@pytest.mark.parametrize("metric", PANEL, ids=lambda m: m.__name__)
def test_a_collapsed_embedding_raises_nothing(metric: object) -> None:
    made = isolated(110)
    outcome = metric(made_view({**made, "embedding": np.zeros_like(made["embedding"])}))  # type: ignore[operator]
    assert outcome.value is None or np.isfinite(outcome.value)


def test_a_failed_part_leaves_the_mean_without_a_value() -> None:
    made = cells()  # every label in every batch: nothing is isolated
    outcome = panel.aggregate_unscaled(made_view(made))
    assert (outcome.value, outcome.reason) == (None, "component_undefined")
    bio = panel.bio_score(made_view(made))
    assert (bio.value, bio.n_undefined) == (None, 1)
    assert bio.mean_over_defined == pytest.approx(np.mean([v for v in bio.per_unit.values() if v is not None]))
    assert "isolated_labels_asw (no_isolated_label)" in bio.detail


@pytest.mark.parametrize("metric", COORDINATES, ids=lambda m: m.__name__)
def test_what_is_not_defined_for_a_graph_is_not_zero(metric: object) -> None:
    made = cells()
    found = work.panel_of(made_view(made)).neighbours(20)
    graph = {"neighbours": found.index.astype(float), "neighbour_distances": found.distance}
    state = view(graph, label=made["label"], batch=made["batch"], embedding=made["before"])
    outcome = metric(state)  # type: ignore[operator]
    assert (outcome.value, outcome.reason) == (None, "not_applicable")


def test_a_graph_scores_what_its_embedding_scores() -> None:
    made = cells()
    embedded = made_view(made)
    found = work.panel_of(embedded).neighbours(20)
    graph = {"neighbours": found.index.astype(float), "neighbour_distances": found.distance}
    state = view(graph, label=made["label"], batch=made["batch"])
    for metric, params in (
        (clusters.graph_connectivity, {}), (clusters.nmi_leiden, {}), (clusters.ari_leiden, {}),
        (lisi.ilisi, {"k": 15}), (lisi.clisi, {"k": 15}), (kbet.kbet_fixed_k, {"k": 20}),
        (lisi.entropy_per_cell, {"k": 20}),
    ):  # fmt: skip
        assert metric(state, **params).value == metric(embedded, **params).value is not None
    assert work.panel_of(state).scans == 0
    short = kbet.kbet_fixed_k(state)
    assert (short.value, short.reason) == (None, "not_applicable")
    alone = view({"neighbours": graph["neighbours"]}, batch=made["batch"])
    assert lisi.ilisi(alone, k=15).reason == "not_applicable"


@pytest.mark.parametrize("wrong", [0.5, 150.0, -2.0, "itself"])
def test_a_graph_names_other_cells_by_their_row(wrong: object) -> None:
    made = cells()
    index = work.panel_of(made_view(made)).neighbours(20).index.astype(float)
    index[3, 2] = 3.0 if wrong == "itself" else wrong
    with pytest.raises(ContractError, match="neighbours"):
        clusters.graph_connectivity(view({"neighbours": index}, label=made["label"]))


def test_a_corrected_matrix_is_looked_at_through_its_components() -> None:
    made = cells(width=8)
    state = view({"corrected": made["embedding"]}, label=made["label"], batch=made["batch"], expression=made["before"])
    assert silhouettes.silhouette_label(state).value == pytest.approx(
        silhouettes.silhouette_label(made_view(made)).value, abs=1e-9
    )  # all components: a rotation
    assert variance.pcr_comparison(state).value == pytest.approx(
        variance.pcr_comparison(made_view(made)).value, abs=1e-9
    )


def test_order_and_names_of_cells_do_not_matter() -> None:
    made = isolated(120)
    made["embedding"][::2] = made["embedding"][0]  # many twins
    ids = [f"cell {i:03d}" for i in range(120)]
    order = np.random.default_rng(0).permutation(120)
    state = made_view(made, ids=ids)
    mixed = made_view({k: v[order] for k, v in made.items()}, ids=[ids[i] for i in order])
    for metric in PANEL:
        a, b = metric(state), metric(mixed)
        assert a.reason == b.reason
        assert a.value == pytest.approx(b.value, abs=1e-9)


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


def test_pcr_takes_no_other_number_of_components() -> None:
    for wrong in ("some", 0, True):
        with pytest.raises(ParameterError, match="components"):
            variance.pcr_comparison(made_view(cells()), components=wrong)
