"""Log-normalised expression and names of perturbed cells, and the facts that a solution carries beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core import CorruptDataError, EvalData
from primabench_core.state.grouped_sums import GroupedSums
from primabench_task_perturbation import pseudobulk, wilcoxon
from primabench_task_perturbation.genes import THRESHOLD
from primabench_task_perturbation.names import JOINT, parts_of
from primabench_task_perturbation.roles import (
    ADDITIVE,
    CELL,
    CONTROL,
    DE_METHOD,
    LOG_FOLD_CHANGE,
    MEAN_OF_TRAIN,
    RANK,
    REPLICATE,
    SIGNIFICANCE,
    TARGET,
    UNTOLD,
)
from primabench_task_perturbation.wilcoxon import Differential

if TYPE_CHECKING:
    from primabench_core.store.prepare import Splits

TARGET_SUM = 1e4
LISTED = 200
"""Differential genes that a solution lists for a perturbation."""
COLUMNS = {"value": "genes"}
_ROWS = 4096


@frozen(eq=False)
class Cells:
    """Cells of a dataset in the form of the task."""

    ids: Sequence[str]
    genes: Sequence[str]
    value: Any
    """(cells, genes) float32 log values, CSR or an array."""
    perturbation: NDArray[Any]
    """(cells,) normalised names."""
    context: NDArray[Any] | None = None
    """(cells,) cell type or batch whose controls count; None for one context."""
    replicate: NDArray[Any] | None = None
    """(cells,) donor or sample, between which differential expression is tested; None: between cells."""

    @property
    def names(self) -> list[str]:
        """Perturbations without control, sorted."""
        return sorted(set(self.perturbation.tolist()) - {CONTROL})

    def rows(self, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Numbers of some cells."""
        return np.flatnonzero(chosen)


def log_normalised(counts: Any) -> Any:
    """log(1 + counts per 10,000) of each cell, CSR float32; a cell without counts stays 0."""
    from scipy import sparse

    matrix = sparse.csr_matrix(counts, dtype=np.float64)
    totals = np.asarray(matrix.sum(axis=1)).ravel()
    factor = np.divide(TARGET_SUM, totals, out=np.zeros(len(totals)), where=totals > 0)
    found = sparse.diags(factor) @ matrix
    found.data = np.log1p(found.data)
    return sparse.csr_matrix(found, dtype=np.float32)


def most_variable(value: Any, rows: NDArray[np.int64], k: int, always: NDArray[np.int64]) -> NDArray[np.int64]:
    """Columns of largest variance over some rows, at most k, and those that are always taken; ascending.

    Only these rows are looked at, so that nothing of the held-out cells enters.
    """
    part = value[rows]
    square = part.multiply(part) if hasattr(part, "multiply") and hasattr(part, "tocsr") else np.square(part)
    mean, second = (np.asarray(m.mean(axis=0), np.float64).ravel() for m in (part, square))
    order = np.lexsort((np.arange(len(mean)), -np.round(second - mean * mean, 9)))
    return np.unique(np.concatenate([order[:k], always]))


def splits_of(cells: Cells, classes: Mapping[str, str], *, held: NDArray[np.bool_] | None = None) -> Splits:
    """Train, test and solution.

    Args:
        cells: All cells.
        classes: ``train``, or the class of a held-out perturbation, for each name.
        held: (cells,) cells of the solution where perturbations alone do not say it; by default the cells of held-out
            perturbations. Control cells are in the solution, and in training unless held.

    Raises:
        CorruptDataError: there are no control cells, nothing is held out or left, or replicates are given of which a
            held-out perturbation has fewer than two on a side, or of which a name contains ``+``, that joins them.
    """
    from primabench_core.store.prepare import Splits

    control = cells.perturbation == CONTROL
    tested = sorted(name for name, kind in classes.items() if kind != "train")
    if not control.any() or not tested or (len(tested) == len(classes) and held is None):
        raise CorruptDataError("perturbed cells need controls, training perturbations and held-out ones")
    mine = np.isin(cells.perturbation, tested) if held is None else held & ~control
    own_control = control if held is None else control & held
    train = cells.rows(~mine & ~(own_control & (held is not None)))
    answers = cells.rows(mine | own_control)
    asked = {
        "target_genes": np.array([JOINT.join(parts_of(name)) for name in tested], object),
        "split_class": np.array([classes[name] for name in tested], object),
    }
    if cells.replicate is not None:
        _refuse_joint(cells.replicate)
        held_out = [sorted(set(cells.replicate[mine & (cells.perturbation == name)].tolist())) for name in tested]
        asked["replicates"] = np.array([JOINT.join(names) for names in held_out], object)
    return Splits(
        train=_table(cells, train),
        test=EvalData(asked, ids=tested),
        solution=_solution(cells, answers, train, tested),
        columns=COLUMNS,
    )


