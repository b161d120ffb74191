"""The law of ``MetricSpec.weighted``: a row that occurs k times is that row repeated k times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.discovery import registry
from primabench_core.errors import ContractError, ParameterError, UsageError
from primabench_core.spec.outcome import Outcome
from primabench_core.state.counts import Counts
from primabench_core.state.multiplicity import Groups, Multiplicities
from primabench_core.state.rows import Rows
from primabench_core.state.tables import Cells, Tables
from primabench_core.state.units import Units
from primabench_core.testing.measure import degenerate, is_same, state_of
from primabench_core.testing.report import CheckFailure, NotApplicable
from primabench_core.testing.subjects import MetricSubject

Ints = NDArray[np.int64]
Resampled = tuple[str, Any, list[Rows | Counts]]
"""What was drawn, in words; as the weighted function is given it; and the resamples themselves."""


def check_weights_are_repeated_rows(subject: MetricSubject) -> None:
    """Its ``weighted`` function gives for multiplicities of rows what its function gives for the rows repeated."""
    spec = subject.spec
    if not spec.weighted:
        raise NotApplicable("it declares no weighted function")
    function = registry.resolve(spec.compute, owner=subject.distribution)
    weighted = registry.resolve(spec.weighted, owner=subject.distribution)
    answered = False
    for case in (each for first in subject.cases for each in (first, *degenerate(first))):
        try:
            state, params = state_of(subject, case)
            function(state, **params)
        except (ContractError, ParameterError, UsageError):  # there is no interval of what is refused
            continue
        if not isinstance(state, Rows | Counts | Units):  # sums of rows that nobody kept
            continue
        for what, drawn, states in resamples(state):
            values = weighted(state, drawn, **params)
            if values is None:
                continue
            answered = True
            expected = [_value(function, each, params) for each in states]
            found = [float(v) if isfinite(v) else None for v in np.asarray(values, np.float64)]
            if len(found) != len(expected) or not all(map(lambda a, b: is_same(spec, a, b), expected, found)):
                raise CheckFailure(
                    f"on {what} of {case.name} its weighted function has {found}, its function {expected}",
                    remedy="mend MetricSpec(weighted=…), or leave it out: intervals then repeat the rows",
                )
    if not answered:
        raise NotApplicable("its weighted function declines every generated input")


def _value(function: Callable[..., Any], state: Rows | Counts | Units, params: Any) -> float | None:
    outcome = function(state, **params)
    value = outcome.value if isinstance(outcome, Outcome) else outcome
    return float(value) if value is not None and isfinite(value) else None


def resamples(state: Rows | Counts | Units, seed: int = 5) -> Iterator[Resampled]:
    """Resamples of a state: all rows once, none, one row alone, random ones, and random ones of groups of rows."""
    rng = np.random.default_rng(seed)
    if isinstance(state, Counts):
        cells = Cells(state.places, state.truth_classes, state.predicted_classes)
        tables = Tables(cells, _times(rng, len(state.places), state.times))
        yield "resampled tables", tables, [tables.table(i) for i in range(len(tables))]
        return
    times = _times(rng, state.n, np.ones(state.n, np.int64))
    yield "resampled rows", Multiplicities(times), [_repeated(state, row) for row in times]
    if state.n:
        codes = np.unique(rng.integers(0, 1 + state.n // 3, state.n), return_inverse=True)[1]
        groups = Groups(codes, int(codes.max()) + 1)
        times = _times(rng, groups.n, np.ones(groups.n, np.int64))
        yield "resampled groups", Multiplicities(times, groups), [_repeated(state, row[codes]) for row in times]


def _times(rng: np.random.Generator, n: int, once: Ints) -> Ints:
    alone = np.zeros((2, n), np.int64)
    alone[1:, :1] = 3
    return np.concatenate([once[None], alone, rng.poisson(1.0, (4, n)), rng.poisson(0.05, (4, n))]).astype(np.int64)


def _repeated(state: Any, times: Sequence[int] | Ints) -> Any:
    return state.take(np.repeat(np.arange(state.n), times))
