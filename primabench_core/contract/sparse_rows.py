"""Rows of which most numbers are zero, such as expression of single cells: only the others are held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

DENSITY = 0.3
"""Share of numbers that are not zero, below which rows are held sparse: each costs 8 or 12 bytes in place of 4 or 8."""
DENSE_BYTES = 1 << 26
"""Rows are made dense so many bytes at a time."""


@frozen(eq=False)
class SparseRows:
    """(n, width) float32 or float64 in compressed rows; columns ascend in a row, none twice, and no zero is held.

    Example:
        >>> rows = SparseRows.compressed(np.array([[0.0, 2.0], [0.0, 0.0], [1.0, 3.0]]))
        >>> rows.shape, rows[np.array([2, 0])].dense().tolist()
        ((3, 2), [[1.0, 3.0], [0.0, 2.0]])
    """

    data: NDArray[Any]
    """(held,) numbers."""
    columns: NDArray[np.int32]
    """(held,) column of each."""
    ends: NDArray[np.int64]
    """(n + 1,) where each row begins in ``data``; the last item is the total."""
    width: int

    @classmethod
    def of(cls, matrix: Any) -> SparseRows | None:
        """The rows of a scipy sparse matrix, as float32 or float64; None where it is not two-dimensional or no numbers.

        Duplicate entries are summed in float64. Nothing is shared with the matrix that its owner could change.

        Raises:
            ValueError: a column that the matrix does not have.
        """
        csr = matrix.tocsr() if len(matrix.shape) == 2 else None
        if csr is None or csr.data.dtype.kind not in "biuf" or csr.data.dtype.itemsize > 8:
            return None
        single = csr.data.dtype.kind == "f" and csr.data.dtype.itemsize <= 4
        if not csr.has_canonical_format:
            csr = csr.astype(np.float64)  # a copy: the caller's matrix keeps its order and duplicates
            csr.sum_duplicates()
        ends = csr.indptr.astype(np.int64)
        held = int(ends[-1])  # a matrix may have room behind
        data = csr.data[:held].astype(np.float32 if single else np.float64)
        inside = csr.indices[:held]
        if held and not 0 <= int(inside.min()) <= int(inside.max()) < csr.shape[1]:  # scipy does not look
            raise ValueError(f"a column outside of the {csr.shape[1]:,} of the matrix")
        columns = inside.astype(np.int32)
        if not data.all():
            kept = np.flatnonzero(data)
            ends = np.searchsorted(kept, ends).astype(np.int64)
            data, columns = data[kept], columns[kept]
        return cls(data, columns, ends, csr.shape[1])

    @classmethod
    def compressed(cls, rows: NDArray[Any]) -> SparseRows:
        """Dense rows, as sparse ones."""
        parts = []
        for start, stop in _cuts(len(rows), rows.shape[1] * 8):
            row, column = np.nonzero(rows[start:stop])
            parts.append((rows[start + row, column], column.astype(np.int32), np.bincount(row, minlength=stop - start)))
        data, columns, counts = (np.concatenate([p[i] for p in parts]) for i in range(3)) if parts else _nothing(rows)
        return cls(data, columns, np.append(0, np.cumsum(counts)).astype(np.int64), rows.shape[1])

    @classmethod
    def joined(cls, parts: Sequence[SparseRows]) -> SparseRows:
        """All rows, one part after the other."""
        starts = np.cumsum([0, *(len(p.data) for p in parts)])
        ends = [np.zeros(1, np.int64), *(p.ends[1:] + start for p, start in zip(parts, starts[:-1], strict=True))]
        data = np.concatenate([p.data for p in parts])
        return cls(data, np.concatenate([p.columns for p in parts]), np.concatenate(ends), parts[0].width)

    def __len__(self) -> int:
        return len(self.ends) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), self.width

    @property
    def ndim(self) -> int:
        """Two."""
        return 2

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the numbers."""
        return self.data.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""
        return self.data.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes that are held."""
        return self.data.nbytes + self.columns.nbytes + self.ends.nbytes

    def __getitem__(self, at: Any) -> SparseRows:
        """Some rows (a slice, numbers), or all rows with their columns in another order (``[:, order]``)."""
        if isinstance(at, tuple):
            return self._ordered(np.asarray(at[1], np.int64))
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self))
            if step == 1:
                first, last = self.ends[start], self.ends[max(start, stop)]
                ends = self.ends[start : max(start, stop) + 1] - first
                return SparseRows(self.data[first:last], self.columns[first:last], ends, self.width)
            at = np.arange(start, stop, step)
        at = np.asarray(at)
        counts = np.diff(self.ends)[at]
        ends = np.append(0, np.cumsum(counts)).astype(np.int64)
        entries = np.arange(ends[-1]) + np.repeat(self.ends[:-1][at] - ends[:-1], counts)
        return SparseRows(self.data[entries], self.columns[entries], ends, self.width)

    def _ordered(self, order: NDArray[np.int64]) -> SparseRows:
        if len(order) == self.width and (order == np.arange(self.width)).all():
            return self
        place = np.full(self.width, -1, np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        kept = np.flatnonzero(place[self.columns] >= 0)
        ends = np.searchsorted(kept, self.ends).astype(np.int64)
        columns, row = place[self.columns[kept]], np.repeat(np.arange(len(self)), np.diff(ends))
        by_column = np.lexsort((columns, row))
        return SparseRows(self.data[kept][by_column], columns[by_column], ends, len(order))

    def dense(self) -> NDArray[Any]:
        """(n, width) with its zeros."""
        found = np.zeros(self.shape, self.dtype)
        found[np.repeat(np.arange(len(self)), np.diff(self.ends)), self.columns] = self.data
        return found

    def pieces(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """First row and dense rows, at most 64 MiB at a time."""
        for start, stop in _cuts(len(self), self.width * self.itemsize):
            yield start, self[start:stop].dense()

    def astype(self, kind: Any) -> SparseRows:
        """The same numbers in another type."""
        return SparseRows(self.data.astype(kind), self.columns, self.ends, self.width)

    def csr(self) -> Any:
        """As a scipy CSR array, which shares the numbers."""
        from scipy.sparse import csr_array

        ends = self.ends.astype(np.int32) if len(self.data) < 1 << 31 else self.ends  # of one type, or both are copied
        return csr_array((self.data, self.columns, ends), shape=self.shape)


def dense_of(rows: Any) -> Any:
    """Rows as an array, whether they are held sparse or not."""
    return rows.dense() if isinstance(rows, SparseRows) else rows


def thin(rows: Any) -> Any:
    """Wide rows in the form that takes less: sparse if fewer than three in ten numbers are not zero."""
    if isinstance(rows, SparseRows):
        return rows if len(rows.data) < DENSITY * len(rows) * rows.width else rows.dense()
    return SparseRows.compressed(rows) if np.count_nonzero(rows) < DENSITY * rows.size else rows


def _cuts(n: int, row_bytes: int) -> Iterator[tuple[int, int]]:
    step = max(1, DENSE_BYTES // max(1, row_bytes))
    return ((start, min(n, start + step)) for start in range(0, n, step))


def _nothing(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    return np.zeros(0, rows.dtype), np.zeros(0, np.int32), np.zeros(0, np.int64)
