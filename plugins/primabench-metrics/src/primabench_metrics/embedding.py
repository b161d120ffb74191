"""How well true classes separate in an embedding: silhouette, Calinski-Harabasz, Davies-Bouldin."""

from __future__ import annotations

import math

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_column_sums, exact_row_sums, exact_sum
from primabench_core.state.rows import Rows
from primabench_metrics.ranking import label_column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK_BYTES = 1 << 23
"""Size of the block of distances that is held at once."""


@frozen
class _Grouped:
    """Rows of an embedding sorted by class; classes without rows are left out."""

    points: Floats
    codes: Ints
    """(n,) ascending, without gaps."""
    starts: Ints
    sizes: Ints
    names: tuple[str, ...]

    @classmethod
    def of(cls, state: Rows) -> _Grouped:
        truth = label_column(state)
        order = np.argsort(truth.codes, kind="stable")
        present, starts, codes = np.unique(truth.codes[order], return_index=True, return_inverse=True)
        points = np.asarray(state.prediction["embedding"], np.float64)[order]
        sizes = np.diff(np.append(starts, len(codes)))
        return cls(points, codes, starts, sizes, tuple(str(truth.classes[c]) for c in present))

    def problem(self) -> Outcome | None:
        """Why no separation can be measured, or None."""
        n, k = len(self.codes), len(self.sizes)
        if n == 0:
            return Outcome.undefined("too_few_items", "there are no rows", n=0)
        if k == 1:
            return Outcome.undefined("single_label", f"every row is {self.names[0]!r}", n=n)
        if k == n:
            return Outcome.undefined("too_few_items", "every row has a label of its own", n=n)
        return None

    def centres(self) -> Floats:
        """(classes, width) means, from exact sums."""
        stops = self.starts + self.sizes
        sums = [exact_column_sums(self.points[i:j]) for i, j in zip(self.starts, stops, strict=True)]
        return np.asarray(sums) / self.sizes[:, None]


def silhouette(state: Rows, *, distance: str = "euclidean") -> Outcome:
    """Mean silhouette s = (b − a)/max(a, b) over rows (Rousseeuw 1987).

    a is the mean distance to the other rows of the own class, b the smallest mean distance to another class. The only
    row of a class contributes 0. Distances come from matrix products in blocks of fixed memory.

    Args:
        state: ``embedding`` (n, width) against ``label`` (n,).
        distance: ``euclidean`` or ``cosine``.

    Returns:
        Value in [-1, 1] with the mean of each class in ``per_unit``; ``single_label`` for one class,
        ``too_few_items`` if every row has its own.
    """
    g = _Grouped.of(state)
    problem = g.problem()
    if problem is not None:
        return problem
    values = silhouette_samples(g.points, g.codes, distance)
    per_class = {
        name: exact_sum(values[i : i + size]) / int(size)
        for name, i, size in zip(g.names, g.starts, g.sizes, strict=True)
    }
    return Outcome(exact_sum(values) / len(values), n=len(values), per_unit=per_class)


