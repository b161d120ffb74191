"""The panel as a whole: one pass, no value that others move, reasons in place of numbers, means that are strict."""

from __future__ import annotations

import numpy as np
import pytest
from integration_cells import cells, isolated, made_view
from primabench_task_singlecell.integration import clusters, kbet, lisi, panel, silhouettes, variance, work

from primabench_core.spec import Outcome

PANEL = (
    silhouettes.silhouette_label, silhouettes.silhouette_batch, silhouettes.bras, silhouettes.isolated_labels_asw,
    clusters.isolated_labels_f1, clusters.graph_connectivity, clusters.nmi_kmeans, clusters.ari_kmeans,
    clusters.nmi_leiden, clusters.ari_leiden, lisi.ilisi, lisi.clisi, kbet.kbet, kbet.kbet_fixed_k,
    variance.pcr_comparison, panel.bio_score, panel.batch_score, panel.aggregate_unscaled,
)  # fmt: skip


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
