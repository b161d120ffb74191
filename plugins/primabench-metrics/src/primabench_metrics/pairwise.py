"""Metrics that count pairs of rows: concordance index and paired accuracy."""

from __future__ import annotations

import numpy as np

from primabench_core.spec import Outcome
from primabench_core.state.rows import Rows
from primabench_metrics.classes import Label, positive_code
from primabench_metrics.numbers import vectors
from primabench_metrics.pairs import pair_counts
from primabench_metrics.ranking import label_column
from primabench_metrics.retrieval import groups_of


def concordance_index(state: Rows) -> Outcome:
    """Concordance index: share of pairs with unequal truth that the prediction orders alike, prediction ties half.

    All unordered pairs count (Harrell et al. 1982 without censoring); code that visits each pair in one order of rows
    only, such as DeepDTA's, sees half of them.

    Args:
        state: ``value`` (n,) on both sides; a ``score`` may stand for the predicted value.

    Returns:
        Value in [0, 1]; ``no_comparable_pair`` if no two truths differ.
    """
    x, y = vectors(state)
    pairs = pair_counts(x, y)
    comparable = pairs.concordant + pairs.discordant + pairs.tied_x
    if not comparable:
        return Outcome.undefined("no_comparable_pair", "no two rows differ in truth", n=len(x))
    value = (2 * pairs.concordant + pairs.tied_x) / (2 * comparable)
    return Outcome(value, n=len(x), values={"n_pairs": comparable})


def paired_accuracy(state: Rows, *, positive: Label = 1) -> Outcome:
    """Share of (positive, negative) pairs of a group in which the positive scores higher, ties half.

    A group is usually one pair: a sequence and its shuffled or mutated twin. In a larger group each positive meets
    each negative of the group. Counting a tie as wrong (DART-Eval, Patel et al. 2024) or as right (first-index argmax)
    makes constants worse or better than chance.

    Args:
        state: ``score`` (n,) against ``label`` (n,) and ``group`` (n,), the name of the pair.
        positive: The positive class.

    Returns:
        Value in [0, 1] with the number of pairs and ties; ``no_comparable_pair`` if no group has both sides. Rows of
        groups with one side are counted in ``n_excluded["no_comparable_pair"]``.
    """
    scores, truth = np.asarray(state.prediction["score"]), label_column(state)
    is_positive = truth.codes == positive_code(truth.classes, positive)
    doubled = pairs = ties = used = 0
    for _, rows in groups_of(state, "group"):
        above, below = scores[rows][is_positive[rows]], scores[rows][~is_positive[rows]]
        if not len(above) or not len(below):
            continue
        below = np.sort(below)
        less = int(np.searchsorted(below, above, "left").sum())
        level = int(np.searchsorted(below, above, "right").sum()) - less
        doubled, ties = doubled + 2 * less + level, ties + level
        pairs, used = pairs + len(above) * len(below), used + len(rows)
    left = {"no_comparable_pair": len(scores) - used} if used < len(scores) else {}
    if not pairs:
        return Outcome.undefined("no_comparable_pair", "no group has both sides", n=0, n_excluded=left)
    return Outcome(doubled / (2 * pairs), n=used, n_excluded=left, values={"n_pairs": pairs, "n_ties": ties})
