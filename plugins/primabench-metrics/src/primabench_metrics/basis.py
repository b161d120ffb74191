"""Standardised rows in few coordinates."""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FAR = 400
"""Powers of two beyond which a column is shifted: squares and sums of others are exact enough as they are."""


@frozen(eq=False)
class Standard:
    """Mean and spread of columns; rows are standardised by those of the rows that were fitted."""

    mean: Floats
    scale: Floats
    """Standard deviations (ddof 0); 1 where a column does not vary."""
    varies: NDArray[np.bool_]
    """Whether each column varies beyond rounding; others are 0 in fitted and other rows alike."""
    shift: NDArray[np.int32] | None = None
    """Powers of two that columns are divided by before; None where no column needs it."""

    def apply(self, points: Floats) -> Floats:
        """(m, width) standardised rows."""
        if self.shift is not None:
            points = np.ldexp(points, -self.shift)
        result: Floats = (points - self.mean) / self.scale
        if not self.varies.all():
            result[:, ~self.varies] = 0.0
        return result


def standardise(points: Floats) -> Standard:
    """Mean and standard deviation of columns; numbers whose squares leave the range of float64 are brought into it.

    Args:
        points: (n, width) float64, finite.
    """
    size = np.abs(points).max(axis=0, initial=0.0)
    powers = np.frexp(size)[1]
    far = (np.abs(powers) > FAR) & (size > 0)
    shift = np.where(far, powers, 0).astype(np.int32) if far.any() else None
    if shift is not None:
        points, size = np.ldexp(points, -shift), np.ldexp(size, -shift)
    mean = points.mean(axis=0)
    centred = points - mean
    mean = mean + centred.mean(axis=0)  # a second pass takes out what a large offset left
    deviation = np.sqrt(np.square(points - mean).mean(axis=0))
    varies = deviation > 1e-12 * size
    return Standard(mean, np.where(varies, deviation, 1.0), varies, shift)


@frozen(eq=False)
class Basis:
    """Standardised rows in at most min(n, width) coordinates, in which an L2 penalty keeps its form."""

    scale: Standard
    turn: Floats | None
    """(width, rank) with orthonormal columns; None where the columns themselves are the coordinates."""
    rows: Floats
    """(n, rank)."""

    @property
    def rank(self) -> int:
        """Number of coordinates."""
        return int(self.rows.shape[1])

    @classmethod
    def of(cls, points: Floats) -> Basis:
        """Standardise on these rows; where there are more columns than rows, keep the span of the rows alone.

        Directions whose singular value is below 1e-6 of the largest are left out: no penalty of a probe lets them in.

        Args:
            points: (n, width) float64.
        """
        scale = standardise(points)
        standard = scale.apply(points)
        if standard.shape[0] >= standard.shape[1]:
            return cls(scale, None, standard)
        values, vectors = np.linalg.eigh(standard @ standard.T)
        kept = values > 1e-12 * max(float(values[-1]), 1e-300)
        length = np.sqrt(values[kept])
        return cls(scale, standard.T @ (vectors[:, kept] / length), vectors[:, kept] * length)

    def coordinates(self, points: Floats) -> Floats:
        """(m, rank) coordinates of other rows."""
        standard = self.scale.apply(points)
        return standard if self.turn is None else standard @ self.turn
