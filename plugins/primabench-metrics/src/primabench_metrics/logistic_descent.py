"""Limited-memory BFGS for many problems in step (Nocedal 1980, doi:10.1090/S0025-5718-1980-0572855-7)."""

from __future__ import annotations

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from primabench_metrics.logistic_problems import Floats, Problems, Reals, inner

_TURNS, _ROUGH_TURNS, _MEMORY = 2000, 400, 6
"""Steps of a fit that is to be exact, and of others: where those do not suffice, whole Hessians are less work."""
_PATIENCE = 20
"""Steps without a shorter gradient after which single precision has given what it can."""
_SEARCHES, _SLOPE, _FAR = 8, 0.3, 8.0
"""Tries along a step, share of the slope that may be left, longest first try."""


@define(eq=False)
class _Memory:
    """Last steps of every problem and how the gradient changed with them; gives the next direction."""

    pairs: Reals
    """(b, 2·memory, o·q): steps, then changes."""
    size: int
    across: Floats = field(init=False)
    """(b, memory, memory) products of steps with changes that are not older."""
    among: Floats = field(init=False)
    """(b, memory, memory) products of changes."""
    seen: Floats = field(init=False)
    """(b, 2·memory) products of the pairs with the last gradient."""
    count: int = 0

    def __attrs_post_init__(self) -> None:
        b, size = len(self.pairs), self.size
        self.across, self.among = np.zeros((b, size, size)), np.zeros((b, size, size))
        self.seen = np.zeros((b, 2 * size))

    def keep(self, going: NDArray[np.bool_]) -> None:
        """Forget the other problems."""
        self.pairs, self.seen = self.pairs[going], self.seen[going]
        self.across, self.among = self.across[going], self.among[going]

    def add(self, step: Reals, change: Reals) -> None:
        """A step and the change of the gradient over it, (b, o·q) each; :meth:`direction` is next asked there."""
        at = self.count % self.size
        self.count += 1
        self.pairs[:, at], self.pairs[:, self.size + at] = step, change

    def direction(self, gradient: Reals) -> Reals:
        """Minus the inverse Hessian that steps and changes suggest, times (b, o·q) gradients (Byrd et al. 1994)."""
        if not self.count:
            return -gradient
        products = (self.pairs @ gradient[..., None])[..., 0].astype(np.float64)
        self._complete(products)
        size = self.size
        order = np.arange(max(0, self.count - size), self.count) % size
        steps, changes = products[:, order], products[:, size + order]
        inverse = np.linalg.inv(self.across[:, order][:, :, order])
        among = self.among[:, order][:, :, order]
        diagonal = np.einsum("bii->bi", self.across)[:, order]
        length = diagonal[:, -1:] / among[:, -1, -1:]
        first = np.einsum("bij,bj->bi", inverse, steps)
        mixed = diagonal * first + length * (np.einsum("bij,bj->bi", among, first) - changes)
        weights = np.zeros((len(gradient), 1, 2 * size), gradient.dtype)
        weights[:, 0, order] = -np.einsum("bji,bj->bi", inverse, mixed)
        weights[:, 0, size + order] = length * first
        found = (weights @ self.pairs)[:, 0]
        found -= length.astype(gradient.dtype) * gradient
        return np.asarray(found)

    def _complete(self, products: Floats) -> None:
        """Products of the last pair: a change is the difference of two gradients, so its products are differences."""
        size, at = self.size, (self.count - 1) % self.size
        step, change = self.pairs[:, at], self.pairs[:, size + at]
        difference = products - self.seen
        own = np.stack([inner(step, change), inner(change, change)], axis=1)
        self.across[:, at], self.across[:, :, at] = 0.0, difference[:, :size]
        self.among[:, at] = self.among[:, :, at] = difference[:, size:]
        self.across[:, at, at], self.among[:, at, at] = own[:, 0], own[:, 1]
        self.seen = products


