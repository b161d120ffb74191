"""Makes the folds that ship with a data set: stratified, and no patient on two sides."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from primabench_core import UsageError


def make_folds(
    samples: Sequence[str],
    *,
    labels: Sequence[str] | None = None,
    values: Sequence[float] | None = None,
    groups: Sequence[str] | None = None,
    folds: int = 5,
    seed: str = "",
) -> list[str]:
    """Fold of each sample, by hashes of ids: the same on every machine, in any order of the samples.

    Units (patients, or samples where none repeat) are dealt out in turn. For classes they are ordered by their classes,
    large units first, so that every fold gets its share of each; for numbers by their mean, in bands of as many units
    as there are folds, so that every fold spans the range.

    Args:
        samples: Ids.
        labels: Class of each sample; either this or ``values``.
        values: Number of each sample.
        groups: Patient of each sample; all samples of a patient share a fold.
        folds: How many, at least 2.
        seed: What the draw depends on besides the ids.

    Returns:
        ``"0"`` to ``str(folds - 1)`` for each sample.

    Raises:
        UsageError: lengths differ, neither or both answers are given, fewer units than folds.

    Example:
        >>> make_folds(["a", "b", "c", "d"], labels=["x", "y", "x", "y"], folds=2).count("0")
        2
    """
    answers = labels if labels is not None else values
    if answers is None or (labels is not None and values is not None):
        raise UsageError("Folds are made for labels or for values: give one of them.")
    units = list(groups if groups is not None else samples)
    if len({len(samples), len(answers), len(units)}) > 1 or len(set(samples)) < len(samples):
        raise UsageError("Folds need one answer and one group for each sample, and each sample once.")
    members: dict[str, list[int]] = {}
    for row, unit in enumerate(units):
        members.setdefault(unit, []).append(row)
    if folds < 2 or len(members) < folds:
        raise UsageError(f"{len(members)} units cannot make {folds} folds.")
    draw = {unit: hashlib.sha256(f"{seed}|{unit}".encode()).digest() for unit in members}
    if labels is not None:
        fold_of = _by_class(members, labels, draw, folds)
    else:
        fold_of = _by_value(members, [float(value) for value in answers], draw, folds)
    return [str(fold_of[unit]) for unit in units]


def _by_class(
    members: dict[str, list[int]], labels: Sequence[str], draw: dict[str, bytes], folds: int
) -> dict[str, int]:
    """Large units first, each to the fold that is furthest below its share of the unit's classes."""
    totals: dict[str, int] = {}
    for label in labels:
        totals[label] = totals.get(label, 0) + 1
    held = [dict.fromkeys(totals, 0) for _ in range(folds)]
    fold_of: dict[str, int] = {}
    rarest = {unit: min(totals[labels[row]] for row in rows) for unit, rows in members.items()}
    for unit in sorted(members, key=lambda u: (-len(members[u]), rarest[u], labels[members[u][0]], draw[u])):
        rows = members[unit]

        def fullness(fold: int, rows: list[int] = rows) -> tuple[float, int]:
            share = sum(held[fold][labels[row]] / totals[labels[row]] for row in rows)
            return share, sum(held[fold].values())

        best = min(range(folds), key=lambda fold: (*fullness(fold), fold))
        fold_of[unit] = best
        for row in rows:
            held[best][labels[row]] += 1
    return fold_of


def _by_value(
    members: dict[str, list[int]], values: Sequence[float], draw: dict[str, bytes], folds: int
) -> dict[str, int]:
    """Bands of ``folds`` units of neighbouring means, each band dealt out in a drawn order."""
    means = {unit: sum(values[row] for row in rows) / len(rows) for unit, rows in members.items()}
    order = sorted(members, key=lambda u: (means[u], draw[u]))
    fold_of = {}
    for start in range(0, len(order), folds):
        band = sorted(order[start : start + folds], key=lambda u: draw[u])
        shift = int.from_bytes(draw[band[0]][:4], "big")
        for place, unit in enumerate(band):
            fold_of[unit] = (place + shift) % folds
    return fold_of
