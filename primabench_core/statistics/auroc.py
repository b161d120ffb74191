"""Two AUROCs on the same rows."""

from __future__ import annotations

from fractions import Fraction
from math import erfc, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from primabench_core.errors import UsageError
from primabench_core.statistics.finding import Finding
from primabench_core.statistics.inputs import labels, numbers, one_kind, same_length


def delong(*, score_a: ArrayLike, score_b: ArrayLike, label: ArrayLike, positive: Any = 1) -> Finding:
    """DeLong's test for two correlated AUROCs; two-sided normal p.

    With mid-ranks the structural components are whole halves, so the variance is computed in exact fractions and
    rounded once: the order of the rows changes no bit.
    Sources: DeLong et al. 1988, doi:10.2307/2531595; Sun and Xu 2014, doi:10.1109/LSP.2014.2337313.

    Args:
        score_a: (n,) scores of the first model, higher is more positive.
        score_b: (n,) scores of the second, in the same order.
        label: (n,) integers or text.
        positive: The label that counts as positive; all others are negative.

    Returns:
        ``value``: p. ``values``: ``auroc_a``, ``auroc_b``, ``difference``, ``standard_error``, ``z``, ``p``.
        Undefined for one class (``single_class``), fewer than two rows of a class (``too_few_items``) and variance 0
        (``zero_denominator``).

    Raises:
        UsageError: Scores are not finite numbers, lengths differ, or ``positive`` is of another kind than the labels.

    Example:
        >>> round(delong(score_a=[3, 4, 1, 2], score_b=[4, 1, 3, 2], label=[1, 1, 0, 0]).values["auroc_a"], 2)
        1.0
    """
    a, b, y = numbers(score_a, "score_a"), numbers(score_b, "score_b"), labels(label, "label")
    same_length(score_a=a, score_b=b, label=y)
    if len(y) and isinstance(positive, str) != (y.dtype.kind == "U"):
        raise UsageError(f"positive: expected a label of the same kind as in label, found {positive!r}")
    one_kind(label=y)
    truth = y == positive
    m, n = int(truth.sum()), int((~truth).sum())
    if not m or not n:
        return Finding.undefined("delong", "single_class", f"{m} positive and {n} negative rows")
    if m < 2 or n < 2:
        return Finding.undefined("delong", "too_few_items", "a variance needs two rows of each class")
    wins_a, wins_b = _wins(a, truth), _wins(b, truth)
    auroc_a, auroc_b = (Fraction(int(w[0].sum()), 2 * m * n) for w in (wins_a, wins_b))
    spread = Fraction(0)
    for side, (count, others) in enumerate(((m, n), (n, m))):
        # components of one class divided by 2 x rows of the other class; the difference first, so equal ranks cancel
        spread += _variance(wins_a[side] - wins_b[side]) / (4 * others * others) / count
    if not spread:
        return Finding.undefined("delong", "zero_denominator", "the difference of the two models has variance 0")
    error = sqrt(spread)
    z = float(auroc_a - auroc_b) / error
    p = erfc(abs(z) / sqrt(2))
    values = {
        "auroc_a": float(auroc_a),
        "auroc_b": float(auroc_b),
        "difference": float(auroc_a - auroc_b),
        "standard_error": error,
        "z": z,
        "p": p,
    }
    return Finding("delong", value=p, values=values)


def _wins(score: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Twice the number of pairs won (a tie is half a win): by each positive row, and against each negative row."""
    positive, negative = np.sort(score[truth]), np.sort(score[~truth])
    up = np.searchsorted(negative, score[truth], "left") + np.searchsorted(negative, score[truth], "right")
    down = np.searchsorted(positive, score[~truth], "left") + np.searchsorted(positive, score[~truth], "right")
    return up.astype(np.int64), (2 * len(positive) - down).astype(np.int64)


def _variance(values: NDArray[np.int64]) -> Fraction:
    """Sample variance (ddof 1) of integers, exact."""
    count, total = len(values), int(values.sum())
    size = np.abs(values)
    high, low = size >> 16, size & 0xFFFF  # squares of 32-bit numbers would overflow a sum of int64
    squares = (int((high * high).sum()) << 32) + (int((high * low).sum()) << 17) + int((low * low).sum())
    return Fraction(count * squares - total * total, count * (count - 1))
