"""Checks of what the functions of ``pb.statistics`` are given; every message names the argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from primabench_core.errors import ParameterError, UsageError


def numbers(value: ArrayLike, name: str) -> NDArray[np.float64]:
    """(n,) float64, finite."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf" and array.size:
            raise TypeError(f"its entries are {array.dtype}")
        array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name}: expected numbers, found {error}") from error
    if array.ndim != 1:
        raise UsageError(f"{name}: expected one dimension, found {array.ndim}")
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise UsageError(f"{name}: expected finite numbers, found {array[bad[0]]!r} at row {bad[0]}")
    return array


def labels(value: ArrayLike, name: str) -> NDArray[Any]:
    """(n,) int64 or text; floats, gaps and mixtures are refused."""
    array = np.asarray(value)
    if array.ndim != 1:
        raise UsageError(f"{name}: expected one dimension, found {array.ndim}")
    if array.dtype.kind in "biu":
        return array.astype(np.int64)
    if array.dtype.kind == "U" and isinstance(value, np.ndarray):
        return array
    given = list(value) if isinstance(value, Sequence | np.ndarray) else array.tolist()
    if all(isinstance(item, str) for item in given):
        return np.asarray(given, dtype=np.str_)
    raise UsageError(f"{name}: expected integers or text, found {array.dtype} or a mixture")


def same_length(**arrays: NDArray[Any]) -> int:
    """The length that all arrays share."""
    sizes = {name: len(array) for name, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        raise UsageError(f"expected as many rows everywhere, found {', '.join(f'{k}: {v}' for k, v in sizes.items())}")
    return next(iter(sizes.values()))


def one_kind(**arrays: NDArray[Any]) -> None:
    """Refuse integers on one side and text on the other."""
    kinds = {name: "text" if array.dtype.kind == "U" else "integers" for name, array in arrays.items() if len(array)}
    if len(set(kinds.values())) > 1:
        raise UsageError(f"labels must be of one kind, found {', '.join(f'{k}: {v}' for k, v in kinds.items())}")


def choice(value: str, allowed: tuple[str, ...], name: str) -> None:
    """Refuse a word that is not among the allowed ones."""
    if value not in allowed:
        raise ParameterError(f"{name}: expected {' or '.join(repr(a) for a in allowed)}, found {value!r}")


def whole(value: int, name: str, low: int, high: int | None = None) -> int:
    """An integer inside a range."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ParameterError(f"{name}: expected an integer, found {value!r}")
    if value < low or (high is not None and value > high):
        upper = "" if high is None else f" and at most {high}"
        raise ParameterError(f"{name}: expected at least {low}{upper}, found {value}")
    return int(value)


def fraction(value: float, name: str) -> float:
    """A number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating) or not 0 < value < 1:
        raise ParameterError(f"{name}: expected a number between 0 and 1, found {value!r}")
    return float(value)
