"""Draws that belong to ids, not to rows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import NDArray

from primabench_core import EvalData


def names_of_rows(data: EvalData) -> Sequence[str]:
    """Ids, or row numbers as text where rows have none."""
    return [str(i) for i in (range(data.n) if data.ids is None else data.ids)]


def uniform_by_id(data: EvalData, columns: int = 1, *, seed: int) -> NDArray[np.float64]:
    """(n, columns) numbers in [0, 1) by SHA-256 of seed, id and column."""
    found = np.empty((data.n, columns))
    for row, name in enumerate(names_of_rows(data)):
        for column in range(columns):
            digest = hashlib.sha256(f"{seed}:{column}:{name}".encode()).digest()
            found[row, column] = (int.from_bytes(digest[:8], "big") >> 11) / (1 << 53)
    return found


def one_thread() -> AbstractContextManager[object]:
    """Runs numerical libraries on one thread: the same bits whatever the number of cores, and no crowding."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    return threadpool_limits(limits=1)  # type: ignore[no-any-return]
