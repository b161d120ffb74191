"""L2-penalised logistic regression, converged: the value of a probe must not depend on a solver's patience."""

from __future__ import annotations

import math

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_metrics.basis import Basis

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GRADIENT = 1e-8
"""Largest gradient norm of the mean loss at which a fit counts as converged."""
_AIM, _STEPS = 1e-10, 200


@frozen
class LogisticFit:
    """Coefficients in the basis of the fitted rows."""

    basis: Basis
    weights: Floats
    """(rank + 1, outputs), the last row is the intercept; one output for two classes, else one a class."""
    gradient: float
    """Gradient norm that was reached."""

    def decision(self, points: Floats) -> Floats:
        """(n, outputs) linear scores."""
        result: Floats = self.basis.coordinates(points) @ self.weights[:-1] + self.weights[-1]
        return result

    def probability(self, points: Floats) -> Floats:
        """(n, classes) probabilities."""
        return probabilities(self.decision(points))


def probabilities(scores: Floats) -> Floats:
    """Class probabilities of linear scores: sigmoid of one output, softmax of several."""
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    result: Floats = shifted / shifted.sum(axis=1, keepdims=True)
    return result


def logistic_path(basis: Basis, codes: Ints, classes: int, strengths: tuple[float, ...]) -> list[LogisticFit]:
    """Fits of min ½‖w‖² + C·Σ loss for rising C, each started from the one before.

    Newton's method in the singular basis of the rows, where the penalty stays ‖w‖²; the Newton step is found by
    conjugate gradients with a diagonal preconditioner. The intercept is not penalised. Two classes have one vector of
    coefficients, more have one each (softmax).

    Args:
        basis: The standardised rows.
        codes: (n,) in ``range(classes)``.
        classes: Number of classes, at least two.
        strengths: Values of C, ascending.
    """
    outputs = 1 if classes == 2 else classes
    target = (codes[:, None] == (np.arange(1, 2) if outputs == 1 else np.arange(classes))).astype(np.float64)
    weights = np.zeros((basis.rank + 1, outputs))
    fits = []
    for c in strengths:
        problem = _Problem(basis.rows, target, 1.0 / (c * len(codes)))
        weights, gradient = _newton(problem, weights)
        fits.append(LogisticFit(basis, weights, gradient))
    return fits


@frozen
class _Problem:
    """½·penalty·‖w‖² + mean loss."""

    rows: Floats
    """(n, rank)."""
    target: Floats
    """(n, outputs) of 0 and 1."""
    penalty: float

    def scores(self, w: Floats) -> Floats:
        result: Floats = self.rows @ w[:-1] + w[-1]
        return result

    def value(self, w: Floats, scores: Floats) -> float:
        if scores.shape[1] == 1:
            loss = np.logaddexp(0.0, scores) - self.target * scores
        else:
            top = scores.max(axis=1, keepdims=True)
            loss = np.log(np.exp(scores - top).sum(axis=1, keepdims=True)) + top
            loss = loss - (self.target * scores).sum(axis=1, keepdims=True)
        return float(loss.mean() + 0.5 * self.penalty * np.square(w[:-1]).sum())

    def back(self, at_rows: Floats, w: Floats) -> Floats:
        """Xᵀ·at_rows/n + penalty·w, the last row for the intercept."""
        n = len(at_rows)
        return np.vstack([self.rows.T @ at_rows / n + self.penalty * w[:-1], at_rows.mean(axis=0)])

    def chances(self, scores: Floats) -> Floats:
        p = probabilities(scores)
        return p[:, 1:] if scores.shape[1] == 1 else p

    def curved(self, p: Floats, v: Floats) -> Floats:
        """Hessian at chances p, applied to v."""
        along = self.scores(v)
        if p.shape[1] == 1:
            return self.back(p * (1 - p) * along, v)
        return self.back(p * (along - (p * along).sum(axis=1, keepdims=True)), v)


def _newton(problem: _Problem, w: Floats) -> tuple[Floats, float]:
    scores = problem.scores(w)
    value = problem.value(w, scores)
    norm = math.inf
    for _ in range(_STEPS):
        p = problem.chances(scores)
        gradient = problem.back(p - problem.target, w)
        norm = float(np.abs(gradient).max())
        if norm <= _AIM:
            break
        step = _conjugate_gradients(problem, p, -gradient, norm)
        slope = float((gradient * step).sum())
        length = 1.0
        while length > 1e-10:
            tried = w + length * step
            tried_scores = problem.scores(tried)
            tried_value = problem.value(tried, tried_scores)
            if tried_value <= value + 1e-4 * length * slope or abs(slope) * length < 1e-15 * max(1.0, abs(value)):
                break
            length /= 2
        else:
            break
        w, scores, value = tried, tried_scores, tried_value
    return w, norm


def _conjugate_gradients(problem: _Problem, p: Floats, right: Floats, norm: float) -> Floats:
    """The step that solves Hessian·step = right, to a residual that shrinks with the gradient."""
    weight = (p * (1 - p)).mean(axis=0)
    diagonal = np.vstack([np.square(problem.rows).mean(axis=0)[:, None] * weight + problem.penalty, weight])
    diagonal = np.maximum(diagonal, 1e-300)
    goal = min(0.1, math.sqrt(norm)) * float(np.sqrt(np.square(right).sum()))
    step, residual = np.zeros_like(right), right.copy()
    solved = residual / diagonal
    direction, size = solved, float((residual * solved).sum())
    for _ in range(20 * right.size):
        if float(np.sqrt(np.square(residual).sum())) <= goal or size <= 0:
            break
        curved = problem.curved(p, direction)
        bend = float((direction * curved).sum())
        if bend <= 0:
            break
        step = step + size / bend * direction
        residual = residual - size / bend * curved
        solved = residual / diagonal
        size, before = float((residual * solved).sum()), size
        direction = solved + size / before * direction
    return step if step.any() else right / diagonal
