"""Metrics of a predicted order of cells against stages whose order is known."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from primabench_metrics import correlation
from primabench_metrics.runs import area, rank_counts
from primabench_metrics.weighted import correlation as weighted_correlation

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_core.spec import Outcome
from primabench_core.state.multiplicity import Multiplicities
from primabench_core.state.rows import Rows

Floats = NDArray[np.float64]


def pseudotime_spearman(state: Rows) -> Outcome:
    """Spearman's rank correlation of pseudotime and stage; the sign is kept (Spearman 1904, doi:10.2307/1412159).

    The root is given to methods, so that a reversed order is wrong, not another way to say the same. Cells of one stage
    are tied on the side of the truth (mid-ranks): which order they have inside of it changes nothing, but only a
    prediction that is tied in the same way reaches 1.

    Args:
        state: ``pseudotime`` (n,) against ``stage`` (n,).

    Returns:
        Value in [-1, 1]; ``too_few_items`` below three cells, ``constant_truth`` of one stage, ``constant_prediction``.
    """
    return correlation.spearman(_as_values(state))


def weighted_pseudotime_spearman(state: Rows, drawn: Multiplicities) -> Floats | None:
    """:func:`pseudotime_spearman` of many resamples."""
    found: Floats | None = weighted_correlation.spearman(_as_values(state), drawn)
    return found


def pseudotime_kendall_tau_b(state: Rows) -> Outcome:
    """Kendall's tau-b of pseudotime and stage; the sign is kept (Kendall 1945, doi:10.1093/biomet/33.3.239).

    Args:
        state: ``pseudotime`` (n,) against ``stage`` (n,).

    Returns:
        Value in [-1, 1]; undefined as :func:`pseudotime_spearman`.
    """
    return correlation.kendall_tau_b(_as_values(state))


def adjacent_stage_accuracy(state: Rows) -> Outcome:
    """Share of pairs of cells from neighbouring stages that are in the right order, ties one half.

    For each stage and the next one that occurs, over all pairs of a cell of the one and a cell of the other; then the
    mean over these steps, so that a stage with many cells does not outweigh the others.

    Args:
        state: ``pseudotime`` (n,) against ``stage`` (n,).

    Returns:
        Value in [0, 1], chance 0.5; ``per_unit`` holds each step (``0>1``), ``values["pooled"]`` the share over all
        pairs of all steps together. ``too_few_items`` without cells, ``constant_truth`` of one stage.
    """
    time, stage = pseudotime_of(state), stage_of(state)
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no cells")
    levels, codes = np.unique(stage, return_inverse=True)
    if len(levels) < 2:
        return Outcome.undefined("constant_truth", "all cells are of one stage")
    steps: dict[str, float] = {}
    wins = pairs = 0
    for step in range(len(levels) - 1):
        rows = np.flatnonzero((codes == step) | (codes == step + 1))
        counts = rank_counts(time[rows], (codes[rows] - step).astype(np.int64), 1)
        found = area(counts)
        assert found is not None
        steps[name_of(levels, step)] = found
        wins += counts.doubled_wins
        pairs += counts.positives * counts.negatives
    return Outcome(math.fsum(steps.values()) / len(steps), per_unit=steps, values={"pooled": wins / (2 * pairs)})


def name_of(levels: Floats, step: int) -> str:
    """``0>1`` for the step from stage 0 to stage 1."""
    return f"{levels[step]:g}>{levels[step + 1]:g}"


def pseudotime_of(state: Rows) -> NDArray[np.floating]:
    """(n,) predicted pseudotime."""
    return np.asarray(state.prediction["pseudotime"])


def stage_of(state: Rows) -> Floats:
    """(n,) float64 stage.

    Raises:
        ContractError: there are several numbers a cell.
    """
    stage = np.asarray(state.truth["stage"], np.float64)
    if stage.ndim != 1:
        raise ContractError([Violation("stage", "one number a cell", f"shape {stage.shape}")], what="The truth")
    return stage


def _as_values(state: Rows) -> Rows:
    """The view that correlations read."""

    def build() -> Rows:
        return Rows(n=state.n, prediction={"value": pseudotime_of(state)}, truth={"value": stage_of(state)})

    return state.shared("primabench_task_singlecell.trajectory.values", build)
