"""Curves and confusion of one model over a truth, made inside the runner because only it knows the truth.

An exact ROC curve tells, to whoever has the scores, the label of every unit. So over the private truth of a dataset
curves are drawn in steps of at least :data:`STEP` rows, and below 30 units nothing is drawn. A confusion table says no
more than the per-class scores of the same result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.evaluation.compute import MIN_PARTIAL
from primabench_core.result.curves import Confusion, Curve, precision_recall_curve, reliability_curve, roc_curve
from primabench_core.state.rows import Labels, Rows

if TYPE_CHECKING:
    from primabench_core.evaluation.paired import Placed

STEP = 10
"""Fewest rows between two points of a curve over a private truth."""
MOST_CLASSES = 6
"""Classes that get curves of their own, the most frequent ones."""
DRAWS = 200


def curves_of(placed: Placed, *, draws: int = DRAWS, seed: int = 0) -> tuple[Confusion | Curve, ...]:
    """What can be drawn of these predictions: confusion, ROC, precision and recall, reliability.

    Args:
        placed: Predictions of every unit.
        draws: Resamples of the bands.
        seed: Of the resamples.

    Returns:
        Nothing where the truth has no labels, or is private and has fewer than 30 units.
    """
    truth = placed.truth
    plan = next((p for p in placed.plans if any(f.kind == "label" for f in p.truth)), None)
    if plan is None or (truth.private and truth.n < MIN_PARTIAL):
        return ()
    name = next(f.name for f in plan.truth if f.kind == "label")
    label = truth.columns[name]
    if not isinstance(label, Labels) or name in truth.missing:
        return ()
    step = STEP if truth.private else 1
    found: list[Confusion | Curve] = []
    predicted = placed.views.prediction.get(name)
    if isinstance(predicted, Labels):
        rows = Rows(truth.n, {name: predicted}, {name: label})
        counts = rows.counts(name, name)
        seen = counts.table.sum(axis=0) + _padded(counts.table.sum(axis=1), len(counts.predicted_classes)) > 0
        found.append(
            Confusion(
                counts.table[:, seen],  # type: ignore[arg-type]
                counts.truth_classes,
                [c for c, s in zip(counts.predicted_classes, seen, strict=True) if s],
            )
        )
    probability, score = placed.views.prediction.get("probability"), placed.views.prediction.get("score")
    if isinstance(probability, np.ndarray) and truth.classes == label.classes:
        found += _of_probabilities(probability, label, step, draws, seed)
    elif isinstance(score, np.ndarray) and len(label.classes) == 2:
        found += _of_scores(score, label.codes == 1, str(label.classes[1]), step, draws, seed)
    return tuple(found)


def _padded(counts: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Counts of the truth's classes, with zeros for predicted ones that it has not."""
    return np.concatenate([counts, np.zeros(max(0, width - len(counts)), np.int64)])[:width]


def _of_probabilities(
    probability: NDArray[Any], label: Labels, step: int, draws: int, seed: int
) -> list[Confusion | Curve]:
    found: list[Confusion | Curve] = []
    frequent = np.bincount(label.codes, minlength=len(label.classes))
    chosen = [1] if len(label.classes) == 2 else np.argsort(-frequent, kind="stable")[:MOST_CLASSES].tolist()
    for place in chosen:
        if frequent[place] >= step:
            name = str(label.classes[place])
            found += _of_scores(probability[:, place], label.codes == place, name, step, draws, seed)
    top = probability.argmax(axis=1)
    curve = reliability_curve(probability[np.arange(len(top)), top], top == label.codes, name="top class")
    kept = [i for i, rows in enumerate(curve.weight) if rows >= step]
    if kept:
        x, y, weight = ([part[i] for i in kept] for part in (curve.x, curve.y, curve.weight))
        found.append(Curve(kind="reliability", name=curve.name, x=x, y=y, weight=weight))
    return found


def _of_scores(
    score: NDArray[Any], positive: NDArray[np.bool_], name: str, step: int, draws: int, seed: int
) -> list[Curve]:
    if positive.all() or not positive.any():
        return []
    coarse = coarsened(np.asarray(score, np.float64), step)
    return [make(coarse, positive, draws=draws, seed=seed, name=name) for make in (roc_curve, precision_recall_curve)]


def coarsened(score: NDArray[np.float64], step: int) -> NDArray[np.float64]:
    """Scores whose ties hold at least ``step`` rows each, in the same order.

    Args:
        score: (n,) numbers.
        step: Fewest rows that share a value, where there are so many.

    Returns:
        (n,) numbers; equal scores stay equal.

    Example:
        >>> coarsened(np.array([0.1, 0.2, 0.3, 0.3, 0.9]), 2).tolist()
        [0.0, 0.0, 1.0, 1.0, 1.0]
    """
    if step <= 1:
        return score
    _, place, count = np.unique(score, return_inverse=True, return_counts=True)
    group, held, level = np.zeros(len(count), np.int64), 0, 0
    for i, rows in enumerate(count.tolist()):
        group[i] = level
        held += rows
        if held >= step:
            level, held = level + 1, 0
    if 0 < held < step and level:  # what is left over joins the last full step
        group[group == level] = level - 1
    return group[place].astype(np.float64)
