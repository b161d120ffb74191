"""From values of perturbations to a result, with the trivial baselines and the data ceiling beside it.

A single-cell benchmark without them misleads (Ahlmann-Eltze et al. 2025, doi:10.1038/s41592-025-02772-6).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve
from primabench_metrics.aggregate import mean_of_units

from primabench_core.spec import Outcome
from primabench_core.state.units import Units
from primabench_core.statistics import aggregate_mean
from primabench_task_perturbation.profiles import VALUE, Floats, Profiles, halves_of, profiles_of

Unit = float | Outcome
Score = Callable[[Floats, Profiles], Sequence[Unit]]
"""(P, m) predicted means against the true side: one value a perturbation."""


def over_profiles(
    state: Units,
    key: tuple[Any, ...],
    score: Score,
    *,
    policy: str = "strict",
    baselines: str = "all",
    optimum: float | None = None,
    flags: Sequence[str] = (),
) -> Outcome:
    """Mean over perturbations of a score of mean profiles.

    Args:
        state: Perturbations with the means of their predicted rows.
        key: Name and parameters, under which values are kept.
        score: The score.
        policy: What an undefined perturbation does to the mean.
        baselines: ``all``: put the scores of trivial predictions beside it; ``none``.
        optimum: Score of a perfect prediction, for scores relative to a baseline.
        flags: Remarks.

    Returns:
        ``values`` holds ``no_change``, ``mean_of_train``, ``additive`` and ``data_ceiling`` where the truth allows
        them, and ``relative_to_…``: (value - baseline)/(optimum - baseline), not clipped.
    """
    found = over_units(state, key, lambda s: score(s.means(VALUE), profiles_of(s)), policy=policy)
    if state.whole is not None or not state.n:
        return found
    values: dict[str, Any] = dict(found.values)
    if baselines == "all":
        beside = state.of_truth(("beside", *key), lambda: _beside(profiles_of(state), halves_of(state), score))
        values |= beside
        if found.value is not None and optimum is not None:
            for name in ("no_change", "mean_of_train"):
                base = beside.get(name)
                if base is not None and base != optimum:
                    values[f"relative_to_{name}"] = (found.value - base) / (optimum - base)
    return _with(found, values, flags)


def _within_range(value: Unit) -> Unit:
    """The value, or why float64 cannot hold it: values of expression are far below, and wrong units are not."""
    if isinstance(value, Outcome) or math.isfinite(value):
        return value
    return Outcome.undefined("numerical_failure", "the value exceeds the largest float64")


def _with(found: Outcome, values: Mapping[str, Any], flags: Sequence[str]) -> Outcome:
    return evolve(found, values=values, flags=tuple(dict.fromkeys((*found.flags, *flags))))


def over_units(
    state: Units, key: tuple[Any, ...], build: Callable[[Units], Sequence[Unit]], *, policy: str = "strict"
) -> Outcome:
    """Unweighted mean over perturbations of values that are made once."""
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no perturbations")
    values = state.unit_values(key, lambda s: [_within_range(value) for value in build(s)])
    if state.whole is None:
        return mean_of_units(dict(zip(state.ids, values, strict=True)), policy, n=state.n)
    numbers = [v.value if isinstance(v, Outcome) else v for v in values]
    whys = [
        "" if n is not None or not isinstance(v, Outcome) else v.reason for n, v in zip(numbers, values, strict=True)
    ]
    drawn = aggregate_mean(value=numbers, policy=policy, reason=whys)
    return Outcome.undefined(drawn.reason) if drawn.value is None else Outcome(drawn.value)


def _beside(truth: Profiles, halves: Sequence[tuple[Floats, Floats]], score: Score) -> dict[str, float | int | None]:
    """Scores of predictions that nobody has to train."""
    found: dict[str, float | int | None] = {}
    if truth.controls is not None:
        found["no_change"] = mean_over_defined(score(truth.control, truth))
    if truth.mean_of_train is not None:
        found["mean_of_train"] = mean_over_defined(
            score(np.broadcast_to(truth.mean_of_train, truth.means.shape), truth)
        )
    if truth.additive is not None:
        known = ~np.isnan(truth.additive[:, 0])
        if known.any():
            filled = np.where(known[:, None], truth.additive, truth.means)
            found["additive"] = mean_over_defined([v for v, k in zip(score(filled, truth), known, strict=True) if k])
            found["n_additive"] = int(known.sum())
    if halves:
        scores = [mean_over_defined(score(left, truth.of(right))) for left, right in halves]
        if all(s is not None for s in scores):
            found["data_ceiling"] = float(np.mean([s for s in scores if s is not None]))
    return found


def mean_over_defined(values: Sequence[Unit]) -> float | None:
    """Mean of the values that exist, None without any."""
    numbers = [v.value if isinstance(v, Outcome) else v for v in map(_within_range, values)]
    found = aggregate_mean(value=numbers, policy="defined_only")
    return found.value
