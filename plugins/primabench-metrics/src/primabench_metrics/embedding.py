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
CLOSE = 1e-6
"""Share of |x|² + |y|² below which a squared distance from products has lost too many digits, and is taken anew."""
BIG = 400
"""Binary exponent above which sums of squares could overflow: such points are scaled first."""


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
        points = _in_reach(np.asarray(state.prediction["embedding"], np.float64)[order])
        sizes = np.diff(np.append(starts, len(codes)))
        return cls(points, codes, starts, sizes, tuple(str(truth.classes[c]) for c in present))

    def problem(self) -> Outcome | None:
        """Why no separation can be measured, or None."""
        n, k = len(self.codes), len(self.sizes)
        if n == 0:
            return Outcome.undefined("too_few_items", "there are no rows", n=0)
        if k == 1:
            return Outcome.undefined("single_label", "every row is of one class", n=n)
        if k == n:
            return Outcome.undefined("too_few_items", "every row has a label of its own", n=n)
        return None

    def centres(self) -> Floats:
        """(classes, width) means, from exact sums; the mean of equal numbers is that number."""
        stops = self.starts + self.sizes
        parts = [self.points[i:j] for i, j in zip(self.starts, stops, strict=True)]
        means = np.asarray([exact_column_sums(part) for part in parts]) / self.sizes[:, None]
        lowest, highest = (np.asarray([reduce(part, axis=0) for part in parts]) for reduce in (np.min, np.max))
        return np.clip(means, lowest, highest)


def _exponent(values: Floats) -> int:
    """The smallest e with every |value| < 2^e; 0 for nothing but zeros."""
    return int(np.frexp(np.abs(values).max(initial=0.0))[1])


def _in_reach(points: Floats) -> Floats:
    """The points, scaled by a power of two (which no metric here sees) if their squares could overflow."""
    exponent = _exponent(points)
    return np.ldexp(points, -exponent) if exponent > BIG else points


def _lengths(vectors: Floats, *, exact: bool = True) -> Floats:
    """(n,) Euclidean norms of rows, whether tiny or large; exact: but for one rounding of each square, sum and root."""
    exponents = np.frexp(np.abs(vectors).max(axis=1, initial=0.0))[1]
    scaled = np.ldexp(vectors, -exponents[:, None])
    squares = exact_row_sums(scaled * scaled) if exact else np.einsum("ij,ij->i", scaled, scaled)
    result: Floats = np.ldexp(np.sqrt(squares), exponents)
    return result


def silhouette(state: Rows, *, distance: str = "euclidean") -> Outcome:
    """Mean silhouette s = (b − a)/max(a, b) over rows (Rousseeuw 1987).

    a is the mean distance to the other rows of the own class, b the smallest mean distance to another class. The only
    row of a class contributes 0. Distances come from matrix products in blocks of fixed memory.

    Args:
        state: ``embedding`` (n, width) against ``label`` (n,).
        distance: ``euclidean`` or ``cosine``.

    Returns:
        Value in [-1, 1] with the mean of each class in ``per_unit``; ``single_label`` for one class,
        ``too_few_items`` if every row has its own, ``numerical_failure`` if a distance is not finite.
    """
    g = _Grouped.of(state)
    problem = g.problem()
    if problem is not None:
        return problem
    values = silhouette_samples(g.points, g.codes, distance)
    if not np.isfinite(values).all():
        return Outcome.undefined("numerical_failure", "a distance exceeds the largest float64", n=len(values))
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
        (n,) float64 in [-1, 1]; NaN where a distance is not finite.
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
        found = np.where((sizes[own] > 1) & (larger > 0), (b - a) / np.where(larger > 0, larger, 1.0), 0.0)
        values[rows] = np.where(np.isfinite(sums).all(axis=1), found, np.nan)
    return values


class _Distances:
    """Distances of a few rows to all; the distance of a row to itself is 0.

    One matrix product gives most of them. Where two rows are much nearer to each other than to the centre, the product
    cancels: such pairs are taken anew around one of them. Distances come in units of a power of two that keeps the
    farthest row near 1, so that nothing overflows.
    """

    def __init__(self, points: Floats, distance: str) -> None:
        self.cosine = distance == "cosine"
        ones = np.ones((len(points), 1))
        self.unit = 0
        if self.cosine:  # 1 − x·y
            exponents = np.frexp(np.abs(points).max(axis=1, initial=0.0))[1]
            scaled = np.ldexp(points, -exponents[:, None])
            norms = np.sqrt(exact_row_sums(scaled * scaled))
            self.points = scaled / np.where(norms > 0, norms, 1.0)[:, None]
            self.left, self.right = np.hstack([-self.points, ones]), np.hstack([self.points, ones]).T
            self.squares = np.full(len(points), 0.5)
        else:  # |x|² − 2x·y + |y|², centred because a common offset would cancel badly
            self.points = _in_reach(points)
            centred = self.points - exact_column_sums(self.points) / len(points)
            self.unit = _exponent(centred)
            centred = np.ldexp(centred, -self.unit)
            self.squares = np.einsum("ij,ij->i", centred, centred)
            squares = self.squares[:, None]
            self.left, self.right = np.hstack([-2.0 * centred, squares, ones]), np.hstack([centred, ones, squares]).T

    def block(self, rows: slice) -> Floats:
        """(rows, n) distances, Euclidean ones in units of 2^unit."""
        result: Floats = self.left[rows] @ self.right
        np.maximum(result, 0.0, out=result)
        near = result < CLOSE * (self.squares[rows][:, None] + self.squares)
        if not self.cosine:
            np.sqrt(result, out=result)
        here = np.arange(rows.start, rows.start + len(result))
        near[np.arange(len(result)), here] = False
        result[np.arange(len(result)), here] = 0.0
        self._take_anew(result, near, here)
        return result

    def _take_anew(self, result: Floats, near: NDArray[np.bool_], here: Ints) -> None:
        """Replace the distances of near pairs: around a row that has some, then around one that still has, and so on.

        Around a row, its own distances are those of differences, so that at least one row is done each time; mostly
        all rows that are near to it are.
        """
        while True:
            waiting = np.flatnonzero(near.any(axis=1))
            if not len(waiting):
                return
            first = waiting[0]
            columns = np.flatnonzero(near[first])
            members = waiting[near[waiting, here[first]] | (waiting == first)]
            middle = self.points[here[first]]
            found, unsure = _product_distances(self.points[here[members]] - middle, self.points[columns] - middle)
            found = found * found / 2 if self.cosine else np.ldexp(found, -self.unit)  # 1 − x·y = |x − y|²/2
            at = np.ix_(members, columns)
            unsure &= near[at]
            result[at] = np.where(near[at] & ~unsure, found, result[at])
            near[at] = unsure


