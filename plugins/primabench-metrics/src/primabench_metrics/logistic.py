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
_AIM, _STEPS = 1e-9, 200


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


def targets(codes: Ints, classes: int) -> Floats:
    """(n, outputs) of 0 and 1: the second class alone for two classes, else every class."""
    wanted = np.arange(1, 2) if classes == 2 else np.arange(classes)
    found: Floats = (codes[:, None] == wanted).astype(np.float64)
    return found


def logistic_path(basis: Basis, codes: Ints, classes: int, strengths: tuple[float, ...]) -> list[LogisticFit]:
    """Fits of min ½‖w‖² + C·Σ loss for rising C, each started from the one before.

    Newton's method with the whole Hessian of rank·outputs columns: for problems of some hundred coordinates. Larger
    ones are for :func:`primabench_metrics.logistic_batch.decisions`. The intercept is not penalised. Two classes have
    one vector of coefficients, more have one each (softmax).

    Args:
        basis: The standardised rows.
        codes: (n,) in ``range(classes)``.
        classes: Number of classes, at least two.
        strengths: Values of C, ascending.
    """
    target = targets(codes, classes)
    weights: Floats = np.zeros((basis.rank + 1, target.shape[1]))
    fits = []
    rows = np.hstack([basis.rows, np.ones((len(codes), 1))])
    last: Floats = weights
    for c in strengths:
        problem = _Problem(rows, target, 1.0 / (c * len(codes)))
        ahead = 2.0 * weights - last  # where the path leads if it goes on as before
        start = ahead if problem.value(ahead, rows @ ahead) < problem.value(weights, rows @ weights) else weights
        last, (weights, gradient) = weights, _newton(problem, start)
        fits.append(LogisticFit(basis, weights, gradient))
    return fits


@frozen
class _Problem:
    """½·penalty·‖w‖² + mean loss; the last column of the rows is 1 and its coefficient is free."""

    rows: Floats
    """(n, rank + 1)."""
    target: Floats
    """(n, outputs) of 0 and 1."""
    penalty: float

    def value(self, w: Floats, scores: Floats) -> float:
        if scores.shape[1] == 1:
            loss = np.logaddexp(0.0, scores) - self.target * scores
        else:
            top = scores.max(axis=1, keepdims=True)
            loss = np.log(np.exp(scores - top).sum(axis=1, keepdims=True)) + top
            loss = loss - (self.target * scores).sum(axis=1, keepdims=True)
        return float(loss.mean() + 0.5 * self.penalty * np.square(w[:-1]).sum())

    def gradient(self, w: Floats, p: Floats) -> Floats:
        result = self.rows.T @ (p - self.target) / len(p)
        result[:-1] += self.penalty * w[:-1]
        return result

    def chances(self, scores: Floats) -> Floats:
        p = probabilities(scores)
        return p[:, 1:] if scores.shape[1] == 1 else p

    def step(self, p: Floats, gradient: Floats) -> Floats:
        """Newton's step at chances p."""
        n, width = self.rows.shape
        outputs = p.shape[1]
        if outputs == 1:
            return self._single_step(p, gradient)
        hessian = np.empty((outputs, width, outputs, width))
        for one in range(outputs):
            for two in range(one, outputs):
                bend = p[:, one] * ((one == two) - p[:, two])
                hessian[one, :, two] = (self.rows.T * (bend / n)) @ self.rows
                hessian[two, :, one] = hessian[one, :, two].T
            at = np.arange(width - 1)
            hessian[one, at, one, at] += self.penalty
        hessian[:, -1, :, -1] += 1.0 / outputs  # intercepts may move together: the gradient has nothing along that
        size = outputs * width
        found = np.linalg.solve(hessian.reshape(size, size), -gradient.T.reshape(size))
        return np.asarray(found.reshape(outputs, width).T, np.float64)

    def _single_step(self, p: Floats, gradient: Floats) -> Floats:
        """The step of one output: half of a symmetric matrix is enough."""
        from scipy.linalg import blas, lapack

        weighted = self.rows * np.sqrt(p * (1 - p) / len(p))
        hessian = blas.dsyrk(1.0, weighted.T, lower=1)
        at = np.arange(len(hessian) - 1)
        hessian[at, at] += self.penalty
        hessian[-1, -1] += 1e-300
        _, found, fault = lapack.dposv(hessian, -gradient, lower=1, overwrite_a=0)
        if fault:  # rounding took it from positive definite
            full = np.tril(hessian) + np.tril(hessian, -1).T
            found = np.linalg.lstsq(full, -gradient)[0]
        step: Floats = found
        return step


def _newton(problem: _Problem, w: Floats) -> tuple[Floats, float]:
    scores = problem.rows @ w
    value = problem.value(w, scores)
    norm = math.inf
    for _ in range(_STEPS):
        p = problem.chances(scores)
        gradient = problem.gradient(w, p)
        norm = float(np.abs(gradient).max())
        if norm <= _AIM:
            break
        step = problem.step(p, gradient)
        slope = float((gradient * step).sum())
        length, along = 1.0, problem.rows @ step
        while length > 1e-10:
            tried, tried_scores = w + length * step, scores + length * along
            tried_value = problem.value(tried, tried_scores)
            if tried_value <= value + 1e-4 * length * slope or abs(slope) * length < 1e-15 * max(1.0, abs(value)):
                break
            length /= 2
        else:
            break
        w, scores, value = tried, tried_scores, tried_value
    return w, norm
