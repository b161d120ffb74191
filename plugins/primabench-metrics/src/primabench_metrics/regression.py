"""Distance of predicted from measured numbers.

A difference and its square are one float64 operation each; their sums are exact and rounded once.
"""

from __future__ import annotations

import numpy as np

from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_row_sums, exact_sum
from primabench_core.state.rows import Rows
from primabench_metrics.numbers import Floats, pair

_EMPTY = Outcome.undefined("too_few_items", "there are no numbers", n=0)


def mse(state: Rows) -> Outcome:
    """Mean squared error Σ(ŷ−y)²/n over all numbers.

    Args:
        state: ``value`` (n,) or (n, features) on both sides.

    Returns:
        Value in [0, ∞) in squared units; ``too_few_items`` without numbers.
    """
    errors = differences(state)
    if not errors.size:
        return _EMPTY
    return Outcome(total(errors * errors) / errors.size, n=len(errors))


def differences(state: Rows) -> Floats:
    """Predicted minus true, float64, shape of ``value``."""
    predicted, true = pair(state)
    return np.subtract(predicted, true, dtype=np.float64)


def total(terms: Floats) -> float:
    """Sum of all terms: exact inside each row and rounded once, then exact over rows."""
    return exact_sum(terms if terms.ndim == 1 else exact_row_sums(terms))
