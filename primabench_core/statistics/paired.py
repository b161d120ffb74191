"""Tests for two models on the same rows or the same assays."""

from __future__ import annotations

from math import erfc, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from primabench_core.statistics.finding import Finding
from primabench_core.statistics.inputs import choice, labels, numbers, one_kind, same_length, whole
from primabench_core.statistics.resampling import random_words

_EXACT_BINOMIAL = 20_000
"""Discordant rows up to which the binomial tail is summed in integers."""
_EXACT_FLIPS = 16
"""Pairs up to which all sign patterns are enumerated."""


def mcnemar_exact(*, label_a: ArrayLike, label_b: ArrayLike, label: ArrayLike) -> Finding:
    """McNemar's test, exact: are the rows that only one model gets right split evenly? Two-sided.

    Rows that both get right or both get wrong say nothing, even if the wrong labels differ.
    Source: McNemar 1947, doi:10.1007/BF02295996.

    Args:
        label_a: (n,) labels of the first model, integers or text.
        label_b: (n,) labels of the second.
        label: (n,) the truth.

    Returns:
        ``value``: p. ``values``: ``only_a_right``, ``only_b_right``, ``p`` (capped at 1; 1 with the flag
        ``no_discordant_rows`` if the models agree in being right). Undefined without rows.

    Raises:
        UsageError: Lengths or kinds of label differ.

    Example:
        >>> mcnemar_exact(label_a=[1, 1], label_b=[0, 1], label=[1, 1]).values["only_a_right"]
        1
    """
    a, b, y = labels(label_a, "label_a"), labels(label_b, "label_b"), labels(label, "label")
    if not same_length(label_a=a, label_b=b, label=y):
        return Finding.undefined("mcnemar_exact", "too_few_items", "there are no rows")
    one_kind(label_a=a, label_b=b, label=y)
    only_a, only_b = int(((a == y) & (b != y)).sum()), int(((b == y) & (a != y)).sum())
    p = min(1.0, 2 * _binomial_tail(min(only_a, only_b), only_a + only_b))
    flags = () if only_a + only_b else ("no_discordant_rows",)
    return Finding(
        "mcnemar_exact", value=p, values={"only_a_right": only_a, "only_b_right": only_b, "p": p}, flags=flags
    )


def _binomial_tail(k: int, n: int) -> float:
    """P(X <= k) for n fair coins."""
    if n > _EXACT_BINOMIAL:
        from scipy.special import bdtr

        return float(bdtr(k, n, 0.5))
    term = total = 1
    for i in range(k):
        term = term * (n - i) // (i + 1)
        total += term
    return total / (1 << n)


def wilcoxon_paired(*, value_a: ArrayLike, value_b: ArrayLike, method: str = "exact", zeros: str = "drop") -> Finding:
    """Wilcoxon's signed-rank test over paired scores (one pair an assay, say); two-sided.

    Absolute differences share mid-ranks where they are equal as float64; the exact p is then that of all sign
    patterns over those ranks. Source: Wilcoxon 1945, doi:10.2307/3001968.

    Args:
        value_a: (n,) scores of the first model.
        value_b: (n,) scores of the second.
        method: ``exact``, or ``normal`` (tie-corrected, no continuity correction; for hundreds of pairs).
        zeros: ``drop``: pairs without a difference are left out.

    Returns:
        ``value``: p. ``values``: ``statistic`` (the smaller rank sum), ``p``, ``n_pairs`` used, ``n_zero`` dropped.
        Undefined if nothing differs.

    Raises:
        UsageError: Values are not finite numbers, or lengths differ.
        ParameterError: Unknown ``method`` or ``zeros``.

    Example:
        >>> wilcoxon_paired(value_a=[3, 5, 9], value_b=[1, 2, 3]).value
        0.25
    """
    choice(method, ("exact", "normal"), "method")
    choice(zeros, ("drop",), "zeros")
    a, b = numbers(value_a, "value_a"), numbers(value_b, "value_b")
    same_length(value_a=a, value_b=b)
    difference = a - b
    kept = difference[difference != 0]
    n = len(kept)
    if not n:
        return Finding.undefined("wilcoxon_paired", "no_comparable_pair", "no pair differs")
    doubled, ties = _doubled_ranks(np.abs(kept))
    up, total = int(doubled[kept > 0].sum()), int(doubled.sum())
    smaller = min(up, total - up)
    if method == "exact":
        p = min(1.0, 2 * _signed_rank_tail(doubled, smaller))
    else:
        deviation = sqrt(n * (n + 1) * (2 * n + 1) / 24 - float((ties**3 - ties).sum()) / 48)
        p = erfc(abs(smaller / 2 - n * (n + 1) / 4) / deviation / sqrt(2))
    values = {"statistic": smaller / 2, "p": p, "n_pairs": n, "n_zero": len(difference) - n}
    return Finding("wilcoxon_paired", value=p, values=values)