def descend(problems: Problems, weights: Floats, close: float, floor: float) -> None:
    """Move the weights (b, o, q) in place to the optimum, or as far as the precision leads: see :func:`closeness`.

    Args:
        problems: In the precision in which steps are made.
        weights: float64, where to start.
        close: |gradient| ≤ close·|penalty's gradient| is enough.
        floor: So is a gradient whose largest entry is this.
    """
    at, kind = np.arange(len(weights)), problems.rows.dtype
    done = np.zeros(len(at), bool)
    here = weights.astype(kind)
    scores = problems.scores(here)
    misses, chances = problems.misses(scores)
    gradient = problems.gradient(misses, here)
    stretched = problems.stretch(gradient)
    memory = _Memory(np.zeros((len(at), 2 * _MEMORY, here[0].size), kind), _MEMORY)
    moved = np.ones(len(at), bool)
    shortest, since = np.full(len(at), np.inf), np.zeros(len(at), np.int64)
    for turn in range(_TURNS if floor else _ROUGH_TURNS):
        done[at] = np.abs(gradient).max(axis=(1, 2)) <= floor
        length = inner(gradient, gradient)
        if close:
            pulled = problems.penalty * here
            done[at] |= length <= close**2 * inner(pulled, pulled)
        weights[at] = here
        going = ~done[at] & moved
        if kind == np.float32:
            shorter = length < shortest[at]
            shortest[at[shorter]], since[at[shorter]] = length[shorter], turn
            going &= turn - since[at] < _PATIENCE
        if not going.any():
            break
        if not going.all():
            at, here, scores, chances = at[going], here[going], scores[going], chances[going]
            stretched = stretched[going]
            problems = problems.some(going)
            memory.keep(going)
        step = memory.direction(stretched.reshape(len(at), -1)).reshape(here.shape)
        uphill = ~(inner(stretched, step) < 0)  # or not a number
        step[uphill] = -stretched[uphill]
        turned = problems.stretch(step)
        slope = np.abs(inner(stretched, step))
        length, scores, misses, chances = _search(problems, (here, scores, chances), turned, slope)
        turned *= length
        here = here + turned
        gradient = problems.gradient(misses, here)
        before, stretched = stretched, problems.stretch(gradient)
        step *= length
        taken, change = step.reshape(len(at), -1), (stretched - before).reshape(len(at), -1)
        size = np.sqrt(inner(taken, taken)) * np.sqrt(inner(change, change))
        moved = inner(taken, change) > np.finfo(kind).eps * size  # else rounding has the last word
        taken[~moved], change[~moved] = 1.0, 1.0
        memory.add(taken, change)


def _search(
    problems: Problems, at: tuple[Reals, Reals, Reals], turned: Reals, slope: Reals
) -> tuple[Reals, Reals, Reals, Reals]:
    """How far along each step the slope is less than a third of what it was.

    The first try is where the slope would vanish if the bend stayed as it is.

    Args:
        problems: Whose objective falls along the steps.
        at: Weights, scores and chances where the steps begin.
        turned: (b, o, q) steps.
        slope: (b,) how fast the objective falls there.

    Returns:
        Lengths (b, 1, 1), and scores, misses and chances there.
    """
    weights, scores, chances = at
    along = problems.scores(turned)
    pulled = problems.penalty * turned
    pull, grow = inner(pulled, weights), inner(pulled, turned)
    tiny = np.finfo(scores.dtype).tiny
    length = np.minimum(slope / np.maximum(problems.curvature(chances, along) + grow, tiny), _FAR)
    low, high = np.zeros_like(length), np.full_like(length, np.inf)
    for search in range(_SEARCHES):
        there = length[:, None, None] * along
        there += scores
        misses, chances = problems.misses(there)
        rise = inner(misses, along) + pull + length * grow
        steep = np.abs(rise) > _SLOPE * slope
        if not steep.any() or search == _SEARCHES - 1:
            break
        bend = problems.curvature(chances, along) + grow
        low, high = np.where(rise < 0, length, low), np.where(rise > 0, length, high)
        ahead = length - rise / np.maximum(bend, tiny)
        between = np.where(np.isfinite(high), (low + high) / 2, 4 * length)
        ahead = np.where((ahead > low) & (ahead < np.minimum(high, 10 * length)), ahead, between)
        length = np.where(steep, ahead, length)
    return length[:, None, None], there, misses, chances


def closeness(problems: Problems, weights: Floats) -> tuple[Floats, Floats]:
    """(b,) largest gradient entries, and (b,) |gradient| over the penalty's, at weights (b, o, q).

    Args:
        problems: In double precision: what another one says of itself it may only believe.
        weights: float64.
    """
    misses, _ = problems.misses(problems.scores(weights))
    gradient = problems.gradient(misses, weights)
    pulled = problems.penalty * weights
    length, pull = inner(gradient, gradient), inner(pulled, pulled)
    share = np.sqrt(np.divide(length, pull, out=np.where(length > 0, np.inf, 0.0), where=pull > 0))
    return np.abs(gradient).max(axis=(1, 2)), share
