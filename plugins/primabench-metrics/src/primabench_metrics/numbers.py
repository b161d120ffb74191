"""What metrics of predicted numbers share: the two aligned arrays, constancy, names of features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_core.state.rows import Rows
from primabench_core.state.sums import Sums

Floats = NDArray[np.float64]

SPREAD = 1e-12
"""A vector whose (max − min)/max|x| is smaller holds rounding noise alone and counts as constant."""


def pair(state: Rows) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Predicted and true ``value``, each (n,) or (n, features), float32 or float64."""
    return np.asarray(state.prediction["value"]), np.asarray(state.truth["value"])


def is_constant(x: NDArray[np.floating]) -> bool:
    """Whether all numbers are the same but for rounding.

    Example:
        >>> import numpy as np
        >>> is_constant(np.array([1.0, 1.0000000000000002])), is_constant(np.array([1e-30, 2e-30]))
        (True, False)
    """
    return constant_columns(x.reshape(-1, 1))[0]


def constant_columns(x: NDArray[np.floating]) -> list[bool]:
    """Whether the numbers of each column of (n, m) are the same but for rounding; columns without rows are."""
    if not len(x):
        return [True] * x.shape[1]
    if x.shape[1] == 1:  # numpy reduces a single column along rows ten times slower
        return [is_flat(float(x.min()), float(x.max()))]
    return [is_flat(low, high) for low, high in zip(x.min(axis=0).tolist(), x.max(axis=0).tolist(), strict=True)]


def is_flat(low: float, high: float) -> bool:
    """Whether numbers from ``low`` to ``high`` are the same but for rounding."""
    scale = max(abs(low), abs(high))
    return low == high or (high / 2 - low / 2) / scale < SPREAD / 2  # halves, so that the difference cannot overflow


def feature_names(state: Rows | Sums, count: int) -> tuple[str, ...]:
    """Names of the columns of ``value``: the genes if there are as many, else their numbers."""
    genes = state.coords.get("genes", ())
    return tuple(genes) if len(genes) == count else tuple(str(i) for i in range(count))


def vectors(state: Rows) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Prediction (``value`` or ``score``) and true ``value`` as two (n,) vectors.

    Raises:
        ContractError: There are several features.
    """
    if "value" not in state.prediction:
        predicted, true = np.asarray(state.prediction["score"]), np.asarray(state.truth["value"])
    else:
        predicted, true = pair(state)
    for side in (predicted, true):
        if side.ndim != 1 and side.shape[1] != 1:
            raise ContractError([Violation("value", "one number a row", f"{side.shape[1]} features")])
    return predicted.reshape(-1), true.reshape(-1)
