"""Percentile bootstrap of any statistic, alone or as a paired difference."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from primabench_core.errors import MetricError
from primabench_core.statistics.finding import Finding
from primabench_core.statistics.inputs import fraction, whole
from primabench_core.statistics.resampling import Resampling

Statistic = Callable[[NDArray[np.int64]], float | None]
"""Called with row positions (repeats included); returns a number, or None (or NaN) where it is undefined."""

MOST_DROPPED = 0.2
"""Above this share of undefined draws there is no interval."""


def bootstrap(
    *,
    statistic: Statistic,
    n: int,
    unit: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    blocks: int | None = None,
    draws: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Finding:
    """Percentile interval of a statistic, by resampling independent units.

    Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 13.

    Args:
        statistic: Called with (k,) int64 positions; see :data:`Statistic`.
        n: Rows, in canonical order: the draws are made over positions.
        unit: (n,) label of each row's independent unit; cells of one donor are no replicates.
        strata: (n,) stratum of each row (its class, say); every draw keeps the strata's numbers of units.
        blocks: Resample this many hashed blocks of units in place of the units.
        draws: Resamples.
        level: Nominal coverage.
        seed: 0 to 2**64 - 1; equal seeds give equal bits.

    Returns:
        ``value``: the statistic on all rows. ``values``: ``low``, ``high`` (None with a ``reason`` in ``values`` if
        more than a fifth of the draws is undefined or there are fewer than two units), ``standard_error``, ``draws``,
        ``dropped``, ``level``, ``n_groups``.

    Raises:
        ParameterError: ``draws``, ``level`` or ``seed`` is out of range.
        UsageError: Lengths differ, or a unit lies in two strata.
        MetricError: The statistic returned an infinity.

    Example:
        >>> import numpy as np
        >>> x = np.arange(10.0)
        >>> found = bootstrap(statistic=lambda at: float(x[at].mean()), n=10, draws=200)
        >>> found.values["low"] < found.value < found.values["high"]
        True
    """
    plan = _plan(n, unit, strata, blocks, draws, level, seed)
    if not n:
        return Finding.undefined("bootstrap", "too_few_items", "there are no rows")
    whole_value = _number(statistic(np.arange(n)))
    if whole_value is None:
        return Finding.undefined("bootstrap", "component_undefined", "the statistic is undefined on all rows")
    found = [_number(statistic(plan.positions(seed, draw))) for draw in range(draws)] if plan.n_groups > 1 else []
    kept = np.array([value for value in found if value is not None])
    return Finding("bootstrap", value=whole_value, values=_summary(kept, draws, plan.n_groups, level))


def paired_bootstrap(
    *,
    statistic_a: Statistic,
    statistic_b: Statistic,
    n: int,
    unit: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    blocks: int | None = None,
    draws: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Finding:
    """Percentile interval of the difference a - b of two statistics on the same draws, and a two-sided p.

    p = 2 min(1 + draws at or below 0, 1 + draws at or above 0) / (draws + 1), capped at 1: by inversion of the
    percentile interval, never 0.

    Args:
        statistic_a: Statistic of the first model.
        statistic_b: Statistic of the second.
        n: Rows, in canonical order.
        unit: As in :func:`bootstrap`.
        strata: As in :func:`bootstrap`.
        blocks: As in :func:`bootstrap`.
        draws: Resamples.
        level: Nominal coverage.
        seed: 0 to 2**64 - 1.

    Returns:
        ``value``: p. ``values``: ``a``, ``b``, ``difference``, ``p`` and those of :func:`bootstrap`. Undefined if the
        two never differ, or if no interval can be made.

    Raises:
        ParameterError: ``draws``, ``level`` or ``seed`` is out of range.
        UsageError: Lengths differ, or a unit lies in two strata.
        MetricError: A statistic returned an infinity.
    """
    plan = _plan(n, unit, strata, blocks, draws, level, seed)
    if not n:
        return Finding.undefined("paired_bootstrap", "too_few_items", "there are no rows")
    a, b = _number(statistic_a(np.arange(n))), _number(statistic_b(np.arange(n)))
    if a is None or b is None:
        return Finding.undefined("paired_bootstrap", "component_undefined", "a statistic is undefined on all rows")
    differences = []
    for draw in range(draws if plan.n_groups > 1 else 0):
        at = plan.positions(seed, draw)
        one, two = _number(statistic_a(at)), _number(statistic_b(at))
        if one is not None and two is not None:
            differences.append(one - two)
    return difference_finding(a, b, np.array(differences), draws=draws, groups=plan.n_groups, level=level)


def difference_finding(
    a: float, b: float, kept: NDArray[np.float64], *, draws: int, groups: int, level: float
) -> Finding:
    """What the paired draws say: :func:`paired_bootstrap` without the drawing.

    Args:
        a: First statistic on all rows.
        b: Second statistic on all rows.
        kept: a - b on each draw on which both are defined.
        draws: Draws that were made.
        groups: Independent units drawn from.
        level: Nominal coverage.
    """
    values = {"a": a, "b": b, "difference": a - b, **_summary(kept, draws, groups, level)}
    if values["low"] is None:
        return Finding.undefined("paired_bootstrap", "too_few_items", str(values.pop("reason")), **values)
    if not kept.any():
        return Finding.undefined("paired_bootstrap", "zero_denominator", "the two never differ", **values)
    p = min(1.0, 2 * (1 + min(int((kept <= 0).sum()), int((kept >= 0).sum()))) / (len(kept) + 1))
    return Finding("paired_bootstrap", value=p, values={**values, "p": p})


def _plan(
    n: int,
    unit: ArrayLike | None,
    strata: ArrayLike | None,
    blocks: int | None,
    draws: int,
    level: float,
    seed: int,
) -> Resampling:
    whole(n, "n", 0, 2**32)
    whole(draws, "draws", 1)
    whole(seed, "seed", 0, 2**64 - 1)
    fraction(level, "level")
    if blocks is not None:
        whole(blocks, "blocks", 2)
    return Resampling.of(n, unit=unit, strata=strata, blocks=blocks)


def _number(value: float | None) -> float | None:
    if value is None:
        return None
    number = float(value)
    if isnan(number):
        return None
    if number in (float("inf"), float("-inf")):
        raise MetricError(f"the statistic returned {number}; a value that does not exist is None")
    return number


def _summary(kept: NDArray[np.float64], draws: int, groups: int, level: float) -> dict[str, float | int | str | None]:
    dropped = draws - len(kept) if groups > 1 else 0
    counts: dict[str, float | int | str | None] = {
        "draws": draws if groups > 1 else 0,
        "dropped": dropped,
        "level": level,
        "n_groups": groups,
    }
    absent = ""
    if groups < 2:
        absent = "one unit has no spread"
    elif dropped > MOST_DROPPED * draws:
        absent = f"undefined on {dropped} of {draws} draws"
    if absent:
        return {"low": None, "high": None, "standard_error": None, "reason": absent, **counts}
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    error = float(kept.std(ddof=1)) if len(kept) > 1 else None
    return {"low": float(low), "high": float(high), "standard_error": error, **counts}
