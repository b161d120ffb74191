"""Graphs and corrected matrices in place of embeddings: what is not defined for them is not zero."""

from __future__ import annotations

import pytest
from integration_cells import cells, made_view, view
from primabench_task_singlecell.integration import clusters, kbet, lisi, silhouettes, variance, work

from primabench_core.errors import ContractError

COORDINATES = (
    silhouettes.silhouette_label, silhouettes.silhouette_batch, silhouettes.bras, clusters.nmi_kmeans,
    clusters.ari_kmeans, kbet.kbet, variance.pcr_comparison,
)  # fmt: skip


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
