"""Mutual information that two partitions of given sizes share by chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

REACH, MARGIN = 12, 40
"""Standard deviations, and cells on top of them, around the mode; what lies outside is below 1e-30 of the sum."""


def expected_information(classes: Sequence[int], clusters: Sequence[int], n: int) -> float:
    """n·E[I] in nats over random partitions with these sizes (Vinh et al. 2010, equation 24a).

    A cell of a class of a rows and a cluster of b rows is hypergeometric. Its probabilities are built by ratios from
    the mode outwards and divided by their sum, so that no factorial is needed; equal pairs of sizes are done once.

    Args:
        classes: Sizes of the classes, positive, of sum n.
        clusters: Sizes of the clusters, likewise.
        n: Rows.
    """
    terms = []
    for a, many_a in Counter(classes).items():
        for b, many_b in Counter(clusters).items():
            terms.append(many_a * many_b * _cell(a, b, n))
    return math.fsum(terms)


def _cell(a: int, b: int, n: int) -> float:
    """Σ_k P(k)·k·ln(n·k/(a·b)) of a hypergeometric cell."""
    low, high = max(0, a + b - n), min(a, b)
    mode = min(max((a + 1) * (b + 1) // (n + 2), low), high)
    spread = math.sqrt(a * b * (n - a) * (n - b) / (n * n * max(1, n - 1)))
    reach = int(REACH * spread) + MARGIN
    low, high = max(low, mode - reach), min(high, mode + reach)
    up = np.arange(mode, high, dtype=np.float64)  # P(k+1)/P(k)
    down = np.arange(mode, low, -1, dtype=np.float64)  # P(k-1)/P(k)
    rising = np.cumprod((a - up) * (b - up) / ((up + 1) * (n - a - b + up + 1)))
    falling = np.cumprod(down * (n - a - b + down) / ((a - down + 1) * (b - down + 1)))
    weight = np.concatenate([falling[::-1], [1.0], rising])
    k = np.arange(low, high + 1, dtype=np.float64)
    information = k * np.log(np.maximum(k, 1.0) * (n / a / b))
    return float((weight * information).sum() / weight.sum())
