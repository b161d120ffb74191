"""What a probe may learn from and what it is scored on: roles, folds and groups, checked before anything is fitted."""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_core.state.rows import Labels, Rows

Ints = NDArray[np.int64]


@frozen
class Split:
    """One fit and the rows it is scored on."""

    name: str
    fit: Ints
    score: Ints


def splits_of(state: Rows) -> tuple[Split, ...]:
    """The splits of the truth: one by ``role`` (``fit`` and ``score``), or one a ``fold`` (all other folds fit).

    Raises:
        ContractError: neither field or both are there, a role has another name, a side is empty, there is one fold
            only, or rows of one ``group`` lie on both sides of a split.
    """
    role, fold = _labels(state, "role"), _labels(state, "fold")
    if (role is None) == (fold is None):
        found = "neither" if role is None else "both"
        raise ContractError([Violation("role", "either 'role' or 'fold' in the truth", found)], what="The truth")
    splits = _by_role(role) if role is not None else _by_fold(fold)
    _check_groups(_labels(state, "group"), splits)
    return splits


def _labels(state: Rows, name: str) -> Labels | None:
    column = state.truth.get(name)
    return column if isinstance(column, Labels) else None


def _by_role(role: Labels) -> tuple[Split, ...]:
    others = [c for c in role.classes if c not in ("fit", "score")]
    code = {name: place for place, name in enumerate(role.classes)}
    fit, score = (np.flatnonzero(role.codes == code.get(side, -1)) for side in ("fit", "score"))
    if others or not len(fit) or not len(score):
        found = "other roles, too" if others else "one of them alone"
        raise ContractError([Violation("role", "the roles 'fit' and 'score'", found)], what="The truth")
    return (Split("score", fit, score),)


def _by_fold(fold: Labels | None) -> tuple[Split, ...]:
    codes = np.empty(0, np.int64) if fold is None else fold.codes
    present = np.unique(codes).tolist()
    if fold is None or len(present) < 2:
        raise ContractError([Violation("fold", "at least two folds", str(len(present)))], what="The truth")
    return tuple(Split(str(fold.classes[f]), np.flatnonzero(codes != f), np.flatnonzero(codes == f)) for f in present)


def _check_groups(group: Labels | None, splits: tuple[Split, ...]) -> None:
    if group is None:
        return
    for split in splits:
        shared = np.intersect1d(group.codes[split.fit], group.codes[split.score])
        if len(shared):
            raise ContractError(
                [
                    Violation(
                        "group",
                        "each group on one side of every split",
                        f"{len(shared)} on both sides",
                        remedy="Rows of one patient must not teach the probe about themselves.",
                    )
                ],
                what="The truth",
            )


def row_names(state: Rows) -> tuple[str, ...]:
    """What rows are drawn and ordered by: their ids, or their numbers where the truth has no ids."""
    return tuple(state.ids) if state.ids is not None else tuple(map(str, range(state.n)))


def is_stratified(codes: Ints, splits: tuple[Split, ...], group: Labels | None) -> bool:
    """Whether every fold holds its share of each class, give or take one row, or one group where there are groups."""
    slack = 1 if group is None or not len(group.codes) else int(np.bincount(group.codes).max())
    counts = np.bincount(codes)
    scored = sum(len(s.score) for s in splits)
    for split in splits:
        share = counts * (len(split.score) / scored)
        if (np.abs(np.bincount(codes[split.score], minlength=len(counts)) - share) > slack).any():
            return False
    return True
