"""Standardised rows in the basis of their singular vectors, in which an L2 penalty keeps its form."""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@frozen(eq=False)
class Standard:
    """Mean and spread of columns; rows are standardised by those of the rows that were fitted."""

    mean: Floats
    scale: Floats
    """Standard deviations (ddof 0); 1 where a column does not vary."""
    varies: NDArray[np.bool_]
    """Whether each column varies beyond rounding; others are 0 in fitted and other rows alike."""

    def apply(self, points: Floats) -> Floats:
        """(m, width) standardised rows."""
        result: Floats = (points - self.mean) / self.scale
        if not self.varies.all():
            result[:, ~self.varies] = 0.0
        return result


def standardise(points: Floats) -> Standard:
    """Mean and standard deviation of columns.

    Args:
        points: (n, width) float64.
    """
    mean = points.mean(axis=0)
    centred = points - mean
    mean = mean + centred.mean(axis=0)  # a second pass takes out what a large offset left
    deviation = np.sqrt(np.square(points - mean).mean(axis=0))
    varies = deviation > 1e-12 * np.abs(points).max(axis=0, initial=0.0)
    return Standard(mean, np.where(varies, deviation, 1.0), varies)


@frozen(eq=False)
class Basis:
    """Rows of a training set, standardised and rotated: at most min(n, width) coordinates each."""

    scale: Standard
    turn: Floats
    """(width, rank) with orthonormal columns."""
    rows: Floats
    """(n, rank)."""

    @property
    def rank(self) -> int:
        """Number of coordinates."""
        return int(self.rows.shape[1])

    @classmethod
    def of(cls, points: Floats) -> Basis:
        """Standardise on these rows and rotate.

        Args:
            points: (n, width) float64.
        """
        scale = standardise(points)
        standard = scale.apply(points)
        rows, turn = standard, np.eye(standard.shape[1])
        if standard.shape[0] < standard.shape[1]:  # a penalised fit lies in the span of the rows
            turn, r = np.linalg.qr(standard.T)
            rows = r.T
        _, vectors = np.linalg.eigh(rows.T @ rows)  # orthonormal to rounding, however close two eigenvalues are
        rows, turn = rows @ vectors, turn @ vectors
        length = np.sqrt(np.square(rows).sum(axis=0))
        kept = length > 1e-12 * length.max(initial=0.0)
        return cls(scale, turn[:, kept], rows[:, kept])

    def coordinates(self, points: Floats) -> Floats:
        """(m, rank) coordinates of other rows."""
        result: Floats = self.scale.apply(points) @ self.turn
        return result
