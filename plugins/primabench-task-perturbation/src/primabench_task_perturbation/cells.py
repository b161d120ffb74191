"""Distances between clouds of predicted and true cells, on at most so many cells of each perturbation.

Cells are chosen by a hash of seed and id (Cohen and Kaplan 2007), so that neither order nor sharding matters; what is
kept of a perturbation is bounded by ``max_cells``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_moments, exact_sum, pearson_from_moments
from primabench_core.state.unit_samples import smallest
from primabench_core.state.units import Units
from primabench_task_perturbation.beside import Unit, mean_over_defined, over_units
from primabench_task_perturbation.de_metrics import correlated
from primabench_task_perturbation.de_sides import is_pseudobulk
from primabench_task_perturbation.profiles import (
    VALUE,
    cell_keys,
    contexts_of,
    control_rows,
    profiles_of,
    role_of,
)
from primabench_task_perturbation.roles import CELL

Floats = NDArray[np.float64]
Distance = Callable[[Floats, Floats], Unit]
_FEW = 64
"""Columns up to which distances are taken by differences; beyond it by products, near pairs again by differences."""


def energy_distance(
    state: Units,
    *,
    distance: str = "euclidean",
    estimator: str = "v",
    max_cells: int = 500,
    sampling_seed: int = 0,
    policy: str = "strict",
    baselines: str = "all",
) -> Outcome:
    """2E d(x, y) − E d(x, x′) − E d(y, y′) between predicted and true cells, then the mean over perturbations.

    Args:
        state: Perturbations with a sample of predicted cells.
        distance: ``euclidean``, or ``sqeuclidean`` (another metric: ``energy_distance_squared``).
        estimator: ``v`` counts pairs of a cell with itself, ``u`` does not.
        max_cells: Cells of a perturbation and side.
        sampling_seed: Of the choice of cells.
        policy: What an undefined perturbation does to the mean.
        baselines: ``all``: beside it stand ``no_change`` (cells of the control as the prediction) and ``data_ceiling``
            (one half of the true cells against the other); ``none``.

    Returns:
        ``not_applicable`` if the prediction is one profile a perturbation.
    """

    def between(x: Floats, y: Floats) -> Unit:
        if estimator == "u" and min(len(x), len(y)) < 2:
            return Outcome.undefined("too_few_items", "two cells of each side are needed")
        return energy(x, y, distance, estimator)

    return _over_cells(state, ("energy", distance, estimator), between, max_cells, sampling_seed, policy, baselines)


def mmd_rbf(
    state: Units,
    *,
    gamma: float = 0.0,
    squared: bool = True,
    estimator: str = "v",
    max_cells: int = 500,
    sampling_seed: int = 0,
    policy: str = "strict",
    baselines: str = "all",
) -> Outcome:
    """Maximum mean discrepancy with k = exp(−γ d²) (Gretton et al. 2012), then the mean over perturbations.

    Args:
        state: Perturbations with a sample of predicted cells.
        gamma: γ; 0: one over the median squared distance between true cells of the perturbation.
        squared: MMD², or its root (of a negative ``u`` estimate: 0).
        estimator: ``v`` counts pairs of a cell with itself, ``u`` does not.
        max_cells: Cells of a perturbation and side.
        sampling_seed: Of the choice of cells.
        policy: What an undefined perturbation does to the mean.
        baselines: As in :func:`energy_distance`.

    Returns:
        ``not_applicable`` if the prediction is one profile a perturbation; ``zero_denominator`` where the true cells
        give no bandwidth.
    """

    def between(x: Floats, y: Floats) -> Unit:
        if estimator == "u" and min(len(x), len(y)) < 2:
            return Outcome.undefined("too_few_items", "two cells of each side are needed")
        yy = squared_distances(y, y)
        width = gamma or _median_gamma(yy)
        if not width:
            return Outcome.undefined("zero_denominator", "the true cells have no spread to take a bandwidth from")
        parts = [np.exp(-width * d) for d in (squared_distances(x, y), squared_distances(x, x), yy)]
        xy, xx, own = _mean(parts[0], ""), _mean(parts[1], estimator), _mean(parts[2], estimator)
        found = xx + own - 2 * xy
        return found if squared else max(0.0, found) ** 0.5

    return _over_cells(state, ("mmd", gamma, squared, estimator), between, max_cells, sampling_seed, policy, baselines)


def wasserstein(
    state: Units,
    *,
    order: int = 2,
    max_cells: int = 500,
    sampling_seed: int = 0,
    policy: str = "strict",
    baselines: str = "all",
) -> Outcome:
    """Wasserstein distance (mean d^order over the best one-to-one matching)^(1/order), Euclidean, not regularised.

    Both sides are matched cell by cell, so each is cut to the number of cells of the smaller one, by hash.

    Args:
        state: Perturbations with a sample of predicted cells.
        order: 1 or 2.
        max_cells: Cells of a perturbation and side.
        sampling_seed: Of the choice of cells.
        policy: What an undefined perturbation does to the mean.
        baselines: As in :func:`energy_distance`.
    """

    def between(x: Floats, y: Floats) -> Unit:
        from scipy.optimize import linear_sum_assignment

        k = min(len(x), len(y))
        cost = squared_distances(x[:k], y[:k]) ** (order / 2)
        return (exact_sum(cost[linear_sum_assignment(cost)]) / k) ** (1 / order)

    return _over_cells(state, ("wasserstein", order), between, max_cells, sampling_seed, policy, baselines)


def pearson_edistance(state: Units, *, max_cells: int = 500, sampling_seed: int = 0) -> Outcome:
    """Pearson correlation over perturbations of predicted and true energy distance to control.

    Returns:
        Value in [-1, 1]; ``too_few_items`` for fewer than three perturbations.
    """
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no perturbations")
    whole = state.whole or state
    if is_pseudobulk(whole):
        return Outcome.undefined("not_applicable", "needs predicted cells, not one row each")
    is_control = (role_of(whole) == CELL) & control_rows(whole)
    if is_control.sum() < 2:
        return Outcome.undefined("not_applicable", "the truth holds fewer than two control cells")

    def build(s: Units) -> list[tuple[float, float]]:
        value: Any = s.truth[VALUE]
        context = contexts_of(s)[0]
        controls = _sampled(s, np.where(is_control, context, -1), max_cells, sampling_seed)
        own = _sampled(s, np.where(role_of(s) == CELL, s.home, -1), max_cells, sampling_seed)
        sample = s.sample(VALUE, max_cells, sampling_seed)
        found = []
        for p, c in enumerate(profiles_of(s).context.tolist()):
            reference = value[controls[0][controls[1] == c]]
            sides = (sample.rows()[sample.home == p], value[own[0][own[1] == p]])
            found.append(tuple(energy(np.asarray(x), reference, "euclidean", "v") for x in sides))
        return found  # type: ignore[return-value]

    pairs = np.asarray(state.unit_values(("edistances", max_cells, sampling_seed), build), np.float64)
    return correlated(pairs.reshape(-1, 2), "perturbations", _pearson)


def _pearson(x: Floats, y: Floats) -> float:
    found = pearson_from_moments(exact_moments(x, y))
    return 0.0 if found is None else found  # both sides vary: that was looked at before


def _sampled(state: Units, home: NDArray[np.int64], k: int, seed: int) -> tuple[Any, Any]:
    """True rows of at most k of each group and their groups; groups below zero are left out."""
    rows = np.flatnonzero(home >= 0)
    chosen = rows[smallest(home[rows], cell_keys(state, rows, seed), k)]
    return chosen, home[chosen]


def _over_cells(
    state: Units, key: tuple[object, ...], between: Distance, k: int, seed: int, policy: str, baselines: str
) -> Outcome:
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no perturbations")
    if is_pseudobulk(state.whole or state):
        return Outcome.undefined("not_applicable", "a distance of clouds needs predicted cells, not one row each")

    def build(s: Units) -> list[Unit]:
        true, sample = _true_cells(s, k, seed), s.sample(VALUE, k, seed)
        found: list[Unit] = []
        for p in range(s.n):
            found.append(between(np.asarray(sample.rows()[sample.home == p], np.float64), true[p]))
        return found

    found = over_units(state, ("cells", *key, k, seed), build, policy=policy)
    if state.whole is not None or baselines == "none":
        return found
    return evolve(found, values={**found.values, **_beside(state, between, k, seed)})


def _true_cells(state: Units, k: int, seed: int) -> list[Floats]:
    """At most k true cells of each perturbation; made once."""

    def build() -> list[Floats]:
        value: Any = state.truth[VALUE]
        rows, home = _sampled(state, np.where(role_of(state) == CELL, state.home, -1), k, seed)
        return [np.asarray(value[rows[home == p]], np.float64) for p in range(state.n)]

    return state.shared(("true cells", k, seed), build)


def _beside(state: Units, between: Distance, k: int, seed: int) -> dict[str, float | None]:
    """Control cells as the prediction, and one half of the true cells against the other."""
    value: Any = state.truth[VALUE]
    true, context = _true_cells(state, k, seed), contexts_of(state)[0]
    is_control = (role_of(state) == CELL) & control_rows(state)
    found: dict[str, float | None] = {}
    if is_control.sum() > 1:
        rows, home = _sampled(state, np.where(is_control, context, -1), k, seed)
        own = profiles_of(state).context.tolist()
        controls = {c: np.asarray(value[rows[home == c]], np.float64) for c in set(own)}
        found["no_change"] = mean_over_defined([between(controls[c], y) for c, y in zip(own, true, strict=True)])
    if min(map(len, true)) >= 4:
        found["data_ceiling"] = mean_over_defined([between(y[::2], y[1::2]) for y in true])
    return found


def energy(x: Floats, y: Floats, distance: str, estimator: str) -> float:
    """Energy distance of two clouds, each sum exact and rounded once."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    power = 0.5 if distance == "euclidean" else 1.0
    xy, xx, yy = (squared_distances(a, b) ** power for a, b in ((x, y), (x, x), (y, y)))
    return 2 * _mean(xy, "") - _mean(xx, estimator) - _mean(yy, estimator)


def _mean(matrix: Floats, estimator: str) -> float:
    """Mean of all entries; with ``u`` without the diagonal."""
    if estimator != "u":
        return exact_sum(matrix) / matrix.size
    n = len(matrix)
    return (exact_sum(matrix) - exact_sum(np.diagonal(matrix))) / (n * (n - 1))


def _median_gamma(yy: Floats) -> float:
    upper = yy[np.triu_indices(len(yy), 1)]
    median = float(np.median(upper)) if len(upper) else 0.0
    return 1.0 / median if median > 0 else 0.0


def squared_distances(x: Floats, y: Floats) -> Floats:
    """(n, k) squared Euclidean distances; pairs that nearly coincide are taken by differences, not by products."""
    if x.shape[1] <= _FEW:
        return np.square(x[:, None] - y[None]).sum(axis=2)
    xx, yy = np.square(x).sum(axis=1), np.square(y).sum(axis=1)
    found = xx[:, None] + yy - 2 * (x @ y.T)
    near = np.argwhere(found < 1e-6 * (xx[:, None] + yy))
    if len(near):
        for start in range(0, len(near), 4096):
            a, b = near[start : start + 4096].T
            found[a, b] = np.square(x[a] - y[b]).sum(axis=1)
    return np.asarray(found)
