"""Many large logistic regressions at once: the inner folds of all outer folds share the products with the rows.

Values of C are gone through from the strongest penalty on, each from where the path of those before leads. For each,
all fits move in step by limited-memory BFGS, in coordinates in which the leading directions of the rows, found once by
random projection (Halko et al. 2011, doi:10.1137/090771806), are no longer than the others. Single precision comes
first: the residuals of a fit shrink with its gradient, so that rounding does too. What that leaves is finished in
double precision.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_metrics.basis import Standard, standardise
from primabench_metrics.logistic import GRADIENT, targets
from primabench_metrics.logistic_descent import closeness, descend
from primabench_metrics.logistic_problems import Floats, Ints, Problems, doubtful

CLOSE = 1e-6
"""|gradient| ≤ CLOSE·|penalty's gradient| also ends a fit that is not to be exact. The objective is as convex as its
penalty, so that no coefficient, and no score by them, is then further than this share of |w| from the optimum."""
_DIRECTIONS, _PASSES, _LONG = 128, 2, 4.0
"""Directions that are looked for, how often, and times the mean square of the rest from which they are worth it."""
_FEW, _FLAT = 16, 3.0
"""Where so few directions find no mean square of so many times the average, none is looked for."""


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
    apart = batch.apart(points, fitted)
    scores = np.zeros((len(fitted), len(strengths), len(points), len(batch.target)))
    gradient = np.zeros((len(fitted), len(strengths)))
    if not apart.all():
        near = [part for part, alone in zip(fitted, apart, strict=True) if not alone]
        coefficients, gradient[~apart], _ = batch.fits(near).path(strengths)
        scores[~apart] = batch.decide(coefficients, batch.rows)
    for at in np.flatnonzero(apart):
        part = fitted[at]
        own = Batch.of(points[part], codes[part], classes)
        (coefficients,), gradient[at], _ = own.fits([np.arange(len(part))]).path(strengths)
        scores[at] = own.decide_others(coefficients, points)
    return scores, gradient


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

    @property
    def shape(self) -> tuple[int, int]:
        """(o, width + 1) of coefficients."""
        return len(self.target), self.rows.shape[1]

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

    def apart(self, points: Floats, fitted: list[Ints]) -> NDArray[np.bool_]:
        """(parts,) whether a fit needs a batch of its own: in this one's scale a column of its rows has too few digits.

        That is so where they are far closer to each other than to others. Columns that do not vary in a fit have no
        say, as it leaves them out.

        Args:
            points: (n, width) what the batch was made of.
            fitted: Rows of each fit.
        """
        narrow = doubtful(self.rows[:, :-1], fitted) & self.scale.varies
        found = narrow.any(axis=1)
        for part in np.flatnonzero(found):
            columns = np.flatnonzero(narrow[part])
            found[part] = standardise(points[np.ix_(fitted[part], columns)]).varies.any()
        return found

    def fits(self, fitted: list[Ints], held: tuple[Ints, ...] = ()) -> Fits:
        """What is fitted on some of the rows.

        Args:
            fitted: Rows of each fit.
            held: Sets of rows that some fits leave out together: products with them are then left out too.
        """
        whole = self._problems(fitted, held)
        return Fits(whole, whole.cast(np.float32))

    def _problems(self, fitted: list[Ints], held: tuple[Ints, ...]) -> Problems:
        leading = (self.directions, self.spread, self.rest)
        if not held:
            return Problems.of(self.rows, self.target, fitted, leading)
        rest = np.setdiff1d(np.arange(len(self.rows)), np.concatenate(held))
        parts = [part for part in (*held, rest) if len(part)]
        order = np.concatenate(parts)
        ends = np.cumsum([0, *(len(part) for part in parts)]).tolist()
        blocks = tuple(slice(start, end) for start, end in pairwise(ends))
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        moved = [place[part] for part in fitted]
        return Problems.of(self.rows[order], self.target[:, order], moved, leading, blocks)

    def decide(self, coefficients: Floats, rows: Floats) -> Floats:
        """(..., m, o) scores of standardised rows, a column of ones being the last, by (..., o, width + 1)."""
        found: Floats = np.swapaxes(coefficients @ rows.T, -1, -2)
        return found

    def decide_others(self, coefficients: Floats, points: Floats) -> Floats:
        """The same of rows as they come."""
        return self.decide(coefficients, np.hstack([self.scale.apply(points), np.ones((len(points), 1))]))


@frozen(eq=False)
class Fits:
    """Fits on parts of the rows of a batch. Coefficients are for the batch's standardised rows, (o, width + 1) each."""

    whole: Problems
    single: Problems
    """The same in single precision."""

    def path(self, strengths: tuple[float, ...], close: float = 0.0) -> tuple[Floats, Floats, Floats]:
        """Coefficients (parts, strengths, o, width + 1), (parts, strengths) gradient norms, and how close each came.

        Args:
            strengths: Values of C, smallest first; every part is fitted with each.
            close: What ends a fit is |gradient| ≤ close·|penalty's gradient|; without, a gradient norm of 1e-8.
        """
        parts = len(self.whole.weight)
        found = np.zeros((len(strengths), *self.whole.shape))
        norms, reached = np.zeros((2, len(strengths), parts))
        for at, strength in enumerate(strengths):
            found[at] = _ahead(found, strengths, at)
            norms[at], reached[at] = _settle(self.whole, self.single, np.full(parts, strength), found[at], close)
        scaled = np.empty((parts, len(strengths), *self.whole.shape[1:]))
        for at, weights in enumerate(found):
            scaled[:, at] = self.whole.scaled(weights)
        return scaled, norms.T, reached.T

    def settle(
        self, at: Ints | slice, strengths: Floats, start: Floats, close: float = 0.0
    ) -> tuple[Floats, Floats, Floats]:
        """Coefficients (parts, o, width + 1), (parts,) gradient norms, and how close each came.

        Args:
            at: Which parts.
            strengths: (parts,) C of each.
            start: (parts, o, width + 1) coefficients to start from.
            close: As of :meth:`path`.
        """
        whole, single = self.whole.some(at), self.single.some(at)
        weights = whole.unscaled(start)
        norms, reached = _settle(whole, single, strengths, weights, close)
        return whole.scaled(weights), norms, reached

    def reach(self, at: int, coefficients: Floats, rows: Floats) -> Floats:
        """(strengths, m) by how much a score moves, most likely, where coefficients turn by their own length.

        |w|·|x|/√width, both in the scale of the part: of a row further out, more may be wrong. For two classes.

        Args:
            at: Which part.
            coefficients: (strengths, 1, width + 1).
            rows: (m, width + 1) standardised rows of the batch.
        """
        shift, inverse = self.whole.shift[at, 0, :-1], self.whole.inverse[at, 0, :-1]
        varies = inverse > 0
        length = np.linalg.norm((rows[:, :-1] - shift) * inverse, axis=1) / np.sqrt(max(1, int(varies.sum())))
        deviation = np.divide(1.0, inverse, out=np.zeros_like(inverse), where=varies)
        weights = np.linalg.norm(coefficients[:, 0, :-1] * deviation, axis=1)
        return np.asarray(weights[:, None] * length)