def _refuse_joint(replicate: NDArray[Any]) -> None:
    """Names that could not be told apart once they are joined."""
    strange = sorted({str(name) for name in replicate.tolist() if JOINT in str(name)})
    if strange:
        raise CorruptDataError(
            f"{len(strange)} names of replicates contain {JOINT!r}, which joins the names of several, such as "
            f"{strange[0]!r}: rename them in the recipe"
        )


def _table(cells: Cells, rows: NDArray[np.int64]) -> EvalData:
    fields = {"value": cells.value[rows], "perturbation": cells.perturbation[rows]}
    if cells.context is not None:
        fields["context"] = cells.context[rows]
    if cells.replicate is not None:
        fields[REPLICATE] = cells.replicate[rows]
    return EvalData(fields, ids=[cells.ids[i] for i in rows.tolist()], coords={"genes": tuple(cells.genes)})


def _solution(cells: Cells, answers: NDArray[np.int64], train: NDArray[np.int64], tested: Sequence[str]) -> EvalData:
    table = _table(cells, answers)
    names = table["perturbation"]
    context = None if cells.context is None else table["context"]
    facts = _Facts(len(cells.genes))
    contexts = _contexts(names, context, tested)
    method, found = _tested(table, contexts, tested)
    change, significance = found.log_fold_change, found.significance
    for p, name in enumerate(tested):
        facts.add(name, LOG_FOLD_CHANGE, change[p])
        facts.add(name, SIGNIFICANCE, significance[p])
        facts.add(name, RANK, _ranked(change[p], significance[p], cells.genes))
        targets = np.isin(np.asarray(cells.genes, object), list(parts_of(name)))
        if targets.any():
            facts.add(name, TARGET, targets.astype(np.float32))
    _add_baselines(facts, cells, train, tested)
    return facts.behind(table, contexts, method)


def _tested(table: EvalData, contexts: Mapping[str, Any], tested: Sequence[str]) -> tuple[str, Differential]:
    """Method and differential expression of the held-out perturbations: between replicates where there are any."""
    value, names = table["value"], table["perturbation"]
    replicate = table.fields.get(REPLICATE)
    groups: dict[Any, list[int]] = {}
    for p, name in enumerate(tested):
        groups.setdefault(contexts[name], []).append(p)
    place = {name: i for i, name in enumerate(tested)}
    home = np.array([place.get(n, -1) for n in names], np.int64)
    change, significance = (np.zeros((len(tested), value.shape[1]), np.float32) for _ in range(2))
    for group, members in groups.items():
        control = np.flatnonzero((names == CONTROL) & (True if group is None else table["context"] == group))
        if len(control) < 2:
            raise CorruptDataError(f"context {group!r} has fewer than two control cells")
        at = np.full(len(tested) + 1, -1, np.int64)
        own = np.array(members)
        at[own] = np.arange(len(own))
        if replicate is None:
            found = wilcoxon.differential(value, at[home], len(own), value[control])
        else:
            found = pseudobulk.differential(value, at[home], replicate, len(own), value[control], replicate[control])
        for p, why in found.gaps.items():
            raise CorruptDataError(f"perturbation {tested[members[p]]!r} has {why}")
        change[own], significance[own] = found.log_fold_change, found.significance
    method = wilcoxon.METHOD if replicate is None else pseudobulk.METHOD
    return method, Differential(change, significance)


