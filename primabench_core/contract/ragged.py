"""Rows that hold a varying number of entries, as a CF contiguous ragged array."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray


@frozen(eq=False)
class Ragged:
    """Entries of varying number per row, as a CF contiguous ragged array.

    Example:
        >>> Ragged.of([[[0, 9], [1, 8]], []]).counts.tolist()
        [2, 0]
    """

    values: NDArray[Any]
    """(total, k) the entries of all rows, one after the other."""
    counts: NDArray[np.int64]
    """(n,) how many entries belong to each row."""

    @classmethod
    def of(cls, rows: Iterable[Any]) -> Ragged:
        """Join one (n_i, k) array (or nested list) a row.

        Raises:
            ValueError: a row is neither empty nor two-dimensional, or widths differ.
        """
        parts = [np.asarray(row) for row in rows]
        filled = [part for part in parts if part.size]
        if any(part.ndim != 2 for part in filled):
            raise ValueError("each row must hold a list of entries of equal length")
        widths = {part.shape[1] for part in filled}
        if len(widths) > 1:
            raise ValueError(f"entries have different lengths {sorted(widths)}")
        counts = np.fromiter((len(part) if part.size else 0 for part in parts), np.int64, len(parts))
        return cls(np.concatenate(filled) if filled else np.empty((0, 0)), counts)

    @property
    def starts(self) -> NDArray[np.int64]:
        """(n + 1,) where each row begins in ``values``; the last item is the total."""
        starts = np.zeros(len(self.counts) + 1, np.int64)
        np.cumsum(self.counts, out=starts[1:])
        return starts

    def take(self, positions: NDArray[np.intp]) -> Ragged:
        """The rows at these positions (repeats allowed)."""
        counts = self.counts[positions]
        shift = np.cumsum(counts) - counts
        entries = np.arange(int(counts.sum())) + np.repeat(self.starts[:-1][positions] - shift, counts)
        return Ragged(self.values[entries], counts)

    def row_of_entry(self) -> NDArray[np.int64]:
        """(total,) the row that each entry belongs to."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        return f"Ragged({len(self)} rows, {len(self.values)} entries)"
