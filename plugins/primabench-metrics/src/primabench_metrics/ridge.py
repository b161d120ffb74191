"""Ridge regression for many penalties at the price of one: the rows are decomposed once, penalties are then cheap."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_metrics.basis import Standard, standardise

Floats = NDArray[np.float64]


def ridge_path(points: Floats, target: Floats, others: Floats, penalties: tuple[float, ...]) -> Floats:
    """Predictions of other rows by ridge regressions with a free intercept on standardised columns.

    The Gram matrix of rows or columns, whichever is smaller, is brought to tridiagonal form once; each penalty is then
    a tridiagonal system.

    Args:
        points: (n, width) rows to fit on.
        target: (n,) numbers.
        others: (m, width) rows to predict.
        penalties: Values of alpha, above 0.

    Returns:
        (penalties, m) float64.

    Example:
        >>> import numpy as np
        >>> ridge_path(np.array([[0.0], [2.0]]), np.array([0.0, 4.0]), np.array([[2.0]]), (2.0,)).tolist()
        [[3.0]]
    """
    scale = standardise(points)
    rows, asked = scale.apply(points), scale.apply(others)
    mean = float(target.mean())
    if rows.shape[0] < rows.shape[1]:
        solved = _shifted_solutions(rows @ rows.T, target - mean, penalties)
        result: Floats = (solved.T @ rows) @ asked.T
    else:
        result = _shifted_solutions(rows.T @ rows, rows.T @ (target - mean), penalties).T @ asked.T
    return result + mean


def _shifted_solutions(matrix: Floats, right: Floats, shifts: tuple[float, ...]) -> Floats:
    """(n, shifts) solutions x of (matrix + shift·I)x = right for a symmetric positive semi-definite matrix."""
    from scipy.linalg import lapack, solveh_banded

    n = len(matrix)
    if n < 3:
        return np.stack([np.linalg.solve(matrix + s * np.eye(n), right) for s in shifts], axis=1)
    reduced, diagonal, beside, tau, _ = lapack.dsytrd(matrix, lower=1, lwork=64 * n)
    reflectors, turned = reduced[1:, :-1], right.copy()
    turned[1:] = _turn("T", reflectors, tau, right[1:, None])[:, 0]
    band = np.zeros((2, n))
    band[1, :-1] = beside
    found = np.empty((n, len(shifts)))
    for place, shift in enumerate(shifts):
        band[0] = diagonal + shift
        found[:, place] = solveh_banded(band, turned, lower=True, check_finite=False)
    found[1:] = _turn("N", reflectors, tau, found[1:])
    return found


def _turn(trans: str, reflectors: Floats, tau: Floats, right: Floats) -> Any:
    """Householder reflectors (or their inverse) applied from the left."""
    from scipy.linalg import lapack

    turned, _, _ = lapack.dormqr("L", trans, reflectors, tau, right, 64 * max(right.shape))
    return turned


@frozen(eq=False)
class LeaveOneOut:
    """Ridge regressions on all rows and, without another fit, the errors with each row left out."""

    scale: Standard
    mean: float
    rows: Floats
    """(n, width) standardised rows."""
    vectors: Floats
    """(min(n, width), rank) eigenvectors of the Gram matrix."""
    values: Floats
    """(rank,) eigenvalues."""
    toward: Floats
    """(rank,) the target in those coordinates."""
    errors: Floats
    """(penalties, n) truth minus prediction by the other rows; scale and mean of columns are those of all rows."""
    is_dual: bool

    @classmethod
    def fit(cls, points: Floats, target: Floats, penalties: tuple[float, ...]) -> LeaveOneOut:
        """One eigen-decomposition for all penalties and all rows.

        Args:
            points: (n, width) rows.
            target: (n,) numbers.
            penalties: Values of alpha, above 0.

        Example:
            >>> import numpy as np
            >>> x, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([0.0, 1.0, 2.0, 4.0])
            >>> bool(abs(LeaveOneOut.fit(x, y, (1e-9,)).errors).max() < 1e-6)
            True
        """
        scale = standardise(points)
        rows = scale.apply(points)
        n, mean = len(rows), float(target.mean())
        centred = target - mean
        is_dual = rows.shape[0] < rows.shape[1]
        if is_dual:
            # the constant vector is an eigenvector of value 0; moved away from the others it can be taken out
            apart = 2.0 * (float(np.square(rows).sum()) or 1.0) / n
            values, vectors = np.linalg.eigh(rows @ rows.T + apart)
            values, vectors = values[:-1], vectors[:, :-1]
            coordinates, toward = np.square(vectors), vectors.T @ centred
        else:
            values, vectors = np.linalg.eigh(rows.T @ rows)
            turned = rows @ vectors
            coordinates, toward = np.square(turned), turned.T @ centred
        values = np.maximum(values, 0.0)
        inverse = 1.0 / (values[:, None] + np.asarray(penalties))
        if is_dual:  # (K + a)⁻¹t over its diagonal
            errors = (vectors @ (toward[:, None] * inverse)) / (coordinates @ inverse)
        else:
            fitted = turned @ (toward[:, None] * inverse)
            errors = (centred[:, None] - fitted) / (1.0 - 1.0 / n - coordinates @ inverse)
        return cls(scale, mean, rows, vectors, values, toward, errors.T, is_dual)

    def predict(self, others: Floats, penalty: float) -> Floats:
        """(m,) predictions of other rows by the fit on all rows."""
        weights = self.vectors @ (self.toward / (self.values + penalty))
        if self.is_dual:
            weights = self.rows.T @ weights
        result: Floats = self.scale.apply(others) @ weights + self.mean
        return result
