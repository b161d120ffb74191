"""AUROC and average precision over many resamples (:mod:`primabench_metrics.ranking`): the scores are sorted once."""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.state.exact import exact_row_sums
from primabench_core.state.multiplicity import Multiplicities, Selection, running_sums, take_columns
from primabench_core.state.rows import Rows
from primabench_metrics.classes import Label, positive_code
from primabench_metrics.ranking import label_column
from primabench_metrics.weighted.quotients import Floats, Ints, means, quotients, shares

_MOST = 1 << 31
"""Rows up to which doubled wins fit 64 bits."""


@frozen(eq=False, slots=False)
class Ranked:
    """Rows of one class and of the rest, each by rising score, and how they interlock."""

    above: Selection
    """The p rows of the class."""
    below: Selection
    """The others."""
    edges: Ints
    """Where each run of equal scores of the class begins in ``above``, and p."""
    less: Ints
    """(p,) how many of ``below`` score less."""
    up_to: Ints | None
    """(p,) how many score less or the same; None if no row of the class is level with another."""

    @classmethod
    def of(cls, scores: NDArray[np.floating], is_positive: NDArray[np.bool_]) -> Ranked:
        """Sort both sides."""
        sides = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
        above, below = (at[np.argsort(scores[at])] for at in sides)
        high, low = scores[above], scores[below]
        less, up_to = (np.searchsorted(low, high, side) for side in ("left", "right"))
        starts = np.flatnonzero(np.append(True, high[1:] != high[:-1])) if len(high) else above
        level = None if np.array_equal(less, up_to) else up_to
        return cls(Selection(above), Selection(below), np.append(starts, len(above)), less, level)

    def times(self, drawn: Multiplicities) -> tuple[Ints, Ints]:
        """(draws, p) how often each row of the class occurs, and (draws, q + 1) running sums of the others."""
        return drawn.shared(self, "times", lambda: (self.above.times(drawn), running_sums(self.below.times(drawn))))


def auroc(
    state: Rows, drawn: Multiplicities, *, positive: Label = 1, multi_class: str = "", average: str = "macro"
) -> Floats | None:
    """Area under the ROC curve, from wins counted as integers."""
    if drawn.n.max(initial=0) >= _MOST:
        return None
    if multi_class != "ovr":
        return _area(_binary(state, positive), drawn)
    truth, classes = label_column(state), state.classes or ()
    codes = [truth.classes.index(name) if name in truth.classes else -1 for name in classes]
    areas = [_area(_ranked(state, column, code), drawn) for column, code in enumerate(codes)]
    table = np.stack(areas, axis=1) if areas else np.zeros((len(drawn), 0))
    return means(table, ~np.isnan(table))


def _area(ranked: Ranked, drawn: Multiplicities) -> Floats:
    inside, running = ranked.times(drawn)
    beaten = take_columns(running, ranked.less)
    beaten = 2 * beaten if ranked.up_to is None else beaten + take_columns(running, ranked.up_to)
    wins: Ints = np.einsum("ij,ij->i", inside, beaten)
    return quotients(wins, 2 * inside.sum(axis=1) * running[:, -1])


def average_precision(state: Rows, drawn: Multiplicities, *, positive: Label = 1) -> Floats | None:
    """Average precision; runs of equal scores stay what they are in a resample."""
    if drawn.n.max(initial=0) >= _MOST:
        return None
    ranked = _binary(state, positive)
    inside, running = ranked.times(drawn)
    reached = take_columns(running_sums(inside), ranked.edges)  # rows of the class below each run
    before, total = reached[:, :-1], reached[:, -1:]
    below = take_columns(running, ranked.less[ranked.edges[:-1]])
    left = drawn.n[:, None] - before - below
    terms = (reached[:, 1:] - before) * (total - before) / np.maximum(left, 1)  # where none is left, none is inside
    return shares(exact_row_sums(terms), total[:, 0])


def _binary(state: Rows, positive: Label) -> Ranked:
    code = positive_code(label_column(state).classes, positive)
    if "score" in state.prediction:
        return _ranked(state, None, code)
    classes = state.classes or ()
    return _ranked(state, classes.index(positive) if positive in classes else 0, code)


def _ranked(state: Rows, column: int | None, code: int) -> Ranked:
    def build() -> Ranked:
        field = np.asarray(state.prediction["score" if column is None else "probability"])
        return Ranked.of(field if column is None else field[:, column], label_column(state).codes == code)

    return state.shared(("primabench_metrics.weighted.ranking", column, code), build)
