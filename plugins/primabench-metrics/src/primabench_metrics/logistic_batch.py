"""Many large logistic regressions at once: all penalties of all inner folds share the products with the rows.

Limited-memory BFGS (Nocedal 1980, doi:10.1090/S0025-5718-1980-0572855-7) for every problem in step, in coordinates in
which the leading directions of the rows, found once by random projection (Halko et al. 2011, doi:10.1137/090771806),
are no longer than the others. Single precision comes first: the residuals of a fit shrink with its gradient, so that
rounding does too. What that leaves is finished in double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import asdict, define, evolve, field, frozen
from numpy.typing import NDArray

from primabench_metrics.basis import Standard, standardise
from primabench_metrics.logistic import GRADIENT, targets

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Reals = NDArray[Any]
"""In single or in double precision."""

CLOSE = 1e-6
"""|gradient| ≤ CLOSE·|penalty's gradient| also ends a fit that is not to be exact. The objective is as convex as its
penalty, so that no coefficient, and no score by them, is then further than this share of |w| from the optimum."""
_TURNS, _MEMORY, _SEARCHES, _SLOPE = 2000, 10, 8, 0.3
_DIRECTIONS, _PASSES = 128, 2


def decisions(
    points: Floats, codes: Ints, classes: int, fitted: list[Ints], strengths: tuple[float, ...]
) -> tuple[Floats, Floats]:
    """Linear scores of all rows by fits on parts of them: min ½‖w‖² + C·Σ loss on standardised columns, free intercept.

    Args:
        points: (n, width) rows, those to fit on and those to score.
        codes: (n,) class in ``range(classes)``; of rows that no fit reads any number.
        classes: Number of classes, at least two.
        fitted: Rows of each fit; columns are standardised on them.
        strengths: Values of C; every part is fitted with each.

    Returns:
        (parts, strengths, n, outputs) scores, one output for two classes, else one a class; and (parts, strengths)
        the gradient norms that were reached.

    Example:
        >>> import numpy as np
        >>> x = np.array([[0.0], [1.0], [2.0], [3.0]])
        >>> scores, gradient = decisions(x, np.array([0, 0, 1, 1]), 2, [np.arange(4)], (1.0,))
        >>> bool(scores[0, 0, 3, 0] > 0), bool(gradient.max() < 1e-8)
        (True, True)
    """
    batch = Batch.of(points, codes, classes)
    coefficients, gradient = batch.fit(fitted, strengths)
    return batch.decide(coefficients, batch.rows), gradient


@frozen(eq=False)
class Batch:
    """Rows that many fits share, standardised on all of them; a column of ones is the last."""

    scale: Standard
    rows: Floats
    """(n, width + 1)."""
    target: Floats
    """(o, n) of 0 and 1."""
    directions: Floats
    """(width, k) orthonormal: where the rows vary most."""
    spread: Floats
    """(k,) mean square along them."""
    rest: float
    """Mean square along any other direction."""

    @classmethod
    def of(cls, points: Floats, codes: Ints, classes: int) -> Batch:
        """Prepare rows.

        Args:
            points: (n, width) rows.
            codes: (n,) in ``range(classes)``.
            classes: Number of classes, at least two.
        """
        scale = standardise(points)
        rows = np.ones((points.shape[0], points.shape[1] + 1))
        rows[:, :-1] = scale.apply(points)
        return cls(scale, rows, targets(codes, classes).T, *_leading(rows[:, :-1].astype(np.float32)))

    def fit(self, fitted: list[Ints], strengths: tuple[float, ...], *, exact: bool = True) -> tuple[Floats, Floats]:
        """Coefficients (parts, strengths, o, width + 1) for these rows' scale, and (parts, strengths) gradient norms.

        Args:
            fitted: Rows of each fit.
            strengths: Values of C.
            exact: To a gradient norm of 1e-8; else also to :data:`CLOSE`.
        """
        problems = _Problems.of(self, fitted, strengths)
        weights = np.zeros(problems.shape)
        gradient, close = _descend(problems.cast(np.float32), weights, CLOSE)
        left = np.arange(len(weights)) if exact else np.flatnonzero(~close)
        if len(left):
            again = weights[left]
            gradient[left], _ = _descend(problems.some(left), again, 0.0)
            weights[left] = again
        shape = (len(fitted), len(strengths))
        return problems.scaled(weights).reshape(*shape, *weights.shape[1:]), gradient.reshape(shape)

    def decide(self, coefficients: Floats, rows: Floats) -> Floats:
        """(..., m, o) scores of standardised rows, a column of ones being the last, by (..., o, width + 1)."""
        found: Floats = np.swapaxes(coefficients @ rows.T, -1, -2)
        return found

    def decide_others(self, coefficients: Floats, points: Floats) -> Floats:
        """The same of rows as they come."""
        return self.decide(coefficients, np.hstack([self.scale.apply(points), np.ones((len(points), 1))]))


def _leading(rows: NDArray[np.float32]) -> tuple[Floats, Floats, float]:
    """Directions in which rows vary most, the mean squares along them, and along each of the rest."""
    n, width = rows.shape
    k = min(_DIRECTIONS, n, width)
    found = np.random.Philox(key=np.array([1, 1], np.uint64)).random_raw(width * k)
    basis = ((np.asarray(found) >> np.uint64(40)).astype(np.float32) / np.float32(2**24) - 0.5).reshape(width, k)
    for _ in range(_PASSES):
        basis = np.linalg.qr(rows.T @ (rows @ basis))[0]
    seen = rows @ basis
    values, turn = np.linalg.eigh((seen.T @ seen).astype(np.float64) / n)
    values = np.maximum(values, 0.0)
    total = float(np.einsum("nw,nw->", rows, rows, dtype=np.float64)) / n
    return basis.astype(np.float64) @ turn, values, max(0.0, total - float(values.sum())) / max(1, width - k)


@frozen(eq=False)
class _Problems:
    """What differs between the fits (axis b), all in the precision of the rows; o: outputs, q: width + 1."""

    rows: Reals
    """(n, q)."""
    target: Reals
    """(o, n)."""
    weight: Reals
    """(b, 1, n): 1 / rows of the fit, 0 where a row is not fitted."""
    shift: Reals
    """(b, 1, q) mean of each column over the fitted rows; 0 for the ones."""
    inverse: Reals
    """(b, 1, q) one over its deviation; 0 where it does not vary."""
    penalty: Reals
    """(b, 1, q); 0 for the intercept."""
    directions: Reals
    """(width, k)."""
    inside: Reals
    """(b, 1, k) what a direction is stretched by beyond the others."""
    outside: Reals
    """(b, 1, q) what all others are stretched by."""

    @classmethod
    def of(cls, batch: Batch, fitted: list[Ints], strengths: tuple[float, ...]) -> _Problems:
        rows = batch.rows
        mask = np.zeros((len(fitted), len(rows)))
        for one, part in zip(mask, fitted, strict=True):
            one[part] = 1.0 / len(part)
        shift, inverse = _scales(rows, mask, fitted)
        penalty = np.outer([1.0 / len(part) for part in fitted], 1.0 / np.asarray(strengths)).reshape(-1, 1, 1)
        outputs, count = len(batch.target), len(strengths)
        bend = 0.25 if outputs == 1 else (1 - 1 / outputs) / outputs  # of the loss where nothing is known
        outside = 1.0 / np.sqrt(bend * batch.rest + penalty)
        free = np.arange(rows.shape[1]) == rows.shape[1] - 1
        return cls(
            rows=rows,
            target=batch.target,
            weight=np.repeat(mask, count, axis=0)[:, None],
            shift=np.repeat(shift, count, axis=0)[:, None],
            inverse=np.repeat(inverse, count, axis=0)[:, None],
            penalty=np.where(free, 0.0, penalty),
            directions=batch.directions,
            inside=1.0 / np.sqrt(bend * batch.spread + penalty) - outside,
            outside=np.where(free, 1.0 / np.sqrt(bend), outside),
        )

    @property
    def shape(self) -> tuple[int, int, int]:
        """(b, o, q) of coefficients."""
        return len(self.weight), len(self.target), self.rows.shape[1]

    def cast(self, kind: type[np.floating[Any]]) -> _Problems:
        """The same in another precision."""
        return _Problems(**{name: value.astype(kind) for name, value in asdict(self, recurse=False).items()})

    def some(self, at: Ints | NDArray[np.bool_]) -> _Problems:
        """Some of the problems."""
        names = ("weight", "shift", "inverse", "penalty", "inside", "outside")
        return evolve(self, **{name: getattr(self, name)[at] for name in names})

    def scaled(self, weights: Reals) -> Reals:
        """Coefficients for the common rows."""
        found = weights * self.inverse
        found[..., -1] -= np.einsum("boq,bq->bo", found, self.shift[:, 0])
        return np.asarray(found)

    def scores(self, weights: Reals) -> Reals:
        """(b, o, n)."""
        b, o, q = weights.shape
        return np.asarray((self.scaled(weights).reshape(b * o, q) @ self.rows.T).reshape(b, o, -1))

    def gradient(self, misses: Reals, weights: Reals) -> Reals:
        """(b, o, q) of the objective, where misses (b, o, n) is the loss's derivative by the scores."""
        b, o, n = misses.shape
        found = (misses.reshape(b * o, n) @ self.rows).reshape(b, o, -1)
        return np.asarray(self.inverse * (found - self.shift * found[..., -1:]) + self.penalty * weights)

    def misses(self, scores: Reals) -> tuple[Reals, Reals]:
        """Chances less targets, exact also where they nearly meet; and the chances or, of one output, the bend."""
        if scores.shape[1] == 1:
            sign = 1 - 2 * self.target
            wrong = 1 / (1 + np.exp(np.minimum(-sign * scores, 80)))
            return np.asarray(sign * wrong), np.asarray(wrong * (1 - wrong))
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        other = chances * (1 - self.target)
        return np.asarray(other - self.target * other.sum(axis=1, keepdims=True)), chances

    def curvature(self, chances: Reals, along: Reals) -> Reals:
        """(b,) second derivative of the loss along changes of the scores."""
        if along.shape[1] == 1:
            return np.asarray(np.einsum("bon,bon->b", self.weight * chances * along, along))
        mean = (chances * along).sum(axis=1, keepdims=True)
        return np.asarray((self.weight * chances * np.square(along - mean)).sum(axis=(1, 2)))

    def stretch(self, vectors: Reals) -> Reals:
        """To coordinates in which the leading directions are no longer than others, or back: it is symmetric."""
        b, o, q = vectors.shape
        leading = (vectors[..., :-1].reshape(b * o, q - 1) @ self.directions).reshape(b, o, -1) * self.inside
        found = vectors * self.outside
        found[..., :-1] += (leading.reshape(b * o, -1) @ self.directions.T).reshape(b, o, q - 1)
        return np.asarray(found)


