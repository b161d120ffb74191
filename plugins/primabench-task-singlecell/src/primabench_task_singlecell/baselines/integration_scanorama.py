"""Scanorama; a module of its own: the library is an extra, and its absence has to be said before anything runs."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO

import numpy as np
from scanorama import integrate

from primabench_core import EvalData
from primabench_task_singlecell.baselines.features import one_thread
from primabench_task_singlecell.baselines.integration import batches_of, dense, embedded

COMPONENTS = 50


def scanorama(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Scanorama over batches in the order of their names (Hie et al. 2019, doi:10.1038/s41587-019-0113-3)."""
    matrix, batch = dense(test), batches_of(test)
    parts = [np.flatnonzero(batch == name) for name in sorted(set(batch))]
    genes = [list(test.coords["genes"])] * len(parts)
    width = min(COMPONENTS, matrix.shape[1])
    with one_thread(), redirect_stdout(StringIO()):  # it prints
        found, _ = integrate([matrix[rows] for rows in parts], genes, seed=seed, verbose=0, dimred=width)
    joined = np.empty((test.n, found[0].shape[1]))
    for rows, part in zip(parts, found, strict=True):
        joined[rows] = part
    return embedded(test, joined)
