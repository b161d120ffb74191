"""Percentile bootstrap whose draws depend on nothing but the task, the data and the draw's number.

Draw ``d`` is the raw Philox stream with key (SHA-256 of task, data and seed; ``d``). Words become positions over the
canonical order by multiply-shift, so no order of arrival, no sharding and no thread count enters. All metrics of an
evaluation see the same draws: their scores are paired, and a draw is resampled once for all of them.

Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 13 (percentile interval); Salmon et al.
2011, doi:10.1145/2063384.2063405 (Philox); Lemire 2019, doi:10.1145/3230636 (multiply-shift).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from primabench_core.evaluation.plan import MetricPlan
from primabench_core.result.interval import Interval
from primabench_core.spec.outcome import Outcome
from primabench_core.state.counts import Counts
from primabench_core.state.rows import Labels, Rows
from primabench_core.statistics.resampling import draw_below

DRAWS = 2000
BLOCKS = 256
MAX_UNITS = 200_000
"""Above this many independent units, blocks of units are resampled instead."""
MAX_DROPPED = 0.2
"""Larger share of undefined draws: no interval."""
_CHUNK = 1 << 20
"""Resampled rows, and table cells, held at once for metrics over counts."""
_MAX_UNIT_CELLS = 1 << 24
"""Largest table of units x cells that is kept; above it rows are resampled one by one."""

Positions = NDArray[np.int64]


def draw_seed(task: str, data: str, seed: int = 0) -> int:
    """The 64-bit seed of all draws over these data.

    Args:
        task: Name of the task, empty for a truth of the caller.
        data: Content hash of the dataset, or ``truth_sha256``.
        seed: The caller's seed.

    Example:
        >>> draw_seed("t", "00") == draw_seed("t", "00", 0) != draw_seed("t", "01")
        True
    """
    text = json.dumps({"data": data, "purpose": "bootstrap", "seed": seed, "task": task}, sort_keys=True)
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")


@frozen(eq=False)
class Population:
    """What is resampled: rows by themselves, or groups of rows (donors, blocks)."""

    n_rows: int
    n_units: int
    method: str
    """``units`` or ``blocks``."""
    unit: str
    """What one unit is, for the reader."""
    codes: NDArray[np.int64] | None = None
    """(n_rows,) unit of each row; None if every row is one."""
    _order: Positions | None = field(default=None, init=False)
    _starts: Positions | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        if self.codes is not None:
            counts = np.bincount(self.codes, minlength=self.n_units)
            object.__setattr__(self, "_order", np.argsort(self.codes, kind="stable"))
            object.__setattr__(self, "_starts", np.concatenate([[0], np.cumsum(counts)]))

    def rows_of(self, units: Positions) -> Positions:
        """Rows of the drawn units, those of a unit drawn twice coming twice."""
        if self._order is None or self._starts is None:
            return units
        lengths = (self._starts[1:] - self._starts[:-1])[units]
        ends = np.cumsum(lengths)
        within = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - lengths, lengths)
        rows: Positions = self._order[np.repeat(self._starts[:-1][units], lengths) + within]
        return rows


def population(
    n: int, *, method: str, unit: str, groups: NDArray[np.int64] | None, blocks: Callable[[], NDArray[np.int64]]
) -> Population:
    """Choose what to resample.

    Args:
        n: Rows.
        method: What the metric declares, ``units`` or ``blocks``.
        unit: Name of the independent unit, for the reader.
        groups: (n,) independent unit of each row, None if each row is one.
        blocks: Gives the hashed block, 0 to 255, of each row; only called if blocks are needed.
    """
    codes = None
    n_units = n
    if groups is not None:
        _, codes = np.unique(groups, return_inverse=True)
        n_units = int(codes.max()) + 1 if n else 0
    if method == "units" and n_units <= MAX_UNITS:
        return Population(n, n_units, "units", unit, codes)
    _, codes = np.unique(blocks(), return_inverse=True)
    return Population(n, int(codes.max()) + 1 if n else 0, "blocks", f"block of {unit}", codes)


@frozen(eq=False)
class Job:
    """One metric whose interval is wanted."""

    plan: MetricPlan
    function: Callable[..., float | Outcome]
    rows: Rows
    population: Population


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
    sets: dict[tuple[int, int], list[int]] = {}
    for i, job in enumerate(jobs):
        if job.population.n_units >= 2:
            sets.setdefault((id(job.population), id(job.rows)), []).append(i)
    for members in sets.values():
        found, raised = _resample([jobs[i] for i in members], seed, draws)
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


def _resample(jobs: Sequence[Job], seed: int, draws: int) -> tuple[NDArray[np.float64], dict[int, str]]:
    """Values (metrics x draws, NaN = undefined) of metrics over one view and one population."""
    values = np.full((len(jobs), draws), np.nan)
    errors: dict[int, str] = {}
    by_counts: dict[tuple[str, str], list[int]] = {}
    by_rows: list[int] = []
    for i, job in enumerate(jobs):
        pair = job.plan.label_pair
        if job.plan.metric.spec.state == "counts" and pair is not None:
            by_counts.setdefault(pair, []).append(i)
        else:
            by_rows.append(i)

    def run(i: int, draw: int, state: Rows | Counts) -> None:
        if i in errors:
            return
        try:
            outcome = jobs[i].function(state, **dict(jobs[i].plan.metric.params))
        except Exception as error:  # noqa: BLE001  (a metric is foreign code: its failure is its own interval's)
            errors[i] = type(error).__name__
            return
        value = outcome.value if isinstance(outcome, Outcome) else outcome
        if value is not None and np.isfinite(value):
            values[i, draw] = value

    source = jobs[0].population
    for pair, members in by_counts.items():
        for draw, table in _tables(jobs[members[0]].rows, pair, source, seed, draws):
            for i in members:
                run(i, draw, table)
    if by_rows:
        for draw in range(draws):
            state = jobs[0].rows.take(source.rows_of(draw_below(seed, draw, source.n_units, source.n_units)))
            for i in by_rows:
                run(i, draw, state)
    return values, errors


def _tables(
    rows: Rows, pair: tuple[str, str], source: Population, seed: int, draws: int
) -> Iterator[tuple[int, Counts]]:
    """The table of counts of each draw: pair codes are resampled, never the rows themselves."""
    truth, predicted = rows.truth[pair[0]], rows.prediction[pair[1]]
    if not isinstance(truth, Labels) or not isinstance(predicted, Labels):
        raise TypeError(f"counts need label fields, got {pair}")
    width = len(predicted.classes)
    cells, codes = np.unique(truth.codes * width + predicted.codes, return_inverse=True)
    shape = (len(truth.classes), width)
    for first, block in _cell_counts(codes, len(cells), source, seed, draws):
        for offset, counts in enumerate(block):
            table = np.zeros(shape, np.int64)
            table.ravel()[cells] = counts
            yield first + offset, Counts(table, truth.classes, predicted.classes)


def _cell_counts(
    codes: NDArray[np.int64], n_cells: int, source: Population, seed: int, draws: int
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """(first draw, (draws in chunk, cells) int64) in chunks of bounded memory."""
    n = source.n_units
    step = max(1, min(draws, _CHUNK // max(source.n_rows, n_cells, 1)))
    per_unit = None
    if source.codes is not None and n * n_cells <= _MAX_UNIT_CELLS:
        flat = np.bincount(source.codes * n_cells + codes, minlength=n * n_cells)
        per_unit = flat.reshape(n, n_cells).astype(np.float64)  # integers below 2**53: products are exact in any order
    for first in range(0, draws, step):
        chunk = range(first, min(first + step, draws))
        if per_unit is None:
            drawn = [codes[source.rows_of(draw_below(seed, d, n, n))] + i * n_cells for i, d in enumerate(chunk)]
            counts = np.bincount(np.concatenate(drawn), minlength=len(chunk) * n_cells)
            yield first, counts.reshape(len(chunk), n_cells)
        else:
            weights = [np.bincount(draw_below(seed, d, n, n), minlength=n) for d in chunk]
            yield first, (np.asarray(weights, dtype=np.float64) @ per_unit).astype(np.int64)


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
