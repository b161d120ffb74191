"""Differential expression of groups of cells against control: Wilcoxon rank-sum test, Benjamini-Hochberg.

Two-sided, normal approximation with tie correction and without continuity correction, as scanpy's ``wilcoxon`` with
``tie_correct=True``. Genes are tested one after the other: beside the cells only a column is held. p-values stay
logarithms, so that none becomes 0. The fold change is the difference of means of the log values, over ln 2: nothing is
exponentiated, because the state of normalisation is declared and not guessed.

Source: Wilcoxon 1945, doi:10.2307/3001968; Benjamini and Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

METHOD = "wilcoxon-bh/1"
"""Name and version of this test; solutions carry it."""
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BLOCK = 64
"""Genes whose columns are copied at once."""


@frozen(eq=False)
class Differential:
    """What the test says, in single precision, as a solution stores it."""

    log_fold_change: NDArray[np.float32]
    """(P, m) log2 fold change against control."""
    significance: NDArray[np.float32]
    """(P, m) -log10 of the adjusted p-value."""
    gaps: Mapping[int, str] = field(factory=dict)
    """Why a perturbation could not be tested, by its number."""


def differential(cells: Any, home: Ints, n: int, control: Any) -> Differential:
    """Test each group of cells against control.

    Args:
        cells: (cells, m) log values; an array or a sparse matrix.
        home: (cells,) group of each, in ``range(n)``; other cells are left out.
        n: Groups.
        control: (controls, m) log values.

    Returns:
        Adjusted over all genes of a group; a group without cells has 0.

    Raises:
        ValueError: there is no control cell.

    Example:
        >>> up = differential(np.array([[5.0], [6.0], [7.0]]), np.zeros(3, int), 1, np.array([[1.0], [2.0], [3.0]]))
        >>> round(float(up.significance[0, 0]), 3), round(float(up.log_fold_change[0, 0]), 3)
        (1.305, 5.771)
    """
    if not control.shape[0]:
        raise ValueError("differential expression needs control cells")
    m = cells.shape[1]
    order = np.argsort(home, kind="stable")
    order = order[(home[order] >= 0) & (home[order] < n)]
    groups = home[order]
    sizes = np.bincount(groups, minlength=n)
    log_p, change = np.zeros((n, m)), np.zeros((n, m))
    for start in range(0, m, BLOCK):
        x, c = _columns(cells, start, order), _columns(control, start, None)
        for j in range(x.shape[1]):
            log_p[:, start + j] = _tested(x[:, j], groups, sizes, np.sort(c[:, j]))
        change[:, start : start + x.shape[1]] = _means(x, sizes) - c.mean(axis=0, dtype=np.float64)
    change = np.where(sizes[:, None] > 0, change / np.log(2.0), 0.0)
    return Differential(change.astype(np.float32), (adjusted(log_p) / -np.log(10.0) + 0.0).astype(np.float32))


def _columns(matrix: Any, start: int, rows: Ints | None) -> NDArray[Any]:
    block = matrix[:, start : start + BLOCK]
    block = block if rows is None else block[rows]
    return np.asarray(block.toarray() if hasattr(block, "toarray") else block)


def _means(x: NDArray[Any], sizes: Ints) -> Floats:
    """(P, genes) mean of each run of rows; 0 where it is empty."""
    ends = np.cumsum(sizes)
    found = np.zeros((len(sizes), x.shape[1]))
    for p, (start, stop) in enumerate(zip(ends - sizes, ends, strict=True)):
        if stop > start:
            found[p] = x[start:stop].mean(axis=0, dtype=np.float64)
    return found


def _tested(x: NDArray[Any], groups: Ints, sizes: Ints, control: NDArray[Any]) -> Floats:
    """(P,) natural logarithm of the two-sided p-value of one gene for each group; doubled counts stay integers."""
    from scipy.special import log_ndtr

    k = len(control)
    order = np.lexsort((x, groups))
    x, owner = x[order], groups[order]
    left, right = np.searchsorted(control, x, "left"), np.searchsorted(control, x, "right")
    # cells of a perturbation above a control cell, ties half, doubled
    above = np.bincount(owner, weights=(left + right).astype(np.float64), minlength=len(sizes))
    runs = (
        np.flatnonzero(np.append(True, (np.diff(x) != 0) | (np.diff(owner) != 0))) if len(x) else np.zeros(0, np.int64)
    )
    length = np.diff(np.append(runs, len(x)))
    met = (right - left)[runs]
    ties = np.bincount(owner[runs], weights=_cubed(length + met) - _cubed(met), minlength=len(sizes))
    _, repeats = np.unique(control, return_counts=True)
    ties = ties + float(_cubed(repeats).sum())
    total = (sizes + k).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = sizes * k / 12.0 * ((total + 1) - ties / (total * (total - 1)))
        z = (above / 2 - sizes * k / 2.0) / np.sqrt(variance)
    tested = (sizes > 0) & (variance > 0)
    found = np.zeros(len(sizes))
    found[tested] = np.minimum(0.0, np.log(2.0) + log_ndtr(-np.abs(z[tested])))
    return found


def _cubed(t: Ints) -> Floats:
    x: Floats = t.astype(np.float64)
    return x * x * x - x


def adjusted(log_p: Floats) -> Floats:
    """Logarithms of Benjamini-Hochberg adjusted p-values of each row.

    Example:
        >>> np.exp(adjusted(np.log([[0.01, 0.02, 0.5]]))).round(3).tolist()
        [[0.03, 0.03, 0.5]]
    """
    m = log_p.shape[1]
    if not m:
        return log_p
    order = np.argsort(log_p, axis=1, kind="stable")
    ordered = np.take_along_axis(log_p, order, 1) + np.log(m / np.arange(1, m + 1))
    ordered = np.minimum(np.minimum.accumulate(ordered[:, ::-1], axis=1)[:, ::-1], 0.0)
    found = np.empty_like(ordered)
    np.put_along_axis(found, order, ordered, 1)
    return found
