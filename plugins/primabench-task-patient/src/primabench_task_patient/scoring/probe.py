"""The probe with everything that belongs beside its score: interval over patients, chance, whether it can be told."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from primabench_metrics.linear_probe import OutOfFold, run_linear_probe

from primabench_core.spec import Outcome
from primabench_core.state.rows import Labels, Rows
from primabench_task_patient.scoring.resampled import multiplicities, resampled_scores, seed_of, units_of

LEAST_UNITS, LEAST_IN_CLASS = 30, 10
DRAWS, LEVEL = 2000, 0.95
MOST_DROPPED = 0.2
"""Above this share of undefined draws there is no interval."""
Ints = NDArray[np.int64]


def patient_probe(
    state: Rows,
    *,
    task: str = "",
    allow_unstratified: bool = False,
    inner: str = "folds",
    draws: int = DRAWS,
    minimum_n: int = LEAST_UNITS,
) -> Outcome:
    """Score of ``linear-probe/1`` with an interval over patients.

    The score, its folds and the probe's identity are those of :func:`primabench_metrics.linear_probe.linear_probe`.
    Beside them: a percentile bootstrap over independent units (``group`` if there is one) inside their classes, on
    fixed predictions out of fold. Refitting is not in it, so the interval is too narrow (flag
    ``interval_without_refit``). Below 30 units, or 10 of a class, differences between models are noise (flag
    ``not_resolvable``).

    Args:
        state: ``embedding`` (n, width) against ``label`` (n,) or ``value`` (n,), with ``role`` or ``fold``, and
            ``group``.
        task: Seeds inner folds and draws; the name of the task.
        allow_unstratified: Accept folds that do not hold their share of each class.
        inner: How ridge chooses its penalty: ``folds`` or ``leave_one_out``.
        draws: Resamples of the interval; 0 for none.
        minimum_n: Independent units below which a score is not resolvable.

    Returns:
        The outcome of the probe; in ``values`` besides: ``interval``, ``n_units``, ``class_counts``, ``resolvable``,
        ``chance``.

    Raises:
        ContractError: The roles, folds or groups do not make a sound split, or folds are not stratified.
    """
    return run_patient_probe(
        state, task=task, allow_unstratified=allow_unstratified, inner=inner, draws=draws, minimum_n=minimum_n
    )[0]


def run_patient_probe(
    state: Rows, *, draws: int = DRAWS, minimum_n: int = LEAST_UNITS, **options: Any
) -> tuple[Outcome, OutOfFold | None]:
    """:func:`patient_probe` with the predictions out of fold, for comparisons; they are as private as the labels."""
    outcome, found = run_linear_probe(state, **options)
    if found is None:
        return outcome, None
    rows = found.rows
    units, strata = units_of(state, rows)
    facts, resolvable = _facts(state, rows, units, minimum_n)
    values = {**outcome.values, **facts}
    if outcome.value is None:
        return Outcome.undefined(
            outcome.reason, outcome.detail, n=outcome.n, per_unit=outcome.per_unit, values=values
        ), found
    flags = list(outcome.flags)
    if not resolvable:
        flags.append("not_resolvable")
    if draws:
        values["interval"] = _interval(state, found, units, strata, str(options.get("task", "")), draws)
        flags.append("interval_without_refit")
    return Outcome(
        outcome.value, n=outcome.n, flags=tuple(sorted(flags)), per_unit=outcome.per_unit, values=values
    ), found


def _facts(state: Rows, rows: Ints, units: Ints, minimum_n: int) -> tuple[dict[str, Any], bool]:
    n_units = len(np.unique(units))
    resolvable, counts = n_units >= minimum_n, None
    label = state.truth.get("label")
    if isinstance(label, Labels):
        codes = label.codes[rows]
        counts = {str(name): int((codes == c).sum()) for c, name in enumerate(label.classes)}
        least = min(len(np.unique(units[codes == c])) for c in range(len(label.classes)))
        resolvable = resolvable and least >= LEAST_IN_CLASS
    chance = 0.0 if counts is None else 0.5
    return {"n_units": n_units, "class_counts": counts, "resolvable": resolvable, "chance": chance}, resolvable


def _interval(state: Rows, found: OutOfFold, units: Ints, strata: list[str], task: str, draws: int) -> dict[str, Any]:
    times, n_units = multiplicities(units, strata, draws=draws, seed=seed_of(task, state))
    values = resampled_scores(state, found, times)
    kept = values[~np.isnan(values)]
    dropped = len(values) - len(kept)
    has_ends = len(kept) > 1 and dropped <= MOST_DROPPED * len(values)
    low, high = np.quantile(kept, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist() if has_ends else (None, None)
    return {
        "low": low, "high": high, "level": LEVEL, "method": "percentile", "draws": len(values), "dropped": dropped,
        "unit": "patient" if "group" in state.truth else "sample", "n_units": n_units,
    }  # fmt: skip
