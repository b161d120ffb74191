"""Means over perturbations on many resamples at once: the value of a perturbation does not depend on who was drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.spec import Outcome
from primabench_core.state.multiplicity import Multiplicities
from primabench_core.state.units import Units
from primabench_core.state.weighed import WeighedSums
from primabench_task_perturbation import cells, de_metrics, deltas, errors_of_profiles, rowwise

Weighted = Callable[..., NDArray[np.float64] | None]


def _of(metric: Callable[..., Outcome]) -> Weighted:
    """The values of a metric that is a strict mean over perturbations; None under another policy."""

    def weighted(state: Units, drawn: Multiplicities, **params: Any) -> NDArray[np.float64] | None:
        if params.get("policy", "strict") != "strict" or drawn.groups is not None:
            return None

        def build() -> tuple[WeighedSums, NDArray[np.int64]]:
            found = metric(state, **params)
            values = [found.per_unit.get(name) for name in state.ids]
            gaps = np.flatnonzero([value is None for value in values])
            return WeighedSums([(np.array([value or 0.0 for value in values], np.float64),)]), gaps

        sums, gaps = state.shared(("weighted", metric.__name__, *sorted(params.items())), build)
        totals = sums.over(drawn)
        if totals is None:
            return None
        n = np.maximum(drawn.n, 1)
        values = np.array([row[0].value for row in totals], np.float64) / n
        values[(drawn.units[:, gaps] > 0).any(axis=1) | (drawn.n == 0)] = np.nan
        return values

    weighted.__name__ = metric.__name__
    return weighted


l2_pseudobulk = _of(errors_of_profiles.l2_pseudobulk)
mse_pseudobulk = _of(errors_of_profiles.mse_pseudobulk)
mae_pseudobulk = _of(errors_of_profiles.mae_pseudobulk)
mse_top_20_de_genes = _of(errors_of_profiles.mse_top_20_de_genes)
weighted_mse = _of(errors_of_profiles.weighted_mse)
weighted_r2_delta = _of(errors_of_profiles.weighted_r2_delta)
pearson_delta = _of(deltas.pearson_delta)
spearman_delta = _of(deltas.spearman_delta)
cosine_delta = _of(deltas.cosine_delta)
mean_rowwise_rmse = _of(rowwise.mean_rowwise_rmse)
mean_rowwise_pearson = _of(rowwise.mean_rowwise_pearson)
mean_rowwise_cosine = _of(rowwise.mean_rowwise_cosine)
energy_distance = _of(cells.energy_distance)
mmd_rbf = _of(cells.mmd_rbf)
wasserstein = _of(cells.wasserstein)
de_overlap_at_n = _of(de_metrics.de_overlap_at_n)
de_precision_at_n = _of(de_metrics.de_precision_at_n)
de_recall = _of(de_metrics.de_recall)
de_direction_match = _of(de_metrics.de_direction_match)
de_spearman_lfc = _of(de_metrics.de_spearman_lfc)
de_auroc = _of(de_metrics.de_auroc)
de_average_precision = _of(de_metrics.de_average_precision)
