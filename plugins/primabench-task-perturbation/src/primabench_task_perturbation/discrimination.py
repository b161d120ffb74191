"""Whether a predicted effect is nearer to its own true effect than to those of other perturbations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_row_sums
from primabench_core.state.row_errors import row_errors
from primabench_core.state.units import Units
from primabench_task_perturbation.beside import Unit, over_profiles
from primabench_task_perturbation.profiles import Floats, Profiles

Distances = Callable[[Floats, Floats], Floats]
"""(m,) one effect, (P, m) others: (P,) distances, NaN where there is none."""


def perturbation_discrimination(
    state: Units,
    *,
    distance: str = "l1",
    exclude_target_gene: bool = True,
    rescaled: bool = False,
    policy: str = "strict",
    baselines: str = "all",
) -> Outcome:
    """1 − r_p/P with r_p the 0-based mid-rank of d_pp among d_pq = dist(Δ̂_p, Δ_q), then the mean over perturbations.

    Effects keep their signs. A tie counts half. With l1 and l2, effects scaled up are discriminated more easily: read
    the cosine beside them.

    Args:
        state: Perturbations with means.
        distance: ``l1``, ``l2`` or ``cosine``.
        exclude_target_gene: Leave out the genes that p is aimed at: those that the solution marks, else the gene of
            exactly its name.
        rescaled: 1 − r_p/(P − 1), in [0, 1] with chance 0.5.
        policy: What an undefined perturbation does to the mean.
        baselines: ``all`` or ``none``.

    Returns:
        Value in [1/P, 1], chance (P + 1)/(2P); ``too_few_items`` for one perturbation.
    """

    def score(predicted: Floats, truth: Profiles) -> Sequence[Unit]:
        n = len(predicted)
        if n < 2:
            return [Outcome.undefined("too_few_items", "one perturbation cannot be told from others")] * n
        control = truth.control
        targets = truth.targets if exclude_target_gene else None
        ranks = own_ranks(predicted - control, truth.means - control, distance, targets)
        return _shares(ranks, n - 1 if rescaled else n, "constant_prediction")

    key = ("discrimination", distance, exclude_target_gene, rescaled)
    return over_profiles(state, key, score, policy=policy, baselines=baselines, optimum=1.0)


def perturbation_rank(
    state: Units, *, distance: str = "cosine", policy: str = "strict", baselines: str = "all"
) -> Outcome:
    """0-based mid-rank of dist(Δ̂_p, Δ_p) among dist(Δ̂_q, Δ_p), over P − 1 (Wu et al. 2024, PerturBench).

    Ranks predictions by their distance to one true effect, where discrimination ranks true effects; ties count half
    in place of being shuffled.

    Returns:
        Value in [0, 1], lower is better, chance 0.5; ``too_few_items`` for one perturbation.
    """

    def score(predicted: Floats, truth: Profiles) -> Sequence[Unit]:
        n = len(predicted)
        if n < 2:
            return [Outcome.undefined("too_few_items", "one perturbation cannot be told from others")] * n
        control = truth.control
        shares = _shares(own_ranks(truth.means - control, predicted - control, distance), n - 1, "constant_truth")
        return [share if isinstance(share, Outcome) else 1.0 - share for share in shares]

    return over_profiles(state, ("rank", distance), score, policy=policy, baselines=baselines, optimum=0.0)


def _shares(ranks: Floats, divisor: int, reason: str) -> list[Unit]:
    """1 − rank/divisor; without a rank the reason."""
    none = Outcome.undefined(reason, "an effect without length")
    return [none if np.isnan(rank) else 1.0 - rank / divisor for rank in ranks.tolist()]


def own_ranks(effects: Floats, others: Floats, distance: str, left_out: NDArray[np.bool_] | None = None) -> Floats:
    """0-based mid-rank of the own distance d_pp among all d_pq, as exact distances order them.

    All distances are taken in float64 at once; those that lie so near to the own one that rounding could decide are
    taken again by exact sums.

    Args:
        effects: (P, m) effects p.
        others: (P, m) effects q.
        distance: ``l1``, ``l2`` or ``cosine``.
        left_out: (P, m) genes that are left out of the distances of p.

    Returns:
        (P,) ranks; NaN where the effect p has no length and the distance is a cosine.
    """
    rough, slack = _ROUGH[distance](effects, others, left_out)
    found = np.zeros(len(effects))
    for p in range(len(effects)):
        if np.isnan(rough[p, p]):
            found[p] = np.nan
            continue
        gap = rough[p] - rough[p, p]
        near = np.flatnonzero(np.abs(gap) <= slack[p] + slack[p, p])
        found[p] = np.count_nonzero(gap < 0) - np.count_nonzero(gap[near] < 0)
        if len(near) > 1:
            keep = slice(None) if left_out is None else ~left_out[p]
            exact = _DISTANCES[distance](effects[p, keep], others[near][:, keep])
            own = exact[near == p][0]
            found[p] += np.count_nonzero(exact < own) + (np.count_nonzero(exact == own) - 1) / 2
    return found


def _rough_l1(x: Floats, y: Floats, left_out: NDArray[np.bool_] | None) -> tuple[Floats, Floats]:
    from scipy.spatial.distance import cdist

    found = cdist(x, y, "cityblock")
    size = found.max(axis=1, keepdims=True)
    if left_out is not None:
        for p, genes in _genes_of(left_out):
            found[p] -= np.abs(x[p, genes] - y[:, genes]).sum(axis=1)
    return found, np.broadcast_to(_SLACK * size, found.shape)


def _rough_l2(x: Floats, y: Floats, left_out: NDArray[np.bool_] | None) -> tuple[Floats, Floats]:
    """Squares, which are ordered as their roots."""
    size = np.square(x).sum(axis=1)[:, None] + np.square(y).sum(axis=1)
    found = size - 2 * (x @ y.T)
    if left_out is not None:
        for p, genes in _genes_of(left_out):
            found[p] -= np.square(x[p, genes] - y[:, genes]).sum(axis=1)
    return found, _SLACK * size


def _rough_cosine(x: Floats, y: Floats, left_out: NDArray[np.bool_] | None) -> tuple[Floats, Floats]:
    x, y = (side / np.maximum(np.abs(side).max(axis=1, keepdims=True, initial=0.0), _TINY) for side in (x, y))
    if left_out is not None:
        x = np.where(left_out, 0.0, x)
    whole = np.broadcast_to(np.square(y).sum(axis=1), (len(x), len(y)))
    norms = whole.copy()
    if left_out is not None:
        for p, genes in _genes_of(left_out):
            norms[p] -= np.square(y[:, genes]).sum(axis=1)
    own = np.square(x).sum(axis=1)[:, None]
    scale = np.sqrt(own * np.maximum(norms, 0.0))
    cosines = np.divide(x @ y.T, scale, out=np.zeros(scale.shape), where=scale > 0)
    found = np.where(own > 0, 1.0 - cosines, np.nan)
    # what is left of a norm of which nearly all was left out is rounding: then exact sums decide
    slack = np.divide(_SLACK * whole, norms, out=np.full(norms.shape, np.inf), where=norms > _SLACK * whole)
    return found, slack


def _genes_of(left_out: NDArray[np.bool_]) -> list[tuple[int, NDArray[np.int64]]]:
    return [(p, np.flatnonzero(row)) for p, row in enumerate(left_out) if row.any()]


def _repeated(x: Floats, others: Floats) -> NDArray[np.float64]:
    return np.ascontiguousarray(np.broadcast_to(x, others.shape))


def _l1(x: Floats, others: Floats) -> Floats:
    return row_errors(_repeated(x, others), others, "absolute_error")


def _l2(x: Floats, others: Floats) -> Floats:
    return np.sqrt(row_errors(_repeated(x, others), others, "squared_error"))


def _cosine(x: Floats, others: Floats) -> Floats:
    """1 − cosine; 1 to an effect without length, NaN from one."""
    scale = float(np.abs(x).max(initial=0.0))
    if not scale:
        return np.full(len(others), np.nan)
    x = x / scale
    scales = np.abs(others).max(axis=1, initial=0.0)
    others = others / np.where(scales > 0, scales, 1.0)[:, None]
    norms = exact_row_sums(np.square(others)) * exact_row_sums(np.square(x)[None])[0]
    dots = exact_row_sums(others * x)
    return np.asarray(1.0 - np.divide(dots, np.sqrt(norms), out=np.zeros(len(others)), where=norms > 0))


_SLACK = 1e-9
"""Distances that are nearer than this, by their size, are taken again by exact sums."""
_TINY = 1e-300
_DISTANCES: dict[str, Distances] = {"l1": _l1, "l2": _l2, "cosine": _cosine}
_ROUGH = {"l1": _rough_l1, "l2": _rough_l2, "cosine": _rough_cosine}
