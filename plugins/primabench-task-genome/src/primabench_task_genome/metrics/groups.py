"""Rows of each group, in an order that neither names of groups nor the order of rows decides."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from primabench_core.state.rows import Labels, Rows

Ints = NDArray[np.int64]


def groups_of(state: Rows, field: str) -> Iterator[tuple[str, Ints]]:
    """Name and rows of each group that has any, by a label field of the truth.

    Args:
        state: The rows.
        field: Name of the label field; it must be there.
    """
    column = state.truth[field]
    assert isinstance(column, Labels)
    sizes = np.bincount(column.codes, minlength=len(column.classes))
    order = np.argsort(column.codes, kind="stable")
    for name, rows in zip(column.classes, np.split(order, np.cumsum(sizes)[:-1]) if len(sizes) else [], strict=True):
        if len(rows):
            yield str(name), rows