def _settle(
    whole: Problems, single: Problems, strengths: Floats, weights: Floats, close: float
) -> tuple[Floats, Floats]:
    """Move the weights in place, in single precision and then in double: (parts,) gradient norms and how close."""
    floor = 0.0 if close else GRADIENT
    exact = whole.penalised(strengths)
    if not close or close > CLOSE:  # beyond that single precision has nothing to add
        descend(single.penalised(strengths), weights, close or CLOSE, floor)
    norms, reached = closeness(exact, weights)
    left = np.flatnonzero(~(reached <= close)) if close else np.flatnonzero(~(norms <= GRADIENT))
    if len(left):
        again, some = weights[left], exact.some(left)
        descend(some, again, close, floor)
        norms[left], reached[left] = closeness(some, again)
        weights[left] = again
    return norms, reached


def _ahead(found: Floats, strengths: tuple[float, ...], at: int) -> Floats:
    """Where the path leads: midway between line and parabola through the last optima, over the logarithm of C."""
    places = np.log(strengths[max(0, at - 3) : at + 1])
    if at < 2 or not (np.diff(places) > 0).all():
        return np.asarray(found[max(0, at - 1)])
    ahead: Floats = np.zeros_like(found[0])
    for many in (2, min(3, at)):
        nodes = places[-1 - many : -1]
        for place, node in enumerate(nodes):
            others = np.delete(nodes, place)
            ahead += 0.5 * np.prod((places[-1] - others) / (node - others)) * found[at - many + place]
    return ahead


def _leading(rows: NDArray[np.float32]) -> tuple[Floats, Floats, float]:
    """Directions in which rows vary far more than in others, mean squares along them, and along each of the rest."""
    n, width = rows.shape
    total = float(np.einsum("nw,nw->", rows, rows, dtype=np.float64)) / n
    _, values = _directions(rows, _FEW)
    if values.max(initial=0.0) < _FLAT * total / width:
        return np.zeros((width, 0)), np.zeros(0), total / width
    basis, values = _directions(rows, _DIRECTIONS)
    long = values > _LONG * max(0.0, total - float(values.sum())) / max(1, width - len(values))
    rest = max(0.0, total - float(values[long].sum())) / max(1, width - int(long.sum()))
    return basis[:, long], values[long], rest


def _directions(rows: NDArray[np.float32], most: int) -> tuple[Floats, Floats]:
    """(width, k) the directions in which rows vary most, nearly, and (k,) the mean squares along them, ascending."""
    n, width = rows.shape
    k = min(most, n, width)
    drawn = np.random.Philox(key=np.array([1, 1], np.uint64)).random_raw(width * k)
    basis = ((np.asarray(drawn) >> np.uint64(40)).astype(np.float32) / np.float32(2**24) - 0.5).reshape(width, k)
    for _ in range(_PASSES):
        basis = np.linalg.qr(rows.T @ (rows @ basis))[0]
    seen = rows @ basis
    values, turn = np.linalg.eigh((seen.T @ seen).astype(np.float64) / n)
    return basis.astype(np.float64) @ turn, np.maximum(values, 0.0)
