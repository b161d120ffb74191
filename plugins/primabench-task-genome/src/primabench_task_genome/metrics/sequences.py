"""Metrics of classified sequences over folds."""

from __future__ import annotations

import numpy as np
from attrs import evolve
from primabench_metrics.aggregate import mean_of_units
from primabench_metrics.classification import mcc
from primabench_metrics.ranking import label_column

from primabench_core.spec import Outcome
from primabench_core.state.counts import Counts
from primabench_core.state.rows import Labels, Rows
from primabench_core.statistics import aggregate_mean
from primabench_task_genome.leaks import KINDS
from primabench_task_genome.metrics.groups import groups_of

NEW, *LEAKS = KINDS
"""What ``seen`` says of a row that training does not hold, and of the others."""


def mcc_mean_over_folds(state: Rows, *, policy: str = "strict") -> Outcome:
    """Matthews correlation in each fold, then the plain mean over folds (cross-validation as published).

    It differs from the value over all rows together, which is not what tables of cross-validated models report.

    Args:
        state: ``label`` (n,) against ``label`` (n,) and ``fold`` (n,).
        policy: What an undefined fold does to the mean.

    Returns:
        Value in [-1, 1] with each fold in ``per_unit``; ``values``: ``standard_deviation`` over folds (n - 1 below the
        line, None below two), ``n_folds``; ``not_applicable`` without folds.
    """
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no rows", n=0)
    if "fold" not in state.truth:
        return Outcome.undefined("not_applicable", "the truth has no folds")
    truth, called = label_column(state), state.prediction["label"]
    assert isinstance(called, Labels)
    units: dict[str, float | Outcome] = {}
    for name, rows in groups_of(state, "fold"):
        units[name] = mcc(Counts.of(truth.codes[rows], called.codes[rows], truth.classes, called.classes))
    found = mean_of_units(units, policy, n=state.n)
    defined = [v for v in found.per_unit.values() if v is not None]
    deviation = float(np.std(np.sort(defined), ddof=1)) if len(defined) > 1 else None
    about = {"standard_deviation": deviation, "n_folds": len(units)}
    return evolve(found, values={**found.values, **about})


def fold_summary(values: list[float | None]) -> dict[str, float | int | None]:
    """Mean and sample standard deviation of the scores of models that were trained on the folds of a training split.

    Args:
        values: The score of each model on the test split, as ``result.scores`` gives it.

    Returns:
        ``mean`` (None if one is undefined), ``standard_deviation`` (None below two), ``n_folds``.

    Example:
        >>> fold_summary([0.5, 0.7])["mean"]
        0.6
    """
    mean = aggregate_mean(value=values, policy="strict").value
    enough = len(values) > 1 and mean is not None
    deviation = float(np.std([v for v in values if v is not None], ddof=1)) if enough else None
    return {"mean": mean, "standard_deviation": deviation, "n_folds": len(values)}


def leaked_share(state: Rows) -> Outcome:
    """Share of test rows that training holds too: copies, other strands, near duplicates.

    It says nothing about a prediction; it stands in the result so that nobody reads the score without it.

    Args:
        state: ``label`` (n,), ``probability`` or ``embedding`` of the prediction, not looked at, against ``seen`` (n,).

    Returns:
        Value in [0, 1]; ``values``: rows of each kind. ``not_applicable`` if the truth does not say.
    """
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no rows", n=0)
    if "seen" not in state.truth:
        return Outcome.undefined("not_applicable", "the truth does not say which rows training holds")
    seen = state.truth["seen"]
    assert isinstance(seen, Labels)
    counts = dict(
        zip(map(str, seen.classes), np.bincount(seen.codes, minlength=len(seen.classes)).tolist(), strict=True)
    )
    kinds = {f"n_{kind}": counts.get(kind, 0) for kind in LEAKS}
    return Outcome(sum(kinds.values()) / state.n, values=kinds)


def mcc_without_leaks(state: Rows) -> Outcome:
    """Matthews correlation over the test rows that training does not hold.

    Args:
        state: ``label`` (n,) against ``label`` (n,) and ``seen`` (n,).

    Returns:
        Value in [-1, 1]; rows left out are counted in ``n_excluded``. ``not_applicable`` if the truth does not say.
    """
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no rows", n=0)
    if "seen" not in state.truth:
        return Outcome.undefined("not_applicable", "the truth does not say which rows training holds")
    truth, called, seen = label_column(state), state.prediction["label"], state.truth["seen"]
    assert isinstance(called, Labels)
    assert isinstance(seen, Labels)
    rows = np.flatnonzero(np.asarray([str(c) == NEW for c in seen.classes], bool)[seen.codes])
    left_out = state.n - len(rows)
    found = mcc(Counts.of(truth.codes[rows], called.codes[rows], truth.classes, called.classes))
    excluded = {"seen_in_train": left_out} if left_out else {}
    return Outcome(
        found.value, reason=found.reason, detail=found.detail, flags=found.flags, n=len(rows), n_excluded=excluded
    )
