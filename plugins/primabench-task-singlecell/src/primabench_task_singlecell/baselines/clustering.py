"""Baselines of clustering. None of them sees a label; ``k`` is public in the track that gives it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import EvalData, UsageError
from primabench_task_singlecell.baselines.features import (
    draw_by_id,
    expression,
    fit_components,
    labels,
    names_of_rows,
    one_thread,
)

N_STARTS = 10
LARGEST_K = 20
_SILHOUETTE_CELLS = 5_000
"""Cells that a silhouette is taken on at most (it needs all pairs)."""


def perfect(solution: EvalData, *, seed: int = 0) -> EvalData:
    """The types as clusters; runs inside the runner."""
    return _predicted(solution, labels(solution).astype(object))


def random(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """One of ``k`` clusters for each cell, by a hash of seed and id."""
    return _predicted(test, draw_by_id(names_of_rows(test), _given_k(test), seed=seed))


def single_cluster(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """All cells in one cluster."""
    return _predicted(test, np.zeros(test.n, np.int64))


def kmeans(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """k-means on principal components with the given number of clusters, the best of ten starts."""
    k = _given_k(test)
    with one_thread():
        return _predicted(test, _cluster(_components(test, seed), k, seed))


def kmeans_k_not_given(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """k-means on principal components with the k of 2 to 20 that has the largest mean silhouette.

    Of equal silhouettes the smaller k is taken. Beyond 5,000 cells the silhouette is taken on a seeded sample.
    """
    from sklearn.metrics import silhouette_score

    best, chosen = -np.inf, np.zeros(test.n, np.int64)
    sample = _SILHOUETTE_CELLS if test.n > _SILHOUETTE_CELLS else None
    with one_thread():
        X = _components(test, seed)
        for k in range(2, min(LARGEST_K, test.n - 1) + 1):
            clusters = _cluster(X, k, seed)
            if len(np.unique(clusters)) < 2:
                continue
            silhouette = float(silhouette_score(X, clusters, sample_size=sample, random_state=seed))
            if silhouette > best:
                best, chosen = silhouette, clusters
    return _predicted(test, chosen)


def _components(test: EvalData, seed: int) -> NDArray[np.float64]:
    X = expression(test)
    return fit_components(X, seed=seed).transform(X)


def _cluster(X: NDArray[np.float64], k: int, seed: int) -> NDArray[np.int64]:
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(k, n_init=N_STARTS, random_state=seed).fit_predict(X), np.int64)


def _given_k(test: EvalData) -> int:
    """Number of types, public as the coordinate ``classes``.

    Raises:
        UsageError: the dataset does not give it.
    """
    classes = test.coords.get("classes", ())
    if not classes:
        raise UsageError(
            "This baseline is given the number of clusters, but the data have no coordinate 'classes' to take it from.",
            remedy="use the baseline kmeans_k_not_given",
        )
    return min(len(classes), int(test.n))


def _predicted(cells: EvalData, cluster: NDArray[Any]) -> EvalData:
    return EvalData({"cluster": cluster}, ids=cells.ids)