def _product_distances(left: Floats, right: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """(m, n) Euclidean distances of rows of both sides by a product, and where too many digits were lost."""
    unit = max(_exponent(left), _exponent(right))
    x, y = np.ldexp(left, -unit), np.ldexp(right, -unit)
    sizes = np.einsum("ij,ij->i", x, x)[:, None] + np.einsum("ij,ij->i", y, y)
    squares = np.maximum(sizes - 2.0 * (x @ y.T), 0.0)
    unsure = (squares < CLOSE * sizes) | (sizes < 1e-250)  # the latter may have lost squares to underflow
    result = np.ldexp(np.sqrt(squares), unit)
    zero_left, zero_right = ~left.any(axis=1), ~right.any(axis=1)  # those in the middle: the other's length it is
    result[zero_left], unsure[zero_left] = _lengths(right, exact=False), False
    result[:, zero_right], unsure[:, zero_right] = _lengths(left, exact=False)[:, None], False
    return result, unsure


def calinski_harabasz(state: Rows) -> Outcome:
    """Variance ratio [Σ n_k‖c_k − c‖²/(k−1)] / [Σ‖x − c_k‖²/(n−k)] (Calinski & Harabasz 1974), from exact sums.

    Args:
        state: ``embedding`` (n, width) against ``label`` (n,).

    Returns:
        Value from 0; undefined as :func:`silhouette`, and ``zero_denominator`` if no class has any spread (there
        scikit-learn gives 1), ``numerical_failure`` if the ratio exceeds float64.
    """
    g = _Grouped.of(state)
    problem = g.problem()
    if problem is not None:
        return problem
    n, k = len(g.codes), len(g.sizes)
    centres = g.centres()
    between = centres - exact_column_sums(g.points) / n
    within = g.points - centres[g.codes]
    if not within.any():
        return Outcome.undefined("zero_denominator", "no class has any spread", n=n)
    outer, inner = _exponent(between), _exponent(within)
    between, within = np.ldexp(between, -outer), np.ldexp(within, -inner)
    inside = exact_sum(exact_row_sums(within * within))
    outside = exact_sum(exact_row_sums(between * between) * g.sizes)
    with np.errstate(over="ignore"):
        value = float(np.ldexp(outside * (n - k) / (inside * (k - 1)), 2 * (outer - inner)))
    if math.isinf(value):
        return Outcome.undefined("numerical_failure", "the ratio exceeds the largest float64", n=n)
    return Outcome(value, n=n)


def davies_bouldin(state: Rows) -> Outcome:
    """Mean over classes of max over others of (s_i + s_j)/‖c_i − c_j‖ (Davies & Bouldin 1979), from exact sums.

    s is the mean distance of the rows of a class to its centre c.

    Args:
        state: ``embedding`` (n, width) against ``label`` (n,).

    Returns:
        Value from 0, lower is better; undefined as :func:`silhouette`, and ``zero_denominator`` if two centres
        coincide (scikit-learn leaves such pairs out, or gives 0), ``numerical_failure`` if a ratio exceeds float64.
    """
    g = _Grouped.of(state)
    problem = g.problem()
    if problem is not None:
        return problem
    centres = g.centres()
    lengths = _lengths(g.points - centres[g.codes])
    spread = [exact_sum(lengths[i : i + s]) / int(s) for i, s in zip(g.starts, g.sizes, strict=True)]
    worst = []
    for i, centre in enumerate(centres):
        gaps = np.delete(centres, i, axis=0) - centre
        apart = _lengths(gaps)
        if not apart.all():
            return Outcome.undefined("zero_denominator", "two classes share their centre", n=len(g.codes))
        with np.errstate(over="ignore"):
            worst.append(float(((np.delete(spread, i) + spread[i]) / apart).max()))
    if not np.isfinite(worst).all() or math.isinf(exact_sum(np.array(worst))):
        return Outcome.undefined("numerical_failure", "a ratio exceeds the largest float64", n=len(g.codes))
    per_class = dict(zip(g.names, worst, strict=True))
    return Outcome(exact_sum(np.array(worst)) / len(worst), n=len(g.codes), per_unit=per_class)
