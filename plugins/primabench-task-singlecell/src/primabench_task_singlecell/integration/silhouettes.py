"""Silhouettes of types and batches, from the sums that the one scan leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_sum
from primabench_core.state.rows import Labels, Rows
from primabench_task_singlecell.integration.defined import defined
from primabench_task_singlecell.integration.pairs import Floats, Ints
from primabench_task_singlecell.integration.work import Panel, UndefinedError, panel_of


@defined
def silhouette_label(state: Rows, *, rescale: bool = True) -> Outcome:
    """Mean silhouette of cell types, Euclidean, (s + 1)/2 (Rousseeuw 1987; Luecken et al. 2022).

    s = (b - a)/max(a, b) with the mean distance a to the other cells of the own type and b to the nearest other type.
    The only cell of a type contributes s = 0.

    Args:
        state: Rows with a representation of cells and ``label``.
        rescale: (s + 1)/2; else s itself.

    Returns:
        Value in [0, 1], the mean of each type in ``per_unit``; ``single_label``, or ``too_few_items`` where every cell
        has a type of its own; ``not_applicable`` for a graph.
    """
    panel = panel_of(state)
    label, s = label_silhouettes(panel)
    s = (s + 1) / 2 if rescale else s
    return Outcome(exact_sum(s) / panel.n, n=panel.n, per_unit=means_by(label, s))


@defined
def isolated_labels_asw(state: Rows, *, iso_threshold: int | None = None) -> Outcome:
    """Mean silhouette of the types that occur in the fewest batches, over these types (Luecken et al. 2022).

    Args:
        state: Rows with a representation of cells, ``label`` and ``batch``.
        iso_threshold: A type is isolated in so many batches or fewer; by default in the smallest number that occurs.

    Returns:
        Value in [0, 1], each isolated type in ``per_unit``; ``no_isolated_label`` if all types are in every batch.
    """
    panel = panel_of(state)
    isolated = isolated_labels(panel, iso_threshold)
    label, s = label_silhouettes(panel)
    means = means_by(label, (s + 1) / 2)
    chosen = {str(label.classes[c]): means[str(label.classes[c])] for c in isolated}
    used = int(np.isin(label.codes, isolated).sum())
    return Outcome(exact_sum(np.asarray(list(chosen.values()))) / len(chosen), n=used, per_unit=chosen)


@defined
def silhouette_batch(state: Rows) -> Outcome:
    """Mean over types of 1 - |s| of batches inside the type, Euclidean (Luecken et al. 2022).

    Types in one batch, or with as many batches as cells, are left out. Misleads where batches are nested
    (Rautenstrauch and Ohler 2025): see :func:`bras`.

    Args:
        state: Rows with a representation of cells, ``label`` and ``batch``.

    Returns:
        Value in [0, 1], each type in ``per_unit`` (none for those left out); ``single_batch`` if no type is left.
    """
    panel = panel_of(state)
    label, batch = panel.labels("label"), panel.batch()
    sums, groups = panel.scanned().sums, panel.groups
    assert groups is not None
    found: dict[str, float | None] = {}
    for code, name in enumerate(label.classes):
        rows = np.flatnonzero(label.codes == code)
        own, sizes = _of_type(batch.codes[rows], groups[rows])
        if len(sizes) == 1 or len(sizes) == len(rows):
            found[str(name)] = None
            continue
        s = silhouettes(sums[rows][:, np.unique(groups[rows])], own, sizes)
        found[str(name)] = exact_sum(1 - np.abs(s)) / len(s)
    return over_types(panel, found)


@defined
def bras(state: Rows) -> Outcome:
    """Batch removal adapted silhouette: as ``silhouette_batch``, by cosine distance and the mean over other batches.

    Inside each type a is the mean cosine distance to the other cells of the own batch, b that to all cells of other
    batches; 1 - |s|, mean over the cells of a type, then over types (Rautenstrauch and Ohler 2025). The mean of cosine
    distances to a group is a product with the mean direction of the group, so no pairs are needed.

    Args:
        state: Rows with a representation of cells, ``label`` and ``batch``.

    Returns:
        Value in [0, 1], each type in ``per_unit``; ``single_batch`` if no type is in two batches.
    """
    panel = panel_of(state)
    points = panel.points
    label, batch = panel.labels("label"), panel.batch()
    largest = np.abs(points).max(axis=1, initial=0.0, keepdims=True)
    scaled = points / np.where(largest > 0, largest, 1.0)
    lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    directions = scaled / np.where(lengths > 0, lengths, 1.0)
    found: dict[str, float | None] = {}
    for code, name in enumerate(label.classes):
        rows = np.flatnonzero(label.codes == code)
        present, own = np.unique(batch.codes[rows], return_inverse=True)
        found[str(name)] = _bras_of(directions[rows], own, len(present))
    return over_types(panel, found)


def _bras_of(directions: Floats, own: Ints, batches: int) -> float | None:
    """Mean of 1 - |s| inside one type, None if it has no value."""
    n = len(directions)
    if batches in (1, n):
        return None
    sizes = np.bincount(own)
    totals = np.stack([directions[own == b].sum(axis=0) for b in range(batches)])
    same = np.einsum("ij,ij->i", directions, totals[own])
    other = directions @ totals.sum(axis=0) - same
    itself = np.einsum("ij,ij->i", directions, directions)
    a = 1.0 - (same - itself) / np.maximum(sizes[own] - 1, 1)
    b = 1.0 - other / (n - sizes[own])
    s = _ratio(np.maximum(a, 0.0), np.maximum(b, 0.0))
    return exact_sum(1 - np.abs(np.where(sizes[own] > 1, s, 0.0))) / n


def label_silhouettes(panel: Panel) -> tuple[Labels, Floats]:
    """Types, and the silhouette of each cell by type.

    Raises:
        UndefinedError: one type, or as many types as cells.
    """
    label = panel.label()
    if len(label.classes) == panel.n:
        raise UndefinedError("too_few_items", "every cell has a label of its own", panel.n)

    def build() -> Floats:
        sums, groups = panel.scanned().sums, panel.groups
        assert groups is not None
        of_group = np.zeros(sums.shape[1], np.int64)
        of_group[groups] = label.codes
        order = np.argsort(of_group, kind="stable")
        by_label = np.add.reduceat(
            sums[:, order], np.searchsorted(of_group[order], np.arange(len(label.classes))), axis=1
        )
        return silhouettes(by_label, label.codes, np.bincount(label.codes))

    values: Floats = panel.made("label silhouettes", build)
    return label, values


def silhouettes(sums: Floats, own: Ints, sizes: Ints) -> Floats:
    """Silhouette of each cell.

    Args:
        sums: (n, groups) summed distances to the cells of each group, itself left out.
        own: (n,) group of each cell.
        sizes: (groups,) cells of each group.

    Returns:
        (n,) float64 in [-1, 1]; 0 for the only cell of a group.
    """
    at = np.arange(len(own))
    a = sums[at, own] / np.maximum(sizes[own] - 1, 1)
    means = sums / sizes
    means[at, own] = np.inf
    return np.where(sizes[own] > 1, _ratio(a, means.min(axis=1)), 0.0)


def _ratio(a: Floats, b: Floats) -> Floats:
    larger = np.maximum(a, b)
    ratio: Floats = np.where(larger > 0, (b - a) / np.where(larger > 0, larger, 1.0), 0.0)
    return ratio


def _of_type(batch: Ints, groups: Ints) -> tuple[Ints, Ints]:
    """Place of each cell among the groups of its type, and how large these are."""
    _, own, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    return own, sizes


def means_by(label: Labels, values: NDArray[Any]) -> dict[str, float]:
    """Mean of the values of each class."""
    order = np.argsort(label.codes, kind="stable")
    parts = np.split(values[order], np.cumsum(np.bincount(label.codes))[:-1])
    return {str(name): exact_sum(part) / len(part) for name, part in zip(label.classes, parts, strict=True)}


def over_types(panel: Panel, found: dict[str, float | None]) -> Outcome:
    """Mean over the types that have a value."""
    values = np.asarray([v for v in found.values() if v is not None])
    if not len(values):
        return Outcome.undefined("single_batch", "no label is in two batches", n=panel.n, per_unit=found)
    mean = exact_sum(values) / len(values)
    out = len(found) - len(values)
    return Outcome(mean, n=panel.n, per_unit=found, n_undefined=out, coverage=len(values) / len(found))


def isolated_labels(panel: Panel, iso_threshold: int | None) -> list[int]:
    """Codes of the types that occur in the fewest batches.

    Raises:
        UndefinedError: no type is isolated: all are in every batch, or in more batches than the threshold.
    """
    label, batch = panel.label(), panel.labels("batch")
    table = np.zeros((len(label.classes), len(batch.classes)), bool)
    table[label.codes, batch.codes] = True
    counts = table.sum(axis=1)
    limit = int(counts.min()) if iso_threshold is None else iso_threshold
    if iso_threshold is None and limit == len(batch.classes):
        raise UndefinedError("no_isolated_label", "every label is in every batch", panel.n)
    isolated = np.flatnonzero(counts <= limit).tolist()
    if not isolated:
        raise UndefinedError("no_isolated_label", f"no label is in {limit} batches or fewer", panel.n)
    return isolated
