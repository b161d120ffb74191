"""Counts that a model expects, against counts of held-out cells: deviances, and correlation of profiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_sum
from primabench_core.state.rows import Labels, Rows
from primabench_task_singlecell.integration.defined import defined
from primabench_task_singlecell.integration.pairs import Floats
from primabench_task_singlecell.integration.work import UndefinedError

SCALE = 10_000.0


@defined
def poisson_deviance(state: Rows) -> Outcome:
    """Mean over genes of the mean over held-out cells of 2(y ln(y/m) - (y - m)).

    Args:
        state: Rows with the expected counts ``rate`` (n, genes), ``counts`` of the truth, and ``role`` if some cells
            were fitted on: those with ``score`` count.

    Returns:
        Value from 0, lower is better; ``numerical_failure`` where a count was met by a rate of 0 (an infinite
        deviance), ``not_applicable`` without rates or counts. Without ``role`` the flag ``not_held_out`` is set.
    """
    counts, rate, flags = _held_out(state)
    return _deviance(_gain(counts, rate) - (counts - rate), counts, rate, flags)


@defined
def nb_deviance(state: Rows, *, theta: float = 10.0) -> Outcome:
    """Mean over genes of the mean negative-binomial deviance of held-out cells.

    The deviance is 2(y ln(y/m) - (y + t) ln((y + t)/(m + t))) for a count y, its expectation m and t = ``theta``.

    Args:
        state: As in :func:`poisson_deviance`.
        theta: Inverse dispersion t, the same for all genes and models, so that values compare: variance m + m²/t.

    Returns:
        Value from 0, lower is better; undefined as :func:`poisson_deviance`.
    """
    counts, rate, flags = _held_out(state)
    parts = _gain(counts, rate) - (counts + theta) * np.log((counts + theta) / (rate + theta))
    return _deviance(parts, counts, rate, flags)


@defined
def reconstruction_pearson(state: Rows) -> Outcome:
    """Mean over held-out cells of Pearson's correlation over genes of ln(1 + 10^4 share), measured and expected.

    Args:
        state: As in :func:`poisson_deviance`.

    Returns:
        Value in [-1, 1] over the cells that have one, ``coverage`` beside it: cells without counts or with constant
        profiles have none; ``constant_truth`` if no cell has one, ``constant_prediction`` if some cell has none because
        the expected profile is constant.
    """
    counts, rate, flags = _held_out(state)
    true, expected = _profiles(counts), _profiles(rate)
    true, expected = true - true.mean(axis=1, keepdims=True), expected - expected.mean(axis=1, keepdims=True)
    squares = np.einsum("ij,ij->i", true, true), np.einsum("ij,ij->i", expected, expected)
    usable = squares[0] > 1e-20 * SCALE
    if not usable.any():
        return Outcome.undefined("constant_truth", "no cell has a profile that varies", n=len(counts))
    flat = int((usable & (squares[1] <= 1e-20 * SCALE)).sum())
    if flat:
        return Outcome.undefined("constant_prediction", f"{flat} expected profiles are constant", n=len(counts))
    r = np.einsum("ij,ij->i", true[usable], expected[usable]) / np.sqrt(squares[0][usable] * squares[1][usable])
    used = int(usable.sum())
    value = min(max(exact_sum(r) / used, -1.0), 1.0)
    return Outcome(value, n=used, flags=flags, n_undefined=len(counts) - used, coverage=used / len(counts))


def _held_out(state: Rows) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Counts and rates of the cells that count."""
    if "rate" not in state.prediction:
        raise UndefinedError("not_applicable", "the prediction has no expected counts ('rate')", state.n)
    if "counts" not in state.truth:
        raise UndefinedError("not_applicable", "the truth has no counts", state.n)
    counts: Any = np.asarray(state.truth["counts"], np.float64)
    rate: Any = np.asarray(state.prediction["rate"], np.float64)
    role = state.truth.get("role")
    if not isinstance(role, Labels):
        return counts, rate, ("not_held_out",)
    rows = np.asarray(role.values()) == "score"
    if not rows.any():
        raise UndefinedError("too_few_items", "no cell is held out", state.n)
    return counts[rows], rate[rows], ()


def _gain(counts: Floats, rate: Floats) -> Floats:
    """The term y ln(y/m), 0 where y is 0; infinite where only m is."""
    there = counts > 0
    if (there & (rate <= 0)).any():
        raise UndefinedError("numerical_failure", "a gene was counted where the expected count is 0", len(counts))
    ratio = np.where(there, counts, 1.0) / np.where(there, rate, 1.0)
    return np.asarray(counts * np.log(ratio), np.float64)


def _deviance(parts: Floats, counts: Floats, rate: Floats, flags: tuple[str, ...]) -> Outcome:
    per_gene = [2 * exact_sum(np.ascontiguousarray(column)) / len(parts) for column in parts.T]
    if not per_gene or not np.isfinite(per_gene).all():
        return Outcome.undefined("numerical_failure", "the deviance is not finite", n=len(counts))
    value = max(exact_sum(np.asarray(per_gene)) / len(per_gene), 0.0)
    values = {"n_genes": len(per_gene), "mean_count": float(counts.mean()), "mean_rate": float(rate.mean())}
    return Outcome(value, n=len(parts), flags=flags, values=values)


def _profiles(counts: Floats) -> Floats:
    totals = counts.sum(axis=1, keepdims=True)
    return np.log1p(SCALE * counts / np.where(totals > 0, totals, 1.0))
