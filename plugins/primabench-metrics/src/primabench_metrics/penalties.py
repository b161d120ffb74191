"""How a probe chooses its penalty inside the fitted rows; ridge fits with it (logistic: see ``logistic_nests``).

Scores of inner folds are compared with a tolerance, and the stronger penalty wins among equals.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from primabench_metrics.ridge import LeaveOneOut, ridge_path

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STRENGTHS = tuple(float(c) for c in 10.0 ** np.arange(-4, 5))
"""Values of C of the logistic model: nine from 1e-4 to 1e4, strongest penalty first."""
PENALTIES = tuple(float(a) for a in 10.0 ** np.arange(6, -4, -1))
"""Values of alpha of the ridge model: ten from 1e6 to 1e-3, strongest penalty first."""
INNER_FOLDS = 5
SAME = 1e-9
"""Inner scores closer than this are equal; the stronger penalty wins."""


class SkippedError(Exception):
    """The probe cannot be run on these rows; the first argument is the reason code, the second the detail."""


def first_best(scores: Floats) -> int:
    """Place of the first score within 1e-9 of the best; penalties fall along the scores."""
    return int(np.flatnonzero(scores >= scores.max() - SAME)[0])


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
