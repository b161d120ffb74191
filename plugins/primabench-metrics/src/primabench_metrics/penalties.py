"""How a probe chooses its penalty inside the fitted rows, and fits with it.

Scores of inner folds are compared with a tolerance, and the stronger penalty wins among equals.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from primabench_metrics.basis import Basis
from primabench_metrics.logistic import logistic_path, probabilities
from primabench_metrics.logistic_batch import Batch
from primabench_metrics.ridge import LeaveOneOut, ridge_path
from primabench_metrics.runs import area, rank_counts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STRENGTHS = tuple(float(c) for c in 10.0 ** np.arange(-4, 5))
"""Values of C of the logistic model: nine from 1e-4 to 1e4, strongest penalty first."""
PENALTIES = tuple(float(a) for a in 10.0 ** np.arange(6, -4, -1))
"""Values of alpha of the ridge model: ten from 1e6 to 1e-3, strongest penalty first."""
INNER_FOLDS = 5
LARGEST_HESSIAN = 400
"""Columns of a Hessian up to which fits solve it whole."""
SAME = 1e-9
"""Inner scores closer than this are equal; the stronger penalty wins."""


class SkippedError(Exception):
    """The probe cannot be run on these rows; the first argument is the reason code, the second the detail."""


def first_best(scores: Floats) -> int:
    """Place of the first score within 1e-9 of the best; penalties fall along the scores."""
    return int(np.flatnonzero(scores >= scores.max() - SAME)[0])


def prepare(points: Floats, codes: Ints, classes: int) -> Batch | None:
    """What :func:`logistic_in_folds` and :func:`decide` can share if both get it; None where there is nothing.

    Args:
        points: (n, width) rows to fit on.
        codes: (n,) in ``range(classes)``.
        classes: Number of classes.
    """
    columns = (min(points.shape[0], points.shape[1]) + 1) * (1 if classes == 2 else classes)
    return None if columns <= LARGEST_HESSIAN else Batch.of(points, codes, classes)


def logistic_in_folds(
    points: Floats,
    codes: Ints,
    classes: int,
    folds: list[Ints],
    strengths: tuple[float, ...] = STRENGTHS,
    batch: Batch | None = None,
) -> float:
    """C chosen over inner folds: by AUROC for two classes, by log loss for more.

    Args:
        points: (n, width) rows to fit on.
        codes: (n,) in ``range(classes)``.
        classes: Number of classes.
        folds: Rows held out in turn.
        strengths: Values of C, strongest penalty (smallest C) first.
        batch: What :func:`prepare` made of these rows, if it was called.
    """
    batch = batch or prepare(points, codes, classes)
    scores = np.zeros(len(strengths))
    decisions = _inner_decisions(points, codes, classes, folds, strengths, batch)
    for held, decided in zip(folds, decisions, strict=True):
        for place, decision in enumerate(decided):
            if classes == 2:
                found = area(rank_counts(decision[:, 0].copy(), codes[held], 1))
                if found is None:  # never scored 0: it would decide the penalty
                    raise SkippedError("too_few_items", "an inner fold holds one class: it has no AUROC")
                scores[place] += found
            else:
                chance = probabilities(decision)[np.arange(len(held)), codes[held]]
                scores[place] += np.log(np.maximum(chance, np.finfo(float).eps)).mean()
    return strengths[first_best(scores / len(folds))]


def _inner_decisions(
    points: Floats,
    codes: Ints,
    classes: int,
    folds: list[Ints],
    strengths: tuple[float, ...],
    batch: Batch | None,
) -> Iterator[list[Floats]]:
    """For each inner fold, the scores of its held rows by each C."""
    fitted = [np.setdiff1d(np.arange(len(codes)), held) for held in folds]
    if batch is None:
        for held, part in zip(folds, fitted, strict=True):
            basis = Basis.of(points[part])
            asked = basis.coordinates(points[held])
            path = logistic_path(basis, codes[part], classes, strengths)
            yield [asked @ fit.weights[:-1] + fit.weights[-1] for fit in path]
        return
    coefficients, _ = batch.fit(fitted, strengths, exact=False)
    for held, of_fold in zip(folds, coefficients, strict=True):
        yield list(batch.decide(of_fold, batch.rows[held]))


def decide(
    points: Floats,
    codes: Ints,
    classes: int,
    others: Floats,
    strength: float,
    strengths: tuple[float, ...] = STRENGTHS,
    batch: Batch | None = None,
) -> tuple[Floats, float]:
    """Scores of other rows by one logistic fit.

    Args:
        points: (n, width) rows to fit on.
        codes: (n,) in ``range(classes)``.
        classes: Number of classes.
        others: (m, width) rows to score.
        strength: C.
        strengths: Values of C that it was chosen from, smallest first: a small problem is led up to it.
        batch: What :func:`prepare` made of the rows to fit on, if it was called.

    Returns:
        (m, outputs) float64, one output for two classes, else one a class; the gradient norm that was reached.
    """
    batch = batch or prepare(points, codes, classes)
    if batch is None:
        up_to = strengths[: strengths.index(strength) + 1]
        fit = logistic_path(Basis.of(points), codes, classes, up_to)[-1]
        return fit.decision(others), fit.gradient
    coefficients, gradient = batch.fit([np.arange(len(points))], (strength,))
    return batch.decide_others(coefficients[0, 0], others), float(gradient[0, 0])


def ridge_in_folds(
    points: Floats, target: Floats, others: Floats, folds: list[Ints], penalties: tuple[float, ...] = PENALTIES
) -> tuple[float, Floats]:
    """Penalty chosen by squared error over inner folds, and the predictions of other rows with it.

    Args:
        points: (n, width) rows to fit on.
        target: (n,) numbers.
        others: (m, width) rows to predict.
        folds: Rows held out in turn.
        penalties: Values of alpha, strongest first.
    """
    errors = np.zeros(len(penalties))
    for held in folds:
        fitted = np.setdiff1d(np.arange(len(target)), held)
        predicted = ridge_path(points[fitted], target[fitted], points[held], penalties)
        errors += np.square(predicted - target[held]).mean(axis=1)
    choice = penalties[first_best(-errors / len(folds) / _spread(target))]
    return choice, ridge_path(points, target, others, (choice,))[0]


def ridge_left_out(
    points: Floats, target: Floats, others: Floats, penalties: tuple[float, ...] = PENALTIES
) -> tuple[float, Floats]:
    """As :func:`ridge_in_folds`, with every row left out in turn: one decomposition for choice and predictions."""
    fit = LeaveOneOut.fit(points, target, penalties)
    choice = penalties[first_best(-np.square(fit.errors).mean(axis=1) / _spread(target))]
    return choice, fit.predict(others, choice)


def _spread(target: Floats) -> float:
    return float(np.square(target - target.mean()).mean()) or 1.0