def _scales(rows: Floats, mask: Floats, fitted: list[Ints]) -> tuple[Floats, Floats]:
    """(parts, q) means, and (parts, q) one over the deviations, of the rows of each part."""
    shift = mask @ rows
    square = mask @ np.square(rows)
    variance = square - np.square(shift)
    inverse = 1.0 / np.sqrt(np.maximum(variance, 1e-300))
    for part, of_part in enumerate(fitted):  # where squares cancel, deviations are taken themselves
        unsure = np.flatnonzero(variance[part, :-1] <= 1e-6 * square[part, :-1])
        exact = standardise(rows[np.ix_(of_part, unsure)])
        shift[part, unsure], inverse[part, unsure] = exact.mean, np.where(exact.varies, 1.0 / exact.scale, 0.0)
    shift[:, -1], inverse[:, -1] = 0.0, 1.0
    return shift, inverse


@define(eq=False)
class _Memory:
    """Last steps of every problem and how the gradient changed with them; gives the next direction."""

    steps: Reals
    """(b, memory, o·q)."""
    changes: Reals
    across: Floats = field(init=False)
    """(b, memory, memory) products of steps and changes."""
    among: Floats = field(init=False)
    """(b, memory, memory) products of changes."""
    count: int = 0

    def __attrs_post_init__(self) -> None:
        b, size, _ = self.steps.shape
        self.across, self.among = np.zeros((b, size, size)), np.zeros((b, size, size))

    def keep(self, going: NDArray[np.bool_]) -> None:
        self.steps, self.changes = self.steps[going], self.changes[going]
        self.across, self.among = self.across[going], self.among[going]

    def add(self, step: Reals, change: Reals) -> None:
        at = self.count % self.steps.shape[1]
        self.count += 1
        self.steps[:, at], self.changes[:, at] = step, change
        both = np.stack([step, change], axis=2)
        new = self.changes @ both
        self.across[:, at], self.among[:, at] = new[..., 0], new[..., 1]
        self.among[:, :, at] = new[..., 1]
        self.across[:, :, at] = (self.steps @ change[..., None])[..., 0]

    def direction(self, gradient: Reals) -> Reals:
        """Minus the inverse Hessian that steps and changes suggest, times (b, o·q) gradients (Byrd et al. 1994)."""
        size = self.steps.shape[1]
        order = np.arange(max(0, self.count - size), self.count) % size
        if not len(order):
            return -gradient
        across = np.triu(self.across[:, order][:, :, order])
        among = self.among[:, order][:, :, order]
        diagonal = np.einsum("bii->bi", across)
        length = diagonal[:, -1:] / among[:, -1, -1:]
        right = (self.steps @ gradient[..., None])[:, order].astype(np.float64)
        left = (self.changes @ gradient[..., None])[:, order, 0]
        first = np.linalg.solve(across, right)
        mixed = diagonal * first[..., 0] + length * ((among @ first)[..., 0] - left)
        second = np.linalg.solve(np.swapaxes(across, 1, 2), mixed[..., None])
        weights = np.zeros((2, len(gradient), 1, size), gradient.dtype)
        weights[0, :, 0, order], weights[1, :, 0, order] = second[..., 0].T, (length * first[..., 0]).T
        found = weights[1] @ self.changes - weights[0] @ self.steps
        return np.asarray(found[:, 0] - length.astype(gradient.dtype) * gradient)


