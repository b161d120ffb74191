"""Metrics of predicted classes over many tables of counts (:mod:`primabench_metrics.classification`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.state.counts import Counts, Label
from primabench_core.state.exact import exact_row_sums
from primabench_core.state.tables import Tables
from primabench_metrics.weighted.quotients import Floats, Ints, means, quotients, shares

_MOST = 1 << 31
"""Rows up to which products of two counts fit 64 bits."""


def accuracy(_state: Counts, drawn: Tables) -> Floats:
    """ΣTP/n."""
    return quotients(drawn.hits.sum(axis=1), drawn.n)


def balanced_accuracy(_state: Counts, drawn: Tables) -> Floats:
    """Mean recall of the classes of the truth."""
    return means(quotients(drawn.hits, drawn.true), drawn.true > 0)


def macro_f1(_state: Counts, drawn: Tables, *, labels: str = "union") -> Floats:
    """Mean F1 of classes."""
    return means(quotients(2 * drawn.hits, drawn.true + drawn.called), _classes(drawn, labels))


def weighted_f1(_state: Counts, drawn: Tables) -> Floats | None:
    """Mean F1 of classes by their number of true rows."""
    if drawn.n.max(initial=0) >= _MOST:
        return None
    occur = drawn.true + drawn.called
    terms = np.where(occur > 0, quotients(2 * drawn.hits * drawn.true, occur), 0.0)
    return shares(exact_row_sums(terms), drawn.n)


def micro_f1(_state: Counts, drawn: Tables) -> Floats:
    """2ΣTP/(2ΣTP+ΣFP+ΣFN)."""
    return quotients(2 * drawn.hits.sum(axis=1), drawn.true.sum(axis=1) + drawn.called.sum(axis=1))


def precision(
    _state: Counts, drawn: Tables, *, average: str = "binary", positive: Label = 1, labels: str = "union"
) -> Floats:
    """TP/(TP+FP) of one class, or its mean."""
    return _ratio(drawn, drawn.called, average, positive, labels)


def recall(
    _state: Counts, drawn: Tables, *, average: str = "binary", positive: Label = 1, labels: str = "union"
) -> Floats:
    """TP/(TP+FN) of one class, or its mean."""
    return _ratio(drawn, drawn.true, average, positive, labels)


def mcc(_state: Counts, drawn: Tables, *, mode: str = "strict") -> Floats | None:
    """Matthews correlation coefficient from exact integers."""
    if drawn.n.max(initial=0) >= _MOST:
        return None
    square = drawn.n * drawn.n
    spread_true = square - (drawn.true * drawn.true).sum(axis=1)
    spread_called = square - (drawn.called * drawn.called).sum(axis=1)
    top = drawn.hits.sum(axis=1) * drawn.n - (drawn.true * drawn.called).sum(axis=1)
    return np.array(
        [
            _correlation(t, a, b, mode) if n else math.nan
            for n, t, a, b in zip(*(x.tolist() for x in (drawn.n, top, spread_true, spread_called)), strict=True)
        ]
    )


def _correlation(top: int, spread_true: int, spread_called: int, mode: str) -> float:
    if spread_true and spread_called:
        return math.copysign(math.sqrt(top * top / (spread_true * spread_called)), top)
    return math.nan if not spread_true and not spread_called and mode == "strict" else 0.0


def cohen_kappa(_state: Counts, drawn: Tables) -> Floats | None:
    """Cohen's kappa as one ratio of exact integers."""
    if drawn.n.max(initial=0) >= _MOST:
        return None
    chance = (drawn.true * drawn.called).sum(axis=1)
    return quotients(drawn.n * drawn.hits.sum(axis=1) - chance, drawn.n * drawn.n - chance)


def _classes(drawn: Tables, labels: str) -> NDArray[np.bool_]:
    return drawn.true > 0 if labels == "truth" else drawn.true + drawn.called > 0


def _ratio(drawn: Tables, margin: Ints, average: str, positive: Label, labels: str) -> Floats:
    classes: tuple[Any, ...] = drawn.cells.classes
    if average == "binary":
        if positive not in classes:
            return np.where(drawn.n > 0, 0.0, np.nan)
        at = classes.index(positive)
        found = np.where(margin[:, at] > 0, quotients(drawn.hits[:, at], margin[:, at]), 0.0)
        return np.where(drawn.n > 0, found, np.nan)
    found = np.where(margin > 0, quotients(drawn.hits, margin), 0.0)
    return means(found, _classes(drawn, labels))
