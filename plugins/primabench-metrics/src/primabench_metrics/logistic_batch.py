"""Many large logistic regressions at once: all penalties of all inner folds share the products with the rows.

Newton's method for every problem in step; its equations are solved by conjugate gradients in single precision, which
only costs turns: gradients and convergence are in double precision. The leading directions of the rows, found once by
random projection, precondition all problems (Halko et al. 2011, doi:10.1137/090771806).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define, frozen
from numpy.typing import NDArray

from primabench_metrics.basis import standardise
from primabench_metrics.logistic import GRADIENT, targets

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Reals = NDArray[Any]
"""In single or in double precision."""

_AIM, _STEPS, _TURNS, _SINGLE_STEPS = GRADIENT, 100, 250, 30
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
    problems = _Problems.of(points, targets(codes, classes), fitted, strengths)
    state = _State.zero(problems)
    gradient = _solve(problems, state)
    n, outputs = len(points), problems.target.shape[1]
    shape = (n, len(fitted), len(strengths), outputs)
    return state.scores.reshape(shape).transpose(1, 2, 0, 3), gradient.reshape(len(fitted), len(strengths))


@frozen(eq=False)
class _Problems:
    """Rows in common coordinates, and what differs between the problems (axis b; o: outputs)."""

    rows: Floats
    """(n, width), standardised on all rows."""
    single: NDArray[np.float32]
    """The same in single precision."""
    target: Floats
    """(n, o)."""
    weight: Floats
    """(n, b): 1 / rows of the fit, 0 where a row is not fitted."""
    shift: Floats
    """(width, b) mean of each column over the fitted rows."""
    inverse: Floats
    """(width, b) one over its deviation; 0 where it does not vary."""
    penalty: Floats
    """(b,)."""
    directions: NDArray[np.float32]
    """(width, k) orthonormal: where the rows vary most."""
    spread: Floats
    """(k,) mean square along them."""
    rest: float
    """Mean square along any other direction."""

    @classmethod
    def of(cls, points: Floats, target: Floats, fitted: list[Ints], strengths: tuple[float, ...]) -> _Problems:
        rows = standardise(points).apply(points)
        n, width, count = *rows.shape, len(strengths)
        weight, shift, inverse, penalty = [], [], [], []
        for part in fitted:
            mask = np.zeros(n)
            mask[part] = 1.0 / len(part)
            scale = standardise(rows[part])
            weight.append(mask)
            shift.append(scale.mean)
            varies = scale.varies if scale.shift is None else scale.varies & (scale.shift == 0)  # beside the whole: 0
            inverse.append(np.where(varies, 1.0 / scale.scale, 0.0))
            penalty += [1.0 / (c * len(part)) for c in strengths]
        directions, spread = _leading(rows)
        rest = max(0.0, float(np.square(rows).sum()) / n - float(spread.sum())) / max(1, width - len(spread))
        return cls(
            rows=rows,
            single=rows.astype(np.float32),
            target=target,
            weight=np.repeat(np.stack(weight, axis=1), count, axis=1),
            shift=np.repeat(np.stack(shift, axis=1), count, axis=1),
            inverse=np.repeat(np.stack(inverse, axis=1), count, axis=1),
            penalty=np.asarray(penalty),
            directions=directions.astype(np.float32),
            spread=spread,
            rest=rest,
        )

    def chances(self, scores: Floats) -> Floats:
        """(n, b, o)."""
        if scores.shape[2] == 1:
            result: Floats = 0.5 + 0.5 * np.tanh(0.5 * scores)
        else:
            shifted = np.exp(scores - scores.max(axis=2, keepdims=True))
            result = shifted / shifted.sum(axis=2, keepdims=True)
        return result

    def losses(self, scores: Floats, at: Ints) -> Floats:
        """(b,) mean loss of some problems."""
        target = self.target[:, None]
        if scores.shape[2] == 1:
            loss = (np.maximum(scores, 0) + np.log1p(np.exp(-np.abs(scores))) - target * scores)[:, :, 0]
        else:
            top = scores.max(axis=2)
            loss = np.log(np.exp(scores - top[:, :, None]).sum(axis=2)) + top - (target * scores).sum(axis=2)
        result: Floats = (self.weight[:, at] * loss).sum(axis=0)
        return result

    def forward(self, w: Reals, free: Reals, at: Ints, rows: Reals) -> Any:
        """(n, b, o) scores of coefficients (width, b, o) and intercepts (b, o)."""
        scaled = (w * self.inverse[:, at, None]).astype(rows.dtype)
        offset = free - np.einsum("wb,wbo->bo", self.shift[:, at], scaled)
        width, b, o = w.shape
        return (rows @ scaled.reshape(width, b * o)).reshape(-1, b, o) + offset.astype(rows.dtype)

    def back(self, at_rows: Reals, at: Ints, rows: Reals) -> tuple[Any, Any]:
        """Gradients (width, b, o) and (b, o) of what (n, b, o) says at the rows."""
        n, b, o = at_rows.shape
        total = at_rows.sum(axis=0)
        found = (rows.T @ at_rows.reshape(n, b * o)).reshape(-1, b, o)
        found = self.inverse[:, at, None] * (found - self.shift[:, at, None] * total)
        return found.astype(rows.dtype, copy=False), total


def _leading(rows: Floats) -> tuple[Floats, Floats]:
    """Directions in which rows vary most, and the mean squares along them."""
    k = min(_DIRECTIONS, *rows.shape)
    found = np.random.Philox(key=np.array([1, 1], np.uint64)).random_raw(rows.shape[1] * k)
    start = (np.asarray(found) >> np.uint64(11)).astype(np.float64) / 2.0**53 - 0.5
    basis = np.linalg.qr(rows.T @ (rows @ start.reshape(rows.shape[1], k)))[0]
    for _ in range(_PASSES - 1):
        basis = np.linalg.qr(rows.T @ (rows @ basis))[0]
    seen = rows @ basis
    values, turn = np.linalg.eigh(seen.T @ seen / len(rows))
    return basis @ turn, np.maximum(values, 0.0)


@define(eq=False)
class _State:
    """Where every problem stands."""

    weights: Floats
    """(width, b, o)."""
    free: Floats
    """(b, o) intercepts."""
    scores: Floats
    """(n, b, o)."""

    @classmethod
    def zero(cls, problems: _Problems) -> _State:
        n, width, b, o = *problems.rows.shape, len(problems.penalty), problems.target.shape[1]
        return cls(np.zeros((width, b, o)), np.zeros((b, o)), np.zeros((n, b, o)))


def _solve(problems: _Problems, state: _State) -> Floats:
    """Bring every problem to its optimum; returns (b,) the largest gradient entries."""
    norms = np.full(len(problems.penalty), np.inf)
    at = np.arange(len(norms))
    for turn in range(_STEPS):
        chances = problems.chances(state.scores[:, at])
        misses = problems.weight[:, at, None] * (chances - problems.target[:, None])
        gradient, slack = problems.back(misses, at, problems.rows)
        gradient += problems.penalty[at, None] * state.weights[:, at]
        norms[at] = np.maximum(np.abs(gradient).max(axis=(0, 2)), np.abs(slack).max(axis=1))
        going = norms[at] > _AIM
        if not going.any():
            break
        at, chances, gradient, slack = at[going], chances[:, going], gradient[:, going], slack[going]
        rows = problems.single if turn < _SINGLE_STEPS else problems.rows
        moved = _move(
            problems, state, at, (gradient, slack), _newton_step(problems, at, chances, gradient, slack, rows)
        )
        at = at[moved]
        if not len(at):
            break
    return norms


def _move(
    problems: _Problems, state: _State, at: Ints, gradient: tuple[Floats, Floats], step: tuple[Floats, Floats]
) -> NDArray[np.bool_]:
    """Go along each step as far as the loss falls enough; returns which problems moved."""
    along = problems.forward(*step, at, problems.rows)
    scores, weights, penalty = state.scores[:, at], state.weights[:, at], problems.penalty[at]
    mixed, square = (weights * step[0]).sum(axis=(0, 2)), np.square(step[0]).sum(axis=(0, 2))
    slope = (gradient[0] * step[0]).sum(axis=(0, 2)) + (gradient[1] * step[1]).sum(axis=1)
    before = problems.losses(scores, at)
    length, going = np.ones(len(at)), np.ones(len(at), bool)
    while going.any():
        here = np.flatnonzero(going)
        t = length[here]
        after = problems.losses(scores[:, here] + t[:, None] * along[:, here], at[here])
        gained = after - before[here] + penalty[here] * (t * mixed[here] + 0.5 * t * t * square[here])
        fine = (gained <= 1e-4 * t * slope[here]) | (np.abs(slope[here]) * t < 1e-15 * np.maximum(1.0, before[here]))
        going[here[fine]] = False
        length[here[~fine]] /= 2
        lost = going & (length < 1e-10)
        length[lost], going[lost] = 0.0, False
    state.weights[:, at] += length[:, None] * step[0]
    state.free[at] += length[:, None] * step[1]
    state.scores[:, at] += length[:, None] * along
    return length > 0


def _newton_step(
    problems: _Problems, at: Ints, chances: Floats, gradient: Floats, slack: Floats, rows: Reals
) -> tuple[Floats, Floats]:
    """Steps that solve Hessian·step = -gradient, to a residual that shrinks with the gradient."""
    size = np.sqrt(np.square(gradient).sum(axis=(0, 2)) + np.square(slack).sum(axis=1))
    goal = np.minimum(0.25, np.sqrt(size))
    system = _System.of(problems, at, chances, rows)
    scale = size[:, None]
    residual, beside = (-gradient / scale).astype(rows.dtype), (-slack / scale).astype(rows.dtype)
    step, free = np.zeros_like(residual), np.zeros_like(beside)
    solved, solved_free = system.precondition(residual, beside, slice(None))
    ahead, ahead_free = solved.copy(), solved_free.copy()
    product = _inner(residual, solved) + (beside * solved_free).sum(axis=1)
    run = np.arange(len(at))
    for _ in range(_TURNS):
        curved, curved_free = system.apply(ahead[:, run], ahead_free[run], run)
        bend = _inner(ahead[:, run], curved) + (ahead_free[run] * curved_free).sum(axis=1)
        sound = (bend > 0) & (product[run] > 0)
        if not sound.all():
            run, curved, curved_free, bend = run[sound], curved[:, sound], curved_free[sound], bend[sound]
            if not len(run):
                break
        far = (product[run] / bend)[:, None]
        step[:, run] += far * ahead[:, run]
        free[run] += far * ahead_free[run]
        residual[:, run] -= far * curved
        beside[run] -= far * curved_free
        left = np.sqrt(_inner(residual[:, run], residual[:, run]) + np.square(beside[run]).sum(axis=1))
        run = run[left > goal[run]]
        if not len(run):
            break
        solved, solved_free = system.precondition(residual[:, run], beside[run], run)
        fresh = _inner(residual[:, run], solved) + (beside[run] * solved_free).sum(axis=1)
        turn = (fresh / product[run])[:, None]
        product[run] = fresh
        ahead[:, run] = solved + turn * ahead[:, run]
        ahead_free[run] = solved_free + turn * ahead_free[run]
    return step.astype(np.float64) * scale, free.astype(np.float64) * scale


def _inner(a: Reals, b: Reals) -> Reals:
    return np.asarray(np.einsum("wbo,wbo->b", a, b))


@frozen(eq=False)
class _System:
    """Hessians of some problems, and an approximation that is cheap to invert."""

    problems: _Problems
    at: Ints
    chances: Reals
    weight: Reals
    penalty: Reals
    outside: Reals
    """(b, o) inverse of the approximation away from the leading directions."""
    inside: Reals
    """(k, b, o) what it adds along them."""
    free: Reals
    """(b, o) inverse for the intercepts."""
    rows: Reals

    @classmethod
    def of(cls, problems: _Problems, at: Ints, chances: Floats, rows: Reals) -> _System:
        kind = rows.dtype
        weight, penalty = problems.weight[:, at, None], problems.penalty[at, None]
        bend = np.maximum((weight * chances * (1 - chances)).sum(axis=0), 1e-30)
        outside = 1.0 / (bend * problems.rest + penalty)
        inside = 1.0 / (bend * problems.spread[:, None, None] + penalty) - outside
        return cls(
            problems=problems,
            at=at,
            chances=chances.astype(kind),
            weight=weight.astype(kind),
            penalty=penalty.astype(kind),
            outside=outside.astype(kind),
            inside=inside.astype(kind),
            free=(1.0 / bend).astype(kind),
            rows=rows,
        )

    def apply(self, step: Reals, free: Reals, run: Ints) -> tuple[Reals, Reals]:
        """Hessian times step."""
        along = self.problems.forward(step, free, self.at[run], self.rows)
        p = self.chances[:, run]
        if p.shape[2] == 1:
            along *= p * (1 - p)
        else:
            along = p * (along - (p * along).sum(axis=2, keepdims=True))
        along *= self.weight[:, run]
        found, total = self.problems.back(along, self.at[run], self.rows)
        return found + self.penalty[run] * step, total

    def precondition(self, right: Reals, free: Reals, run: Ints | slice) -> tuple[Reals, Reals]:
        """The approximate inverse."""
        width, b, o = right.shape
        along = (self.problems.directions.T @ right.reshape(width, b * o)).reshape(-1, b, o) * self.inside[:, run]
        leading = (self.problems.directions @ along.reshape(-1, b * o)).reshape(width, b, o)
        return (self.outside[run] * right + leading).astype(right.dtype, copy=False), self.free[run] * free
