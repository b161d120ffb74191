"""Clusterings of the representation against scikit-learn and the reference implementation of Leiden."""

from __future__ import annotations

import numpy as np
import pytest
from integration_cells import cells, made_view, view
from primabench_task_singlecell.integration import clusters, work
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score


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
