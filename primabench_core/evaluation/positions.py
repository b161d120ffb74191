"""Row numbers in whatever form they come: checked in one pass, and as a slice where they are one run."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.checkers import numpy_of
from primabench_core.contract.plain import plain
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError, UsageError

Where = slice | NDArray[np.int64]
_SHOWN = 5
_INT64 = np.dtype(np.int64)


def as_positions(value: Any, n: int, field: str = "positions") -> Where:
    """Row numbers as a slice (where they are one ascending run) or an int64 array.

    Args:
        value: Integers: a slice, a range, a list, an array of numpy, torch, pandas.
        n: Rows of the truth.
        field: Name for the message.

    Raises:
        ContractError: not integers, not one a row, or outside ``range(n)``.
        UsageError: a slice of anything but integers.

    Example:
        >>> as_positions([2, 3, 4], 10), as_positions([4, 2], 10).tolist()
        (slice(2, 5, 1), [4, 2])
    """
    if type(value) is not np.ndarray:
        if isinstance(value, slice | range):
            return _from_slice(value, n, field)
        array = numpy_of(value)
        value = plain(value, field) if array is None else array
    if value.dtype != _INT64 or value.ndim != 1:
        value = _as_integers(value, field)
    k = len(value)
    if not k:
        return slice(0, 0, 1)
    if np.maximum.reduce(value.view(np.uint64)) >= n:  # a negative number looks huge here: one pass for both ends
        outside = (value < 0) | (value >= n)
        wrong = value[outside]
        raise ContractError(
            [Violation(field, _range(n), "numbers outside", wrong[:_SHOWN].tolist(), int(outside.sum()))]
        )
    first = int(value[0])
    if int(value[-1]) - first == k - 1 and (k == 1 or np.logical_and.reduce(value[1:] - value[:-1] == 1)):
        return slice(first, first + k, 1)
    return value  # type: ignore[no-any-return]


def count_of(where: Where) -> int:
    """How many rows these positions name."""
    return len(range(where.start, where.stop, where.step or 1)) if isinstance(where, slice) else len(where)


def rows_of(value: Any) -> int:
    """Rows of an array-like before it is read."""
    if getattr(value, "is_nested", False):
        return int(value.size(0))
    if hasattr(value, "shape") and len(value.shape):
        return int(value.shape[0])
    return len(value) if hasattr(value, "__len__") else 0


def _from_slice(value: slice | range, n: int, field: str) -> slice:
    if isinstance(value, range):
        start, stop, step = value.start, value.stop, value.step
        if not len(value):
            return slice(0, 0, 1)
    else:
        start, stop, step = _parts(value, n, field)
    if start < 0 or step < 1 or stop < start or (stop - (stop - start - 1) % step - 1 >= n and stop > start):
        raise ContractError(
            [Violation(field, _range(n), f"{start}:{stop}:{step}", remedy="steps are positive, ends inside the truth")]
        )
    return slice(start, stop, step)


def _parts(value: slice, n: int, field: str) -> tuple[int, int, int]:
    """Start, stop and step of a slice as integers."""
    try:
        start, stop, step = (None if part is None else index(part) for part in (value.start, value.stop, value.step))
    except TypeError as error:
        raise UsageError(
            f"{field}: a slice is made of integers, got {value!r}.", remedy=f"{field}=slice(first, last + 1)"
        ) from error
    return start or 0, n if stop is None else stop, step or 1


def _as_integers(value: Any, field: str) -> NDArray[np.int64]:
    found = getattr(value, "dtype", None)
    if found is None or value.ndim != 1:
        shape = getattr(value, "shape", "none")
        raise ContractError([Violation(field, "one row number per row", f"an array of shape {shape}")])
    if not value.size:
        return np.empty(0, np.int64)
    if found.kind not in "iu":
        expected = "row numbers, because the truth has no ids" if field == "ids" else "row numbers"
        held, remedy = f"{found.name} values", ""
        if found.kind in "OUT":
            kinds = {"str"} if found.kind != "O" else {type(v).__name__ for v in value.flat}
            held = "text" if kinds == {"str"} else f"Python objects of type {', '.join(sorted(kinds)[:_SHOWN])}"
            remedy = "give integers of numpy: .astype(int)" if kinds <= {"int"} else ""
        raise ContractError([Violation(field, expected, held, remedy=remedy)])
    return np.asarray(value, np.int64)


def _range(n: int) -> str:
    return f"row numbers from 0 to {n - 1:,}" if n else "no rows, because the truth has none"
