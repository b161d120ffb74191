"""Metrics of scored variants: by chromosome, by gene, and of calls."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import evolve
from primabench_metrics import ranking
from primabench_metrics.aggregate import mean_of_units
from primabench_metrics.classes import Label, positive_code
from primabench_metrics.classification import mcc
from primabench_metrics.ranking import label_column

from primabench_core.spec import Outcome
from primabench_core.state.counts import Counts
from primabench_core.state.rows import Labels, Rows
from primabench_core.statistics import draw_below
from primabench_task_genome.metrics.groups import groups_of

DRAWS = 1_000
"""Resamples, of chromosomes or within classes, that a standard error is made of."""


def auprc_by_chrom_weighted_average(state: Rows, *, positive: Label = 1) -> Outcome:
    """Average precision of each chromosome, averaged with its number of variants as weight (TraitGym).

    Σ n·AP / Σ n over the chromosomes that hold both classes; the others are left out and counted. The standard error
    in ``values`` resamples chromosomes 1,000 times.

    Args:
        state: ``score`` (n,) against ``label`` (n,) and ``chromosome`` (n,).
        positive: The positive class.

    Returns:
        Value in (0, 1] with the average precision of each chromosome in ``per_unit``; ``single_class`` if no
        chromosome holds both classes. ``values``: ``prevalence`` (chance, over the variants used),
        ``standard_error`` (None below two chromosomes), ``n_chromosomes``, ``n_chromosomes_of_one_class``.
    """
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no variants", n=0)
    is_positive = _positives(state, positive)
    found: dict[str, tuple[int, float]] = {}
    left_out = single = used_positives = 0
    for name, rows in groups_of(state, "chromosome"):
        here = int(is_positive[rows].sum())
        if 0 < here < len(rows):
            part = ranking.average_precision(state.take(rows), positive=positive)
            assert part.value is not None
            found[name] = (len(rows), part.value)
            used_positives += here
        else:
            single, left_out = single + 1, left_out + len(rows)
    about: dict[str, Any] = {"n_chromosomes": len(found), "n_chromosomes_of_one_class": single}
    excluded = {"single_class": left_out} if left_out else {}
    n = state.n - left_out
    if not found:
        detail = "no chromosome holds both classes"
        return Outcome.undefined("single_class", detail, n=n, n_excluded=excluded, values=about)
    parts = sorted(found.values())  # by content: names of chromosomes must not decide which draw meets which
    about |= {"prevalence": used_positives / n, "standard_error": _standard_error(parts)}
    values = {name: value for name, (_, value) in found.items()}
    return Outcome(_weighted(parts), n=n, n_excluded=excluded, values=about, per_unit=values)


def _weighted(parts: list[tuple[int, float]]) -> float:
    return math.fsum(n * value for n, value in parts) / sum(n for n, _ in parts)


def _standard_error(parts: list[tuple[int, float]]) -> float | None:
    if len(parts) < 2:
        return None
    sizes, values = np.asarray(parts).T
    drawn = np.stack([draw_below(0, draw, len(parts), len(parts)) for draw in range(DRAWS)])
    means = (sizes * values)[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return float(np.std(means, ddof=1))


def average_precision_standard_error(state: Rows, *, positive: Label = 1) -> Outcome:
    """Standard error of the average precision over all variants, by a bootstrap within the two classes (TraitGym).

    Positives are drawn from positives and negatives from negatives, 1,000 times, so that every resample has the
    prevalence of the data. It takes variants for independent; the interval of ``average_precision`` resamples
    chromosomes.

    Args:
        state: ``score`` (n,) against ``label`` (n,).
        positive: The positive class.

    Returns:
        Sample standard deviation over the resamples, from 0; ``single_class`` if one side has no rows. ``values``:
        ``mean`` of the resamples, ``n_resamples``.
    """
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no variants", n=0)
    is_positive = _positives(state, positive)
    total = int(is_positive.sum())
    if not 0 < total < state.n:
        side = "positive" if total else "negative"
        return Outcome.undefined("single_class", f"every variant is {side}")
    scores = np.asarray(state.prediction["score"])
    places, best_first = np.unique(scores[is_positive]), np.sort(scores[is_positive])[::-1]
    levels = len(places)  # distinct scores of positives, the best is level 0
    run = levels - 1 - np.searchsorted(places, best_first)
    # a negative counts from the level of the worst positive that does not stand above it
    beside = np.sort(levels - np.searchsorted(places, scores[~is_positive], side="right"))
    drawn = np.empty(DRAWS)
    for draw in range(DRAWS):
        hits = np.bincount(run[draw_below(0, draw, total, total)], minlength=levels)
        others = np.bincount(beside[draw_below(1, draw, len(beside), len(beside))], minlength=levels + 1)[:levels]
        above = np.cumsum(hits)
        some = hits > 0
        precision = above[some] / (above + np.cumsum(others))[some]
        drawn[draw] = (hits[some] * precision).sum() / total
    spread = float(np.std(drawn - drawn[0], ddof=1))  # of equal ones exactly 0
    return Outcome(spread, values={"mean": float(drawn.mean()), "n_resamples": DRAWS})


def auroc_mean_over_genes(state: Rows, *, positive: Label = 1, policy: str = "defined_only") -> Outcome:
    """AUROC within each gene, then the plain mean over genes.

    Knowing the gene alone gives a high AUROC over all variants, because most genes hold one class; within a gene it
    gives one half.

    Args:
        state: ``score`` (n,) against ``label`` (n,) and ``gene`` (n,).
        positive: The positive class.
        policy: What a gene of one class does to the mean; by default it is left out and counted.

    Returns:
        Value in [0, 1] with the AUROC of each gene in ``per_unit``; ``not_applicable`` if the truth names no genes.
    """
    return _over_genes(state, positive, policy, ranking.auroc)


def average_precision_mean_over_genes(state: Rows, *, positive: Label = 1, policy: str = "defined_only") -> Outcome:
    """Average precision within each gene that holds both classes, then the plain mean over genes.

    Args:
        state: ``score`` (n,) against ``label`` (n,) and ``gene`` (n,).
        positive: The positive class.
        policy: What a gene of one class does to the mean; by default it is left out and counted.

    Returns:
        Value in (0, 1] with that of each gene in ``per_unit`` and the mean ``prevalence`` of those genes in ``values``;
        ``not_applicable`` if the truth names no genes.
    """
    return _over_genes(state, positive, policy, ranking.average_precision)


def mcc_at_prevalence_mean_over_genes(state: Rows, *, positive: Label = 1, policy: str = "defined_only") -> Outcome:
    """Matthews correlation within each gene that holds both classes, then the plain mean over genes.

    In each gene as many variants are called positive as the gene has positives, best scores first, as
    :func:`mcc_at_prevalence` does over all variants.

    Args:
        state: ``score`` (n,) against ``label`` (n,) and ``gene`` (n,).
        positive: The positive class.
        policy: What a gene of one class does to the mean; by default it is left out and counted.

    Returns:
        Value in [-1, 1] with that of each gene in ``per_unit`` and the mean ``prevalence`` of those genes in
        ``values``; ``not_applicable`` if the truth names no genes.
    """
    return _over_genes(state, positive, policy, mcc_at_prevalence)


def _over_genes(state: Rows, positive: Label, policy: str, metric: Callable[..., Outcome]) -> Outcome:
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no variants", n=0)
    if "gene" not in state.truth:
        return Outcome.undefined("not_applicable", "the truth names no genes")
    is_positive = _positives(state, positive)
    units: dict[str, float | Outcome] = {}
    shares = []
    for name, rows in groups_of(state, "gene"):
        here = int(is_positive[rows].sum())
        if 0 < here < len(rows):
            units[name] = metric(state.take(rows), positive=positive)
            shares.append(here / len(rows))
        else:
            units[name] = Outcome.undefined("single_class")
    found = mean_of_units(units, policy, n=state.n)
    values = {**found.values, "mean_prevalence": math.fsum(sorted(shares)) / len(shares) if shares else None}
    return evolve(found, values=values)


def mcc_at_prevalence(state: Rows, *, positive: Label = 1) -> Outcome:
    """Matthews correlation when as many variants are called positive as there are positives, best scores first.

    A score has no threshold of its own; this one is the same for every model and needs no tuning. All variants that
    share the score at the cut are called, so that more may be called than there are positives.

    Args:
        state: ``score`` (n,) against ``label`` (n,).
        positive: The positive class.

    Returns:
        Value in [-1, 1]; ``single_class`` if one side has no rows. ``values``: ``called``, the share of variants
        called, and ``prevalence``.
    """
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no variants", n=0)
    is_positive = _positives(state, positive)
    total = int(is_positive.sum())
    if not 0 < total < state.n:
        side = "positive" if total else "negative"
        return Outcome.undefined("single_class", f"every variant is {side}")
    scores = np.asarray(state.prediction["score"])
    called = scores >= np.partition(scores, state.n - total)[state.n - total]
    table = Counts.of(is_positive.astype(np.int64), called.astype(np.int64), (0, 1), (0, 1))
    found = mcc(table)
    tied = int(called.sum()) - total
    flags = (*found.flags, "ties_at_cut") if tied else found.flags
    values = {"called": float(called.mean()), "prevalence": total / state.n}
    return Outcome(found.value, reason=found.reason, detail=found.detail, n=state.n, flags=flags, values=values)


def significance_auroc(state: Rows) -> Outcome:
    """AUROC of the size of the predicted effect against whether the measured one is significant.

    Args:
        state: ``value`` (n,), of which the size counts, against ``significant`` (n,), 1 or 0.

    Returns:
        Value in [0, 1]; ``single_class`` if one side has no rows, ``not_applicable`` if the truth does not say what is
        significant.
    """
    return _of_size(state, ranking.auroc)


def significance_average_precision(state: Rows) -> Outcome:
    """Average precision of the size of the predicted effect against whether the measured one is significant.

    Args:
        state: ``value`` (n,), of which the size counts, against ``significant`` (n,), 1 or 0.

    Returns:
        Value in (0, 1] with ``values["prevalence"]``; ``no_positives`` if nothing is significant, ``not_applicable`` if
        the truth does not say.
    """
    return _of_size(state, ranking.average_precision)


def _of_size(state: Rows, metric: Callable[..., Outcome]) -> Outcome:
    if "significant" not in state.truth:
        return Outcome.undefined("not_applicable", "the truth does not say which effects are significant")
    size = np.abs(np.asarray(state.prediction["value"]))
    rows = Rows(state.n, {"score": size.reshape(state.n)}, {"label": state.truth["significant"]})
    return metric(rows, positive=1)


def _positives(state: Rows, positive: Label) -> np.ndarray[Any, np.dtype[np.bool_]]:
    truth: Labels = label_column(state)
    found: np.ndarray[Any, np.dtype[np.bool_]] = truth.codes == positive_code(truth.classes, positive)
    return found
