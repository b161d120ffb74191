"""Reads any field of an EvalData in consecutive row blocks, whatever holds it: memory or a store."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from attrs import frozen

from primabench_core.contract.plain import is_lazy, is_sparse
from primabench_core.contract.plain import plain as to_plain
from primabench_core.contract.ragged import Ragged
from primabench_core.errors import UsageError
from primabench_core.store.hashing import LEAF_BYTES, numeric_dtype

BLOCK_BYTES = 8 << 20
"""About how much of a field is in memory at a time."""

Kind = Literal["numeric", "text", "sparse", "ragged"]


@frozen(eq=False)
class Column:
    """A field, the ids or a coordinate, with what storing and hashing need to know."""

    name: str
    kind: Kind
    dtype: str
    """Numeric dtype of the values; ``text``."""
    shape: tuple[int, ...]
    """As the content hash sees it; of a ragged field (rows, entries, width)."""
    dims: tuple[str, ...]
    source: Any
    """What is sliced: a numpy array, Ragged, CSR, or a lazily opened field."""

    @property
    def n(self) -> int:
        """Rows."""
        return self.shape[0]

    @property
    def threads_may_read(self) -> bool:
        """Whether several threads may read different rows at once."""
        return self.kind == "numeric" and (isinstance(self.source, np.ndarray) or hasattr(self.source, "stream"))

    def blocks(
        self, rows: int | None = None, *, reuse: bool = False, start: int = 0, stop: int | None = None
    ) -> Iterator[Any]:
        """Consecutive rows: numeric arrays, lists of text, CSR parts ``(data, indices, indptr)``, or Ragged.

        Args:
            rows: Rows in a block; by default about 8 MiB.
            reuse: A block need not outlive the next one, so that numbers of a store are read into one buffer.
            start: First row.
            stop: Row behind the last one; by default the end.
        """
        end = self.n if stop is None else stop
        if reuse and self.kind == "numeric" and hasattr(self.source, "stream"):
            yield from self.source.stream(rows, start, end)
            return
        step = rows or self._rows_in_block()
        for first in range(start, end, step):
            part = _rows(self.source, first, min(first + step, end))
            if self.kind == "text":
                yield as_text(part, self.name)
            elif self.kind == "sparse":
                yield part.data, part.indices, part.indptr
            else:
                yield part

    def spans(self, size: int, rows: int | None = None) -> Iterator[tuple[int, int]]:
        """Ranges of rows of a numeric field that threads take one by one.

        Args:
            size: About how many bytes a range has.
            rows: Rows in a block; a range is whole blocks, and, where they allow it, whole leaves of the content hash,
                so that nothing is left over at its ends.
        """
        width = max(1, np.dtype(self.dtype).itemsize * math.prod(self.shape[1:]))
        step = rows or (1 if getattr(self.source, "is_raw", True) else self._rows_in_block())
        whole = math.lcm(step, LEAF_BYTES // math.gcd(LEAF_BYTES, width))
        step = whole if whole * width <= size else step
        step *= max(1, size // (step * width))
        for start in range(0, self.n, step):
            yield start, min(start + step, self.n)

    def _rows_in_block(self) -> int:
        stored = getattr(self.source, "block_rows", 0)  # whole shards, where the field lies in a store
        if stored:
            return int(stored)
        size = 64 if self.kind == "text" else np.dtype(self.dtype).itemsize
        entries = int(np.prod(self.shape[1:]))
        if self.kind == "ragged":
            entries = entries // max(self.n, 1)
        elif self.kind == "sparse":
            entries = int(self.source.nnz) // max(self.n, 1) * 2
        return max(1, BLOCK_BYTES // max(entries * size, 1))


def _rows(source: Any, start: int, stop: int) -> Any:
    if isinstance(source, Ragged):
        starts = source.starts
        return Ragged(source.values[starts[start] : starts[stop]], source.counts[start:stop])
    return source[start:stop]


def column(name: str, value: Any, dims: tuple[str, ...] = ("row",)) -> Column:
    """Look at a field and say what it is.

    Args:
        name: For the hash and for messages.
        value: numpy, Ragged, scipy sparse, a lazily opened field, or anything that becomes one of these.
        dims: Names of the dimensions; of a ragged field the first alone.

    Raises:
        UsageError: its dtype or shape cannot be stored.
    """
    if not is_lazy(value):
        value = to_plain(value, name)
    if isinstance(value, Ragged) or getattr(value, "is_ragged", False):
        return _ragged(name, value, dims)
    shape = tuple(int(size) for size in value.shape)
    if is_sparse(value):
        value = value.tocsr()
        if value.shape[0] and not hasattr(value, "indptr"):
            raise UsageError(f"{name}: this sparse matrix has no CSR form")
        return Column(name, "sparse", numeric_dtype(value.dtype, name), shape, dims, value)
    if getattr(value, "is_csr", False):
        return Column(name, "sparse", numeric_dtype(value.dtype, name), shape, dims, value)
    if value.dtype.kind in "OUT":
        if len(shape) != 1:
            raise UsageError(f"{name}: text must be one-dimensional, found shape {shape}")
        return Column(name, "text", "text", shape, dims, value)
    if not shape:
        raise UsageError(f"{name}: expected one entry per row, found a single value")
    return Column(name, "numeric", numeric_dtype(value.dtype, name), shape, dims, value)


def _ragged(name: str, value: Any, dims: tuple[str, ...]) -> Column:
    if isinstance(value, Ragged):
        if value.values.ndim != 2 or int(value.counts.sum()) != len(value.values):
            raise UsageError(f"{name}: counts add up to {int(value.counts.sum())}, entries are {value.values.shape}")
        shape: tuple[int, ...] = (len(value), *value.values.shape)
        dtype = value.values.dtype
    else:
        shape, dtype = value.ragged_shape, value.dtype
    names = (dims[0], f"{name}_entry", f"{name}_part")
    return Column(name, "ragged", numeric_dtype(np.dtype(dtype), name), shape, names, value)


def as_text(values: Any, name: str) -> list[str | None]:
    """Text values as a list, None where missing.

    Raises:
        UsageError: something is neither text nor None.
    """
    found: list[str | None] = np.asarray(values).tolist()
    for value in found:
        if value is not None and type(value) is not str:
            if isinstance(value, str):  # numpy's own text scalar
                return [None if v is None else str(v) for v in found]
            raise UsageError(
                f"{name}: expected text or None, found {type(value).__name__} {value!r:.40}",
                remedy=f"give {name} as text, or as a numeric array",
            )
    return found