def _contexts(names: NDArray[Any], context: NDArray[Any] | None, tested: Sequence[str]) -> dict[str, Any]:
    """Context of each held-out perturbation; refuses one that lies in several."""
    if context is None:
        return dict.fromkeys(tested)
    found: dict[str, Any] = {}
    for name in tested:
        kinds = sorted(set(context[names == name].tolist()))
        if len(kinds) != 1:
            raise CorruptDataError(f"perturbation {name!r} lies in {len(kinds)} contexts")
        found[name] = kinds[0]
    return found


def _ranked(change: NDArray[Any], significance: NDArray[Any], genes: Sequence[str]) -> NDArray[np.float32]:
    """Places of the differential genes from 1, by adjusted p, then fold change, then name."""
    order = np.lexsort((np.asarray(genes, object).astype(str), -np.abs(change), -significance))
    order = order[significance[order] > THRESHOLD][:LISTED]
    found = np.zeros(len(genes), np.float32)
    found[order] = np.arange(1, len(order) + 1)
    return found


def means_of(data: EvalData) -> tuple[list[str], NDArray[np.float64]]:
    """Names, sorted, and (names, genes) exact mean profiles of labelled cells, control among them."""
    names = np.asarray(data["perturbation"], object)
    distinct, codes = np.unique(names.astype(str), return_inverse=True)
    value = data["value"]
    sums = GroupedSums(len(distinct), value.shape[1])
    for start in range(0, len(names), _ROWS):
        part = value[start : start + _ROWS]
        part = part.toarray() if hasattr(part, "toarray") else np.asarray(part)
        sums.add(np.ascontiguousarray(part), codes[start : start + _ROWS].astype(np.int64))
    return distinct.tolist(), sums.means()


def additive_of(name: str, means: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64] | None:
    """Control plus the effects of the parts; None unless every part was seen alone and there are several."""
    parts = parts_of(name)
    if len(parts) < 2 or not all(part in means for part in parts):
        return None
    return np.asarray(means[CONTROL] + sum(means[part] - means[CONTROL] for part in parts))


def _add_baselines(facts: _Facts, cells: Cells, train: NDArray[np.int64], tested: Sequence[str]) -> None:
    names, profiles = means_of(_table(cells, train))
    means = dict(zip(names, profiles, strict=True))
    seen = [profile for name, profile in means.items() if name != CONTROL]
    if seen:
        facts.add(CONTROL, MEAN_OF_TRAIN, np.mean(seen, axis=0))
    for name in tested:
        profile = additive_of(name, means) if CONTROL in means else None
        if profile is not None:
            facts.add(name, ADDITIVE, profile)


class _Facts:
    """Rows behind the cells of a solution."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.rows: list[NDArray[np.float32]] = []
        self.names: list[str] = []
        self.roles: list[str] = []

    def add(self, name: str, role: str, row: Any) -> None:
        self.rows.append(np.asarray(row, np.float32))
        self.names.append(name)
        self.roles.append(role)

    def behind(self, table: EvalData, contexts: Mapping[str, Any], method: str) -> EvalData:
        """The cells and then the facts."""
        value = table["value"]
        extra = np.stack(self.rows)
        if hasattr(value, "tocsr"):
            from scipy import sparse

            value = sparse.vstack([value, sparse.csr_matrix(extra)], format="csr")
        else:
            value = np.concatenate([np.asarray(value, np.float32), extra])
        n = len(self.names)
        fields: dict[str, Any] = {
            "value": value,
            "perturbation": np.concatenate([table["perturbation"], np.array(self.names, object)]),
            "role": np.array([CELL] * table.n + self.roles, object),
        }
        if "context" in table:
            first = table["context"][0]
            fields["context"] = np.concatenate(
                [table["context"], np.array([contexts.get(name, first) for name in self.names], object)]
            )
        if REPLICATE in table:
            fields[REPLICATE] = np.concatenate([table[REPLICATE], np.full(n, UNTOLD, object)])
        ids = [*(table.ids or ()), *(f"{self.roles[i]}:{self.names[i]}" for i in range(n))]
        return EvalData(fields, ids=ids, coords={**table.coords, DE_METHOD: (method,)})
