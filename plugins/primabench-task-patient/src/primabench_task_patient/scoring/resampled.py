"""Scores on many resamples of patients at once: rows are counted instead of put together."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray
from primabench_metrics.linear_probe import OutOfFold

from primabench_core import statistics
from primabench_core.state.rows import Labels, Rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def seed_of(task: str, state: Rows) -> int:
    """Seed of the draws: of the task, its metric and its truth, so that two models see the same resamples.

    Args:
        task: Its name.
        state: Rows that are probed; the embedding is not read.
    """
    label = state.truth.get("label")
    metric = "pearson" if not isinstance(label, Labels) else "auroc" if len(label.classes) == 2 else "auroc_ovr_macro"
    digest = hashlib.sha256(f"patient_probe|{task}|{metric}".encode())
    for name in sorted(state.truth):
        held = state.truth[name]
        cells = held.codes if isinstance(held, Labels) else np.asarray(held, np.float64)
        words = held.classes if isinstance(held, Labels) else ()
        digest.update("\x00".join(["", name, *map(str, words), ""]).encode())
        digest.update(np.ascontiguousarray(cells, "<i8" if isinstance(held, Labels) else "<f8").tobytes())
    return int.from_bytes(digest.digest()[:8], "big")


def units_of(state: Rows, rows: Ints) -> tuple[Ints, list[str]]:
    """Independent unit of each scored row, and the stratum that it is drawn in.

    A unit's stratum is the set of its classes, so that a patient whose class changes between visits is drawn whole.

    Args:
        state: Rows that were probed.
        rows: (k,) rows that were scored.
    """
    group, label = state.truth.get("group"), state.truth.get("label")
    units = group.codes[rows] if isinstance(group, Labels) else rows
    if not isinstance(label, Labels):
        return units, [""] * len(rows)
    classes: dict[int, set[str]] = {}
    for unit, code in zip(units.tolist(), label.codes[rows].tolist(), strict=True):
        classes.setdefault(unit, set()).add(str(label.classes[code]))
    return units, ["\x00".join(sorted(classes[unit])) for unit in units.tolist()]


def multiplicities(units: Ints, strata: list[str], *, draws: int, seed: int) -> tuple[Ints, int]:
    """(draws, rows) how often each row occurs in each resample of units, and the number of units.

    Args:
        units: (rows,) independent unit of each row.
        strata: (rows,) stratum of each row; each resample keeps the strata's numbers of units.
        draws: How many resamples.
        seed: Of the draws.
    """
    plan = statistics.Resampling.of(len(units), unit=units, strata=strata)
    if plan.n_groups < 2:
        return np.empty((0, len(units)), np.int64), plan.n_groups
    found = [np.bincount(plan.positions(seed, draw), minlength=len(units)) for draw in range(draws)]
    return np.asarray(found, np.int64).reshape(draws, len(units)), plan.n_groups


def resampled_scores(state: Rows, found: OutOfFold, times: Ints) -> Floats:
    """(draws,) scores on resamples, NaN where one has no value.

    Args:
        state: Rows that were probed.
        found: What came out of fold.
        times: (draws, scored rows) how often each of the scored rows occurs.
    """
    values, label = found.values[found.rows], state.truth.get("label")
    if not isinstance(label, Labels):
        return _pearson(values[:, 0], np.asarray(state.truth["value"], np.float64)[found.rows], times)
    codes = label.codes[found.rows]
    if values.shape[1] == 1:
        return _area(values[:, 0], codes == 1, times)
    areas = np.stack([_area(values[:, c], codes == c, times) for c in range(values.shape[1])])
    defined = (~np.isnan(areas)).sum(axis=0)
    total = np.nansum(areas, axis=0)
    found_mean: Floats = np.divide(total, defined, out=np.full(len(times), np.nan), where=defined > 0)
    return found_mean


def _area(score: Floats, positive: NDArray[np.bool_], times: Ints) -> Floats:
    """AUROC of each resample: wins of positives over negatives, half for ties."""
    order = np.argsort(score, kind="stable")
    ordered, above = score[order], positive[order]
    counts = times[:, order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    inside = np.add.reduceat(counts * above, starts, axis=1)
    level = np.add.reduceat(counts * ~above, starts, axis=1)
    below = np.cumsum(level, axis=1) - level
    pairs = inside.sum(axis=1) * level.sum(axis=1)
    wins = (inside * (2 * below + level)).sum(axis=1)
    found: Floats = np.divide(wins, 2 * pairs, out=np.full(len(times), np.nan), where=pairs > 0)
    return found


def _pearson(x: Floats, y: Floats, times: Ints) -> Floats:
    """Pearson's r of each resample; none below three distinct rows or where a side is constant."""
    x, y, n = x - x.mean(), y - y.mean(), times.sum(axis=1)
    sums = times @ np.stack([x, y, x * x, y * y, x * y], axis=1)
    sx, sy, sxx, syy, sxy = sums.T
    left, right = sxx - sx * sx / n, syy - sy * sy / n
    sound = (left > 1e-20 * np.maximum(sxx, 1e-300)) & (right > 1e-20 * np.maximum(syy, 1e-300))
    sound &= (times > 0).sum(axis=1) >= 3
    found = np.full(len(times), np.nan)
    found[sound] = (sxy - sx * sy / n)[sound] / np.sqrt(left[sound] * right[sound])
    clipped: Floats = np.clip(found, -1.0, 1.0)
    return clipped
