"""Metrics of the differential genes of predicted cells against those of the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray
from primabench_metrics.numbers import is_constant

from primabench_core.spec import Outcome
from primabench_core.state.rows import Labels
from primabench_core.state.units import Units
from primabench_task_perturbation.beside import Unit, mean_over_defined, over_units
from primabench_task_perturbation.de_sides import Sides, sides_of, trivial_sides
from primabench_task_perturbation.deltas import MIN_GENES, spearman_of

Floats = NDArray[np.float64]
Compare = Callable[[Sides, int], Unit]


def _over(
    state: Units, key: tuple[Any, ...], compare: Compare, fdr: float, policy: str, test: str, baselines: str
) -> Outcome:
    """Mean over perturbations of a comparison of genes, with what trivial predictions would score beside it."""
    whole = state.whole or state
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no perturbations")
    sides = whole.shared(("de", fdr, test), lambda: sides_of(whole, fdr, test))
    if isinstance(sides, Outcome):
        return sides

    def values(of: Sides) -> list[Unit]:
        return [of.gaps.get(p) or compare(of, p) for p in range(whole.n)]

    found = over_units(state, (*key, fdr, test), lambda s: values(sides), policy=policy)
    if state.whole is not None or baselines == "none":
        return found
    beside = state.of_truth(
        ("de beside", *key, fdr, test),
        lambda: {name: mean_over_defined(values(of)) for name, of in trivial_sides(state, fdr, test).items()},
    )
    return evolve(found, values={**found.values, **beside})


def _strongest(change: NDArray[Any], hits: NDArray[np.bool_], k: int, order: NDArray[np.int64]) -> set[int]:
    """The k significant genes of largest |fold change|, ties by name of the gene."""
    genes = np.flatnonzero(hits)
    return set(genes[np.lexsort((order[genes], -np.abs(change[genes])))][:k].tolist())


def _depth(sides: Sides, p: int, k: int) -> int:
    true = int(sides.true_hits[p].sum())
    return min(k, true) if k else true


def _no_effect(sides: Sides, p: int) -> Outcome | None:
    if sides.true_hits[p].any():
        return None
    return Outcome.undefined("no_reference_effect" if sides.hits[p].any() else "both_empty")


def de_overlap_at_n(
    state: Units, *, k: int = 0, fdr: float = 0.05, policy: str = "strict", test: str = "truth", baselines: str = "all"
) -> Outcome:
    """|top-k true ∩ top-k predicted|/k, genes of FDR below ``fdr`` by |log2 fold change|.

    Args:
        state: Perturbations with predicted cells.
        k: Genes looked at, at most as many as are truly differential; 0: as many.
        fdr: Threshold of both sides.
        policy: What an undefined perturbation does to the mean.
        test: ``wilcoxon``, ``pseudobulk`` (between the replicates that both sides tell), or ``truth``: the test of the
            solution's lists, else pseudobulk where the truth tells replicates.
        baselines: ``all``: beside it stand ``no_change`` (no gene differs from control) and ``data_ceiling`` (one half
            of the true cells as the prediction of the other); ``none``. A profile has no test, so that the mean of
            training and the additive model have none either.

    Returns:
        Value in [0, 1]; genes of equal |fold change| are taken in the order of their names. No true gene:
        ``both_empty`` where none is predicted, else ``no_reference_effect``.
    """

    def compare(sides: Sides, p: int) -> Unit:
        depth = _depth(sides, p, k)
        if not depth:
            return _no_effect(sides, p) or 0.0
        return len(_common(sides, p, depth)) / depth

    return _over(state, ("overlap", k), compare, fdr, policy, test, baselines)


def de_precision_at_n(
    state: Units, *, k: int = 0, fdr: float = 0.05, policy: str = "strict", test: str = "truth", baselines: str = "all"
) -> Outcome:
    """As :func:`de_overlap_at_n`, over min(k, predicted genes); undefined where none is predicted."""

    def compare(sides: Sides, p: int) -> Unit:
        depth, called = _depth(sides, p, k), int(sides.hits[p].sum())
        if not depth:
            return _no_effect(sides, p) or 0.0
        if not called:
            return Outcome.undefined("no_positives", "no gene is predicted to be differential")
        return len(_common(sides, p, depth)) / min(depth, called)

    return _over(state, ("precision", k), compare, fdr, policy, test, baselines)


def _common(sides: Sides, p: int, k: int) -> set[int]:
    true = _strongest(sides.true_change[p], sides.true_hits[p], k, sides.order)
    return true & _strongest(sides.change[p], sides.hits[p], k, sides.order)


def de_recall(
    state: Units, *, fdr: float = 0.05, policy: str = "strict", test: str = "truth", baselines: str = "all"
) -> Outcome:
    """Share of the truly differential genes that are predicted to be so."""

    def compare(sides: Sides, p: int) -> Unit:
        return _no_effect(sides, p) or float(sides.hits[p][sides.true_hits[p]].mean())

    return _over(state, ("recall",), compare, fdr, policy, test, baselines)


def de_direction_match(
    state: Units, *, fdr: float = 0.05, policy: str = "strict", test: str = "truth", baselines: str = "all"
) -> Outcome:
    """Share of the truly differential genes whose predicted fold change has the true sign; no change is wrong."""

    def compare(sides: Sides, p: int) -> Unit:
        genes = sides.true_hits[p]
        return _no_effect(sides, p) or float(
            (np.sign(sides.change[p][genes]) == np.sign(sides.true_change[p][genes])).mean()
        )

    return _over(state, ("direction",), compare, fdr, policy, test, baselines)


def de_spearman_lfc(
    state: Units, *, fdr: float = 0.05, policy: str = "strict", test: str = "truth", baselines: str = "all"
) -> Outcome:
    """Spearman correlation of fold changes over the truly differential genes; all of them, predicted or not."""

    def compare(sides: Sides, p: int) -> Unit:
        none = _no_effect(sides, p)
        if none is not None:
            return none
        genes = sides.true_hits[p]
        x, y = sides.change[p][genes].astype(np.float64), sides.true_change[p][genes].astype(np.float64)
        if len(x) < MIN_GENES:
            return Outcome.undefined("too_few_items", f"{len(x)} of at least {MIN_GENES} genes")
        if is_constant(y) or is_constant(x):
            return Outcome.undefined("constant_truth" if is_constant(y) else "constant_prediction")
        return spearman_of(x, y)

    return _over(state, ("spearman lfc",), compare, fdr, policy, test, baselines)


def de_count_spearman(state: Units, *, fdr: float = 0.05, test: str = "truth") -> Outcome:
    """Spearman correlation over perturbations of the numbers of differential genes."""
    whole = state.whole or state
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no perturbations")
    sides = whole.shared(("de", fdr, test), lambda: sides_of(whole, fdr, test))
    if isinstance(sides, Outcome):
        return sides
    if sides.gaps:
        return sides.gaps[min(sides.gaps)]
    counts = state.unit_values(
        ("de counts", fdr, test),
        lambda s: list(zip(sides.hits.sum(axis=1).tolist(), sides.true_hits.sum(axis=1).tolist(), strict=True)),
    )
    return correlated(np.asarray(counts, np.float64), "perturbations", spearman_of)


def correlated(pairs: Floats, noun: str, correlate: Callable[[Floats, Floats], float]) -> Outcome:
    """Correlation of (n, 2) predicted and true numbers, or why there is none."""
    if len(pairs) < MIN_GENES:
        return Outcome.undefined("too_few_items", f"{len(pairs)} of at least {MIN_GENES} {noun}", n=len(pairs))
    for side, reason in ((1, "constant_truth"), (0, "constant_prediction")):
        if is_constant(pairs[:, side]):
            return Outcome.undefined(reason, n=len(pairs))
    return Outcome(correlate(pairs[:, 0], pairs[:, 1]), n=len(pairs))


def de_auroc(
    state: Units, *, fdr: float = 0.05, policy: str = "strict", test: str = "truth", baselines: str = "all"
) -> Outcome:
    """AUROC of the truly differential genes by predicted −log10 FDR; ties count half."""
    return _over(state, ("auroc",), lambda sides, p: _ranking(sides, p)[0], fdr, policy, test, baselines)


def de_average_precision(
    state: Units, *, fdr: float = 0.05, policy: str = "strict", test: str = "truth", baselines: str = "all"
) -> Outcome:
    """Average precision of the truly differential genes by predicted −log10 FDR, tied genes entering together."""
    return _over(state, ("average precision",), lambda sides, p: _ranking(sides, p)[1], fdr, policy, test, baselines)


def _ranking(sides: Sides, p: int) -> Sequence[Unit]:
    from primabench_metrics.ranking import auroc, average_precision

    from primabench_core.state.rows import Rows

    labels = Labels(sides.true_hits[p].astype(np.int64), (0, 1))
    rows = Rows(len(labels.codes), {"score": sides.significance[p]}, {"label": labels})
    found = []
    for metric in (auroc, average_precision):
        outcome = metric(rows)
        found.append(outcome if outcome.value is None else outcome.value)
    return found
