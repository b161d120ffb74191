"""Differential expression between replicates (donors): pseudobulk profiles, a moderated t-test, Benjamini-Hochberg.

Cells of one replicate are no independent samples; a test over cells calls far too many genes (Squair et al. 2021,
doi:10.1038/s41467-021-25960-2). Here the counts of all cells of a replicate and condition are summed, and replicates
are compared. Values are log(1 + counts per 10,000), so a cell enters with its counts per 10,000: a predicted cell has
no depth of its own, and both sides must be tested alike. A profile is log2(1 + counts per 10,000): logarithms of counts
per million with a prior count of 100 per million, about two of the 20,000 that a small sum holds. A smaller prior lets
genes of single counts decide how much all genes vary.

Replicates that carry both conditions are paired with themselves where there are two of them; otherwise two or more
replicates of each condition are compared with a pooled variance. The variance of a gene is shrunk towards that of all
genes that vary, by d0 prior degrees of freedom which are estimated from the genes (Smyth 2004,
doi:10.2202/1544-6115.1027): with two to four replicates the plain t-test finds nothing. Genes do not vary where all
replicates agree; they help to estimate nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from primabench_metrics.numbers import SPREAD

from primabench_core.state.grouped_sums import GroupedSums
from primabench_task_perturbation.roles import UNTOLD
from primabench_task_perturbation.wilcoxon import Differential, adjusted

METHOD = "pseudobulk-moderated-t-bh/1"
"""Name and version of this test; solutions carry it."""
MIN_REPLICATES = 2
MIN_VARYING = 3
"""Genes that vary, below which no prior is estimated and the t-test is the plain one."""
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BLOCK_BYTES = 1 << 26
_UNDERFLOW = 1e-290


@frozen
class Prior:
    """What all genes say about the variance of one."""

    degrees: float
    """d0: 0 where nothing could be estimated, infinite where genes differ no more than by chance."""
    variance: float
    """s0²."""


def differential(
    cells: Any, home: Ints, replicate: NDArray[Any], n: int, control: Any, control_replicate: NDArray[Any]
) -> Differential:
    """Test each group of cells against control, replicate by replicate.

    Args:
        cells: (cells, m) log(1 + counts per 10,000); an array or a sparse matrix. Sums below zero count as zero.
        home: (cells,) group of each, in ``range(n)``; other cells are left out.
        replicate: (cells,) name of the donor or sample of each; cells of the name ``none`` are left out.
        n: Groups.
        control: (controls, m) as the cells.
        control_replicate: (controls,) as ``replicate``.

    Returns:
        Adjusted over all genes of a group. A group without enough replicates has zeros, and a reason in ``gaps``.

    Example:
        >>> cells = np.log1p(np.array([[4.0, 1.0], [9.0, 1.0], [8.0, 1.0]]))
        >>> control = np.log1p(np.array([[1.0, 1.0], [2.0, 1.0]]))
        >>> found = differential(cells, np.zeros(3, int), np.array(["a", "b", "b"]), 1, control, np.array(["a", "b"]))
        >>> [round(float(change), 2) for change in found.log_fold_change[0]], found.gaps
        ([1.49, 0.0], {})
    """
    names = sorted((set(map(str, replicate)) | set(map(str, control_replicate))) - {UNTOLD})
    at = {name: i for i, name in enumerate(names)}
    k, m = len(names), cells.shape[1]
    own, reference = (
        np.array([at.get(str(name), -1) for name in column], np.int64) for column in (replicate, control_replicate)
    )
    home = np.asarray(home, np.int64)
    group = np.where((home >= 0) & (home < n) & (own >= 0), home * k + own, -1)
    profiles, counts = (a.reshape(n, k, *a.shape[1:]) for a in profiles_of_groups(cells, group, n * k))
    controls, control_counts = profiles_of_groups(control, reference, k)
    change, log_p, gaps = np.zeros((n, m)), np.zeros((n, m)), {}
    for p in range(n):
        mine, theirs = np.flatnonzero(counts[p]), np.flatnonzero(control_counts)
        both = np.intersect1d(mine, theirs)
        if len(both) >= MIN_REPLICATES:
            change[p], log_p[p] = paired(profiles[p, both], controls[both])
        elif min(len(mine), len(theirs)) >= MIN_REPLICATES:
            change[p], log_p[p] = unpaired(profiles[p, mine], controls[theirs])
        else:
            gaps[p] = f"{len(mine)} and {len(theirs)} replicates of at least {MIN_REPLICATES} in each condition"
    significance = adjusted(log_p) / -np.log(10.0) + 0.0
    return Differential(change.astype(np.float32), significance.astype(np.float32), gaps)


def profiles_of_groups(cells: Any, group: Ints, groups: int) -> tuple[Floats, Ints]:
    """log2(1 + counts per 10,000) of the cells of each group, and their number; 0 for a group without cells.

    Args:
        cells: (cells, m) log(1 + counts per 10,000).
        group: (cells,) group of each, -1 to leave it out.
        groups: Number of groups.

    Raises:
        OverflowError: a value is no logarithm of a number that float64 holds.
    """
    m = cells.shape[1]
    sums = GroupedSums(groups, m)
    step = max(1, _BLOCK_BYTES // (8 * max(1, m)))
    for start in range(0, len(group), step):
        codes = group[start : start + step]
        rows = np.flatnonzero(codes >= 0)
        if not len(rows):
            continue
        block = cells[start + rows]
        block = np.asarray(block.toarray() if hasattr(block, "toarray") else block, np.float64)
        with np.errstate(over="ignore"):
            block = np.expm1(block)
        if not np.isfinite(block).all():
            raise OverflowError("values are no logarithms of counts: their exponential exceeds float64")
        sums.add(block, codes[rows])
    means = np.maximum(np.where(sums.counts[:, None] > 0, sums.means(), 0.0), 0.0)
    return np.log1p(means) / np.log(2.0), sums.counts


def paired(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Mean difference of (k, m) paired profiles, and the logarithm of its two-sided p-value; 0 where not tested."""
    size = _size(x, y)
    return _tested((x - y).mean(axis=0), (x - y).var(axis=0, ddof=1), len(x) - 1, 1 / len(x), size)


