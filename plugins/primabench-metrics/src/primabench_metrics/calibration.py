"""Metrics of class probabilities. The contract has checked that rows lie in [0, 1] and sum to 1 within 1e-6."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from primabench_core.spec import Outcome
from primabench_core.state.bins import bin_of
from primabench_core.state.exact import exact_row_sums, exact_sum
from primabench_core.state.rows import Rows
from primabench_metrics.classes import Label
from primabench_metrics.ranking import label_column

Floats = NDArray[np.float64]

_EMPTY = Outcome.undefined("too_few_items", "there are no rows", n=0)


def _columns(state: Rows) -> tuple[Floats, NDArray[np.int64]]:
    """(n, classes) probabilities as float64, and (n,) the column of each row's true class."""
    probability = np.asarray(state.prediction["probability"], np.float64)
    truth, classes = label_column(state), state.classes or ()
    place = {label: column for column, label in enumerate(classes)}
    column_of = np.asarray([place.get(label, -1) for label in truth.classes], np.int64)
    return probability, column_of[truth.codes] if len(truth.codes) else truth.codes


def log_loss(state: Rows, *, clip: float = 2.220446049250313e-16) -> Outcome:
    """Mean of −ln max(p, clip) of the probability p given to the true class (Good 1952).

    Logarithms come from numpy and may differ in the last bit between machines; their sum is exact.

    Args:
        state: ``probability`` (n, classes) against ``label`` (n,).
        clip: Smallest probability; scikit-learn takes the float64 epsilon.

    Returns:
        Value in [0, ∞) in nats; ``too_few_items`` without rows; with ``clip`` 0 and a zero probability of a true
        class, ``numerical_failure``.
    """
    if not state.n:
        return _EMPTY
    terms = log_terms(state, clip)
    if terms is None:
        return Outcome.undefined("numerical_failure", "a true class has probability 0 and nothing is clipped")
    return Outcome(exact_sum(terms) / state.n)


def log_terms(state: Rows, clip: float) -> Floats | None:
    """(n,) −ln max(p, clip) of each row; None if a true class has probability 0 and nothing is clipped."""
    probability, column = _columns(state)
    given = np.maximum(probability[np.arange(state.n), column], clip)
    return -np.log(given) if given.all() else None


def brier_score(state: Rows, *, positive: Label = 1) -> Outcome:
    """Brier score (Brier 1950): two classes (p − y)² of the positive column, more Σ_c (p_c − y_c)²; mean over rows.

    Args:
        state: ``probability`` (n, classes) against ``label`` (n,).
        positive: Whose column counts with two classes; where no class has this name, the second one (both columns
            say the same, as rows sum to 1).

    Returns:
        Value in [0, 2], for two classes in [0, 1]; ``too_few_items`` without rows.
    """
    return Outcome(exact_sum(brier_terms(state, positive)) / state.n) if state.n else _EMPTY


def brier_terms(state: Rows, positive: Label) -> Floats:
    """(n,) squared distance of each row."""
    probability, column = _columns(state)
    width = probability.shape[1]
    if width == 2:
        classes = state.classes or ()
        chosen = classes.index(positive) if positive in classes else 1
        gap = probability[:, chosen] - (column == chosen)
        squares: Floats = gap * gap
        return squares
    gap = probability - (column[:, None] == np.arange(width))
    return exact_row_sums(gap * gap)


def expected_calibration_error(state: Rows, *, bins: int = 15) -> Outcome:
    """Expected calibration error Σ_b (n_b/n)·|accuracy_b − confidence_b| of the top class (Guo et al. 2017).

    Bins are ((b−1)/bins, b/bins], told apart in float32 (:func:`primabench_core.state.bins.bin_of`), so that 0.6 has
    one bin whatever its dtype. Where several classes share the top probability, the row is right to the share of
    the true class among them, so that the order of classes does not matter.

    Args:
        state: ``probability`` (n, classes) against ``label`` (n,).
        bins: Number of equal-width bins.

    Returns:
        Value in [0, 1], with rows, accuracy and mean confidence of each bin in ``values``; ``too_few_items`` without
        rows.
    """
    if not state.n:
        return _EMPTY
    place, right, top = bin_terms(state, bins)
    order = np.argsort(place, kind="stable")
    bounds = np.searchsorted(place[order], np.arange(bins + 1))
    hits, sure, counts = [], [], np.diff(bounds).tolist()
    for start, stop in pairwise(bounds.tolist()):
        hits.append(exact_sum(right[order[start:stop]]))
        sure.append(exact_sum(top[order[start:stop]]))
    value = exact_sum(np.abs(np.subtract(hits, sure))) / state.n
    return Outcome(
        value,
        values={
            "bin_rows": counts,
            "bin_accuracy": [h / k if k else None for h, k in zip(hits, counts, strict=True)],
            "bin_confidence": [s / k if k else None for s, k in zip(sure, counts, strict=True)],
        },
    )


def bin_terms(state: Rows, bins: int) -> tuple[NDArray[np.int64], Floats, Floats]:
    """(n,) bin, share of being right and top probability of each row."""
    probability, column = _columns(state)
    top = probability.max(1, initial=0.0)
    right = (probability[np.arange(state.n), column] == top) / (probability == top[:, None]).sum(1)
    return bin_of(top, bins), right, top
