"""Logistic regressions in outer folds, C chosen in each over inner ones: small by Hessians, large ones together.

Most values of C are far from the best, and fits with a large one take longest. So fits of inner folds are first made
roughly with every C; only those whose score may be the best are then brought to where others would no longer differ.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from attrs import define, evolve, field, frozen
from numpy.typing import NDArray

from primabench_metrics.basis import Basis
from primabench_metrics.logistic import GRADIENT, logistic_path, probabilities
from primabench_metrics.logistic_batch import Batch, Fits
from primabench_metrics.penalties import SAME, STRENGTHS, SkippedError, first_best
from primabench_metrics.runs import area_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST_HESSIAN = 400
"""Columns of a Hessian up to which fits solve it whole."""
LARGEST_IN_NEED = 4000
"""Columns up to which the fit that scores does so where it did not converge otherwise."""
ROOM = 1 << 30
"""Bytes that the fits of nests made together may take beside the rows: more nests are gone through in turns. What one
nest takes is not cut: for rows n, columns q, outputs o, inner folds b and nine values of C, 8·b·o·(14·n + 50·q)."""
_OF_ROW, _OF_COLUMN = 14, 32
"""Numbers for each output of a fit: see :func:`_room`."""
_SURE, _SURPLUS, _FEW_PAIRS = 8.0, 1.0, 4
"""Times the likely error of a score that is reckoned with; pairs that may outnumber those that turn to the other side:
so many of all by the root of the number of rows, and so many more."""
LEVELS = (2e-2, 5e-3, 1e-3, 1e-4, 1e-6, 1e-8)
"""How close the fits of a C are asked to come: coefficients of columns are then no further than this share of |w| from
the optimum, as the objective is as convex as its penalty. Of the intercept that says nothing; it moves no AUROC."""


@frozen(eq=False)
class Nest:
    """An outer fold with its inner ones."""

    fit: Ints
    """Rows to fit on."""
    score: Ints
    """Rows to score."""
    inner: list[Ints]
    """Rows held out in turn, as places in ``fit``."""

    @property
    def parts(self) -> list[Ints]:
        """Rows that each inner fold fits on."""
        return [np.delete(self.fit, held) for held in self.inner]


@frozen(eq=False)
class Chosen:
    """What came out of an outer fold."""

    strength: float
    """C that the inner folds chose."""
    decision: Floats
    """(m, outputs) linear scores of its scored rows: one output for two classes, else one a class."""
    gradient: float
    """Gradient norm that the fit reached."""
    in_doubt: bool = False
    """Whether another C may be the better one: fits did not come close enough to tell."""


def logistic_nests(
    points: Floats, codes: Ints, classes: int, nests: list[Nest], strengths: tuple[float, ...] = STRENGTHS
) -> list[Chosen]:
    """Choose C in each nest over its inner folds, by AUROC for two classes, by log loss for more, and fit with it.

    Large problems of all nests are fitted together, as far as there is :data:`ROOM` for them: see
    :mod:`primabench_metrics.logistic_batch`. Rows that are far from those of a fit do not touch its scale.

    Args:
        points: (n, width) rows.
        codes: (n,) in ``range(classes)``; of rows that no nest fits on, any.
        classes: Number of classes, all of them among the rows of each nest.
        nests: Outer folds.
        strengths: Values of C, strongest penalty (smallest C) first.

    Raises:
        SkippedError: An inner fold holds one class alone.

    Example:
        >>> import numpy as np
        >>> x = np.arange(12.0)[:, None]
        >>> nest = Nest(np.arange(8), np.arange(8, 12), [np.array([0, 7]), np.array([1, 6])])
        >>> (found,) = logistic_nests(x, np.arange(12) // 4 % 2, 2, [nest])
        >>> found.strength, found.decision.shape
        (0.0001, (4, 1))
    """
    if classes == 2:
        _check_held_out(codes, nests)
    alike = _alike(points)
    least = min(len(nest.fit) for nest in nests)
    if (min(least, points.shape[1]) + 1) * (1 if classes == 2 else classes) <= LARGEST_HESSIAN:
        return [_nest_by_itself(points, codes, alike, classes, nest, strengths) for nest in nests]
    outputs = 1 if classes == 2 else classes
    each = [_room(len(nest.inner), len(points), points.shape[1], outputs, len(strengths)) for nest in nests]
    found: list[Chosen] = []
    for chunk in _chunks(each):
        found += _nests_together(points, codes, alike, classes, nests[chunk], strengths)
    return found


def _room(fits: int, n: int, width: int, outputs: int, strengths: int) -> int:
    """Bytes that inner fits take, at most, beside the rows that all share.

    For each output of each fit: weight, scores and what is made of them, for each row; coefficients for each C, twice,
    and what the descent remembers, for each column.
    """
    return 8 * fits * outputs * (_OF_ROW * n + (2 * strengths + _OF_COLUMN) * (width + 1))


def _chunks(each: list[int]) -> list[slice]:
    """Nests in a row that have room together, or one that has not."""
    ends, taken = [0], 0
    for at, room in enumerate(each):
        if taken and taken + room > ROOM:
            ends.append(at)
            taken = 0
        taken += room
    return [slice(start, end) for start, end in pairwise([*ends, len(each)])]


def _nests_together(
    points: Floats, codes: Ints, alike: Ints, classes: int, nests: list[Nest], strengths: tuple[float, ...]
) -> list[Chosen]:
    """In one batch, but for fits whose rows its scale would round away, or that do not converge: by Hessians."""
    rows = np.unique(np.concatenate([nest.fit for nest in nests]))
    place = np.full(len(points), -1)
    place[rows] = np.arange(len(rows))
    fitted = [place[nest.fit] for nest in nests]
    own = points[rows]
    batch = Batch.of(own, codes[rows], classes)
    folds = sum(len(nest.inner) for nest in nests)
    room = ROOM // _room(1, len(points), points.shape[1], len(batch.target), len(strengths))
    inner = _InnerFits(batch, own, codes[rows], alike[rows], classes, strengths, max(1, folds // 2, room - folds))
    inner.look(fitted, [nest.inner for nest in nests])
    best, in_doubt = inner.choose()
    apart = batch.apart(own, fitted)
    together = np.flatnonzero(~apart)
    fits: dict[int, tuple[Floats, float]] = {}
    if len(together):
        starts = np.stack([inner.lead(one, best[one]) for one in together])
        of_last = batch.fits([fitted[one] for one in together])
        final, norms, _ = of_last.settle(slice(None), np.asarray([strengths[best[one]] for one in together]), starts)
        fits = dict(zip(together.tolist(), zip(final, norms.tolist(), strict=True), strict=True))
    found = []
    for one, nest in enumerate(nests):
        weights, norm = fits.get(one, (None, np.inf))
        up_to = strengths[: best[one] + 1]
        if weights is None:
            chosen = _chosen_alone(points, codes, alike, classes, nest, up_to)
        else:
            once, back = _once(nest.score, alike)
            chosen = Chosen(up_to[-1], batch.decide_others(weights, points[once])[back], norm)
        if not chosen.gradient <= GRADIENT and _is_solvable(len(nest.fit), points.shape[1], classes):
            whole = _chosen_by_hessians(points, codes, alike, classes, nest, up_to)
            chosen = chosen if chosen.gradient <= whole.gradient else whole
        found.append(evolve(chosen, in_doubt=in_doubt[one]))
    return found


@define(eq=False)
class _InnerFits:
    """Fits of the inner folds of nests with every C; those that have a scale of their own are settled at once."""

    batch: Batch
    points: Floats
    """(n, width) rows of the batch as they come."""
    codes: Ints
    alike: Ints
    """(n,) which of the different rows each is."""
    classes: int
    strengths: tuple[float, ...]
    most: int
    """Fits that are brought closer at once."""
    held: list[Ints] = field(init=False)
    """(folds,) rows that each holds out, nest after nest."""
    parts: list[Ints] = field(init=False)
    """(folds,) rows that each fits on."""
    nest_of: Ints = field(init=False)
    """(folds,) which nest."""
    decisions: list[Floats] = field(init=False)
    """(folds,) of (strengths, m, outputs): scores of the rows that each holds out."""
    reach: list[Floats] = field(init=False)
    """(folds,) of (strengths, m): see :meth:`Fits.reach`; 0 where a fit is settled."""
    reached: Floats = field(init=False)
    """(folds, strengths) how close each came."""
    near: Ints = field(init=False)
    """Folds that are fitted in the batch's scale."""
    fits: Fits = field(init=False)
    path: Floats = field(init=False)
    """(near, strengths, outputs, width + 1) coefficients."""

    def look(self, fitted: list[Ints], inner: list[list[Ints]]) -> None:
        """Fit with every C: roughly for two classes; a race by log loss would have to know the intercepts' errors.

        Args:
            fitted: Rows of each nest.
            inner: Rows held out in turn in each, as places in those.
        """
        self.nest_of = np.repeat(np.arange(len(inner)), [len(folds) for folds in inner])
        self.held = [rows[fold] for rows, folds in zip(fitted, inner, strict=True) for fold in folds]
        self.parts = [np.delete(rows, fold) for rows, folds in zip(fitted, inner, strict=True) for fold in folds]
        apart = self.batch.apart(self.points, self.parts)
        self.near = np.flatnonzero(~apart)
        self.decisions, self.reach = [np.zeros(0)] * len(self.parts), [np.zeros(0)] * len(self.parts)
        self.reached = np.zeros((len(self.parts), len(self.strengths)))
        for fold in np.flatnonzero(apart).tolist():
            self._solve(fold)
        self.path = np.zeros((0, len(self.strengths), *self.batch.shape))
        if not len(self.near):
            return
        left = _left_out(fitted, self.held, len(self.points))
        self.fits = self.batch.fits([self.parts[at] for at in self.near], left)
        self.path, norms, reached = self.fits.path(self.strengths, LEVELS[0] if self.classes == 2 else 0.0)
        self.reached[self.near] = reached if self.classes == 2 else np.where(norms <= GRADIENT, 0.0, np.inf)
        for one, fold in enumerate(self.near.tolist()):
            rows = self.batch.rows[self.held[fold]]
            self.decisions[fold] = self._decided(fold, self.path[one])
            self.reach[fold] = (
                self.fits.reach(one, self.path[one], rows) if self.classes == 2 else np.zeros((len(self.strengths), 0))
            )
            if self.classes > 2 and self.reached[fold].any():
                self._solve(fold)

    def choose(self) -> tuple[list[int], list[bool]]:
        """Place of the best C of each nest; fits are brought closer as long as more than one may be it.

        Returns:
            The places, and whether others may be as good, as fits did not come close enough to tell.
        """
        nests = int(self.nest_of[-1]) + 1
        may_be_best = np.ones((nests, len(self.strengths)), bool)
        for closer in (*LEVELS[1:], 0.0):
            asked = np.zeros_like(may_be_best)
            for nest, left in enumerate(may_be_best):
                scores, doubts = self._scores(nest)
                left &= scores + doubts + SAME >= (scores - doubts)[left].max()
                asked[nest] = left & (doubts > 0) & (left.sum() > 1)
            if not closer or not asked.any():
                break
            of, at = np.nonzero(asked[self.nest_of[self.near]])
            for start in range(0, len(of), self.most):
                self._settle(of[start : start + self.most], at[start : start + self.most], closer)
        best = [first_best(np.where(left, self._scores(nest)[0], -np.inf)) for nest, left in enumerate(may_be_best)]
        stuck = [bool(np.isinf(self.reached[self.nest_of == nest]).any()) for nest in range(nests)]
        return best, [bool(doubt.any()) or lost for doubt, lost in zip(asked, stuck, strict=True)]

    def _settle(self, of: Ints, at: Ints, close: float) -> None:
        """Bring fits closer to their optimum; those that do not get there are solved by Hessians if they can be.

        Args:
            of: (fits,) which folds of those that are near.
            at: (fits,) with which C.
            close: See :meth:`Fits.settle`.
        """
        strengths = np.asarray(self.strengths)[at]
        self.path[of, at], _, reached = self.fits.settle(of, strengths, self.path[of, at], close)
        late = set()
        for one, place, share in zip(of.tolist(), at.tolist(), reached.tolist(), strict=True):
            fold = int(self.near[one])
            if not self.reach[fold].any():
                continue  # solved before
            self.reached[fold, place] = share
            self.decisions[fold][place] = self._decided(fold, self.path[one, place])
            if not share <= close:
                late.add(fold)
        for fold in sorted(late):
            self._solve(fold)

    def _decided(self, fold: int, coefficients: Floats) -> Floats:
        """(..., m, outputs) scores of the rows that a fold holds out, equal rows alike."""
        once, back = _once(self.held[fold], self.alike)
        return self.batch.decide(coefficients, self.batch.rows[once])[..., back, :]

    def _solve(self, fold: int) -> None:
        """Fit a fold with every C by whole Hessians, or in a scale of its own where those are too large."""
        part, (once, back) = self.parts[fold], _once(self.held[fold], self.alike)
        asked = self.points[once]
        if _is_solvable(len(part), self.points.shape[1], self.classes):
            path = logistic_path(Basis.of(self.points[part]), self.codes[part], self.classes, self.strengths)
            self.decisions[fold] = np.stack([fit.decision(asked)[back] for fit in path])
            norms = np.asarray([fit.gradient for fit in path])
        elif fold in self.near:
            return  # it stays in doubt
        else:
            own, found, norms = _alone(self.points, self.codes, self.classes, part, self.strengths)
            self.decisions[fold] = own.decide_others(found, asked)[:, back]
        self.reached[fold] = np.where(norms <= GRADIENT, 0.0, np.inf)
        self.reach[fold] = np.zeros((len(self.strengths), len(back)))

    def _scores(self, nest: int) -> tuple[Floats, Floats]:
        """(strengths,) mean scores of a nest's inner folds, and what they may be off by."""
        folds = np.flatnonzero(self.nest_of == nest)
        decisions, truth = [self.decisions[one] for one in folds], [self.codes[self.held[one]] for one in folds]
        scores = _scores(decisions, truth, self.classes)
        if self.classes > 2:
            return scores, np.zeros(len(scores))
        far = [
            np.where(reach > 0, _SURE * np.minimum(self.reached[one], 1.0)[:, None] * reach, 0.0)
            for one in folds
            for reach in (self.reach[one],)
        ]
        return scores, _doubts(decisions, far, truth)

    def lead(self, nest: int, at: int) -> Floats:
        """(outputs, width + 1) mean coefficients of a nest's inner folds with a C: where to start from."""
        of = self.nest_of[self.near] == nest
        found: Floats = self.path[of, at].mean(axis=0) if of.any() else np.zeros(self.batch.shape)
        return found


def _check_held_out(codes: Ints, nests: list[Nest]) -> None:
    for nest in nests:
        for fold in nest.inner:
            if len(np.unique(codes[nest.fit[fold]])) < 2:  # never scored 0: it would decide the penalty
                raise _one_class()


def _one_class() -> SkippedError:
    return SkippedError("too_few_items", "an inner fold holds one class: it has no AUROC")


def _is_solvable(n: int, width: int, classes: int) -> bool:
    """Whether the Hessian of a fit is small enough to be solved where there is need."""
    return (min(n, width) + 1) * (1 if classes == 2 else classes) <= LARGEST_IN_NEED


def _alike(points: Floats) -> Ints:
    """(n,) which of the different rows each is.

    The same row at another place of a product may differ in its last bit; then a tie would be won. So a product is
    taken with one of them.
    """
    if not points.shape[1]:
        return np.zeros(len(points), np.int64)
    whole = np.ascontiguousarray(points + 0.0).view(np.dtype((np.void, points.shape[1] * 8)))[:, 0]  # -0 becomes 0
    return np.asarray(np.unique(whole, return_inverse=True)[1], np.int64)


def _once(rows: Ints, alike: Ints) -> tuple[Ints, Ints]:
    """The rows but for those that come again, and where each is among them."""
    _, first, back = np.unique(alike[rows], return_index=True, return_inverse=True)
    return rows[first], np.asarray(back, np.int64)


def _alone(
    points: Floats, codes: Ints, classes: int, fitted: Ints, strengths: tuple[float, ...]
) -> tuple[Batch, Floats, Floats]:
    """A batch of these rows, (C, outputs, width + 1) coefficients for its scale, (C,) gradient norms."""
    batch = Batch.of(points[fitted], codes[fitted], classes)
    (path,), (norms,), _ = batch.fits([np.arange(len(fitted))]).path(strengths)
    return batch, path, norms


def _chosen_alone(
    points: Floats, codes: Ints, alike: Ints, classes: int, nest: Nest, strengths: tuple[float, ...]
) -> Chosen:
    """The last C, by a batch of the nest's own."""
    batch, path, norms = _alone(points, codes, classes, nest.fit, strengths)
    once, back = _once(nest.score, alike)
    return Chosen(strengths[-1], batch.decide_others(path[-1], points[once])[back], float(norms[-1]))


def _left_out(fitted: list[Ints], held: list[Ints], n: int) -> tuple[Ints, ...]:
    """Sets of rows that the fits of a nest, or of its one inner fold, leave out; none where such sets overlap."""
    sets = held if len(fitted) == 1 else [np.setdiff1d(np.arange(n), rows) for rows in fitted]
    rows = np.concatenate(sets)
    return tuple(sets) if len(np.unique(rows)) == len(rows) else ()


def _scores(decisions: list[Floats], truth: list[Ints], classes: int) -> Floats:
    """(C,) mean scores by (C, m, outputs) decisions on the rows that each inner fold held out."""
    scores = np.zeros(len(decisions[0]))
    for decided, of_fold in zip(decisions, truth, strict=True):
        for place, decision in enumerate(decided):
            if classes == 2:
                found = area_of(decision[:, 0], of_fold == 1)
                if found is None:
                    raise _one_class()
                scores[place] += found
            else:
                chance = probabilities(decision)[np.arange(len(of_fold)), of_fold]
                scores[place] += np.log(np.maximum(chance, np.finfo(float).eps)).mean()
    return scores / len(decisions)


def _doubts(decisions: list[Floats], reach: list[Floats], truth: list[Ints]) -> Floats:
    """(C,) what mean AUROCs may be off by, where scores of rows are, up to their reach (C, m)."""
    doubts = np.zeros(len(decisions[0]))
    for decided, of_rows, of_fold in zip(decisions, reach, truth, strict=True):
        positive = of_fold == 1
        doubts += [_turning(scores[:, 0], far, positive) for scores, far in zip(decided, of_rows, strict=True)]
    return doubts / len(decisions)


def _turning(scores: Floats, reach: Floats, positive: NDArray[np.bool_]) -> float:
    """How much of an AUROC hangs on pairs of different scores whose order is in doubt.

    A few may all turn to one side; of many, the more rows there are, the more turn back.

    Args:
        scores: (m,).
        reach: (m,) what each may be off by.
        positive: (m,).
    """
    ones, others = positive, ~positive
    pairs = int(ones.sum()) * int(others.sum())
    if not reach.any() or not pairs:
        return 0.0
    low, high = scores - reach, scores + reach
    apart = np.searchsorted(np.sort(high[others]), low[ones], "left").sum()
    apart += pairs - np.searchsorted(np.sort(low[others]), high[ones], "right").sum()
    equal = np.sort(scores[others])
    ties = (np.searchsorted(equal, scores[ones], "right") - np.searchsorted(equal, scores[ones], "left")).sum()
    doubtful = float(pairs - apart - ties)
    return min(doubtful, doubtful * _SURPLUS / np.sqrt(len(scores)) + _FEW_PAIRS) / pairs


def _nest_by_itself(
    points: Floats, codes: Ints, alike: Ints, classes: int, nest: Nest, strengths: tuple[float, ...]
) -> Chosen:
    """By whole Hessians, for small problems."""
    decisions = []
    held = [nest.fit[of_fold] for of_fold in nest.inner]
    for part, others in zip(nest.parts, held, strict=True):
        path = logistic_path(Basis.of(points[part]), codes[part], classes, strengths)
        once, back = _once(others, alike)
        decisions.append(np.stack([fit.decision(points[once])[back] for fit in path]))
    best = first_best(_scores(decisions, [codes[rows] for rows in held], classes))
    return _chosen_by_hessians(points, codes, alike, classes, nest, strengths[: best + 1])


def _chosen_by_hessians(
    points: Floats, codes: Ints, alike: Ints, classes: int, nest: Nest, strengths: tuple[float, ...]
) -> Chosen:
    """The last C, those before leading to it."""
    last = logistic_path(Basis.of(points[nest.fit]), codes[nest.fit], classes, strengths)[-1]
    once, back = _once(nest.score, alike)
    return Chosen(strengths[-1], last.decision(points[once])[back], last.gradient)
