"""Silhouettes and BRAS on made cells against scikit-learn and the plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from integration_cells import cells, isolated, made_view
from primabench_task_singlecell.integration import silhouettes
from sklearn.metrics import silhouette_samples


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
