"""Curves and confusion of one model over a truth, made inside the runner because only it knows the truth.

An exact ROC curve tells, to whoever has the scores, the label of every unit. So over the private truth of a dataset
curves are drawn in steps of at least :data:`STEP` rows, and below 30 units nothing is drawn. A confusion table tells
even more: whoever gives each unit a predicted class of its own reads all labels off the columns. So over a private
truth all predicted classes that the truth has not are one column, and every column holds at least :data:`STEP` rows.
Comparing the tables of files that differ in few rows still tells these rows' labels; no step helps against that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.evaluation.compute import MIN_PARTIAL
from primabench_core.evaluation.secrecy import POOLED, Secrecy
from primabench_core.result.curves import Confusion, Curve, precision_recall_curve, reliability_curve, roc_curve
from primabench_core.state.rows import Labels

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
    secrecy = Secrecy.over(placed.views, plan)
    if isinstance(predicted, Labels):
        found.append(confusion_of(secrecy.labels(label), secrecy.labels(predicted), step))
    probability, score = placed.views.prediction.get("probability"), placed.views.prediction.get("score")
    if isinstance(probability, np.ndarray) and truth.classes == label.classes:
        found += _of_probabilities(probability, label, secrecy, step, draws, seed)
    elif isinstance(score, np.ndarray) and len(label.classes) == 2:
        found += _of_scores(score, label.codes == 1, _title(label.classes[1], secrecy), step, draws, seed)
    return tuple(found)


def confusion_of(truth: Labels, predicted: Labels, step: int = 1) -> Confusion:
    """How often each true class meets each predicted one, no column with fewer than ``step`` rows.

    Args:
        truth: (n,) labels, none missing.
        predicted: (n,) labels, whose classes begin with those of the truth.
        step: Fewest rows of a column. With more than 1, predicted classes outside the truth's are one column, and
            columns that are too short are put together with each other, and with the shortest other one if need be.

    Example:
        >>> truth = Labels(np.array([0, 0, 1, 1]), ("a", "b"))
        >>> own = Labels(np.array([2, 3, 4, 5]), ("a", "b", "p", "q", "r", "s"))
        >>> confusion_of(truth, own, 2).predicted_classes, confusion_of(truth, own, 2).table
        (('not a class',), ((2,), (2,)))
    """
    place = {label: i for i, label in enumerate(truth.classes)}
    outside = len(place)
    true = np.bincount(truth.codes, minlength=outside).tolist()
    rows = np.bincount(predicted.codes, minlength=len(predicted.classes)).tolist()
    if step > 1:
        column = np.array([place.get(label, outside) for label in predicted.classes], np.int64)
        column, kept, others = _pooled(column, rows, step, true)
        names = [*map(str, truth.classes), _unlike("not a class", truth.classes)]
        names = [names[i] for i in kept] + [_unlike("other classes (few rows)", names)] * others
    else:
        used = [r or (c in place and true[place[c]]) for c, r in zip(predicted.classes, rows, strict=True)]
        column = np.cumsum(np.array(used, bool)) - 1
        names = [str(c) for c, u in zip(predicted.classes, used, strict=True) if u]
    flat = np.bincount(truth.codes * len(names) + column[predicted.codes], minlength=outside * len(names))
    return Confusion(flat.reshape(outside, len(names)).tolist(), truth.classes, names)


def _pooled(
    column: NDArray[np.int64], rows: Sequence[int], step: int, true: Sequence[int]
) -> tuple[NDArray[np.int64], list[int], bool]:
    """Column of each predicted class after pooling, which columns stay, and whether there is one of others.

    Classes of the truth that nobody predicted keep their column of zeros.
    """
    held = np.zeros(len(true) + 1, np.int64)
    np.add.at(held, column, rows)
    order = [i for i in np.argsort(held, kind="stable").tolist() if held[i]]
    pool = [i for i in order if held[i] < step]
    longer = order[len(pool) :]
    while pool and longer and held[pool].sum() < step:
        pool.append(longer.pop(0))
    kept = sorted(longer + [i for i, count in enumerate(true) if count and not held[i]])
    table = np.full(len(held), len(kept), np.int64)
    table[kept] = np.arange(len(kept))
    return table[column], kept, bool(pool)


def _unlike(name: str, taken: Iterable[object]) -> str:
    """This name, or one that no class has."""
    held = set(map(str, taken))
    while name in held:
        name = f"({name})"
    return name


def _title(label: object, secrecy: Secrecy) -> str:
    return POOLED if secrecy.hides(str(label)) else str(label)


def _of_probabilities(
    probability: NDArray[Any], label: Labels, secrecy: Secrecy, step: int, draws: int, seed: int
) -> list[Confusion | Curve]:
    found: list[Confusion | Curve] = []
    frequent = np.bincount(label.codes, minlength=len(label.classes))
    chosen = [1] if len(label.classes) == 2 else np.argsort(-frequent, kind="stable")[:MOST_CLASSES].tolist()
    for place in chosen:
        if frequent[place] >= step:
            name = _title(label.classes[place], secrecy)
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
