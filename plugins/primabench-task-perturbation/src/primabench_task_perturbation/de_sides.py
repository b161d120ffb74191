"""Differential expression of both sides: of the solution, and by the same test and controls of a prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from primabench_core.spec import Outcome
from primabench_core.state.units import Units
from primabench_task_perturbation import pseudobulk, wilcoxon
from primabench_task_perturbation.profiles import VALUE, cell_keys, contexts_of, control_rows, profiles_of, role_of
from primabench_task_perturbation.replicates import known_of, refused
from primabench_task_perturbation.roles import CELL, DE_METHOD, REPLICATE
from primabench_task_perturbation.wilcoxon import Differential


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


def _differential(
    state: Units, method: str, *, predicted: bool, half: NDArray[np.bool_] | None = None
) -> Differential | Outcome:
    """The test on one side of all perturbations, each against the control cells of its context.

    Args:
        state: Perturbations.
        method: Name and version of the test.
        predicted: Test predicted cells, else those of the truth.
        half: (true rows,) which cells of the truth are tested; None for all.
    """
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
        why = refused(state) if predicted else None
        if why is not None:
            return why
    elif method != wilcoxon.METHOD:
        return Outcome.undefined("not_applicable", f"the truth was tested by {method!r}, which this version has not")
    cells = side[VALUE]
    home = state.predicted_home if predicted else np.where(is_cell if half is None else is_cell & half, state.home, -1)
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
                # the branch that the cells of the truth take, also on a prediction with fewer of its replicates
                found = pseudobulk.differential(
                    cells,
                    place[home],
                    names[0],
                    len(mine),
                    value[own],
                    np.asarray(names[1], object)[own],
                    known_of(state).design[mine],
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


def sides_of(state: Units, fdr: float, test: str) -> Sides | Outcome:
    """Both sides under one threshold, or why there are none."""
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
    return _compared(state, true, mine, fdr)


def _compared(state: Units, true: Differential, mine: Differential, fdr: float) -> Sides:
    threshold = -np.log10(fdr)
    whys = {p: f"predicted: {why}" for p, why in mine.gaps.items()}
    whys |= {p: f"true: {why}" for p, why in true.gaps.items()}
    return Sides(
        true.log_fold_change,
        true.significance > threshold,
        mine.log_fold_change,
        mine.significance > threshold,
        mine.significance,
        _by_name(profiles_of(state).genes),
        {p: Outcome.undefined("too_few_items", why) for p, why in whys.items()},
    )


def trivial_sides(state: Units, fdr: float, test: str) -> dict[str, Sides]:
    """What stands beside a score: ``no_change`` (nothing is predicted to differ from control) and ``data_ceiling``.

    The ceiling is the test of one half of the true cells against that of the other, with the same controls; it is there
    where every perturbation has four cells.
    """
    method = _method(state, test)
    true = state.shared(("true differential", method), lambda: _truth(state, method))
    if isinstance(true, Outcome):
        return {}
    nothing = np.zeros_like(true.log_fold_change)
    found = {"no_change": _compared(state, true, Differential(nothing, nothing), fdr)}
    halves = state.of_truth(("halves of differential", method), lambda: _halves(state, method))
    if halves is not None:
        found["data_ceiling"] = _compared(state, halves[0], halves[1], fdr)
    return found


def _halves(state: Units, method: str) -> tuple[Differential, Differential] | None:
    """The test on each half of the true cells, dealt in turn by hash inside of a perturbation and replicate."""
    rows = np.flatnonzero((role_of(state) == CELL) & (state.home >= 0))
    if np.bincount(state.home[rows], minlength=state.n).min(initial=4) < 4:
        return None
    column = state.truth.get(REPLICATE)
    replicate = np.zeros(len(rows), np.int64)
    if column is not None:
        replicate = np.unique(np.asarray(column, object)[rows].astype(str), return_inverse=True)[1]
    order = np.lexsort((cell_keys(state, rows, 0), replicate, state.home[rows]))
    left = np.zeros(len(state.home), bool)
    left[rows[order[::2]]] = True
    sides = [_differential(state, method, predicted=False, half=half) for half in (left, ~left)]
    pair = [side for side in sides if isinstance(side, Differential)]
    return (pair[0], pair[1]) if len(pair) == 2 else None


def _by_name(genes: Sequence[str]) -> NDArray[np.int64]:
    found = np.empty(len(genes), np.int64)
    found[np.argsort(np.asarray(genes, object), kind="stable")] = np.arange(len(genes))
    return found


def is_pseudobulk(state: Units) -> bool:
    """Whether every perturbation is predicted by a single row."""
    return bool(state.n) and int(state.counts.max()) <= 1
