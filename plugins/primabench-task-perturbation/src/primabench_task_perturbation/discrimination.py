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
        guessed, true = predicted - control, truth.means - control
        found: list[Unit] = []
        for p in range(n):
            x, others = guessed[p], true
            if exclude_target_gene and truth.targets is not None and truth.targets[p].any():
                keep = ~truth.targets[p]
                x, others = x[keep], others[:, keep]
            found.append(_ranked(_DISTANCES[distance](x, others), p, n - 1 if rescaled else n))
        return found

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
        guessed, true = predicted - control, truth.means - control
        found: list[Unit] = []
        for p in range(n):
            value = _ranked(_DISTANCES[distance](true[p], guessed), p, n - 1, swapped=True)
            found.append(value if isinstance(value, Outcome) else 1.0 - value)
        return found

    return over_profiles(state, ("rank", distance), score, policy=policy, baselines=baselines, optimum=0.0)


def _ranked(distances: Floats, own: int, divisor: int, *, swapped: bool = False) -> Unit:
    mine = distances[own]
    if np.isnan(mine) or np.isnan(distances).all():
        return Outcome.undefined("constant_prediction" if not swapped else "constant_truth", "an effect without length")
    others = np.delete(distances, own)
    nearer, tied = int((others < mine).sum()), int((others == mine).sum())
    return 1.0 - (nearer + tied / 2) / divisor


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


_DISTANCES: dict[str, Distances] = {"l1": _l1, "l2": _l2, "cosine": _cosine}
