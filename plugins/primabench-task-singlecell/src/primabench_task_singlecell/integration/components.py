"""Leading principal components of a corrected matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from primabench_task_singlecell.baselines.features import one_thread
from primabench_task_singlecell.integration.pairs import Floats

N_COMPONENTS = 50
EXACT = 50_000_000
"""Numbers up to which a matrix is decomposed in full."""


def leading(matrix: Any, most: int = N_COMPONENTS) -> Floats:
    """Scores on the first components.

    Args:
        matrix: (n, genes) float64.
        most: Components at most; min(most, n - 1, genes) are given.

    Returns:
        (n, components) float64, by falling variance; (n, 0) if there is nothing to decompose.
    """
    from sklearn.decomposition import PCA

    n, genes = matrix.shape
    wanted = min(most, n - 1, genes)
    if wanted < 1 or np.ptp(matrix, axis=0).max() == 0:
        return np.zeros((n, max(wanted, 0)))
    full = n * genes <= EXACT or wanted >= min(n, genes)
    with one_thread():
        scores = PCA(wanted, svd_solver="full" if full else "arpack", random_state=0).fit_transform(matrix)
    return np.asarray(scores, np.float64)
