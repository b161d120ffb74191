"""Percentile bootstrap over independent units.

All metrics of an evaluation see the same draws (:mod:`primabench_core.evaluation.draws`): their scores are paired, and
a draw is resampled once for all of them.

Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 13 (percentile interval).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.evaluation.draws import Population
from primabench_core.evaluation.resampled import Job, resampled
from primabench_core.result.interval import Interval

DRAWS = 2000
MAX_DROPPED = 0.2
"""Larger share of undefined draws: no interval."""


def bootstrap(jobs: Sequence[Job], seed: int, *, level: float = 0.95, draws: int = DRAWS) -> list[Interval]:
    """An interval for each job, all on the same draws.

    A draw on which a metric is undefined is dropped and counted; if more than a fifth is dropped, or the metric
    raises on a draw, there is no interval but a reason.

    Args:
        jobs: Metrics with a defined value.
        seed: See :func:`draw_seed`.
        level: Nominal coverage.
        draws: How many resamples.
    """
    values, errors = resample(jobs, seed, draws)
    return [
        Interval.absent("fewer than two independent units", unit=job.population.unit, level=level)
        if job.population.n_units < 2
        else _percentiles(values[i], errors.get(i, ""), job.population, level, draws)
        for i, job in enumerate(jobs)
    ]


def resample(jobs: Sequence[Job], seed: int, draws: int = DRAWS) -> tuple[NDArray[np.float64], dict[int, str]]:
    """Values of metrics on resamples; equal for equal data whatever else is asked, so that two models are paired.

    Args:
        jobs: Metrics with a defined value. Those with fewer than two independent units are left out.
        seed: See :func:`draw_seed`.
        draws: How many resamples.

    Returns:
        (jobs, draws) float64 with NaN where a metric is undefined, and what a job raised, by its place.
    """
    values = np.full((len(jobs), draws), np.nan)
    errors: dict[int, str] = {}
    sets: dict[int, list[int]] = {}
    for i, job in enumerate(jobs):
        if job.population.n_units >= 2:
            sets.setdefault(id(job.population), []).append(i)
    for members in sets.values():
        found, raised = resampled([jobs[i] for i in members], seed, draws)
        values[members] = found
        errors.update({members[row]: text for row, text in raised.items()})
    return values, errors


def _percentiles(values: NDArray[np.float64], error: str, source: Population, level: float, draws: int) -> Interval:
    if error:
        return Interval.absent(f"the metric raised {error} on a resample", unit=source.unit, level=level)
    defined = np.sort(values[~np.isnan(values)])
    dropped = draws - len(defined)
    about = {"level": level, "method": source.method, "unit": source.unit, "draws": draws, "dropped": dropped}
    if dropped > MAX_DROPPED * draws:
        reason = f"the metric is undefined on {dropped:,} of {draws:,} resamples"
        return Interval.absent(reason, **about)
    low, high = (_quantile(defined, q) for q in ((1 - level) / 2, (1 + level) / 2))
    return Interval(low=low, high=high, **about)  # type: ignore[arg-type]


def _quantile(ordered: NDArray[np.float64], q: float) -> float:
    """Linear interpolation between order statistics, written out: the same bits under every numpy."""
    place = q * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (place - below) * (ordered[above] - ordered[below]))


def as_level(ci: float | None) -> float | None:
    """The level of ``ci``, None for no interval.

    Raises:
        UsageError: not a number inside (0, 1).
    """
    from primabench_core.errors import UsageError

    if ci is None:
        return None
    if isinstance(ci, bool) or not isinstance(ci, int | float) or not 0 < ci < 1:
        raise UsageError(f"ci is a level inside (0, 1) such as 0.95, or None for no interval; got {ci!r}.")
    return float(ci)


def absent_for(spec_interval: Any, level: float) -> Interval:
    """The interval of a metric that declares none."""
    return Interval.absent(str(spec_interval.reason), level=level)
