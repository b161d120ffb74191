"""Fields that stay in the store until they are sliced.

Each has ``shape``, ``dtype``, ``__len__`` and ``__getitem__`` by rows (a number, a slice, positions, a mask; a tuple
whose first item is one of these), and ``block_rows``: how many rows reading in whole shards takes at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.ragged import Ragged
from primabench_core.errors import CorruptDataError, PrimaBenchError
from primabench_core.store.faults import named
from primabench_core.store.shards import Rows

T = TypeVar("T")

READ_FAULTS = (ValueError, RuntimeError, KeyError, TypeError, AttributeError, ArithmeticError)
"""What the codecs raise on damaged bytes; an IndexError is the caller's."""


def read(place: str, private: bool, field: str, what: Callable[[], T]) -> T:
    """Run a read and let every fault name the field and where it lies.

    Raises:
        CorruptDataError: stored bytes do not decode, or fail their checksum.
        StoreError: the disk does not give them.
    """
    try:
        with named("read", place, private=private):
            return what()
    except PrimaBenchError:
        raise
    except READ_FAULTS as error:
        detail = "" if private else f" ({type(error).__name__}: {error})"
        fault = CorruptDataError(
            f"field {field!r} of {place} is damaged: its stored bytes do not decode or fail their checksum{detail}",
            remedy="primabench verify --dataset NAME names the damaged file; then build or fetch the dataset again",
        )
        raise fault from (None if private else error)


class _Lazy:
    """Common ground of all lazily opened fields."""

    def __init__(self, name: str, place: str, private: bool) -> None:
        self._name, self._place, self._private = name, place, private

    def _read(self, what: Callable[[], T]) -> T:
        return read(self._place, self._private, self._name, what)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"field {self._name!r} is open in a store and cannot be pickled; read it first: data.load()")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name!r}>"


