"""One number a row of a wide field: the sum of squared or absolute differences inside the row, exact, rounded once.

A metric that needs no more than that keeps eight bytes a row, whatever the width.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from primabench_core.state.compiled import kernels
from primabench_core.state.exact import exact_row_sums
from primabench_core.state.windows import Floats

Error = Literal["squared_error", "absolute_error"]
_ELEMENTS = 65_536
"""Numbers handled at once."""
_WIDEST = 1 << 14
"""Numbers of a row up to which compiled loops have room for their sum."""


def row_errors(x: NDArray[Any], y: NDArray[Any], kind: Error) -> Floats:
    """Σ(x−y)² or Σ|x−y| of each row.

    The difference and its square are one float64 operation each; their sum is exact and rounded once.

    Args:
        x: (n, m) float32 or float64.
        y: Likewise.
        kind: ``squared_error`` or ``absolute_error``.

    Returns:
        (n,) float64; infinite where a term or the sum exceeds the largest float64.

    Example:
        >>> row_errors(np.array([[1.0, 3.0]]), np.array([[0.0, 1.0]]), "squared_error").tolist()
        [5.0]
    """
    if kind not in get_args(Error) or x.shape != y.shape or x.ndim != 2:
        raise ValueError(f"expected one of {get_args(Error)} of two matrices of one shape, got {x.shape}, {y.shape}")
    n, m = x.shape
    result = np.zeros(n)
    if not n or not m:
        return result
    compiled = kernels("rows") if m <= _WIDEST else None
    rows = max(1, (1 << 22 if compiled else _ELEMENTS) // m)
    for start in range(0, n, rows):
        a, b, out = x[start : start + rows], y[start : start + rows], result[start : start + rows]
        if compiled is None:
            out[:] = _by_numpy(a, b, kind)
            continue
        dtype = np.float32 if a.dtype == b.dtype == np.float32 else np.float64
        a, b = np.ascontiguousarray(a, dtype), np.ascontiguousarray(b, dtype)
        loop = compiled.row_errors_single() if dtype == np.float32 else compiled.row_errors_double()
        loop(a, b, kind == "squared_error", out)
        if odd := np.flatnonzero(np.isnan(out)).tolist():
            out[odd] = _by_numpy(a[odd], b[odd], kind)
    return result


def _by_numpy(x: NDArray[Any], y: NDArray[Any], kind: Error) -> Floats:
    with np.errstate(over="ignore"):
        terms = np.subtract(x, y, dtype=np.float64)
        terms = np.multiply(terms, terms, out=terms) if kind == "squared_error" else np.abs(terms, out=terms)
    infinite = ~np.isfinite(terms).all(axis=1)
    if infinite.any():
        terms[infinite] = 0.0
    sums = exact_row_sums(terms)
    sums[infinite] = np.inf
    return sums