def unpaired(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """As :func:`paired`, of the means of (a, m) and (b, m) profiles, with their pooled variance."""
    a, b = len(x), len(y)
    pooled = (x.var(axis=0) * a + y.var(axis=0) * b) / (a + b - 2)
    return _tested(x.mean(axis=0) - y.mean(axis=0), pooled, a + b - 2, 1 / a + 1 / b, _size(x, y))


def _size(x: Floats, y: Floats) -> Floats:
    return np.maximum(np.abs(x).max(axis=0), np.abs(y).max(axis=0))


def _tested(change: Floats, variance: Floats, degrees: int, factor: float, size: Floats) -> tuple[Floats, Floats]:
    """Moderated t of each gene; what is smaller than the rounding of the profiles is 0."""
    change = np.where(np.abs(change) <= SPREAD * size, 0.0, change)
    variance = np.where(variance <= (SPREAD * size) ** 2, 0.0, variance)
    prior = fitted(variance, degrees)
    if np.isinf(prior.degrees):
        posterior = np.full(len(variance), prior.variance)
    else:
        posterior = (prior.degrees * prior.variance + degrees * variance) / (prior.degrees + degrees)
    known = posterior > 0
    t = np.divide(change, np.sqrt(posterior * factor), out=np.zeros(len(change)), where=known)
    log_p = np.where(known, log_p_of(t, prior.degrees + degrees), 0.0)
    return change, log_p


def fitted(variance: Floats, degrees: int) -> Prior:
    """Prior of the variances of genes by moments of their logarithms (Smyth 2004, section 6.2).

    Args:
        variance: (m,) of each gene; those of 0 are left out.
        degrees: Degrees of freedom of each.
    """
    from scipy.special import digamma, polygamma

    positive = variance[variance > 0]
    if len(positive) < MIN_VARYING:
        return Prior(0.0, 0.0)
    e = np.log(positive) - digamma(degrees / 2) + np.log(degrees / 2)
    spread = float(e.var(ddof=1) - polygamma(1, degrees / 2))
    half = _inverse_trigamma(spread)
    if np.isinf(half):
        return Prior(np.inf, float(np.exp(e.mean())))
    return Prior(2 * half, float(np.exp(e.mean() + digamma(half) - np.log(half))))


def _inverse_trigamma(y: float) -> float:
    """Where trigamma is y; infinite for y at or below 0."""
    from scipy.optimize import brentq
    from scipy.special import polygamma

    if y <= 1e-8:
        return np.inf
    return float(np.exp(brentq(lambda u: np.log(polygamma(1, np.exp(u)) / y), -25.0, 25.0, xtol=1e-13, rtol=1e-13)))


def log_p_of(t: Floats, degrees: float) -> Floats:
    """Logarithm of the two-sided p-value of Student's t; finite where the p-value itself is too small for float64."""
    from scipy.special import betainc, betaln, hyp2f1, log_ndtr

    if np.isinf(degrees):
        return np.minimum(0.0, np.log(2.0) + log_ndtr(-np.abs(t)))
    a, x = degrees / 2, degrees / (degrees + np.square(t))
    p = betainc(a, 0.5, x)
    found = np.log(np.maximum(p, _UNDERFLOW))
    small = np.flatnonzero(p < _UNDERFLOW)
    if len(small):
        at = x[small]
        series = np.log(hyp2f1(a + 0.5, 1.0, a + 1.0, at))
        found[small] = a * np.log(at) + 0.5 * np.log1p(-at) - np.log(a) - betaln(a, 0.5) + series
    return np.minimum(0.0, found)


def has_replicates(names: Sequence[Any]) -> bool:
    """Whether there are replicates to test between."""
    return len({str(name) for name in names} - {UNTOLD}) >= MIN_REPLICATES
