"""How a probe chooses its penalty inside the fitted rows, and fits with it.

Scores of inner folds are compared with a tolerance, and the stronger penalty wins among equals.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_metrics.basis import Basis
from primabench_metrics.logistic import logistic_path, probabilities
from primabench_metrics.logistic_batch import Batch
from primabench_metrics.ridge import LeaveOneOut, ridge_path
from primabench_metrics.runs import area_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STRENGTHS = tuple(float(c) for c in 10.0 ** np.arange(-4, 5))
"""Values of C of the logistic model: nine from 1e-4 to 1e4, strongest penalty first."""
PENALTIES = tuple(float(a) for a in 10.0 ** np.arange(6, -4, -1))
"""Values of alpha of the ridge model: ten from 1e6 to 1e-3, strongest penalty first."""
INNER_FOLDS = 5
LARGEST_HESSIAN = 400
"""Columns of a Hessian up to which fits solve it whole."""
ROOM = 1 << 30
"""Bytes that the fits of nests made together may take beside the rows: more nests are gone through in turns. What one
nest takes is not cut: for rows n, columns q, outputs o, inner folds b and nine values of C, 8·b·o·(10·n + 50·q)."""
_OF_ROW, _OF_COLUMN = 10, 32
"""Numbers for each output of a fit: see :func:`_room`."""
SAME = 1e-9
"""Inner scores closer than this are equal; the stronger penalty wins."""


class SkippedError(Exception):
    """The probe cannot be run on these rows; the first argument is the reason code, the second the detail."""


def first_best(scores: Floats) -> int:
    """Place of the first score within 1e-9 of the best; penalties fall along the scores."""
    return int(np.flatnonzero(scores >= scores.max() - SAME)[0])


@frozen(eq=False)
class Nest:
    """An outer fold with its inner ones."""

    fit: Ints
    """Rows to fit on."""
    score: Ints
    """Rows to score."""
    inner: list[Ints]
    """Rows held out in turn, as places in ``fit``."""

    @property
    def parts(self) -> list[Ints]:
        """Rows that each inner fold fits on."""
        return [np.delete(self.fit, held) for held in self.inner]


@frozen(eq=False)
class Chosen:
    """What came out of an outer fold."""

    strength: float
    """C that the inner folds chose."""
    decision: Floats
    """(m, outputs) linear scores of its scored rows: one output for two classes, else one a class."""
    gradient: float
    """Gradient norm that the fit reached."""


def logistic_nests(
    points: Floats, codes: Ints, classes: int, nests: list[Nest], strengths: tuple[float, ...] = STRENGTHS
) -> list[Chosen]:
    """Choose C in each nest over its inner folds, by AUROC for two classes, by log loss for more, and fit with it.

    Large problems of all nests are fitted together, as far as there is :data:`ROOM` for them: see
    :mod:`primabench_metrics.logistic_batch`. Rows that are far from those of a fit do not touch its scale.

    Args:
        points: (n, width) rows.
        codes: (n,) in ``range(classes)``; of rows that no nest fits on, any.
        classes: Number of classes, all of them among the rows of each nest.
        nests: Outer folds.
        strengths: Values of C, strongest penalty (smallest C) first.

    Raises:
        SkippedError: An inner fold holds one class alone.

    Example:
        >>> import numpy as np
        >>> x = np.arange(12.0)[:, None]
        >>> nest = Nest(np.arange(8), np.arange(8, 12), [np.array([0, 7]), np.array([1, 6])])
        >>> (found,) = logistic_nests(x, np.arange(12) // 4 % 2, 2, [nest])
        >>> found.strength, found.decision.shape
        (0.0001, (4, 1))
    """
    least = min(len(nest.fit) for nest in nests)
    if (min(least, points.shape[1]) + 1) * (1 if classes == 2 else classes) <= LARGEST_HESSIAN:
        return [_nest_by_itself(points, codes, classes, nest, strengths) for nest in nests]
    outputs = 1 if classes == 2 else classes
    each = [_room(nest, len(points), points.shape[1], outputs, len(strengths)) for nest in nests]
    found: list[Chosen] = []
    for chunk in _chunks(each):
        found += _nests_together(points, codes, classes, nests[chunk], strengths)
    return found


def _room(nest: Nest, n: int, width: int, outputs: int, strengths: int) -> int:
    """Bytes that the fits of a nest take, at most, beside the rows that all share.

    For each output of each fit: scores and what is made of them, for each row; coefficients for each C, twice, and
    what the descent remembers, for each column.
    """
    return 8 * len(nest.inner) * outputs * (_OF_ROW * n + (2 * strengths + _OF_COLUMN) * (width + 1))


def _chunks(each: list[int]) -> list[slice]:
    """Nests in a row that have room together, or one that has not."""
    ends, taken = [0], 0
    for at, room in enumerate(each):
        if taken and taken + room > ROOM:
            ends.append(at)
            taken = 0
        taken += room
    return [slice(start, end) for start, end in pairwise([*ends, len(each)])]


def _nests_together(
    points: Floats, codes: Ints, classes: int, nests: list[Nest], strengths: tuple[float, ...]
) -> list[Chosen]:
    """In one batch, but for fits whose rows its scale would round away: those have one each."""
    rows = np.unique(np.concatenate([nest.fit for nest in nests]))
    batch = Batch.of(points[rows], codes[rows], classes)
    place = np.full(len(points), -1)
    place[rows] = np.arange(len(rows))
    parts = [part for nest in nests for part in nest.parts]
    apart = batch.apart(points[rows], [place[part] for part in (*parts, *(nest.fit for nest in nests))])
    near = np.flatnonzero(~apart[: len(parts)]).tolist()
    of_part: dict[int, Floats] = {}
    if near:
        left = _left_out(nests, place, len(rows))
        of_near, _ = batch.fit([place[parts[at]] for at in near], strengths, exact=False, held=left)
        of_part = dict(zip(near, of_near, strict=True))
    best: list[int] = []
    starts = np.zeros((len(nests), *batch.shape))
    at = 0
    for nest, start in zip(nests, starts, strict=True):
        held = [nest.fit[of_fold] for of_fold in nest.inner]
        inner = range(at, at + len(held))
        at += len(held)
        decisions = []
        for one, asked in zip(inner, held, strict=True):
            if one in of_part:
                decisions.append(batch.decide(of_part[one], batch.rows[place[asked]]))
            else:
                own, path = _alone(points, codes, classes, parts[one], strengths)
                decisions.append(own.decide_others(path, points[asked]))
        best.append(_best(decisions, [codes[asked] for asked in held], classes))
        led = [of_part[one][best[-1]] for one in inner if one in of_part]
        if led:
            start[:] = np.mean(led, axis=0)
    last = np.flatnonzero(~apart[len(parts) :]).tolist()
    fits: dict[int, tuple[Floats, float]] = {}
    if last:
        wanted = np.asarray([strengths[best[one]] for one in last])
        final, norms = batch.refit([place[nests[one].fit] for one in last], wanted, starts[last])
        fits = dict(zip(last, zip(final, norms.tolist(), strict=True), strict=True))
    return [
        Chosen(strengths[best[one]], batch.decide_others(fits[one][0], points[nest.score]), fits[one][1])
        if one in fits
        else _chosen_alone(points, codes, classes, nest, strengths[: best[one] + 1])
        for one, nest in enumerate(nests)
    ]


def _alone(
    points: Floats, codes: Ints, classes: int, fitted: Ints, strengths: tuple[float, ...]
) -> tuple[Batch, Floats]:
    """A batch of these rows and (C, outputs, width + 1) coefficients for its scale."""
    batch = Batch.of(points[fitted], codes[fitted], classes)
    (path,), _ = batch.fit([np.arange(len(fitted))], strengths, exact=False)
    return batch, path


def _chosen_alone(points: Floats, codes: Ints, classes: int, nest: Nest, strengths: tuple[float, ...]) -> Chosen:
    """The last C, by a batch of the nest's own."""
    batch, path = _alone(points, codes, classes, nest.fit, strengths)
    (weights,), norms = batch.refit([np.arange(len(nest.fit))], np.asarray(strengths[-1:]), path[None, -1])
    return Chosen(strengths[-1], batch.decide_others(weights, points[nest.score]), float(norms[0]))


def _left_out(nests: list[Nest], place: Ints, n: int) -> tuple[Ints, ...]:
    """Sets of rows that the fits of a nest, or of its one inner fold, leave out; none where such sets overlap."""
    if len(nests) == 1:
        sets = [place[nests[0].fit[held]] for held in nests[0].inner]
    else:
        sets = [np.setdiff1d(np.arange(n), place[nest.fit]) for nest in nests]
    rows = np.concatenate(sets)
    return tuple(sets) if len(np.unique(rows)) == len(rows) else ()


def _best(decisions: list[Floats], codes: list[Ints], classes: int) -> int:
    """Place of the best C by scores (C, m, outputs) of the rows that each inner fold held out."""
    scores = np.zeros(len(decisions[0]))
    for decided, truth in zip(decisions, codes, strict=True):
        for place, decision in enumerate(decided):
            if classes == 2:
                found = area_of(decision[:, 0], truth == 1)
                if found is None:  # never scored 0: it would decide the penalty
                    raise SkippedError("too_few_items", "an inner fold holds one class: it has no AUROC")
                scores[place] += found
            else:
                chance = probabilities(decision)[np.arange(len(truth)), truth]
                scores[place] += np.log(np.maximum(chance, np.finfo(float).eps)).mean()
    return first_best(scores / len(decisions))


def _nest_by_itself(points: Floats, codes: Ints, classes: int, nest: Nest, strengths: tuple[float, ...]) -> Chosen:
    """By whole Hessians, for small problems."""
    decisions = []
    held = [nest.fit[of_fold] for of_fold in nest.inner]
    for part, others in zip(nest.parts, held, strict=True):
        basis = Basis.of(points[part])
        asked = basis.coordinates(points[others])
        path = logistic_path(basis, codes[part], classes, strengths)
        decisions.append(np.stack([asked @ fit.weights[:-1] + fit.weights[-1] for fit in path]))
    best = _best(decisions, [codes[rows] for rows in held], classes)
    last = logistic_path(Basis.of(points[nest.fit]), codes[nest.fit], classes, strengths[: best + 1])[-1]
    return Chosen(strengths[best], last.decision(points[nest.score]), last.gradient)


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