class LazyArray(_Lazy):
    """A dense numeric field.

    Args:
        array: The open zarr array.
        name: Name of the field.
        place: How messages call where it lies.
        private: Whether messages must say no more than that.
        folder: Folder of the artifact, if its shards may be read without zarr.
        trusted: What lies there was compared with its SHA-256 when it came.
    """

    def __init__(
        self, array: Any, name: str, place: str, private: bool, folder: Path | None = None, trusted: bool = False
    ) -> None:
        super().__init__(name, place, private)
        self._array, self._rows = array, Rows(array, folder, trusted)
        self.shape: tuple[int, ...] = tuple(array.shape)
        self.dtype: np.dtype[Any] = np.dtype(array.dtype)
        self.ndim = len(self.shape)
        self.block_rows = _block_rows(array)

    def __len__(self) -> int:
        return self.shape[0]

    def read(self, start: int, stop: int, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Rows ``start`` to ``stop``, into ``out`` if it is given: reusing it saves the making of new memory."""
        if not 0 <= start <= stop <= len(self):
            raise IndexError(f"rows {start} to {stop} of {len(self)}")
        return self._read(lambda: self._rows.read(start, stop, out))

    @property
    def is_raw(self) -> bool:
        """Whether any rows can be read without reading the rest of their chunk."""
        return self._read(lambda: self._rows.is_raw)

    def stream(self, rows: int | None = None, start: int = 0, stop: int | None = None) -> Iterator[NDArray[Any]]:
        """Consecutive blocks of rows in one buffer: each is valid until the next one is asked for."""
        end = len(self) if stop is None else stop
        step = rows or (max(1, _STREAM_BYTES // self._rows.row_bytes) if self.is_raw else self.block_rows)
        if start >= end:
            return
        blocks = self._rows.stream(start, end, np.empty((min(step, end - start), *self.shape[1:]), self.dtype))
        try:
            while (block := self._read(lambda: next(blocks, None))) is not None:
                yield block
        finally:
            blocks.close()

    def __getitem__(self, key: Any) -> NDArray[Any]:
        rows, *rest = key if isinstance(key, tuple) and key else (key,)
        if len(rest) < self.ndim and all(isinstance(part, slice) and part == slice(None) for part in rest):
            rest = []  # whole rows, however they are asked for
        if not rest and (rows is Ellipsis or isinstance(rows, slice)):
            start, stop, step = slice(None).indices(len(self)) if rows is Ellipsis else rows.indices(len(self))
            if step == 1:
                return self.read(start, max(start, stop))
        if isinstance(rows, slice) and (rows.step or 1) < 0:  # zarr takes no steps backwards
            rows = np.arange(len(self))[rows]
        if isinstance(rows, slice | int | np.integer) or rows is Ellipsis:
            return self._read(lambda: self._array[(rows, *rest)])
        return self._read(lambda: self._array.oindex[(_positions(rows, len(self)), *rest)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[...], dtype=dtype)


class LazyText(_Lazy):
    """A text field: plain strings, or codes into a vocabulary (-1 is missing)."""

    ndim = 1
    dtype: np.dtype[Any] = np.dtype(object)

    def __init__(
        self,
        array: Any,
        categories: Any | None,
        name: str,
        place: str,
        private: bool,
        folder: Path | None = None,
        trusted: bool = False,
    ) -> None:
        super().__init__(name, place, private)
        self._array, self._categories = array, categories
        self._rows = Rows(array, None if categories is None else folder, trusted)
        self._vocabulary: NDArray[Any] | None = None
        self.shape: tuple[int, ...] = tuple(array.shape)
        self.block_rows = _block_rows(array)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        rows = key[0] if isinstance(key, tuple) and key else key
        if isinstance(rows, slice) and (rows.step or 1) < 0:
            rows = np.arange(len(self))[rows]
        if not (isinstance(rows, slice | int | np.integer) or rows is Ellipsis):
            rows = _positions(rows, len(self))
        found = self._read(lambda: self._take(rows))
        if self._categories is None:
            return np.asarray(found).astype(object)[()]
        vocabulary = self._vocabulary
        if vocabulary is None:
            words = self._read(lambda: self._categories[...])  # type: ignore[index]
            vocabulary = np.append(np.asarray(words).astype(object), [None])  # code -1 falls on the last
            self._vocabulary = vocabulary
        return vocabulary[np.asarray(found)]

    def _take(self, rows: Any) -> Any:
        if rows is Ellipsis or (isinstance(rows, slice) and (rows.step or 1) == 1):
            start, stop, _ = slice(None).indices(len(self)) if rows is Ellipsis else rows.indices(len(self))
            return self._rows.read(start, max(start, stop))
        return self._array[rows]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[...], dtype=dtype or object)


class LazyCSR(_Lazy):
    """A sparse matrix; slices of rows are scipy CSR arrays."""

    ndim = 2
    is_csr = True

    def __init__(
        self, group: Any, name: str, place: str, private: bool, folder: Path | None = None, trusted: bool = False
    ) -> None:
        super().__init__(name, place, private)
        data = group["data"]
        self._data, self._indices, self._indptr = (
            Rows(group[part], folder, trusted) for part in ("data", "indices", "indptr")
        )
        self.shape: tuple[int, ...] = tuple(int(size) for size in group.attrs["shape"])
        self.dtype: np.dtype[Any] = np.dtype(data.dtype)
        per_row = max(1, data.shape[0] // max(self.shape[0], 1))
        self.block_rows = max(1, _block_rows(data) // per_row)

    def __len__(self) -> int:
        return self.shape[0]

    def _rows(self, start: int, stop: int) -> Any:
        from scipy.sparse import csr_matrix

        indptr = self._read(lambda: self._indptr.read(start, stop + 1))
        first, last = int(indptr[0]), int(indptr[-1])
        data = self._read(lambda: self._data.read(first, last))
        indices = self._read(lambda: self._indices.read(first, last))
        kind = np.int32 if max(self.shape[1], last - first) < 2**31 else np.int64
        parts = (data, indices.astype(kind), (indptr - first).astype(kind))
        return self._read(lambda: csr_matrix(parts, shape=(stop - start, self.shape[1])))

    def __getitem__(self, key: Any) -> Any:
        from scipy.sparse import vstack

        rows, *rest = key if isinstance(key, tuple) else (key,)
        found = _by_blocks(rows, len(self), self.block_rows, self._rows, lambda parts: vstack(parts, format="csr"))
        return found[:, rest[0]] if rest and rest[0] != slice(None) else found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:].toarray(), dtype=dtype)


class LazyRagged(_Lazy):
    """A ragged field; slices of rows are :class:`Ragged`."""

    ndim = 1
    is_ragged = True

    def __init__(
        self, group: Any, name: str, place: str, private: bool, folder: Path | None = None, trusted: bool = False
    ) -> None:
        super().__init__(name, place, private)
        self._values, self._counts = group["values"], group["counts"]
        self._entries = Rows(self._values, folder, trusted)
        self._starts: NDArray[np.int64] | None = None
        self.shape: tuple[int, ...] = tuple(self._counts.shape)
        self.ragged_shape = (*self.shape, *self._values.shape)
        self.dtype: np.dtype[Any] = np.dtype(self._values.dtype)
        per_row = max(1, self._values.shape[0] // max(self.shape[0], 1))
        self.block_rows = max(1, _block_rows(self._values) // per_row)

    def __len__(self) -> int:
        return self.shape[0]

    def _rows(self, start: int, stop: int) -> Ragged:
        if self._starts is None:
            counts = self._read(lambda: self._counts[...])
            self._starts = np.concatenate([[0], np.cumsum(counts)])
        starts = self._starts
        values = self._read(lambda: self._entries.read(int(starts[start]), int(starts[stop])))
        return Ragged(values, np.diff(starts[start : stop + 1]))

    def __getitem__(self, key: Any) -> Ragged:
        rows = key[0] if isinstance(key, tuple) and key else key
        found: Ragged = _by_blocks(rows, len(self), self.block_rows, self._rows, _join_ragged)
        return found


def _join_ragged(parts: list[Ragged]) -> Ragged:
    return Ragged(np.concatenate([p.values for p in parts]), np.concatenate([p.counts for p in parts]))


_BLOCK_BYTES = 16 << 20
_STREAM_BYTES = 2 << 20
"""Size of a block where any rows can be read without the rest of their chunk."""


def _block_rows(array: Any) -> int:
    """Rows in a block: whole chunks of one shard, about 16 MiB, which the processor's cache still holds when used."""
    chunk, shard = int(array.chunks[0]), int((array.shards or array.chunks)[0])
    row = array.dtype.itemsize * math.prod(array.shape[1:]) or 1
    held = shard // chunk
    chunks = max(1, min(held, _BLOCK_BYTES // (chunk * row)))
    while held % chunks:  # no block lies in two shards
        chunks -= 1
    return chunks * chunk


def _positions(rows: Any, n: int) -> NDArray[np.intp]:
    """Positions from positions or a mask; negative ones count from the end."""
    found = np.asarray(rows)
    if found.dtype == bool:
        if found.shape != (n,):
            raise IndexError(f"a mask of {found.shape} does not fit {n} rows")
        return np.flatnonzero(found)
    if not found.size:
        return np.zeros(0, np.intp)
    if found.dtype.kind not in "iu" or found.ndim != 1:
        raise IndexError("rows are taken by number, slice, positions or mask")
    found = found.astype(np.intp)
    found = np.where(found < 0, found + n, found)
    if found.min() < 0 or found.max() >= n:
        raise IndexError(f"a position is outside of {n} rows")
    return found


def _by_blocks(rows: Any, n: int, step: int, take: Callable[[int, int], Any], join: Callable[[list[Any]], Any]) -> Any:
    """Rows of something that can only be read in consecutive pieces: each stored block is read once."""
    if rows is Ellipsis:
        rows = slice(None)
    if isinstance(rows, slice):
        start, stop, stride = rows.indices(n)
        if stride == 1:
            return take(start, max(start, stop))
        rows = np.arange(start, stop, stride)
    elif isinstance(rows, int | np.integer):
        rows = [int(rows)]
    positions = _positions(rows, n)
    if not len(positions):
        return take(0, 0)
    wanted, back = np.unique(positions, return_inverse=True)
    parts = []
    for block in np.unique(wanted // step):
        inner = wanted[wanted // step == block]
        low, high = int(inner[0]), int(inner[-1]) + 1
        part = take(low, high)
        parts.append(part.take(inner - low) if isinstance(part, Ragged) else part[inner - low])
    joined = join(parts)
    return joined.take(back) if isinstance(joined, Ragged) else joined[back]
