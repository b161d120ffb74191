"""Differential expression of predicted cells against that of the truth, by the same test and the same control cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from primabench_metrics.numbers import is_constant

from primabench_core.spec import Outcome
from primabench_core.state.rows import Labels
from primabench_core.state.units import Units
from primabench_task_perturbation import pseudobulk, wilcoxon
from primabench_task_perturbation.beside import Unit, over_units
from primabench_task_perturbation.deltas import MIN_GENES, spearman_of
from primabench_task_perturbation.profiles import VALUE, contexts_of, control_rows, profiles_of, role_of
from primabench_task_perturbation.roles import CELL, DE_METHOD, REPLICATE
from primabench_task_perturbation.wilcoxon import Differential

Floats = NDArray[np.float64]
Compare = Callable[["Sides", int], Unit]


@frozen(eq=False)
class Sides:
    """Both sides of all perturbations, (P, m) each; ``true_hits`` and ``hits`` mark genes below the FDR."""

    true_change: NDArray[Any]
    true_hits: NDArray[np.bool_]
    change: NDArray[Any]
    hits: NDArray[np.bool_]
    significance: NDArray[Any]
    order: NDArray[np.int64]
    """(m,) place of each gene when genes are ordered by name: ties do not hang on the order of columns."""
    gaps: Mapping[int, Outcome] = field(factory=dict)
    """Perturbations that could not be tested on both sides."""


def _method(state: Units, test: str) -> str:
    """Name and version of the test that both sides go through."""
    if test != "truth":
        return {"wilcoxon": wilcoxon.METHOD, "pseudobulk": pseudobulk.METHOD}[test]
    told = state.coords.get(DE_METHOD)
    if told:
        return told[0]
    column = state.truth.get(REPLICATE)
    has = column is not None and pseudobulk.has_replicates(np.asarray(column, object).tolist())
    return pseudobulk.METHOD if has else wilcoxon.METHOD


def _differential(state: Units, method: str, *, predicted: bool) -> Differential | Outcome:
    """The test on one side of all perturbations, each against the control cells of its context."""
    value: Any = state.truth[VALUE]
    is_cell, (context, contexts) = role_of(state) == CELL, contexts_of(state)
    control = np.flatnonzero(is_cell & control_rows(state))
    if len(control) < 2:
        return Outcome.undefined("not_applicable", "the truth holds fewer than two control cells")
    side: Mapping[str, Any] = state.prediction if predicted else state.truth
    if method == pseudobulk.METHOD:
        for held, whose in ((state.truth, "the truth"), (side, "the prediction")):
            if REPLICATE not in held:
                return Outcome.undefined("not_applicable", f"{whose} does not say the {REPLICATE} of its cells")
    elif method != wilcoxon.METHOD:
        return Outcome.undefined("not_applicable", f"the truth was tested by {method!r}, which this version has not")
    cells = side[VALUE]
    home = state.predicted_home if predicted else np.where(is_cell, state.home, -1)
    m = value.shape[1]
    change, significance = np.zeros((state.n, m), np.float32), np.zeros((state.n, m), np.float32)
    gaps: dict[int, str] = {}
    unit_context = profiles_of(state).context
    for c in range(contexts):
        mine = np.flatnonzero(unit_context == c)
        if not len(mine):
            continue
        place = np.full(state.n + 2, -1, np.int64)
        place[mine] = np.arange(len(mine))
        own = control[context[control] == c]
        if method == wilcoxon.METHOD:
            found = wilcoxon.differential(cells, place[home], len(mine), value[own])
        else:
            names: Any = (side[REPLICATE], state.truth[REPLICATE])
            try:
                found = pseudobulk.differential(
                    cells, place[home], names[0], len(mine), value[own], np.asarray(names[1], object)[own]
                )
            except OverflowError as error:
                return Outcome.undefined("numerical_failure", str(error))
        change[mine], significance[mine] = found.log_fold_change, found.significance
        gaps |= {int(mine[p]): why for p, why in found.gaps.items()}
    return Differential(change, significance, gaps)


def _truth(state: Units, method: str) -> Differential | Outcome:
    """As the solution says; of a truth without lists by this test, the same test on its cells."""
    told, by = profiles_of(state), state.coords.get(DE_METHOD, (method,))[0]
    if told.log_fold_change is not None and told.significance is not None and by == method:
        return Differential(told.log_fold_change.astype(np.float32), told.significance.astype(np.float32))
    cells = np.bincount(state.home[(role_of(state) == CELL) & (state.home >= 0)], minlength=state.n)
    if cells.min(initial=2) < 2:
        return Outcome.undefined("not_applicable", "the truth holds no differential expression and no cells to test")
    return _differential(state, method, predicted=False)


def _sides(state: Units, fdr: float, test: str) -> Sides | Outcome:
    """Both sides under one threshold; made once for all metrics."""
    if is_pseudobulk(state):
        return Outcome.undefined("not_applicable", "differential expression needs predicted cells, not one row each")
    method = _method(state, test)
    true = state.shared(("true differential", method), lambda: _truth(state, method))
    mine = state.shared(("predicted differential", method), lambda: _differential(state, method, predicted=True))
    for side in (true, mine):
        if isinstance(side, Outcome):
            return side
    assert isinstance(true, Differential)
    assert isinstance(mine, Differential)
    threshold = -np.log10(fdr)
    whys = {
        **{p: f"predicted: {why}" for p, why in mine.gaps.items()},
        **{p: f"true: {w}" for p, w in true.gaps.items()},
    }
    return Sides(
        true.log_fold_change,
        true.significance > threshold,
        mine.log_fold_change,
        mine.significance > threshold,
        mine.significance,
        _by_name(profiles_of(state).genes),
        {p: Outcome.undefined("too_few_items", why) for p, why in whys.items()},
    )


def _by_name(genes: Sequence[str]) -> NDArray[np.int64]:
    found = np.empty(len(genes), np.int64)
    found[np.argsort(np.asarray(genes, object), kind="stable")] = np.arange(len(genes))
    return found


def is_pseudobulk(state: Units) -> bool:
    """Whether every perturbation is predicted by a single row."""
    return bool(state.n) and int(state.counts.max()) <= 1


def _over(state: Units, name: str, fdr: float, test: str, compare: Compare, policy: str, *more: object) -> Outcome:
    whole = state.whole or state
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no perturbations")
    sides = whole.shared(("de", fdr, test), lambda: _sides(whole, fdr, test))
    if isinstance(sides, Outcome):
        return sides

    def build(s: Units) -> list[Unit]:
        return [sides.gaps.get(p) or compare(sides, p) for p in range(s.n)]

    return over_units(state, (name, fdr, test, *more), build, policy=policy)


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
    state: Units, *, k: int = 0, fdr: float = 0.05, policy: str = "strict", test: str = "truth"
) -> Outcome:
    """|top-k true ∩ top-k predicted|/k, genes of FDR below ``fdr`` by |log2 fold change|.

    Args:
        state: Perturbations with predicted cells.
        k: Genes looked at, at most as many as are truly differential; 0: as many.
        fdr: Threshold of both sides.
        policy: What an undefined perturbation does to the mean.
        test: ``wilcoxon``, ``pseudobulk`` (between the replicates that both sides tell), or ``truth``: the test of the
            solution's lists, else pseudobulk where the truth tells replicates.

    Returns:
        Value in [0, 1]; genes of equal |fold change| are taken in the order of their names. No true gene:
        ``both_empty`` where none is predicted, else ``no_reference_effect``.
    """

    def compare(sides: Sides, p: int) -> Unit:
        depth = _depth(sides, p, k)
        if not depth:
            return _no_effect(sides, p) or 0.0
        return len(_common(sides, p, depth)) / depth

    return _over(state, "overlap", fdr, test, compare, policy, k)


def de_precision_at_n(
    state: Units, *, k: int = 0, fdr: float = 0.05, policy: str = "strict", test: str = "truth"
) -> Outcome:
    """As :func:`de_overlap_at_n`, over min(k, predicted genes); undefined where none is predicted."""

    def compare(sides: Sides, p: int) -> Unit:
        depth, called = _depth(sides, p, k), int(sides.hits[p].sum())
        if not depth:
            return _no_effect(sides, p) or 0.0
        if not called:
            return Outcome.undefined("no_positives", "no gene is predicted to be differential")
        return len(_common(sides, p, depth)) / min(depth, called)

    return _over(state, "precision", fdr, test, compare, policy, k)


def _common(sides: Sides, p: int, k: int) -> set[int]:
    true = _strongest(sides.true_change[p], sides.true_hits[p], k, sides.order)
    return true & _strongest(sides.change[p], sides.hits[p], k, sides.order)


def de_recall(state: Units, *, fdr: float = 0.05, policy: str = "strict", test: str = "truth") -> Outcome:
    """Share of the truly differential genes that are predicted to be so."""

    def compare(sides: Sides, p: int) -> Unit:
        return _no_effect(sides, p) or float(sides.hits[p][sides.true_hits[p]].mean())

    return _over(state, "recall", fdr, test, compare, policy)


def de_direction_match(state: Units, *, fdr: float = 0.05, policy: str = "strict", test: str = "truth") -> Outcome:
    """Share of the truly differential genes whose predicted fold change has the true sign; no change is wrong."""

    def compare(sides: Sides, p: int) -> Unit:
        genes = sides.true_hits[p]
        return _no_effect(sides, p) or float(
            (np.sign(sides.change[p][genes]) == np.sign(sides.true_change[p][genes])).mean()
        )

    return _over(state, "direction", fdr, test, compare, policy)


def de_spearman_lfc(state: Units, *, fdr: float = 0.05, policy: str = "strict", test: str = "truth") -> Outcome:
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

    return _over(state, "spearman lfc", fdr, test, compare, policy)


def de_count_spearman(state: Units, *, fdr: float = 0.05, test: str = "truth") -> Outcome:
    """Spearman correlation over perturbations of the numbers of differential genes."""
    whole = state.whole or state
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no perturbations")
    sides = whole.shared(("de", fdr, test), lambda: _sides(whole, fdr, test))
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


def de_auroc(state: Units, *, fdr: float = 0.05, policy: str = "strict", test: str = "truth") -> Outcome:
    """AUROC of the truly differential genes by predicted −log10 FDR; ties count half."""
    return _over(state, "auroc", fdr, test, lambda sides, p: _ranking(sides, p)[0], policy)


def de_average_precision(state: Units, *, fdr: float = 0.05, policy: str = "strict", test: str = "truth") -> Outcome:
    """Average precision of the truly differential genes by predicted −log10 FDR, tied genes entering together."""
    return _over(state, "average precision", fdr, test, lambda sides, p: _ranking(sides, p)[1], policy)


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