def _descend(problems: _Problems, weights: Floats, close: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Move the weights (b, o, q) in place; returns (b,) the largest gradient entries and whether that is enough."""
    at, kind = np.arange(len(weights)), problems.rows.dtype
    norms, done = np.full(len(at), np.inf), np.zeros(len(at), bool)
    here = weights.astype(kind)
    scores = problems.scores(here)
    gradient = problems.gradient(problems.weight * problems.misses(scores)[0], here)
    stretched = problems.stretch(gradient)
    empty = np.zeros((len(at), _MEMORY, here[0].size), kind)
    memory = _Memory(empty, empty.copy())
    moved = np.ones(len(at), bool)
    for _ in range(_TURNS):
        norms[at] = np.abs(gradient).max(axis=(1, 2))
        done[at] = norms[at] <= GRADIENT
        if close:
            done[at] |= _squares(gradient) <= close**2 * _squares(problems.penalty * here)
        weights[at] = here
        going = ~done[at] & moved
        if not going.any():
            break
        if not going.all():
            at, here, scores, stretched = at[going], here[going], scores[going], stretched[going]
            problems = problems.some(going)
            memory.keep(going)
        step = memory.direction(stretched.reshape(len(at), -1)).reshape(here.shape)
        uphill = ~(np.einsum("boq,boq->b", stretched, step) < 0)  # or not a number
        step[uphill] = -stretched[uphill]
        length, scores, misses, turned = _search(problems, here, scores, stretched, step)
        here = here + length * turned
        gradient = problems.gradient(problems.weight * misses, here)
        before, stretched = stretched, problems.stretch(gradient)
        taken, change = (length * step).reshape(len(at), -1), (stretched - before).reshape(len(at), -1)
        size = np.linalg.norm(taken, axis=1) * np.linalg.norm(change, axis=1)
        moved = np.einsum("bq,bq->b", taken, change) > np.finfo(kind).eps * size  # else rounding has the last word
        taken[~moved], change[~moved] = 1.0, 1.0
        memory.add(taken, change)
    return norms, done


def _squares(vectors: Reals) -> Reals:
    return np.asarray(np.einsum("boq,boq->b", vectors, vectors))


def _search(
    problems: _Problems, weights: Reals, scores: Reals, stretched: Reals, step: Reals
) -> tuple[Reals, Reals, Reals, Reals]:
    """How far along each step the slope is less than a third of what it was, and the scores and misses there."""
    turned = problems.stretch(step)
    along = problems.scores(turned)
    slope = np.abs(np.einsum("boq,boq->b", stretched, step))
    pulled = problems.penalty * turned
    pull, grow = (np.einsum("boq,boq->b", pulled, x) for x in (weights, turned))
    length = np.ones(len(step), scores.dtype)
    low, high = np.zeros_like(length), np.full_like(length, np.inf)
    for search in range(_SEARCHES):
        there = scores + length[:, None, None] * along
        misses, chances = problems.misses(there)
        rise = np.einsum("bon,bon->b", problems.weight * misses, along) + pull + length * grow
        steep = np.abs(rise) > _SLOPE * slope
        if not steep.any() or search == _SEARCHES - 1:
            break
        bend = problems.curvature(chances, along) + grow
        low, high = np.where(rise < 0, length, low), np.where(rise > 0, length, high)
        ahead = length - rise / np.maximum(bend, np.finfo(bend.dtype).tiny)
        between = np.where(np.isfinite(high), (low + high) / 2, 4 * length)
        ahead = np.where((ahead > low) & (ahead < np.minimum(high, 10 * length)), ahead, between)
        length = np.where(steep, ahead, length)
    return length[:, None, None], there, misses, turned
