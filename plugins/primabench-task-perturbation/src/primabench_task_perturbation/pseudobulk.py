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
OWN, UNPAIRED, PAIRED = -1, 0, 1
"""How a group is tested: as its own replicates allow, between two sets of replicates, or within each."""
_BLOCK_BYTES, _BLOCK_SUMS = 1 << 25, 1 << 17
"""Rows in bytes, and exact sums of about 200 bytes, that are held at once."""
_UNDERFLOW = 1e-290


@frozen
class Prior:
    """What all genes say about the variance of one."""

    degrees: float
    """d0: 0 where nothing could be estimated, infinite where genes differ no more than by chance."""
    variance: float
    """s0²."""


def differential(
    cells: Any,
    home: Ints,
    replicate: NDArray[Any],
    n: int,
    control: Any,
    control_replicate: NDArray[Any],
    design: NDArray[np.int8] | None = None,
) -> Differential:
    """Test each group of cells against control, replicate by replicate.

    Groups are looked at a few at a time, so that next to what is given and the result about 64 MiB of rows and sums are
    held (:func:`profiles_of_groups`), and the profiles of one group and of control.

    Args:
        cells: (cells, m) log(1 + counts per 10,000); an array or a sparse matrix. Sums below zero count as zero.
        home: (cells,) group of each, in ``range(n)``; other cells are left out.
        replicate: (cells,) name of the donor or sample of each; cells of the name ``none`` are left out.
        n: Groups.
        control: (controls, m) as the cells.
        control_replicate: (controls,) as ``replicate``.
        design: (n,) how each group must be tested: ``PAIRED``, ``UNPAIRED``, or ``OWN``, as its own replicates allow;
            None for the last.

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
    pairs, pair = _occurring(np.where((home >= 0) & (home < n) & (own >= 0), home * k + own, -1))
    theirs, control_group = _occurring(reference)
    controls, _ = profiles_of_groups(control, control_group, len(theirs))
    change, significance = np.zeros((n, m), np.float32), np.zeros((n, m), np.float32)
    gaps: dict[int, str] = {}
    ends = np.searchsorted(pairs, np.arange(n + 1) * k)  # pairs ascend, so those of a group lie together
    most = max(1, _BLOCK_SUMS // max(1, m))
    start = 0
    while start < n:
        stop = max(start + 1, int(np.searchsorted(ends, ends[start] + most, "right")) - 1)
        inside = (pair >= ends[start]) & (pair < ends[stop])
        profiles, _ = profiles_of_groups(cells, np.where(inside, pair - ends[start], -1), int(ends[stop] - ends[start]))
        for p in range(start, stop):
            part = slice(int(ends[p]), int(ends[p + 1]))
            here = profiles[part.start - ends[start] : part.stop - ends[start]]
            wanted = OWN if design is None else int(design[p])
            found = _compared(here, pairs[part] - p * k, controls, theirs, wanted)
            if isinstance(found, str):
                gaps[p] = found
            else:
                change[p] = found[0]
                significance[p] = (adjusted(found[1][None]) / -np.log(10.0) + 0.0)[0]
        start = stop
    return Differential(change, significance, gaps)


def _occurring(code: Ints) -> tuple[Ints, Ints]:
    """Codes from 0 that occur, ascending, and the place of each code among them; -1 stays."""
    present = code >= 0
    found, places = np.unique(code[present], return_inverse=True)
    place = np.full(len(code), -1, np.int64)
    place[present] = places
    return found, place


def _compared(profiles: Floats, mine: Ints, controls: Floats, theirs: Ints, design: int) -> tuple[Floats, Floats] | str:
    """Change and logarithm of p of one group, of which ``mine`` are the replicates; or why there is none."""
    both, left, right = np.intersect1d(mine, theirs, return_indices=True)
    enough = min(len(mine), len(theirs)) >= MIN_REPLICATES
    if design != UNPAIRED and len(both) >= MIN_REPLICATES:
        return paired(profiles[left], controls[right])
    if enough and design == PAIRED:
        return (
            f"{len(both)} of at least {MIN_REPLICATES} replicates that carry both conditions, as those of the truth do"
        )
    if enough:
        return unpaired(profiles, controls)
    return f"{len(mine)} and {len(theirs)} replicates of at least {MIN_REPLICATES} in each condition"


def design_of(mine: NDArray[np.bool_], theirs: NDArray[np.bool_]) -> int:
    """How replicates are compared of which these (k,) carry the one condition and those (k,) the other.

    Example:
        >>> a, b = np.array([True, True, False]), np.array([True, True, True])
        >>> design_of(a, b) == PAIRED, design_of(~a, b) == OWN, design_of(a, np.array([False, True, True])) == UNPAIRED
        (True, True, True)
    """
    if int((mine & theirs).sum()) >= MIN_REPLICATES:
        return PAIRED
    return UNPAIRED if min(int(mine.sum()), int(theirs.sum())) >= MIN_REPLICATES else OWN


def profiles_of_groups(cells: Any, group: Ints, groups: int) -> tuple[Floats, Ints]:
    """log2(1 + counts per 10,000) of the cells of each group, and their number; 0 for a group without cells.

    Next to the result this holds 32 MiB of rows as float64, and exact sums of as many groups as 131,072 numbers make
    (at least one), at about 200 bytes each with what their division needs. Groups without cells take no sums.

    Args:
        cells: (cells, m) log(1 + counts per 10,000).
        group: (cells,) group of each, -1 to leave it out.
        groups: Number of groups.

    Raises:
        OverflowError: a value is no logarithm of a number that float64 holds.
    """
    group = np.asarray(group, np.int64)
    m = cells.shape[1]
    found, counts = np.zeros((groups, m)), np.bincount(group[group >= 0], minlength=groups)
    present = np.flatnonzero(counts)
    order = np.argsort(group, kind="stable")
    order = order[np.searchsorted(group[order], 0) :]
    ends = np.append(0, np.cumsum(counts[present]))
    most = max(1, _BLOCK_SUMS // max(1, m))
    for first in range(0, len(present), most):
        part = present[first : first + most]
        rows = order[ends[first] : ends[first + len(part)]]
        means = _means(cells, rows, np.searchsorted(part, group[rows]), len(part))
        found[part] = np.log1p(np.maximum(means, 0.0)) / np.log(2.0)
    return found, counts


def _means(cells: Any, rows: Ints, group: Ints, groups: int) -> Floats:
    """(groups, m) means of counts per 10,000 over some rows; every group has a row."""
    m = cells.shape[1]
    sums = GroupedSums(groups, m)
    step = max(1, _BLOCK_BYTES // (8 * max(1, m)))
    for start in range(0, len(rows), step):
        block = cells[rows[start : start + step]]
        block = np.asarray(block.toarray() if hasattr(block, "toarray") else block, np.float64)
        with np.errstate(over="ignore"):
            np.expm1(block, out=block)  # a copy of the rows
        if not np.isfinite(block).all():
            raise OverflowError("values are no logarithms of counts: their exponential exceeds float64")
        sums.add(block, group[start : start + step])
    return sums.means()


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
