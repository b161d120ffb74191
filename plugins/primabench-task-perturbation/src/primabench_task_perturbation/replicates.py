"""Replicates (donors) of both sides: which the truth knows, how it was tested between them, what a prediction names."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.spec import Outcome
from primabench_core.state.units import Units
from primabench_task_perturbation.profiles import contexts_of, control_rows, profiles_of, role_of
from primabench_task_perturbation.pseudobulk import design_of
from primabench_task_perturbation.roles import CELL, REPLICATE, UNTOLD


@frozen(eq=False)
class Known:
    """What the cells of the truth say about replicates."""

    at: dict[str, int]
    """Number of each name."""
    carried: NDArray[np.bool_]
    """(P, k) whether the truth has cells of a replicate under a perturbation, or in its control."""
    design: NDArray[np.int8]
    """(P,) how the truth is tested; ``pseudobulk.OWN`` where its cells do not say it, as where it holds only lists."""


def known_of(state: Units) -> Known:
    """The replicates of the truth, made once for all metrics."""
    return state.shared("replicates of the truth", lambda: _known(state))


def _known(state: Units) -> Known:
    column = np.asarray(state.truth[REPLICATE], object).astype(str)
    told = (role_of(state) == CELL) & (column != UNTOLD)
    names = np.unique(column[told])
    context, contexts = contexts_of(state)
    own, control = np.zeros((state.n, len(names)), bool), np.zeros((contexts, len(names)), bool)
    for table, place, chosen in ((own, state.home, state.home >= 0), (control, context, control_rows(state))):
        rows = np.flatnonzero(told & chosen)
        table[place[rows], np.searchsorted(names, column[rows])] = True
    beside = control[profiles_of(state).context]
    design = np.array([design_of(own[p], beside[p]) for p in range(state.n)], np.int8)
    return Known({name: i for i, name in enumerate(names.tolist())}, own | beside, design)


def refused(state: Units) -> Outcome | None:
    """Why the replicates of a prediction cannot be compared with those of the truth; None where they can.

    Names of the truth are counted and never said.
    """
    known = known_of(state)
    column: Any = state.prediction[REPLICATE]
    names, place = np.unique(np.asarray(column, object).astype(str), return_inverse=True)
    rows = np.flatnonzero(state.predicted_home >= 0)
    home, place = state.predicted_home[rows], place[rows]
    bare = int((names[place] == UNTOLD).sum())
    if bare:
        return Outcome.undefined("not_applicable", f"the prediction does not say the {REPLICATE} of {bare} cells")
    code = np.array([known.at.get(name, -1) for name in names.tolist()], np.int64)[place]
    strange = code < 0
    there = np.flatnonzero(~strange)
    strange[there] = ~known.carried[home[there], code[there]]
    count = len(np.unique(place[strange]))
    if count:
        what = (
            f"the prediction names {count} {REPLICATE}s that the truth has not under the same perturbation or control"
        )
        return Outcome.undefined("not_applicable", f"{what}, in {int(strange.sum())} cells")
    return None
