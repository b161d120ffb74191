"""The content hash of data, in memory or in a store: fields, ids and coordinates of an EvalData become array roots."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from primabench_core.contract.evaldata import EvalData
from primabench_core.errors import UsageError
from primabench_core.state.threads import one_thread
from primabench_core.store.columns import Column, column
from primabench_core.store.hashing import (
    Span,
    Tree,
    array_root,
    artifact_root,
    csr_root,
    numeric_root,
    ragged_root,
    span_of,
    text_root,
)

ROW = "row"
"""Name of the first dimension of every field."""

_SPAN_BYTES = 16 << 20
"""About what a thread reads and hashes before it takes the next range."""


def columns_of(data: EvalData, columns: Mapping[str, str] | None = None) -> list[Column]:
    """Ids, coordinates and fields of an EvalData, sorted by name.

    Args:
        data: In memory or lazily opened.
        columns: Coordinate that names the columns of a two-dimensional field. For a field that is not named here it
            is the coordinate of the same length, if there is exactly one.

    Raises:
        UsageError: something cannot be stored, or two things have one name.
    """
    named = dict(columns or {})
    for field, coord in named.items():
        if field not in data.fields or (coord and coord not in data.coords):
            raise UsageError(f"columns={{{field!r}: {coord!r}}} names a field or coordinate that the data do not have")
    found: dict[str, Column] = {}
    for name, values in data.coords.items():
        found[name] = column(name, list(values), (name,))
    if data.ids is not None:
        _add(found, column("ids", data.ids, (ROW,)))
    for name, value in data.fields.items():
        part = column(name, value, (ROW,))
        if part.n != data.n:
            raise UsageError(f"{name}: expected {data.n} rows, found {part.n}")
        if part.kind in ("numeric", "sparse") and len(part.shape) > 1:
            part = column(name, part.source, _dims(part, data, named))
        _add(found, part)
    return [found[name] for name in sorted(found)]


def _add(found: dict[str, Column], part: Column) -> None:
    if part.name in found:
        raise UsageError(f"{part.name!r} is both a coordinate and a field; rename one of them")
    found[part.name] = part


def _dims(part: Column, data: EvalData, named: Mapping[str, str]) -> tuple[str, ...]:
    width = part.shape[1]
    fitting = [name for name, values in data.coords.items() if len(values) == width]
    coord = named.get(part.name, fitting[0] if len(fitting) == 1 else "")
    if coord and len(data.coords[coord]) != width:
        raise UsageError(f"{part.name}: {width} columns, but coordinate {coord!r} has {len(data.coords[coord])} names")
    return (ROW, coord or f"{part.name}_column", *(f"{part.name}_axis{i}" for i in range(2, len(part.shape))))


@contextmanager
def threads_for_hashing(threads: int) -> Iterator[Executor | None]:
    """Threads that hash leaves; with one, the caller's own thread does."""
    if threads <= 1:
        yield None
        return
    with ThreadPoolExecutor(threads) as pool:
        yield pool


def content_root(
    data: EvalData,
    *,
    attributes: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    threads: int = 1,
    block_rows: int | None = None,
    advance: Callable[[float], None] | None = None,
) -> bytes:
    """Artifact root of content hash v1.

    Args:
        data: In memory or lazily opened; at most some blocks are in memory at a time.
        attributes: Plain values that belong to the artifact.
        columns: As for :func:`columns_of`.
        threads: Threads that hash; the digest does not depend on them.
        block_rows: Rows read at a time; the digest does not depend on them.
        advance: Called after each block with its share of the artifact, always by the caller's thread; shares add up
            to about 1.

    Returns:
        32 bytes.

    Example:
        >>> import numpy as np
        >>> a = EvalData({"x": np.array([0.0, 1.0])}, ids=["a", "b"])
        >>> b = EvalData({"x": np.array([-0.0, 1.0])}, ids=["a", "b"])
        >>> content_root(a) == content_root(b)
        True
    """
    roots: dict[str, bytes] = {}
    parts = columns_of(data, columns)
    total = sum(_weight(part) for part in parts)
    with threads_for_hashing(threads) as pool:
        for part in parts:
            dtype = part.dtype if part.kind in ("numeric", "text") else f"{_PREFIX[part.kind]}:{part.dtype}"
            share = _weight(part) / total if total else 0.0
            if pool is not None and part.threads_may_read:
                tree = _numeric_root_by_spans(part, block_rows, share, advance, pool, threads)
            else:
                blocks = _counted(part, block_rows, share, advance, pool is None)
                lent = part.kind == "numeric" and pool is None
                tree = numeric_root(blocks, lent=True) if lent else _ROOTS[part.kind](blocks, pool)
            roots[part.name] = array_root(part.name, part.dims, dtype, part.shape, tree)
    return artifact_root(roots, attributes)


def _numeric_root_by_spans(
    part: Column,
    rows: int | None,
    share: float,
    advance: Callable[[float], None] | None,
    pool: Executor,
    threads: int,
) -> bytes:
    """Tree root of numbers; each thread reads and hashes ranges of rows of its own, a block of them at a time.

    Ranges are joined in order. A leaf that lies in two of them is hashed here.
    """
    width = np.dtype(part.dtype).itemsize * math.prod(part.shape[1:])
    tree = Tree()
    waiting: deque[tuple[int, Future[Span]]] = deque()

    def hashed(start: int, stop: int) -> Span:
        with one_thread():
            return span_of(part.blocks(rows, reuse=True, start=start, stop=stop), start * width)

    def join() -> None:
        count, future = waiting.popleft()
        tree.join(future.result())
        if advance:
            advance(share * count / part.n)

    try:
        for start, stop in part.spans(_SPAN_BYTES, rows):
            waiting.append((stop - start, pool.submit(hashed, start, stop)))
            if len(waiting) > 2 * threads:  # each that waits holds two leaves at most
                join()
        while waiting:
            join()
    finally:
        for _, future in waiting:  # after a fault nobody wants the rest
            future.cancel()
    return tree.root()


def _weight(part: Column) -> int:
    size = 16 if part.kind == "text" else np.dtype(part.dtype).itemsize
    entries = part.shape[1] * part.shape[2] if part.kind == "ragged" else math.prod(part.shape)
    return size * entries


def _counted(
    part: Column, rows: int | None, share: float, advance: Callable[[float], None] | None, reuse: bool
) -> Iterator[Any]:
    """Blocks of a column; after each one its share is told."""
    for block in part.blocks(rows, reuse=reuse):
        yield block
        if advance:
            here = len(block[2]) - 1 if part.kind == "sparse" else len(block)
            advance(share * here / max(part.n, 1))


_PREFIX = {"sparse": "csr", "ragged": "ragged"}

_ROOTS: dict[str, Callable[[Iterator[Any], Executor | None], bytes]] = {
    "numeric": numeric_root,
    "text": text_root,
    "sparse": csr_root,
    "ragged": lambda blocks, pool: ragged_root(((b.values, b.counts) for b in blocks), pool),
}
