"""What many logistic regressions on shared rows have in common, and the products that they share."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import asdict, evolve, frozen
from numpy.typing import NDArray

from primabench_metrics.basis import standardise

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Reals = NDArray[Any]
"""In single or in double precision."""
_DOUBT = 1e-6
"""Share of the mean square that the variance of a column has to pass."""


@frozen(eq=False)
class Problems:
    """Fits of min ½·penalty·‖w‖² + mean loss (axis b), all in the precision of the rows; o: outputs, q: width + 1."""

    rows: Reals
    """(n, q), the last column is 1."""
    target: Reals
    """(o, n) of 0 and 1."""
    side: Reals
    """(o, n): 2·target - 1."""
    blocks: tuple[slice, ...]
    """Parts of the rows, together all of them."""
    used: NDArray[np.bool_]
    """(b, blocks) whether a fit has rows in a block."""
    weight: Reals
    """(b, 1, n): 1 / rows of the fit, 0 where a row is not fitted."""
    shift: Reals
    """(b, 1, q) mean of each column over the fitted rows; 0 for the ones."""
    inverse: Reals
    """(b, 1, q) one over its deviation; 0 where it does not vary."""
    penalty: Reals
    """(b, 1, q); 0 for the intercept."""
    directions: Reals
    """(width, k) orthonormal."""
    spread: Reals
    """(k,) mean square of the rows along them."""
    rest: float
    """Mean square along any other direction."""
    inside: Reals
    """(b, 1, k) what a direction is stretched by beyond the others."""
    outside: Reals
    """(b, 1, q) what all others are stretched by."""

    @classmethod
    def of(
        cls,
        rows: Floats,
        target: Floats,
        fitted: list[Ints],
        leading: tuple[Floats, Floats, float],
        blocks: tuple[slice, ...] = (slice(None),),
    ) -> Problems:
        """Problems without a penalty yet: see :meth:`penalised`.

        Args:
            rows: (n, q), the last column is 1.
            target: (o, n) of 0 and 1.
            fitted: Rows of each fit.
            leading: Directions, mean squares along them, mean square along any other.
            blocks: Parts of the rows; products with a block are left out where a fit has no row in it.
        """
        mask = _shares(len(rows), fitted)
        shift, inverse = _scales(rows, mask, fitted)
        none = np.zeros((len(fitted), 1, rows.shape[1]))
        directions, spread, rest = leading
        return cls(
            rows=rows, target=target, side=2.0 * target - 1.0, blocks=blocks,
            used=np.stack([mask[:, block].any(axis=1) for block in blocks], axis=1), weight=mask[:, None],
            shift=shift[:, None], inverse=inverse[:, None], penalty=none, directions=directions, spread=spread,
            rest=rest, inside=none[..., : len(spread)], outside=none,
        )  # fmt: skip

    def penalised(self, strengths: Floats) -> Problems:
        """The same with these values of C, one a fit."""
        kind = self.rows.dtype
        most = self.weight.max(axis=2, keepdims=True).astype(np.float64)
        penalty = most / strengths[:, None, None]
        outputs, q = len(self.target), self.rows.shape[1]
        bend = 0.25 if outputs == 1 else (1 - 1 / outputs) / outputs  # of the loss where nothing is known
        outside = 1.0 / np.sqrt(bend * self.rest + penalty)
        inside = 1.0 / np.sqrt(bend * self.spread.astype(np.float64) + penalty) - outside
        free = np.arange(q) == q - 1
        return evolve(
            self,
            penalty=np.where(free, 0.0, penalty).astype(kind),
            inside=inside.astype(kind),
            outside=np.where(free, 1.0 / np.sqrt(bend), outside).astype(kind),
        )

    @property
    def shape(self) -> tuple[int, int, int]:
        """(b, o, q) of coefficients."""
        return len(self.weight), len(self.target), self.rows.shape[1]

    def cast(self, kind: type[np.floating[Any]]) -> Problems:
        """The same in another precision."""
        own = asdict(self, recurse=False)
        floats = {n: v.astype(kind) for n, v in own.items() if isinstance(v, np.ndarray) and v.dtype.kind == "f"}
        return evolve(self, **floats)

    def some(self, at: Ints | NDArray[np.bool_] | slice) -> Problems:
        """Some of the problems."""
        names = ("used", "weight", "shift", "inverse", "penalty", "inside", "outside")
        return evolve(self, **{name: getattr(self, name)[at] for name in names})

    def scaled(self, weights: Reals) -> Reals:
        """Coefficients for the common rows."""
        found = weights * self.inverse
        found[..., -1] -= np.einsum("boq,bq->bo", found, self.shift[:, 0])
        return np.asarray(found)

    def unscaled(self, coefficients: Reals) -> Reals:
        """What :meth:`scaled` makes these coefficients of, as far as columns vary."""
        found = np.divide(coefficients, self.inverse, out=np.zeros(coefficients.shape), where=self.inverse > 0)
        found[..., -1] += np.einsum("boq,bq->bo", coefficients[..., :-1], self.shift[:, 0, :-1])
        return np.asarray(found)

    def scores(self, weights: Reals) -> Reals:
        """(b, o, n); 0 in blocks that a fit does not use."""
        b, o, q = weights.shape
        scaled = self.scaled(weights)
        if self.used.all():
            return np.asarray((scaled.reshape(b * o, q) @ self.rows.T).reshape(b, o, -1))
        found = np.zeros((b, o, len(self.rows)), scaled.dtype)
        for block, used in zip(self.blocks, self.used.T, strict=True):
            part = scaled[used].reshape(-1, q) @ self.rows[block].T
            found[used, :, block] = part.reshape(-1, o, part.shape[1])
        return found

    def gradient(self, misses: Reals, weights: Reals) -> Reals:
        """(b, o, q) of the objective, where misses (b, o, n) is the derivative of the mean loss by the scores."""
        b, o, n = misses.shape
        if self.used.all():
            found = (misses.reshape(b * o, n) @ self.rows).reshape(b, o, -1)
        else:
            found = np.zeros(weights.shape, misses.dtype)
            for block, used in zip(self.blocks, self.used.T, strict=True):
                part = misses[used, :, block]
                found[used] += (part.reshape(-1, part.shape[2]) @ self.rows[block]).reshape(-1, o, found.shape[2])
        found -= self.shift * found[..., -1:]
        found *= self.inverse
        found += self.penalty * weights
        return np.asarray(found)

    def misses(self, scores: Reals) -> tuple[Reals, Reals]:
        """Derivative of the mean loss by the scores, exact also where it nearly vanishes; and what tells its bend."""
        if scores.shape[1] == 1:
            wrong = self.side * scores
            with np.errstate(over="ignore"):  # to infinity, whose inverse is 0
                np.exp(wrong, out=wrong)
            wrong += 1
            np.reciprocal(wrong, out=wrong)  # chance of the other class
            found = wrong * self.weight
            found *= -self.side
            return found, wrong
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        other = chances * (1 - self.target)
        other -= self.target * other.sum(axis=1, keepdims=True)
        return self.weight * other, chances

    def curvature(self, chances: Reals, along: Reals) -> Reals:
        """(b,) second derivative of the loss along changes of the scores."""
        bend = self.weight * chances
        if along.shape[1] == 1:
            bend *= 1 - chances
            bend *= along
            return inner(bend, along)
        mean = (chances * along).sum(axis=1, keepdims=True)
        return np.asarray((bend * np.square(along - mean)).sum(axis=(1, 2)))

    def stretch(self, vectors: Reals) -> Reals:
        """To coordinates in which the leading directions are no longer than others, or back: it is symmetric."""
        b, o, q = vectors.shape
        found = vectors * self.outside
        if self.directions.shape[1]:
            leading = (vectors[..., :-1].reshape(b * o, q - 1) @ self.directions).reshape(b, o, -1) * self.inside
            found[..., :-1] += (leading.reshape(b * o, -1) @ self.directions.T).reshape(b, o, q - 1)
        return np.asarray(found)


def inner(one: Reals, two: Reals) -> Reals:
    """(b,) inner products of (b, o, n) vectors."""
    b = len(one)
    return np.asarray((one.reshape(b, 1, -1) @ two.reshape(b, -1, 1))[:, 0, 0])


def doubtful(rows: Floats, fitted: list[Ints]) -> NDArray[np.bool_]:
    """(parts, q) whether a column differs among the rows of a part by less than a thousandth of what it is there.

    Args:
        rows: (n, q).
        fitted: Rows of each part.
    """
    mean, square = _moments(rows, _shares(len(rows), fitted))
    found: NDArray[np.bool_] = square - np.square(mean) <= _DOUBT * square
    return found


def _shares(n: int, fitted: list[Ints]) -> Floats:
    """(parts, n): one over the rows of a part where a row is one of them, else 0."""
    mask = np.zeros((len(fitted), n))
    for one, part in zip(mask, fitted, strict=True):
        one[part] = 1.0 / len(part)
    return mask


def _moments(rows: Floats, mask: Floats) -> tuple[Floats, Floats]:
    """(parts, q) means and (parts, q) mean squares."""
    return mask @ rows, mask @ np.square(rows)


def _scales(rows: Floats, mask: Floats, fitted: list[Ints]) -> tuple[Floats, Floats]:
    """(parts, q) means, and (parts, q) one over the deviations, of the rows of each part."""
    shift, square = _moments(rows, mask)
    variance = square - np.square(shift)
    inverse = 1.0 / np.sqrt(np.maximum(variance, 1e-300))
    for part, of_part in enumerate(fitted):  # where squares cancel, deviations are taken themselves
        unsure = np.flatnonzero(variance[part, :-1] <= _DOUBT * square[part, :-1])
        if not len(unsure):
            continue
        exact = standardise(rows[np.ix_(of_part, unsure)])
        shift[part, unsure], inverse[part, unsure] = exact.mean, np.where(exact.varies, 1.0 / exact.scale, 0.0)
    shift[:, -1], inverse[:, -1] = 0.0, 1.0
    return shift, inverse
