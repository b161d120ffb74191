"""Baselines of cell-type annotation. Whatever is fitted is fitted on the training cells alone."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import EvalData
from primabench_task_singlecell.baselines.features import (
    draw_by_id,
    expression,
    fit_components,
    labels,
    names_of_rows,
    one_thread,
)

N_NEIGHBOURS = 15


def perfect(solution: EvalData, *, seed: int = 0) -> EvalData:
    """The truth itself; runs inside the runner."""
    return _predicted(solution, labels(solution))


def majority(train: EvalData, test: EvalData, *, seed: int = 0) -> EvalData:
    """The most frequent training type for every cell; of equally frequent ones the first by name."""
    counts = Counter(labels(train).tolist())
    most = min(counts, key=lambda kind: (-counts[kind], kind))
    return _predicted(test, np.full(test.n, most, object))


def random(train: EvalData, test: EvalData, *, seed: int = 0) -> EvalData:
    """A type for each cell with the frequencies of the training cells.

    A cell's draw depends on seed and id alone: it stays the same in another order or subset.
    """
    pool = np.sort(labels(train))
    return _predicted(test, pool[draw_by_id(names_of_rows(test), len(pool), seed=seed)])


def knn(train: EvalData, test: EvalData, *, seed: int = 0) -> EvalData:
    """Vote of the 15 nearest training cells in principal components; a tied vote goes to the first type by name."""
    from sklearn.neighbors import KNeighborsClassifier

    with one_thread():
        fitted, known, asked = _projected(train, test, seed)
        model = KNeighborsClassifier(min(N_NEIGHBOURS, len(fitted)), algorithm="brute").fit(fitted, known)
        return _predicted(test, model.predict(asked))


def logistic(train: EvalData, test: EvalData, *, seed: int = 0) -> EvalData:
    """L2 logistic regression (C = 1) on principal components, each scaled by its training mean and deviation."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    with one_thread():
        fitted, known, asked = _projected(train, test, seed)
        scaler = StandardScaler().fit(fitted)
        model = LogisticRegression(C=1.0, max_iter=10_000, tol=1e-8).fit(scaler.transform(fitted), known)
        return _predicted(test, model.predict(scaler.transform(asked)))


def _projected(
    train: EvalData, test: EvalData, seed: int
) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[np.float64]]:
    """Training components, training types, test components."""
    X = expression(train)
    components = fit_components(X, seed=seed)
    return components.transform(X), labels(train).astype(str), components.transform(expression(test))


def _predicted(cells: EvalData, label: NDArray[Any]) -> EvalData:
    return EvalData({"label": label.astype(object)}, ids=cells.ids)
