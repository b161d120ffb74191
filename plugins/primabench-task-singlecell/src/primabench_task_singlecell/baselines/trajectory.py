"""Baselines of trajectory inference: what expression and one root cell say without a model of development."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import EvalData, UsageError
from primabench_task_singlecell.baselines.features import (
    draw_by_id,
    expression,
    fit_components,
    names_of_rows,
    one_thread,
)

Floats = NDArray[np.float64]
N_NEIGHBOURS = 15
_DRAWS = 1 << 53


def perfect(solution: EvalData, *, seed: int = 0) -> EvalData:
    """The stage itself, a missing one as the first; runs inside the runner."""
    stage = np.asarray(solution["stage"], np.float64)
    return EvalData({"pseudotime": np.where(np.isnan(stage), np.nanmin(stage), stage)}, ids=solution.ids)


def random(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Uniform pseudotime and velocities by a hash of seed and cell."""
    names, genes = names_of_rows(test), expression(test).shape[1]
    time = draw_by_id(names, _DRAWS, seed=seed) / _DRAWS
    starts = draw_by_id((f"velocity:{name}" for name in names), 1 << 62, seed=seed)
    velocity = np.stack([np.random.Generator(np.random.Philox(int(s))).random(genes) - 0.5 for s in starts])
    return _predicted(test, time, velocity)


def root_distance(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Euclidean distance from the root; velocities point away from it, the root's own to the mean cell."""
    X, root = _dense(test), _root(test)
    with one_thread():
        away = X - X[root]
        velocity = away.copy()
        velocity[root] = X.mean(axis=0) - X[root]
        return _predicted(test, np.sqrt((away * away).sum(axis=1)), velocity)


def correlation(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """One less the Pearson correlation with the root over genes; a cell that does not vary correlates 0."""
    X, root = _dense(test), _root(test)
    with one_thread():
        X = X - X.mean(axis=1, keepdims=True)
        length = np.sqrt((X * X).sum(axis=1, keepdims=True))
        X = np.divide(X, length, out=np.zeros_like(X), where=length > 0)
        return _predicted(test, 1.0 - np.clip(X @ X[root], -1.0, 1.0), None)


def geodesic(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Shortest way from the root over the graph of 15 nearest neighbours in principal components.

    Cells that no way reaches come last. A velocity is the sum over neighbours of the way there, weighted by how much
    later they are; where that cancels, the way to the neighbour furthest along.
    """
    from scipy.sparse.csgraph import dijkstra
    from sklearn.neighbors import kneighbors_graph

    X, root = _dense(test), _root(test)
    with one_thread():
        points = fit_components(X, seed=seed).transform(X)
        graph = kneighbors_graph(points, min(N_NEIGHBOURS, len(X) - 1), mode="distance")
        graph = graph.maximum(graph.T).tocsr()
        time = np.asarray(dijkstra(graph, indices=root), np.float64)
        reached = np.isfinite(time)
        time[~reached] = time[reached].max() + 1.0
        velocity = np.zeros_like(X)
        for i in range(len(X)):
            near = graph.indices[graph.indptr[i] : graph.indptr[i + 1]]
            if not len(near):
                near = np.asarray([j for j in range(len(X)) if j != i])
            moves = (time[near] - time[i]) @ (X[near] - X[i])
            velocity[i] = moves if moves.any() else X[near[np.argmax(time[near])]] - X[i]
        return _predicted(test, time, velocity)


def _dense(test: EvalData) -> Floats:
    X: Any = expression(test)
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)


def _root(test: EvalData) -> int:
    """Row of the root cell.

    Raises:
        UsageError: the data mark none, or several.
    """
    marked = np.flatnonzero(np.asarray(test["root"])) if "root" in test else np.zeros(0, np.int64)
    if len(marked) != 1:
        raise UsageError(
            f"This baseline needs one root cell, marked by 1 in the field 'root'; the data mark {len(marked)}.",
            remedy="primabench list baselines",
        )
    return int(marked[0])


def _predicted(test: EvalData, time: Floats, velocity: Floats | None) -> EvalData:
    fields: dict[str, Any] = {"pseudotime": time}
    if velocity is None:
        return EvalData(fields, ids=test.ids)
    genes = test.coords.get("genes")
    return EvalData({**fields, "velocity": velocity}, ids=test.ids, coords={} if genes is None else {"genes": genes})
