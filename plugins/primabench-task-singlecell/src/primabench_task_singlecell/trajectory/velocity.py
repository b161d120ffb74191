"""Metrics of velocities: do they point to the next stage, and do cells of one kind agree."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core import statistics
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_core.spec import Outcome
from primabench_core.state.rows import Labels, Rows
from primabench_task_singlecell.integration.pairs import scan
from primabench_task_singlecell.integration.work import device_of, order_of
from primabench_task_singlecell.trajectory.stages import name_of, stage_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BLOCK = 1 << 22
"""Numbers of a block of differences."""


@frozen(eq=False)
class Scores:
    """A number for each cell that could be asked, and why some have none."""

    cells: Ints
    """Cells that were asked."""
    value: Floats
    """Their means; NaN where a velocity of length zero leaves none."""


def cbdir(state: Rows, *, k: int = 30, policy: str = "strict") -> Outcome:
    """Cross-boundary direction correctness (Qiao & Huang 2021, doi:10.1073/pnas.2105859118).

    A boundary cell is one that has cells of the next stage among its k nearest (Euclidean, exact, equal distances in
    the order of ids). Its score is the mean over these of the cosine of its velocity and the way to the neighbour. The
    value is the mean over boundary cells.

    Args:
        state: ``velocity`` (n, genes) against ``expression`` (n, genes) and ``stage`` (n,).
        k: Neighbours, the cell itself not among them.
        policy: What a boundary cell without a velocity (length 0) does: ``strict`` leaves the metric without a value.

    Returns:
        Value in [-1, 1]; ``per_unit`` holds the mean of each step (``0>1``), ``values`` their mean
        (``mean_over_steps``, the order of reduction of the authors' script) and ``n_boundary_cells``.
        ``not_applicable`` without velocities, ``constant_truth`` of one stage, ``no_comparable_pair`` without boundary
        cells.
    """
    if "velocity" not in state.prediction:
        return Outcome.undefined("not_applicable", "no velocities were predicted")
    stage = stage_of(state)
    levels, codes = np.unique(stage, return_inverse=True)
    if len(levels) < 2:
        reason = "constant_truth" if state.n else "too_few_items"
        return Outcome.undefined(reason, "all cells are of one stage" if state.n else "there are no cells")
    velocity, place, near = _given(state, k)
    ahead = codes[near] == codes[:, None] + 1
    rows, columns = np.nonzero(ahead)
    found = _means(velocity, place, rows, near[rows, columns])
    groups = {name_of(levels, step): codes[found.cells] == step for step in range(len(levels) - 1)}
    groups = {name: members for name, members in groups.items() if members.any()}
    if not len(found.cells):
        detail = f"no cell has one of the next stage among its {near.shape[1]} nearest"
        return Outcome.undefined("no_comparable_pair", detail, values={"n_boundary_cells": 0})
    return _joined(found, groups, policy, "steps", "n_boundary_cells", k, near.shape[1])


def iccoh(state: Rows, *, k: int = 30, policy: str = "strict") -> Outcome:
    """In-cluster coherence (Qiao & Huang 2021, doi:10.1073/pnas.2105859118).

    The score of a cell is the mean cosine of its velocity and those of its k nearest that are of its cluster (of its
    stage where the truth has no clusters); the value is the mean over cells that have such neighbours. Velocities that
    all point one way reach 1, so this says how smooth they are, not whether they are right: read it beside ``cbdir``.

    Args:
        state: ``velocity`` (n, genes) against ``expression`` (n, genes), ``stage`` (n,), and ``cluster`` if known.
        k: Neighbours, the cell itself not among them.
        policy: What a cell without a velocity (length 0) does: ``strict`` leaves the metric without a value.

    Returns:
        Value in [-1, 1]; ``per_unit`` holds the mean of each cluster, ``values`` their mean (``mean_over_clusters``)
        and ``n_cells``. ``not_applicable`` without velocities, ``no_comparable_pair`` if no cell has such a neighbour.
    """
    if "velocity" not in state.prediction:
        return Outcome.undefined("not_applicable", "no velocities were predicted")
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no cells")
    names, codes = _clusters(state)
    velocity, _, near = _given(state, k)
    rows, columns = np.nonzero(codes[near] == codes[:, None])
    found = _means(velocity, None, rows, near[rows, columns])
    if not len(found.cells):
        detail = f"no cell has one of its cluster among its {near.shape[1]} nearest"
        return Outcome.undefined("no_comparable_pair", detail, values={"n_cells": 0})
    groups = {name: codes[found.cells] == code for code, name in enumerate(names)}
    groups = {name: members for name, members in groups.items() if members.any()}
    return _joined(found, groups, policy, "clusters", "n_cells", k, near.shape[1])


def _clusters(state: Rows) -> tuple[list[str], Ints]:
    column = state.truth.get("cluster")
    if isinstance(column, Labels):
        return [str(name) for name in column.classes], column.codes
    levels, codes = np.unique(stage_of(state), return_inverse=True)
    return [f"{level:g}" for level in levels], codes.astype(np.int64)


def _given(state: Rows, k: int) -> tuple[Floats, Floats, Ints]:
    """Velocities, places, and the nearest other cells of each cell.

    Raises:
        ContractError: velocities are not of the genes of the expression.
    """
    velocity, place = (
        np.asarray(side, np.float64) for side in (state.prediction["velocity"], state.truth["expression"])
    )
    if velocity.shape != place.shape:
        expected = f"one number for each of {place.shape[1]} columns of expression"
        raise ContractError([Violation("velocity", expected, f"{velocity.shape[1]} columns")])

    def build() -> Ints:
        found = scan(place, k, ranks=order_of(state.ids, state.n), device=device_of(state)).neighbours.index
        return found.astype(np.int64)

    return velocity, place, state.shared(("primabench_task_singlecell.trajectory.near", k), build)


def _means(velocity: Floats, place: Floats | None, rows: Ints, others: Ints) -> Scores:
    """Mean cosine of each cell's velocity and, for its others, the way there or (without places) their velocity.

    A pair of cells at one place has no direction and does not count; a pair with a velocity of length 0 has no cosine.
    """
    unit, moves = _unit(velocity)
    cosine = np.empty(len(rows))
    counts = np.ones(len(rows), bool)
    step = max(1, BLOCK // max(1, velocity.shape[1]))
    for start in range(0, len(rows), step):
        at, to = rows[start : start + step], others[start : start + step]
        if place is None:
            toward, known = unit[to], moves[to]
            fine = moves[at] & known
        else:
            toward, known = _unit(place[to] - place[at])
            counts[start : start + step] = known
            fine = moves[at]
        found = np.einsum("ij,ij->i", unit[at], toward)
        cosine[start : start + step] = np.where(fine, np.clip(found, -1.0, 1.0), np.nan)
    rows, cosine = rows[counts], cosine[counts]
    cells, place_of = np.unique(rows, return_inverse=True)
    usable = ~np.isnan(cosine)
    total = np.bincount(place_of[usable], cosine[usable], minlength=len(cells))
    number = np.bincount(place_of[usable], minlength=len(cells))
    return Scores(cells, np.divide(total, number, out=np.full(len(cells), np.nan), where=number > 0))


def _unit(vectors: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Vectors of length one, and which had a length at all; scaled first, so that no square under- or overflows."""
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    scaled = vectors / np.where(largest > 0, largest, 1.0)[:, None]
    length = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    return scaled / np.where(length > 0, length, 1.0)[:, None], largest > 0


def _joined(
    found: Scores,
    groups: Mapping[str, NDArray[np.bool_]],
    policy: str,
    noun: str,
    counted: str,
    asked: int,
    k: int,
) -> Outcome:
    """The mean over cells under a policy, and the means of their groups."""
    scores = [None if math.isnan(v) else v for v in found.value.tolist()]
    whys = ["" if v is not None else "constant_prediction" for v in scores]
    mean = statistics.aggregate_mean(value=scores, policy=policy, reason=whys)
    parts: dict[str, float | None] = {}
    for name, members in groups.items():
        inside = [v for v in found.value[members].tolist() if not math.isnan(v)]
        parts[name] = math.fsum(inside) / len(inside) if inside else None
    known = [v for v in parts.values() if v is not None]
    more = {
        "n": len(scores),
        "per_unit": parts,
        "n_undefined": mean.values["n_undefined"],
        "mean_over_defined": mean.values["mean_over_defined"],
        "coverage": mean.values["coverage"],
        "values": {counted: len(scores), f"mean_over_{noun}": math.fsum(known) / len(known) if known else None},
    }
    flags = (*mean.flags, *(("fewer_neighbours",) if k < asked else ()))
    if mean.value is None:
        missing = mean.values["n_undefined"]
        return Outcome.undefined(mean.reason, f"{missing} of {len(scores)} cells have a velocity of length 0", **more)
    return Outcome(mean.value, flags=flags, **more)
