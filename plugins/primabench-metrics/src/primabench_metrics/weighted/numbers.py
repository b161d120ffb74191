"""What weighted metrics of numbers share: prepared sums, and the ends of what was drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from primabench_core.state.exact import Moments
from primabench_core.state.multiplicity import Multiplicities
from primabench_core.state.rows import Rows
from primabench_core.state.weighed import WeighedSums, product_parts
from primabench_metrics.numbers import SPREAD
from primabench_metrics.weighted.quotients import Floats

_HEAD = 64
"""Rows at either end among which the least number drawn nearly always lies."""


def vector_pair(state: Rows) -> tuple[NDArray[np.floating], NDArray[np.floating]] | None:
    """Predicted and true numbers as (n,) vectors, None for several features."""
    predicted = np.asarray(state.prediction["value" if "value" in state.prediction else "score"])
    true = np.asarray(state.truth["value"])
    if any(side.ndim != 1 and side.shape[1] != 1 for side in (predicted, true)):
        return None
    return predicted.reshape(-1), true.reshape(-1)


def moments(state: Rows, drawn: Multiplicities) -> list[Moments] | None:
    """Exact moments of both sides in each resample, None where they cannot be had this way."""

    def build() -> WeighedSums | None:
        pair = vector_pair(state)
        if pair is None:
            return None
        x, y = pair
        products = [product_parts(a, b) for a, b in ((x, x), (y, y), (x, y))]
        singles = [(side.astype(np.float64),) for side in pair]
        return WeighedSums(singles + [p for p in products if p is not None]) if all(products) else None

    def add() -> list[Moments] | None:
        prepared = state.shared("primabench_metrics.weighted.moments", build)
        sums = prepared.over(drawn) if prepared is not None else None
        return None if sums is None else [Moments(n, *row) for n, row in zip(drawn.n.tolist(), sums, strict=True)]

    return drawn.shared(state, "primabench_metrics.weighted.moments", add)


def is_flat(state: Rows, side: str, drawn: Multiplicities) -> NDArray[np.bool_]:
    """(draws,) whether the numbers of a side that were drawn are the same but for rounding; so are no numbers."""

    def look() -> NDArray[np.bool_]:
        pair = vector_pair(state)
        if pair is None or not len(pair[0]):
            return np.ones(len(drawn), np.bool_)
        x = pair[0 if side == "prediction" else 1]
        order = state.shared(("primabench_metrics.weighted.order", side), lambda: np.argsort(x))
        low, high = _first(x, order, drawn), _first(x, order[::-1], drawn)
        scale = np.maximum(np.abs(low), np.abs(high))
        spread = np.divide(high / 2 - low / 2, scale, out=np.zeros(len(low)), where=scale > 0)
        flat: NDArray[np.bool_] = (low == high) | (spread < SPREAD / 2) | (drawn.n == 0)
        return flat

    return drawn.shared(state, ("primabench_metrics.weighted.flat", side), look)


def _first(x: NDArray[np.floating], order: NDArray[np.intp], drawn: Multiplicities) -> Floats:
    """The first number along an order that occurs in each resample."""
    head = order[:_HEAD]
    occurs = drawn.of_rows(head) > 0
    if not occurs.any(axis=1).all():
        head, occurs = order, drawn.of_rows(order) > 0
    first: Floats = x[head[occurs.argmax(axis=1)]].astype(np.float64)
    return first
