"""Metrics of ranked lists, one list a group: what a user sees who looks at the top of each.

Where scores tie, the value is the expectation over all orders of the tied rows, so that row order never matters.
Groups without positives are left out and counted, never scored 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_sum
from primabench_core.state.rows import Labels, Rows
from primabench_metrics.classes import Label, positive_code
from primabench_metrics.ranking import label_column

Ints = NDArray[np.int64]


@frozen
class RankedList:
    """Runs of equal scores, highest first."""

    sizes: Ints
    """Rows of each run."""
    hits: Ints
    """Positives of each run."""

    @property
    def n(self) -> int:
        """Rows of the list."""
        return int(self.sizes.sum())

    @property
    def positives(self) -> int:
        """Positives of the list."""
        return int(self.hits.sum())

    def cut(self, k: int) -> tuple[int, int, int, int]:
        """Positives above the run in which place k falls, and that run: places left in it, its rows, its positives."""
        k = min(k, self.n)
        ends = np.cumsum(self.sizes)
        at = int(np.searchsorted(ends, k, "left"))
        above = int(self.hits[:at].sum())
        return above, k - int(ends[at] - self.sizes[at]), int(self.sizes[at]), int(self.hits[at])

    def expected_hits(self, k: int) -> Fraction:
        """Expected positives among the first k rows."""
        above, places, rows, hits = self.cut(k)
        return above + Fraction(places * hits, rows)


def groups_of(state: Rows, per: str) -> Iterator[tuple[str, Ints]]:
    """Name and rows of each list; one list of all rows if ``per`` is ``all`` or there is no ``group``."""
    group = state.truth.get("group")
    if per == "all" or group is None:
        yield "all", np.arange(state.n)
        return
    if not isinstance(group, Labels):
        raise ContractError([Violation("group", "labels", "another kind of field")])
    order = np.argsort(group.codes, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(group.codes[order])) + 1):
        if len(rows):
            yield str(group.classes[group.codes[rows[0]]]), rows


def ranked(scores: NDArray[np.floating], is_positive: NDArray[np.bool_]) -> RankedList:
    """Runs of equal scores of one list, highest first."""
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    starts = np.concatenate(([0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))
    sizes = np.diff(np.append(starts, len(scores)))
    return RankedList(sizes, np.add.reduceat(is_positive[order].astype(np.int64), starts))


def _mean_over_lists(state: Rows, per: str, positive: Label, value: Callable[[RankedList], float]) -> Outcome:
    truth = label_column(state)
    is_positive = truth.codes == positive_code(truth.classes, positive)
    scores = np.asarray(state.prediction["score"])
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no rows", n=0)
    values: dict[str, float] = {}
    empty = left_out = 0
    for name, rows in groups_of(state, per):
        if is_positive[rows].any():
            values[name] = value(ranked(scores[rows], is_positive[rows]))
        else:
            empty, left_out = empty + 1, left_out + len(rows)
    about = {"n_groups": len(values), "n_groups_without_positives": empty}
    excluded = {"no_positives": left_out} if left_out else {}
    n = state.n - left_out
    if not values:
        return Outcome.undefined("no_positives", "no list has a positive", n=n, n_excluded=excluded, values=about)
    mean = math.fsum(values.values()) / len(values)
    return Outcome(mean, n=n, n_excluded=excluded, values=about, per_unit=values if len(values) > 1 else {})


def mrr(state: Rows, *, positive: Label = 1, per: str = "group") -> Outcome:
    """Mean reciprocal rank: mean over lists of 1/(rank of the first positive) (Voorhees 1999).

    Args:
        state: ``score`` (n,) against ``label`` (n,) and, if there is one, ``group`` (n,).
        positive: The positive class.
        per: ``group``: one list a group; ``all``: all rows are one list.

    Returns:
        Value in (0, 1]; ``no_positives`` if no list has one.
    """
    return _mean_over_lists(state, per, positive, _reciprocal_rank)


def _reciprocal_rank(ranking: RankedList) -> float:
    """E[1/(a + J)], J the place of the first of q positives among m tied rows after a others."""
    at = int(np.flatnonzero(ranking.hits)[0])
    before, m, q = int(ranking.sizes[:at].sum()), int(ranking.sizes[at]), int(ranking.hits[at])
    if m == q or m == 1:
        return 1.0 / (before + 1)
    j = np.arange(1, m - q + 1)  # P(J > j) / P(J > j - 1) = (m - q - j + 1)/(m - j + 1)
    later = np.concatenate(([1.0], np.cumprod((m - q - j + 1) / (m - j + 1))))
    first = later * (q / np.arange(m, q - 1, -1))
    return exact_sum(first / (before + np.arange(1, m - q + 2)))


def hit_rate_at_k(state: Rows, *, k: int = 10, positive: Label = 1, per: str = "group") -> Outcome:
    """Share of lists with a positive among the first k rows. Not recall, which counts all positives.

    Precision and recall of ranked lists: Manning et al. 2008, chapter 8.

    Args:
        state: ``score`` (n,) against ``label`` (n,) and, if there is one, ``group`` (n,).
        k: Rows looked at; all of a shorter list.
        positive: The positive class.
        per: ``group``: one list a group; ``all``: all rows are one list.

    Returns:
        Value in [0, 1]; ``no_positives`` if no list has one.
    """

    def hit(ranking: RankedList) -> float:
        above, places, rows, hits = ranking.cut(k)
        if above:
            return 1.0
        few, many = sorted((places, hits))  # C(rows - hits, places)/C(rows, places), the chance to miss, either way
        return 1.0 - math.prod(max(0, rows - many - i) / (rows - i) for i in range(few))

    return _mean_over_lists(state, per, positive, hit)


def recall_at_k(state: Rows, *, k: int = 10, positive: Label = 1, per: str = "group") -> Outcome:
    """Mean over lists of (positives among the first k rows)/(positives) (Manning et al. 2008).

    Args:
        state: ``score`` (n,) against ``label`` (n,) and, if there is one, ``group`` (n,).
        k: Rows looked at; all of a shorter list.
        positive: The positive class.
        per: ``group``: one list a group; ``all``: all rows are one list.

    Returns:
        Value in [0, 1]; ``no_positives`` if no list has one.
    """
    return _mean_over_lists(state, per, positive, lambda r: float(r.expected_hits(k) / r.positives))


def enrichment_factor(state: Rows, *, fraction: float = 0.01, positive: Label = 1) -> Outcome:
    """Share of positives among the top fraction of rows over their share among all (Truchon & Bayly 2007).

    Args:
        state: ``score`` (n,) against ``label`` (n,).
        fraction: Of all rows, at least one row, else rounded down; read as the decimal number it prints as.
        positive: The positive class.

    Returns:
        Value from 0, 1 for chance; ``no_positives`` if there are none.
    """
    truth = label_column(state)
    is_positive = truth.codes == positive_code(truth.classes, positive)
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no rows", n=0)
    if not is_positive.any():
        return Outcome.undefined("no_positives", f"no row is of class {positive!r}")
    ranking = ranked(np.asarray(state.prediction["score"]), is_positive)
    k = top_rows(fraction, state.n)
    value = ranking.expected_hits(k) * state.n / (k * ranking.positives)
    return Outcome(float(value), values={"k": k, "prevalence": ranking.positives / state.n})


def top_rows(fraction: float, n: int) -> int:
    """max(1, ⌊fraction·n⌋), the fraction being the decimal number it prints as.

    Example:
        >>> top_rows(0.29, 100), int(0.29 * 100)
        (29, 28)
    """
    return max(1, math.floor(Fraction(repr(fraction)) * n))


def ndcg_at_k(state: Rows, *, k: int = 10, fraction: float = 0.0, gains: str = "raw", per: str = "group") -> Outcome:
    """Normalised discounted cumulative gain Σ g/log2(rank+1) over the top k, over that of the ideal order.

    Tied scores share their places, each taking the mean gain of the run (McSherry & Najork 2008). Gains enter
    linearly (Järvelin & Kekäläinen 2002).

    Args:
        state: ``score`` (n,) against ``value`` (n,), the gain, and, if there is one, ``group`` (n,).
        k: Places looked at; all of a shorter list.
        fraction: If positive, k is this share of each list, rounded down and at least 1.
        gains: ``raw``: the values, which must not be negative; ``min_max``: scaled to [0, 1] in each list.
        per: ``group``: one list a group; ``all``: all rows are one list.

    Returns:
        Mean over lists in [0, 1]; lists without any gain are left out and counted, ``constant_truth`` if none is left.

    Raises:
        ContractError: A raw gain is negative.
    """
    scores, truth = np.asarray(state.prediction["score"]), np.asarray(state.truth["value"], np.float64)
    if truth.ndim != 1:
        raise ContractError([Violation("value", "one gain a row", f"{truth.shape[1]} features")])
    if gains == "raw" and (truth < 0).any():
        found = f"negative gains in {np.count_nonzero(truth < 0)} rows"
        raise ContractError([Violation("value", "gains of at least 0, or gains='min_max'", found)], what="The truth")
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no rows", n=0)
    values: dict[str, float] = {}
    left_out = 0
    for name, rows in groups_of(state, per):
        gain = _scaled(truth[rows]) if gains == "min_max" else truth[rows]
        depth = min(len(rows), top_rows(fraction, len(rows)) if fraction > 0 else k)
        ideal = _discounted(gain, gain, depth)
        if ideal > 0:
            values[name] = _discounted(scores[rows], gain, depth) / ideal
        else:
            left_out += len(rows)
    n, excluded = state.n - left_out, {"constant_truth": left_out} if left_out else {}
    if not values:
        return Outcome.undefined("constant_truth", "no list has any gain", n=n, n_excluded=excluded)
    mean = math.fsum(values.values()) / len(values)
    return Outcome(mean, n=n, n_excluded=excluded, per_unit=values if len(values) > 1 else {})


def _scaled(gain: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = gain.min(), gain.max()
    return (gain - low) / (high - low) if high > low else np.zeros(len(gain))


def _discounted(scores: NDArray[np.floating], gain: NDArray[np.float64], k: int) -> float:
    """Σ over runs of tied scores of (mean gain of the run)·(discounts of its places up to k)."""
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    starts = np.concatenate(([0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))
    ends = np.append(starts[1:], len(scores))
    starts, ends = starts[starts < k], ends[starts < k]
    discounts = 1.0 / np.log2(np.arange(2, k + 2))
    terms = gain[order[starts]] * discounts[starts]
    for run in np.flatnonzero(ends - starts > 1).tolist():
        start, end = int(starts[run]), int(ends[run])
        terms[run] = exact_sum(gain[order[start:end]]) / (end - start) * exact_sum(discounts[start : min(end, k)])
    return exact_sum(terms)