def _doubled_ranks(size: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Twice the mid-ranks, and how many entries share each."""
    _, where, ties = np.unique(size, return_inverse=True, return_counts=True)
    last = np.cumsum(ties)
    return (2 * last - ties + 1)[where].astype(np.int64), ties


def _signed_rank_tail(doubled: NDArray[np.int64], at_most: int) -> float:
    """P(sum of a random half of the doubled ranks <= at_most)."""
    # counts stay exact in int64 up to 62 pairs; above, probabilities in float64
    exact = len(doubled) <= 62
    ways: NDArray[Any] = np.zeros(at_most + 1, np.int64 if exact else np.float64)
    ways[0] = 1
    for rank in np.sort(doubled).tolist():
        shifted = np.zeros_like(ways)
        if rank <= at_most:
            shifted[rank:] = ways[: at_most + 1 - rank]
        ways = ways + shifted if exact else (ways + shifted) / 2
    return int(ways.sum()) / (1 << len(doubled)) if exact else float(ways.sum())


def sign_flip(*, value_a: ArrayLike, value_b: ArrayLike, draws: int = 10_000, seed: int = 0) -> Finding:
    """Sign-flip permutation test on the mean paired difference; two-sided.

    If the models are exchangeable in each pair, the sign of its difference is a coin. Up to 16 pairs with a difference
    every pattern is counted (``exact``), above ``draws`` of them with the observed one added. Sums within 1e-12 of
    the sum of absolute differences count as equal, so that rounding decides nothing.

    Args:
        value_a: (n,) scores of the first model.
        value_b: (n,) scores of the second.
        draws: Random patterns, if not all are enumerated.
        seed: At least 0; equal seeds give equal bits.

    Returns:
        ``value``: p. ``values``: ``mean_difference``, ``p``, ``exact``, ``draws``. Undefined if nothing differs.

    Raises:
        UsageError: Values are not finite numbers, or lengths differ.
        ParameterError: ``draws`` or ``seed`` is out of range.

    Example:
        >>> sign_flip(value_a=[3, 5, 9], value_b=[1, 2, 3]).value
        0.25
    """
    whole(draws, "draws", 1)
    whole(seed, "seed", 0, 2**64 - 1)
    a, b = numbers(value_a, "value_a"), numbers(value_b, "value_b")
    count = same_length(value_a=a, value_b=b)
    # sorted, so that the order of the pairs changes no bit
    difference = np.sort(a - b)
    kept = difference[difference != 0]
    if not len(kept):
        return Finding.undefined("sign_flip", "no_comparable_pair", "no pair differs")
    bar = abs(float(kept.sum())) - 1e-12 * float(np.abs(kept).sum())
    exact = len(kept) <= _EXACT_FLIPS
    if exact:
        patterns = np.arange(1 << len(kept), dtype=np.uint32)
        sums = np.zeros(len(patterns))
        for place, size in enumerate(kept):
            sums += np.where((patterns >> np.uint32(place)) & np.uint32(1), size, -size)
        extreme, of = int((np.abs(sums) >= bar).sum()), len(patterns)
    else:
        extreme, of = 1, draws + 1
        for draw in range(draws):
            bits = np.unpackbits(random_words(seed, draw, -(-len(kept) // 64)).astype("<u8").view(np.uint8))
            signs = bits[: len(kept)].astype(np.float64) * 2 - 1
            extreme += abs(float((signs * kept).sum())) >= bar
    p = extreme / of
    values = {"mean_difference": float(difference.sum()) / count, "p": p, "exact": exact, "draws": of}
    return Finding("sign_flip", value=p, values=values)
