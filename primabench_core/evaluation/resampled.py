"""Values of metrics on resamples, by the cheapest way that gives the bits of the metric on the resampled rows.

A metric that can compute on multiplicities (``MetricSpec.weighted``) is asked for many resamples at once. Tables of
counts are made from how often each cell was drawn. What is left is computed from the rows themselves, taken once a
draw for all metrics that read the same fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from primabench_core.evaluation.draws import Drawn, Population
from primabench_core.evaluation.plan import MetricPlan
from primabench_core.spec.outcome import Outcome
from primabench_core.state.counts import Counts
from primabench_core.state.rows import Labels, Rows
from primabench_core.state.tables import Cells, Tables

_CHUNK = 1 << 17
"""Numbers (units, cells of tables) that a run of resamples holds at once: they stay in cache."""
_MAX_UNIT_CELLS = 1 << 24
"""Largest table of units x cells that is kept; above it rows are resampled one by one."""


@frozen(eq=False)
class Job:
    """One metric whose interval is wanted."""

    plan: MetricPlan
    function: Callable[..., float | Outcome]
    rows: Rows
    population: Population
    weighted: Callable[..., NDArray[np.float64] | None] | None = None
    """The function of ``MetricSpec.weighted``."""

    @property
    def pair(self) -> tuple[str, str] | None:
        """Label fields of the table that the metric reads, None if it reads rows."""
        return self.plan.label_pair if self.plan.metric.spec.state == "counts" else None


@frozen(eq=False)
class _Call:
    """A job with its row of the results."""

    job: Job
    values: NDArray[np.float64]
    """(draws,), a view."""
    params: Mapping[str, Any]
    errors: dict[Job, str]
    declined: list[bool] = field(factory=list)

    @property
    def is_weighted(self) -> bool:
        """Whether the metric is still to be asked for many resamples at once."""
        return self.job.weighted is not None and not self.declined

    def many(self, state: Rows | Counts, numbers: range, drawn: Any) -> None:
        """Ask for the values of a run of resamples."""
        if self.job in self.errors or self.job.weighted is None:
            return
        try:
            found = self.job.weighted(state, drawn, **self.params)
            if found is None:
                self.declined.append(True)
                return
            array = np.array(found, np.float64)
            if array.shape != (len(numbers),):
                raise ValueError(f"{len(numbers)} values were asked for, got an array of shape {array.shape}")
            array[~np.isfinite(array)] = np.nan
            self.values[numbers.start : numbers.stop] = array
        except Exception as error:  # noqa: BLE001  (a metric is foreign code: its failure is its own interval's)
            self.errors[self.job] = type(error).__name__

    def one(self, state: Rows | Counts, number: int) -> None:
        """Ask for the value of a single resample."""
        if self.job in self.errors:
            return
        try:
            outcome = self.job.function(state, **self.params)
        except Exception as error:  # noqa: BLE001  (as above)
            self.errors[self.job] = type(error).__name__
            return
        value = outcome.value if isinstance(outcome, Outcome) else outcome
        if value is not None and np.isfinite(value):
            self.values[number] = value


def resampled(jobs: Sequence[Job], seed: int, draws: int) -> tuple[NDArray[np.float64], dict[int, str]]:
    """Values of metrics over one population.

    Args:
        jobs: Metrics, all over the same population of at least two units.
        seed: Of the draws.
        draws: How many.

    Returns:
        (jobs, draws) float64, NaN where a metric is undefined, and what a job raised, by its place.
    """
    source = jobs[0].population
    values = np.full((len(jobs), draws), np.nan)
    errors: dict[Job, str] = {}
    shared: dict[tuple[int, tuple[str, str] | None], list[_Call]] = {}
    for job, row in zip(jobs, values, strict=True):
        call = _Call(job, row, dict(job.plan.metric.params), errors)
        shared.setdefault((id(job.rows), job.pair), []).append(call)
    work = [
        _ByRows(calls[0].job.rows, calls) if pair is None else _ByTables(calls[0].job.rows, pair, source, calls)
        for (_, pair), calls in shared.items()
    ]
    step = max(1, min(draws, _CHUNK // max(source.n_units, *(each.width for each in work))))
    for first in range(0, draws, step):
        drawn = Drawn(source, seed, range(first, min(first + step, draws)))
        for each in work:
            each.run(drawn)
    return values, {i: errors[job] for i, job in enumerate(jobs) if job in errors}


class _ByRows:
    """Metrics over one view of rows."""

    def __init__(self, rows: Rows, calls: Sequence[_Call]) -> None:
        self._rows, self._calls, self.width = rows, calls, rows.n

    def run(self, drawn: Drawn) -> None:
        for call in self._calls:
            if call.is_weighted:
                call.many(self._rows, drawn.numbers, drawn.multiplicities)
        left = [call for call in self._calls if not call.is_weighted]
        for i, number in enumerate(drawn.numbers if left else ()):
            state = self._rows.take(drawn.rows(i))
            for call in left:
                call.one(state, number)


class _ByTables:
    """Metrics over tables of one pair of label fields."""

    def __init__(self, rows: Rows, pair: tuple[str, str], source: Population, calls: Sequence[_Call]) -> None:
        truth, predicted = rows.truth[pair[0]], rows.prediction[pair[1]]
        if not isinstance(truth, Labels) or not isinstance(predicted, Labels):
            raise TypeError(f"counts need label fields, got {pair}")
        places, codes = np.unique(truth.codes * len(predicted.classes) + predicted.codes, return_inverse=True)
        self._cells = Cells(places, truth.classes, predicted.classes)
        self._codes = codes.astype(np.min_scalar_type(len(places)))  # narrow: more of them fit the cache
        self._state, self._calls = rows.counts(*pair), calls
        self.width = max(len(places), len(self._cells.classes))
        self._per_unit: NDArray[np.float64] | None = None
        groups = source.groups
        if groups is not None and groups.n * len(places) <= _MAX_UNIT_CELLS:
            flat = np.bincount(groups.codes * len(places) + codes, minlength=groups.n * len(places))
            self._per_unit = flat.reshape(groups.n, -1).astype(np.float64)

    def _counts(self, drawn: Drawn) -> NDArray[np.int64]:
        n = len(self._cells.places)
        if self._per_unit is not None:  # integers below 2**53: no order of adding rounds
            return (drawn.multiplicities.units_as_floats @ self._per_unit).astype(np.int64)
        if drawn.population.groups is None:
            return drawn.tally(self._codes, n)
        rows = (self._codes.take(drawn.rows(i)) for i in range(len(drawn.numbers)))
        return np.stack([np.bincount(codes, minlength=n) for codes in rows])

    def run(self, drawn: Drawn) -> None:
        tables = Tables(self._cells, self._counts(drawn))
        for call in self._calls:
            if call.is_weighted:
                call.many(self._state, drawn.numbers, tables)
        left = [call for call in self._calls if not call.is_weighted]
        for i, number in enumerate(drawn.numbers if left else ()):
            state = tables.table(i)
            for call in left:
                call.one(state, number)
