"""Many comparisons at once: p-values adjusted so that chance finds are rare."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from primabench_core.errors import UsageError
from primabench_core.statistics.finding import Finding
from primabench_core.statistics.inputs import numbers


def holm(*, p: ArrayLike) -> Finding:
    """Holm's step-down adjustment: the chance of any false find stays below the level.

    adjusted_(i) = max over j <= i of min(1, (m - j + 1) p_(j)), p sorted upwards, m tests.
    Source: Holm 1979, Scandinavian Journal of Statistics 6, 65-70.

    Args:
        p: (m,) p-values in [0, 1]; m may be 0.

    Returns:
        ``values["adjusted"]``: m numbers in the order of the input.

    Raises:
        UsageError: An entry is not in [0, 1].

    Example:
        >>> holm(p=[0.01, 0.04, 0.03, 0.005]).values["adjusted"]
        (0.03, 0.06, 0.06, 0.02)
    """
    given, order = _sorted(p)
    m = len(given)
    stepped = np.maximum.accumulate(np.minimum(1.0, (m - np.arange(m)) * given[order]))
    return _unsorted("holm", stepped, order)


def benjamini_hochberg(*, p: ArrayLike) -> Finding:
    """Benjamini and Hochberg's adjustment: the expected share of false finds stays below the level.

    adjusted_(i) = min over j >= i of min(1, m p_(j) / j), p sorted upwards, m tests.
    Source: doi:10.1111/j.2517-6161.1995.tb02031.x.

    Args:
        p: (m,) p-values in [0, 1]; m may be 0.

    Returns:
        ``values["adjusted"]``: m numbers in the order of the input.

    Raises:
        UsageError: An entry is not in [0, 1].

    Example:
        >>> benjamini_hochberg(p=[0.01, 0.5]).values["adjusted"]
        (0.02, 0.5)
    """
    given, order = _sorted(p)
    m = len(given)
    scaled = np.minimum(1.0, given[order] * m / np.arange(1, m + 1))
    return _unsorted("benjamini_hochberg", np.minimum.accumulate(scaled[::-1])[::-1], order)


def _sorted(p: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    given = numbers(p, "p")
    bad = np.flatnonzero((given < 0) | (given > 1))
    if len(bad):
        raise UsageError(f"p: expected p-values between 0 and 1, found {given[bad[0]]} at place {bad[0]}")
    return given, np.argsort(given, kind="stable")


def _unsorted(name: str, adjusted: NDArray[np.float64], order: NDArray[np.intp]) -> Finding:
    back = np.empty_like(adjusted)
    back[order] = adjusted
    return Finding(name, values={"adjusted": tuple(back.tolist())})