def silhouette_samples(points: Floats, codes: Ints, distance: str = "euclidean") -> Floats:
    """Silhouette of each row.

    Args:
        points: (n, width) float64.
        codes: (n,) ascending class codes without gaps, at least two classes.
        distance: ``euclidean`` or ``cosine``.

    Returns:
        (n,) float64 in [-1, 1].
    """
    n = len(points)
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    sizes = np.diff(np.append(starts, n))
    values = np.empty(n)
    step = max(1, min(n, BLOCK_BYTES // (8 * n)))
    measure = _Distances(points, distance)
    for first in range(0, n, step):
        rows = slice(first, min(n, first + step))
        sums = np.add.reduceat(measure.block(rows), starts, axis=1)
        own = codes[rows]
        at = np.arange(len(own))
        a = sums[at, own] / np.maximum(sizes[own] - 1, 1)
        means = sums / sizes
        means[at, own] = np.inf
        b = means.min(axis=1)
        larger = np.maximum(a, b)
        values[rows] = np.where((sizes[own] > 1) & (larger > 0), (b - a) / np.where(larger > 0, larger, 1.0), 0.0)
    return values


class _Distances:
    """Distances of a few rows to all, by one matrix product; the distance of a row to itself is 0."""

    def __init__(self, points: Floats, distance: str) -> None:
        self.cosine = distance == "cosine"
        if self.cosine:  # 1 − x·y
            norms = np.sqrt(exact_row_sums(points * points))
            units = points / np.where(norms > 0, norms, 1.0)[:, None]
            ones = np.ones((len(points), 1))
            self.left, self.right = np.hstack([-units, ones]), np.hstack([units, ones]).T
        else:  # |x|² − 2x·y + |y|², centred because a common offset would cancel badly
            points = points - exact_column_sums(points) / len(points)
            squares, ones = np.einsum("ij,ij->i", points, points)[:, None], np.ones((len(points), 1))
            self.left, self.right = np.hstack([-2.0 * points, squares, ones]), np.hstack([points, ones, squares]).T

    def block(self, rows: slice) -> Floats:
        """(rows, n) distances."""
        result: Floats = self.left[rows] @ self.right
        np.maximum(result, 0.0, out=result)
        if not self.cosine:
            np.sqrt(result, out=result)
        result[np.arange(len(result)), np.arange(rows.start, rows.start + len(result))] = 0.0
        return result


def calinski_harabasz(state: Rows) -> Outcome:
    """Variance ratio [Σ n_k‖c_k − c‖²/(k−1)] / [Σ‖x − c_k‖²/(n−k)] (Calinski & Harabasz 1974), from exact sums.

    Args:
        state: ``embedding`` (n, width) against ``label`` (n,).

    Returns:
        Value from 0; undefined as :func:`silhouette`, and ``zero_denominator`` if no class has any spread (there
        scikit-learn gives 1).
    """
    g = _Grouped.of(state)
    problem = g.problem()
    if problem is not None:
        return problem
    n, k = len(g.codes), len(g.sizes)
    centres = g.centres()
    between = centres - exact_column_sums(g.points) / n
    within = g.points - centres[g.codes]
    inside = exact_sum(exact_row_sums(within * within))
    if not inside:
        return Outcome.undefined("zero_denominator", "no class has any spread", n=n)
    outside = exact_sum(exact_row_sums(between * between) * g.sizes)
    return Outcome(outside * (n - k) / (inside * (k - 1)), n=n)


def davies_bouldin(state: Rows) -> Outcome:
    """Mean over classes of max over others of (s_i + s_j)/‖c_i − c_j‖ (Davies & Bouldin 1979), from exact sums.

    s is the mean distance of the rows of a class to its centre c.

    Args:
        state: ``embedding`` (n, width) against ``label`` (n,).

    Returns:
        Value from 0, lower is better; undefined as :func:`silhouette`, and ``zero_denominator`` if two centres
        coincide (scikit-learn leaves such pairs out, or gives 0).
    """
    g = _Grouped.of(state)
    problem = g.problem()
    if problem is not None:
        return problem
    centres = g.centres()
    away = g.points - centres[g.codes]
    lengths = np.sqrt(exact_row_sums(away * away))
    spread = [exact_sum(lengths[i : i + s]) / int(s) for i, s in zip(g.starts, g.sizes, strict=True)]
    worst = []
    for i, centre in enumerate(centres):
        gaps = np.delete(centres, i, axis=0) - centre
        apart = np.sqrt(exact_row_sums(gaps * gaps))
        if not apart.all():
            return Outcome.undefined("zero_denominator", f"{g.names[i]!r} shares its centre", n=len(g.codes))
        worst.append(float(((np.delete(spread, i) + spread[i]) / apart).max()))
    per_class = dict(zip(g.names, worst, strict=True))
    return Outcome(math.fsum(worst) / len(worst), n=len(g.codes), per_unit=per_class)
