"""Means over the panel: what is kept of biology, what is removed of batches, and both."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_sum
from primabench_core.state.rows import Rows
from primabench_task_singlecell.integration.clusters import (
    ari_kmeans,
    ari_leiden,
    graph_connectivity,
    nmi_kmeans,
    nmi_leiden,
)
from primabench_task_singlecell.integration.defined import defined
from primabench_task_singlecell.integration.kbet import kbet
from primabench_task_singlecell.integration.lisi import clisi, ilisi
from primabench_task_singlecell.integration.silhouettes import bras, isolated_labels_asw, silhouette_label
from primabench_task_singlecell.integration.variance import pcr_comparison

Metric = Callable[..., Outcome]
CLUSTERS: dict[str, tuple[Metric, Metric]] = {"leiden": (nmi_leiden, ari_leiden), "kmeans": (nmi_kmeans, ari_kmeans)}
BIO, BATCH = 0.6, 0.4


@defined
def bio_score(state: Rows, *, clusters: str = "leiden") -> Outcome:
    """Mean of ``silhouette_label``, ``nmi``, ``ari``, ``clisi`` and ``isolated_labels_asw`` (Luecken et al. 2022).

    Args:
        state: Rows with coordinates of cells, ``label`` and ``batch``.
        clusters: Which clustering NMI and ARI are of: ``leiden`` or ``kmeans``.

    Returns:
        Value in [-0.1, 1], the parts in ``per_unit``; ``component_undefined`` if one of them has no value (the mean of
        the others stands in ``mean_over_defined``).
    """
    nmi, ari = CLUSTERS[clusters]
    parts = {
        "silhouette_label": silhouette_label,
        "nmi": nmi,
        "ari": ari,
        "clisi": clisi,
        "isolated_labels_asw": isolated_labels_asw,
    }
    return _mean(state, parts)


@defined
def batch_score(state: Rows) -> Outcome:
    """Mean of ``bras``, ``ilisi``, ``kbet``, ``graph_connectivity`` and ``pcr_comparison``.

    Args:
        state: Rows with coordinates of cells, ``label``, ``batch`` and the representation before integration.

    Returns:
        Value in [0, 1], the parts in ``per_unit``; undefined as :func:`bio_score`.
    """
    parts = {
        "bras": bras,
        "ilisi": ilisi,
        "kbet": kbet,
        "graph_connectivity": graph_connectivity,
        "pcr_comparison": pcr_comparison,
    }
    return _mean(state, parts)


@defined
def aggregate_unscaled(state: Rows, *, clusters: str = "leiden") -> Outcome:
    """0.6 ``bio_score`` + 0.4 ``batch_score``, of unscaled values: nothing depends on other methods.

    Args:
        state: As in :func:`batch_score`.
        clusters: As in :func:`bio_score`.

    Returns:
        Value in [-0.06, 1], both scores in ``per_unit``; ``component_undefined`` if one of them has no value.
    """
    bio, batch = bio_score(state, clusters=clusters), batch_score(state)
    parts = {"bio_score": bio.value, "batch_score": batch.value}
    if bio.value is None or batch.value is None:
        out = sum(v is None for v in parts.values())
        detail = "; ".join(o.detail for o in (bio, batch) if o.value is None)
        return Outcome.undefined("component_undefined", detail, n=state.n, per_unit=parts, n_undefined=out)
    value = BIO * bio.value + BATCH * batch.value
    return Outcome(value, n=state.n, flags=(*bio.flags, *batch.flags), per_unit=parts)


def _mean(state: Rows, parts: dict[str, Metric]) -> Outcome:
    found = {name: metric(state) for name, metric in parts.items()}
    per_part = {name: outcome.value for name, outcome in found.items()}
    values = np.asarray([v for v in per_part.values() if v is not None])
    mean = exact_sum(values) / len(values) if len(values) else None
    lacking = {name: outcome.reason for name, outcome in found.items() if outcome.value is None}
    if lacking:
        detail = ", ".join(f"{name} ({reason})" for name, reason in lacking.items())
        more = {"per_unit": per_part, "n_undefined": len(lacking), "mean_over_defined": mean}
        return Outcome.undefined("component_undefined", f"no value of {detail}", n=state.n, **more)
    return Outcome(mean, n=state.n, per_unit=per_part, n_undefined=0)
