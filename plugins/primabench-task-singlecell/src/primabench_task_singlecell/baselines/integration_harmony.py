"""Harmony; a module of its own: the library is an extra, and its absence has to be said before anything runs."""

from __future__ import annotations

import harmonypy
import numpy as np
import pandas as pd

from primabench_core import EvalData
from primabench_task_singlecell.baselines.features import one_thread
from primabench_task_singlecell.baselines.integration import batches_of, dense, embedded
from primabench_task_singlecell.integration.components import leading


def harmony(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Harmony on fifty principal components (Korsunsky et al. 2019, doi:10.1038/s41592-019-0619-0)."""
    batch = pd.DataFrame({"batch": batches_of(test).astype(str)})
    with one_thread():
        done = harmonypy.run_harmony(leading(dense(test)), batch, ["batch"], random_state=seed, verbose=False)
    found = np.asarray(done.Z_corr, np.float64)  # cells x components, or turned round in older versions
    return embedded(test, found if found.shape[0] == test.n else found.T)
