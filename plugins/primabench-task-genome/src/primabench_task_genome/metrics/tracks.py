"""Metrics of predicted tracks. Their names say what is reduced first: bins or regions, then tracks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from primabench_metrics import correlation, ranking
from primabench_metrics.aggregate import mean_of_units

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_column_sums
from primabench_core.state.rows import Labels, Rows
from primabench_core.state.sums import Sums
from primabench_task_genome.metrics.groups import groups_of

Floats = NDArray[np.floating]

PADDING = -100.0
"""What stands in ``peak`` where there is no answer; left out by comparison with this very number."""


def pearson_over_bins_then_mean_over_tracks(state: Rows | Sums, *, policy: str = "strict") -> Outcome:
    """Pearson correlation of each track over all bins of all regions together, then the plain mean over tracks.

    Args:
        state: ``value`` (bins, tracks) on both sides.
        policy: What an undefined track does to the mean.

    Returns:
        Value in [-1, 1] with each track in ``per_unit``; as ``pearson{per: feature}``.
    """
    return correlation.pearson(state, per="feature", policy=policy)


def spearman_over_counts_then_mean_over_tracks(state: Rows, *, policy: str = "strict") -> Outcome:
    """Spearman correlation over regions of each track's total in a region, then the plain mean over tracks.

    Totals are added in float64 and correctly rounded, so that the order of bins does not matter.

    Args:
        state: ``value`` (bins, tracks) on both sides, ``region`` (bins,).
        policy: What an undefined track does to the mean.

    Returns:
        Value in [-1, 1] with each track in ``per_unit``; undefined as ``spearman``, below three regions too.
    """
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no bins", n=0)
    predicted, true = _tracks(state.prediction["value"]), _tracks(state.truth["value"])
    regions = [rows for _, rows in groups_of(state, "region")]
    totals = [np.asarray([exact_column_sums(side[rows]) for rows in regions]) for side in (predicted, true)]
    names = {k: v for k, v in state.coords.items() if k == "genes"}
    summed = Rows(len(regions), {"value": totals[0]}, {"value": totals[1]}, names)
    return correlation.spearman(summed, per="feature", policy=policy)


def auroc_over_bins_then_mean_over_tracks(state: Rows, *, policy: str = "defined_only") -> Outcome:
    """AUROC of each track over its bins, then the plain mean over tracks that hold both classes (BEND).

    Args:
        state: ``value`` (bins, tracks) against ``peak`` (bins, tracks): 1, 0, or -100 where there is no answer.
        policy: What a track of one class does to the mean.

    Returns:
        Value in [0, 1] with each track in ``per_unit``; ``not_applicable`` if the truth names no peaks.
    """
    return _over_tracks(state, policy, ranking.auroc, both=True)


def average_precision_over_bins_then_mean_over_tracks(state: Rows, *, policy: str = "defined_only") -> Outcome:
    """Average precision of each track over its bins, then the plain mean over tracks that hold a positive.

    Args:
        state: ``value`` (bins, tracks) against ``peak`` (bins, tracks): 1, 0, or -100 where there is no answer.
        policy: What a track without positives does to the mean.

    Returns:
        Value in (0, 1] with each track in ``per_unit``; ``not_applicable`` if the truth names no peaks.
    """
    return _over_tracks(state, policy, ranking.average_precision, both=False)


def _over_tracks(state: Rows, policy: str, metric: Callable[..., Outcome], *, both: bool) -> Outcome:
    if "peak" not in state.truth:
        return Outcome.undefined("not_applicable", "the truth names no peaks")
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no bins", n=0)
    units: dict[str, float | Outcome] = {}
    used = 0
    for name, score, peak in _columns(state):
        known = peak != PADDING
        codes = (peak[known] == 1).astype(np.int64)
        used += len(codes)
        if not codes.any() or (both and codes.all()):
            units[name] = Outcome.undefined("single_class" if both else "no_positives")
        else:
            rows = Rows(len(codes), {"score": score[known]}, {"label": Labels(codes, (0, 1))})
            units[name] = metric(rows, positive=1)
    return mean_of_units(units, policy, n=used)


def _columns(state: Rows) -> Iterator[tuple[str, Floats, Floats]]:
    """Name, prediction and peaks of each track.

    Raises:
        ContractError: the sides have another number of tracks, or a peak is neither 1, 0 nor -100.
    """
    score, peak = _tracks(state.prediction["value"]), _tracks(state.truth["peak"])
    if score.shape[1] != peak.shape[1]:
        found = f"{score.shape[1]} against {peak.shape[1]}"
        raise ContractError([Violation("value", "as many tracks as `peak` has", found)], what="The prediction")
    odd = np.flatnonzero(~np.isin(peak, (0.0, 1.0, PADDING)).all(axis=1))
    if len(odd):
        values = [v for v in np.unique(peak[odd]).tolist() if v not in (0.0, 1.0, PADDING)]
        found = f"{', '.join(f'{v:g}' for v in values[:3])}{', …' if len(values) > 3 else ''}"
        rows = [] if state.ids is None else [state.ids[i] for i in odd[:5].tolist()]
        raise ContractError([Violation("peak", "1, 0 or -100", found, rows, len(odd))], what="The truth")
    named = state.coords.get("genes", ())
    names = named if len(named) == peak.shape[1] else tuple(map(str, range(peak.shape[1])))
    for j, name in enumerate(names):
        yield str(name), score[:, j], peak[:, j]


def _tracks(column: object) -> Floats:
    found = np.asarray(column)
    return found if found.ndim == 2 else found[:, None]
