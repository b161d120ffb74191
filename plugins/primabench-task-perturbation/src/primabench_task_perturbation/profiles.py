"""What the metrics of mean profiles share: true means, controls, lists of genes, made once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_core.state.grouped_sums import GroupedSums
from primabench_core.state.rows import Labels
from primabench_core.state.unit_samples import row_keys
from primabench_core.state.units import Units
from primabench_task_perturbation.roles import (
    ADDITIVE,
    CELL,
    CONTROL,
    LOG_FOLD_CHANGE,
    MEAN_OF_TRAIN,
    RANK,
    SIGNIFICANCE,
    TARGET,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
VALUE = "value"
FDR = 0.05
HALVES = 3
"""Random halvings of the true cells that the data ceiling is a mean of."""
_BLOCKS = 8


@frozen(eq=False, slots=False)
class Profiles:
    """The true side of perturbations, each in the context of its own controls.

    Shapes: P perturbations, m genes.
    """

    names: Sequence[str]
    genes: Sequence[str]
    """(m,) names; numbers where the truth has none."""
    means: Floats
    """(P, m) mean of the cells of each perturbation."""
    controls: Floats | None
    """(contexts, m) mean of the control cells; None if there are none."""
    context: Ints
    """(P,) context of each perturbation."""
    mean_of_train: Floats | None = None
    """(m,)."""
    additive: Floats | None = None
    """(P, m), NaN where a perturbation has none."""
    log_fold_change: Floats | None = None
    """(P, m)."""
    significance: Floats | None = None
    """(P, m)."""
    rank: Floats | None = None
    """(P, m) place of each gene in the list of differential genes, 0 if it is not listed."""
    targets: NDArray[np.bool_] | None = None
    """(P, m) genes that a perturbation is aimed at."""

    @property
    def control(self) -> Floats:
        """(P, m) control profile of each perturbation.

        Raises:
            ContractError: the truth has no control.
        """
        if self.controls is None:
            remedy = f"give 'control', or rows whose perturbation is {CONTROL!r}"
            raise ContractError([Violation("control", "a control profile", "none", remedy=remedy)], what="The truth")
        return self.controls[self.context]

    def of(self, means: Floats) -> Profiles:
        """The same facts with other true means."""
        return evolve(self, means=means)


def profiles_of(state: Units) -> Profiles:
    """The true side of a view, made once for all metrics."""
    return state.of_truth("profiles", lambda: _build(state))


def _build(state: Units) -> Profiles:
    value: Any = state.truth[VALUE]
    roles = role_of(state)
    context, contexts = contexts_of(state)
    is_cell = roles == CELL
    m = value.shape[1]
    group = np.full(len(value), state.n + contexts, np.int64)
    mine, control = is_cell & (state.home >= 0), is_cell & control_rows(state)
    group[mine] = state.home[mine]
    group[control] = state.n + context[control]
    sums = GroupedSums(state.n + contexts + 1, m).add(np.asarray(value), group)
    sums.counts[-1] = 0
    empty = [state.ids[i] for i in np.flatnonzero(sums.counts[: state.n] == 0).tolist()]
    if empty:
        raise ContractError(
            [Violation("perturbation", "at least one row of each", "none", tuple(empty[:5]), len(empty))],
            what="The truth",
        )
    means = sums.means()
    have_control = bool((sums.counts[state.n : -1] > 0).any())
    unit_context = np.zeros(state.n, np.int64)
    rows = np.flatnonzero(mine)
    unit_context[state.home[rows]] = context[rows]
    split = np.unique(state.home[rows][unit_context[state.home[rows]] != context[rows]])
    if len(split):
        names = tuple(state.ids[p] for p in split[:5].tolist())
        remedy = "name a perturbation after its context too, such as 'B cell:stimulated'"
        raise ContractError(
            [Violation("context", "one for each perturbation", "several", names, len(split), remedy)], what="The truth"
        )
    if have_control and (sums.counts[state.n : -1][unit_context] == 0).any():
        raise ContractError([Violation("context", "a control in the context of each perturbation", "none")])
    genes = state.coords.get("genes", ())
    train = np.flatnonzero(roles == MEAN_OF_TRAIN)
    return Profiles(
        names=state.ids,
        genes=genes if len(genes) == m else [f"{i:06d}" for i in range(m)],
        means=means[: state.n],
        controls=means[state.n : -1] if have_control else None,
        context=unit_context,
        mean_of_train=np.asarray(value[train[0]], np.float64) if len(train) else None,
        additive=_placed(state, roles == ADDITIVE, np.nan),
        log_fold_change=_placed(state, roles == LOG_FOLD_CHANGE, 0.0),
        significance=_placed(state, roles == SIGNIFICANCE, 0.0),
        rank=_placed(state, roles == RANK, 0.0),
        targets=_targets(state, roles),
    )


def role_of(state: Units) -> NDArray[Any]:
    """(rows,) role of each true row."""
    column = state.truth.get("role")
    if column is None:
        return np.full(len(state.home), CELL, object)
    assert isinstance(column, Labels)
    return column.values()


def control_rows(state: Units) -> NDArray[np.bool_]:
    """(rows,) which true rows stand under the name of the control."""
    column = state.truth.get("perturbation")
    if column is None:
        return np.zeros(len(state.home), bool)
    return np.asarray(column, object) == CONTROL


def contexts_of(state: Units) -> tuple[Ints, int]:
    """(rows,) context of each true row, and how many there are."""
    column = state.truth.get("context")
    if column is None:
        return np.zeros(len(state.home), np.int64), 1
    assert isinstance(column, Labels)
    return column.codes, len(column.classes)


def _placed(state: Units, chosen: NDArray[np.bool_], gap: float) -> Floats | None:
    """(P, m) rows of a role, each at its perturbation; None if there is none at all."""
    value: Any = state.truth[VALUE]
    rows = np.flatnonzero(chosen & (state.home >= 0))
    if not chosen.any():
        return None
    found = np.full((state.n, value.shape[1]), gap)
    found[state.home[rows]] = value[rows]
    return found


def _targets(state: Units, roles: NDArray[Any]) -> NDArray[np.bool_] | None:
    """The genes that the solution says, else the gene of exactly the perturbation's name."""
    told = _placed(state, roles == TARGET, 0.0)
    if told is not None:
        return np.asarray(told > 0, np.bool_)
    at = {gene: i for i, gene in enumerate(state.coords.get("genes", ()))}
    found = np.zeros((state.n, np.shape(state.truth[VALUE])[1]), bool)
    for p, name in enumerate(state.ids):
        if name in at:
            found[p, at[name]] = True
    return found


