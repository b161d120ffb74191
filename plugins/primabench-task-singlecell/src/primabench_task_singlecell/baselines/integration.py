"""Baselines of batch integration: nothing done, batches centred, chance, the answer, Harmony and Scanorama."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import EvalData
from primabench_task_singlecell.baselines.features import draw_by_id, expression, names_of_rows, one_thread
from primabench_task_singlecell.integration.components import leading

WIDTH = 10
GRAIN = 1 << 20


def perfect(solution: EvalData, *, seed: int = 0) -> EvalData:
    """A place for each type, and the same scatter around it whatever the batch; runs inside the runner."""
    names, codes = np.unique(np.asarray(solution["label"], object).astype(str), return_inverse=True)
    scatter = _noise(solution, max(len(names), 2), seed) * 0.05
    return _predicted(solution, 5.0 + 10.0 * np.eye(scatter.shape[1])[codes] + scatter)


def random(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Numbers drawn by a hash of seed and id."""
    return _predicted(test, _noise(test, WIDTH, seed))


def unintegrated(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """The first fifty principal components of expression: nothing done about batches."""
    return _predicted(test, leading(_dense(test)))


def batch_centred(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Expression less the mean of its batch, plus the mean of all cells, as a corrected matrix."""
    corrected = _dense(test)
    middle = corrected.mean(axis=0)
    batch = _batches(test)
    for name in sorted(set(batch)):
        rows = batch == name
        corrected[rows] += middle - corrected[rows].mean(axis=0)
    return EvalData({"corrected": corrected}, ids=test.ids, coords={"genes": test.coords["genes"]})


def harmony(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Harmony on fifty principal components (Korsunsky et al. 2019, doi:10.1038/s41592-019-0619-0)."""
    import harmonypy
    import pandas as pd

    points = leading(_dense(test))
    with one_thread():
        done = harmonypy.run_harmony(
            points, pd.DataFrame({"batch": _batches(test).astype(str)}), ["batch"], random_state=seed, verbose=False
        )
    found = np.asarray(done.Z_corr, np.float64)
    return _predicted(test, found if found.shape[0] == test.n else found.T)


def scanorama(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Scanorama over batches in the order of their names (Hie et al. 2019, doi:10.1038/s41587-019-0113-3)."""
    from scanorama import integrate

    matrix, batch = _dense(test), _batches(test)
    parts = [np.flatnonzero(batch == name) for name in sorted(set(batch))]
    genes = [list(test.coords["genes"])] * len(parts)
    with one_thread():
        found, _ = integrate(
            [matrix[rows] for rows in parts], genes, seed=seed, verbose=0, dimred=min(50, matrix.shape[1])
        )
    joined = np.empty((test.n, found[0].shape[1]))
    for rows, part in zip(parts, found, strict=True):
        joined[rows] = part
    return _predicted(test, joined)


def _noise(cells: EvalData, width: int, seed: int) -> NDArray[np.float64]:
    """(n, width) numbers from -1 to 1, each drawn by seed, column and id."""
    ids = names_of_rows(cells)
    columns = [draw_by_id((f"{j}:{i}" for i in ids), 2 * GRAIN + 1, seed=seed) for j in range(width)]
    return np.stack(columns, axis=1) / GRAIN - 1.0


def _dense(test: EvalData) -> NDArray[np.float64]:
    matrix = expression(test)
    return np.array(matrix.toarray() if hasattr(matrix, "toarray") else matrix, np.float64)


def _batches(test: EvalData) -> NDArray[Any]:
    return np.asarray(test["batch"], object)


def _predicted(cells: EvalData, embedding: NDArray[np.float64]) -> EvalData:
    return EvalData({"embedding": embedding}, ids=cells.ids)
