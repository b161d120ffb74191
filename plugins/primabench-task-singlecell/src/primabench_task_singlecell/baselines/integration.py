"""Baselines of batch integration: nothing done, batches centred, chance, the answer. Others are behind extras."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import EvalData
from primabench_task_singlecell.baselines.features import draw_by_id, expression, names_of_rows
from primabench_task_singlecell.integration.components import leading

WIDTH = 10
GRAIN = 1 << 20


def perfect(solution: EvalData, *, seed: int = 0) -> EvalData:
    """A place for each type, and the same scatter around it whatever the batch; runs inside the runner."""
    names, codes = np.unique(np.asarray(solution["label"], object).astype(str), return_inverse=True)
    scatter = _noise(solution, max(len(names), 2), seed) * 0.05
    return embedded(solution, 5.0 + 10.0 * np.eye(scatter.shape[1])[codes] + scatter)


def random(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Numbers drawn by a hash of seed and id."""
    return embedded(test, _noise(test, WIDTH, seed))


def unintegrated(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """The first fifty principal components of expression: nothing done about batches."""
    return embedded(test, leading(dense(test)))


def batch_centred(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Expression less the mean of its batch, plus the mean of all cells, as a corrected matrix."""
    corrected = dense(test)
    middle = corrected.mean(axis=0)
    batch = batches_of(test)
    for name in sorted(set(batch)):
        rows = batch == name
        corrected[rows] += middle - corrected[rows].mean(axis=0)
    return EvalData({"corrected": corrected}, ids=test.ids, coords={"genes": test.coords["genes"]})


def _noise(cells: EvalData, width: int, seed: int) -> NDArray[np.float64]:
    """(n, width) numbers from -1 to 1, each drawn by seed, column and id."""
    ids = names_of_rows(cells)
    columns = [draw_by_id((f"{j}:{i}" for i in ids), 2 * GRAIN + 1, seed=seed) for j in range(width)]
    return np.stack(columns, axis=1) / GRAIN - 1.0


def dense(test: EvalData) -> NDArray[np.float64]:
    """(n, genes) expression as an array of its own."""
    matrix = expression(test)
    return np.array(matrix.toarray() if hasattr(matrix, "toarray") else matrix, np.float64)


def batches_of(test: EvalData) -> NDArray[Any]:
    """(n,) names of batches."""
    return np.asarray(test["batch"], object)


def embedded(cells: EvalData, embedding: NDArray[np.float64]) -> EvalData:
    """A prediction of these coordinates."""
    return EvalData({"embedding": embedding}, ids=cells.ids)