def cell_keys(state: Units, rows: Ints, seed: int) -> NDArray[np.uint64]:
    """(rows,) hash of the ids of some true rows; of their numbers where they have none."""
    ids = state.truth_ids
    return row_keys([str(i) if ids is None else ids[i] for i in rows.tolist()], seed)


def halves_of(state: Units) -> Sequence[tuple[Floats, Floats]]:
    """Pairs of means of random halves of the true cells; none where a perturbation has a single row.

    Made once for all metrics, and let go with the view: what stays with the truth are the ceilings.
    """
    return state.shared("halves", lambda: _halves(state))


def _halves(state: Units) -> list[tuple[Floats, Floats]]:
    """Means of halves: the cells of a perturbation are dealt into eight blocks by hash, four of which make a half."""
    value: Any = state.truth[VALUE]
    rows = np.flatnonzero((role_of(state) == CELL) & (state.home >= 0))
    counts = np.bincount(state.home[rows], minlength=state.n)
    if not len(rows) or counts.min() < 2:
        return []
    order = rows[np.lexsort((cell_keys(state, rows, 0), state.home[rows]))]
    home = state.home[order]
    within = np.arange(len(order)) - np.searchsorted(home, home)
    sums = np.zeros((state.n, _BLOCKS, value.shape[1]))
    sizes = np.zeros((state.n, _BLOCKS))
    ends = np.cumsum(counts)
    for p, (start, stop) in enumerate(zip(ends - counts, ends, strict=True)):
        block = within[start:stop] % _BLOCKS
        for b in range(min(_BLOCKS, stop - start)):
            part = value[order[start:stop][block == b]]
            sums[p, b], sizes[p, b] = part.sum(axis=0, dtype=np.float64), len(part)
    found = []
    for draw in range(HALVES):
        # a perturbation of k < 8 cells fills the first k blocks: alternate ones, so that neither half is empty
        many = counts.min() >= _BLOCKS
        left = (np.arange(_BLOCKS) >> (draw if many else 0)) % 2 == 0
        sides = [sums[:, s].sum(axis=1) / sizes[:, s].sum(axis=1)[:, None] for s in (left, ~left)]
        found.append((sides[0], sides[1]))
    return found
