"""Content hash v1: what data *are*, whatever codec, chunking, library or machine stored them.

Every array becomes a stream of canonical bytes, cut into leaves of 2^20 bytes that are independent of storage chunks,
and the leaves become a hash tree (:mod:`primabench_core.state.merkle`). The canonical bytes are

========== ==========================================================================================================
numbers    C order, little-endian, in the declared dtype; any NaN is one quiet NaN, -0.0 is 0.0; bool as uint8
text       per value its length in bytes as uint32, then UTF-8; a missing value is the length 0xFFFFFFFF and no bytes;
           categories and ids are hashed as their text
sparse     CSR with sorted indices, duplicates summed, zeros dropped; three trees (indptr and indices as int64, then
           the values), joined as three leaves of one more tree
ragged     two trees (counts per row as int64, then the entries of all rows), joined likewise
file       one uint8 array
========== ==========================================================================================================

An array root is SHA-256 over canonical JSON of name, dims, dtype, shape and tree root; an artifact root is SHA-256
over canonical JSON of its array roots and attributes; the dataset hash is SHA-256 over canonical JSON of the sorted
(view, split, artifact, root). Nothing here ever changes: stored hashes would no longer be reached.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.errors import UsageError
from primabench_core.state.merkle import leaf, leaf_of, merkle_root
from primabench_core.store.canonical import canonical

LEAF_BYTES = 1 << 20
"""Bytes of canonical data in one leaf."""

MISSING_TEXT = b"\xff\xff\xff\xff"
"""What stands for a missing text value."""

_NUMERIC = frozenset(
    {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"}
)


def canonical_json(value: Any) -> bytes:
    """The one spelling of a plain value: sorted keys, no spaces, UTF-8, no NaN.

    Args:
        value: dict with text keys, list, tuple, text, int, finite float, bool or None, nested.

    Raises:
        UsageError: something else is inside.

    Example:
        >>> canonical_json({"b": [1, None], "a": "é"}).decode()
        '{"a":"é","b":[1,null]}'
    """
    _refuse_ambiguous(value, "$")
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8")
    except (ValueError, TypeError) as error:  # NaN, an unknown type, a lone surrogate
        raise UsageError(f"not a value that JSON can hold: {error}") from None


def _refuse_ambiguous(value: Any, place: str) -> None:
    """JSON turns keys into text silently (``{1: …}`` and ``{"1": …}`` would be one), so only text keys pass."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise UsageError(f"{place}: keys must be text, got {key!r}")
            _refuse_ambiguous(item, f"{place}.{key}")
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            _refuse_ambiguous(item, f"{place}[{i}]")


class Tree:
    """Takes canonical bytes in pieces of any size and gives the root over leaves of 2^20 bytes.

    Args:
        pool: Threads that hash leaves (hashing releases the interpreter's lock); None hashes in the caller's.

    Example:
        >>> import numpy as np
        >>> tree = Tree(); tree.push(np.arange(3, dtype="<i8")); tree.root() == leaf(np.arange(3, dtype="<i8"))
        True
    """

    def __init__(self, pool: Executor | None = None) -> None:
        self._pool = pool
        self._open: list[NDArray[Any]] = []
        self._open_bytes = 0
        self._leaves: list[bytes] = []
        self._pending: deque[Future[bytes]] = deque()

    def push(self, piece: NDArray[Any], *, lent: bool = False) -> None:
        """Append numbers: a C-contiguous array, which must not change before :meth:`root`.

        Args:
            piece: The numbers.
            lent: It may change afterwards; only without threads. What does not fill a leaf is copied.
        """
        flat = piece.reshape(-1)
        size = flat.dtype.itemsize
        while len(flat):
            room = (LEAF_BYTES - self._open_bytes) // size
            head, flat = flat[:room], flat[room:]
            self._open.append(head)
            self._open_bytes += len(head) * size
            if self._open_bytes == LEAF_BYTES:
                self._close()
            elif lent and len(head):
                self._open[-1] = head.copy()

    def _close(self) -> None:
        pieces, self._open, self._open_bytes = self._open, [], 0
        if self._pool is None:
            self._leaves.append(_hash_leaf(pieces))
            return
        self._pending.append(self._pool.submit(_hash_leaf, pieces))
        while len(self._pending) > 64:  # at most 64 MiB wait, however long the stream
            self._leaves.append(self._pending.popleft().result())

    def taken(self) -> tuple[list[bytes], list[NDArray[Any]]]:
        """Digests of the leaves that are full, and the numbers behind them; only without threads."""
        return self._leaves, self._open

    def join(self, span: Span) -> None:
        """Append what :func:`span_of` found behind what was pushed so far; only without threads."""
        for piece in span.head:
            self.push(piece)
        self._leaves += span.leaves  # these begin at a border of leaves, so nothing is open here
        for piece in span.tail:
            self.push(piece)

    def root(self) -> bytes:
        """Digest of everything pushed, 32 bytes. Nothing pushed is one empty leaf."""
        if self._open_bytes:
            self._close()
        while self._pending:
            self._leaves.append(self._pending.popleft().result())
        return merkle_root(self._leaves)


def _hash_leaf(pieces: Sequence[NDArray[Any]]) -> bytes:
    return leaf(canonical(pieces[0]).data) if len(pieces) == 1 else leaf_of(canonical(piece).data for piece in pieces)


@frozen
class Span:
    """Consecutive numbers out of the midst of a stream: whole leaves are hashed, what borders on others is kept."""

    head: list[NDArray[Any]]
    """What belongs to a leaf that began before; everything, if no leaf begins here."""
    leaves: list[bytes]
    tail: list[NDArray[Any]]
    """The beginning of a leaf that ends behind."""


def span_of(blocks: Iterable[NDArray[Any]], offset: int) -> Span:
    """Hash a part of a stream for itself.

    Args:
        blocks: Consecutive numbers of one dtype; each may change when the next one is asked for.
        offset: Canonical bytes of the stream before them.
    """
    missing = -offset % LEAF_BYTES
    head: list[NDArray[Any]] = []
    tree = Tree()
    for block in blocks:
        flat = np.ascontiguousarray(block).reshape(-1)
        if missing and len(flat):
            before, flat = np.split(flat, [missing // flat.dtype.itemsize])
            head.append(before.copy())
            missing -= before.nbytes
        tree.push(flat, lent=True)
    return Span(head, *tree.taken())


def numeric_dtype(dtype: np.dtype[Any], name: str = "array") -> str:
    """Name of a dtype that the content hash knows, free of byte order.

    Raises:
        UsageError: complex, dates, structures, objects.
    """
    if dtype.name not in _NUMERIC:
        raise UsageError(
            f"{name}: dtype {dtype.name} cannot be stored; expected one of {', '.join(sorted(_NUMERIC))}, or text",
            remedy=f"convert {name} before it becomes an artifact",
        )
    return dtype.name


def numeric_root(blocks: Iterable[NDArray[Any]], pool: Executor | None = None, *, lent: bool = False) -> bytes:
    """Tree root of numbers that come as consecutive row blocks.

    Args:
        blocks: Arrays of one dtype and one width; any memory order and byte order.
        pool: Threads for the leaves.
        lent: Each block may change when the next one is asked for; only without threads.

    Example:
        >>> import numpy as np
        >>> whole = numeric_root([np.array([0.0, np.nan])])
        >>> whole == numeric_root([np.array([-0.0]), np.array([-np.nan])])
        True
    """
    tree = Tree(pool)
    for block in blocks:
        numeric_dtype(block.dtype)
        tree.push(np.ascontiguousarray(block), lent=lent)
    return tree.root()


def text_bytes(values: Iterable[str | None]) -> bytes:
    """Canonical bytes of text values; None is missing.

    Example:
        >>> text_bytes(["a", None]).hex()
        '0100000061ffffffff'
    """
    parts: list[bytes] = []
    for value in values:
        if value is None:
            parts.append(MISSING_TEXT)
        else:
            data = value.encode("utf-8")
            parts.append(len(data).to_bytes(4, "little"))
            parts.append(data)
    return b"".join(parts)


def text_root(blocks: Iterable[Iterable[str | None]], pool: Executor | None = None) -> bytes:
    """Tree root of text that comes as consecutive blocks; None is a missing value."""
    tree = Tree(pool)
    for block in blocks:
        tree.push(np.frombuffer(text_bytes(block), np.uint8))
    return tree.root()


def canonical_csr(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """One block of CSR rows with sorted indices, duplicates summed and zeros dropped.

    Args:
        data: (nnz,) values.
        indices: (nnz,) columns.
        indptr: (rows + 1,) where rows begin; need not begin at 0.

    Returns:
        Values in their dtype, columns int64, and the number of entries in each row, int64.
    """
    first, last = int(indptr[0]), int(indptr[-1])
    data, columns = data[first:last], indices[first:last].astype(np.int64, copy=False)
    counts = np.diff(indptr).astype(np.int64, copy=False)
    rows = np.repeat(np.arange(len(counts)), counts)
    ordered = (np.diff(columns) > 0) | (np.diff(rows) > 0)
    if not ordered.all():
        order = np.lexsort((columns, rows))  # stable, so that duplicates are summed in stored order everywhere
        data, columns, rows = data[order], columns[order], rows[order]
        first_of_kind = np.ones(len(columns), bool)
        first_of_kind[1:] = (np.diff(columns) != 0) | (np.diff(rows) != 0)
        starts = np.flatnonzero(first_of_kind)
        data, columns, rows = np.add.reduceat(data, starts, dtype=data.dtype), columns[starts], rows[starts]
    keep = data != 0
    if not keep.all():
        data, columns, rows = data[keep], columns[keep], rows[keep]
    return data, columns, np.bincount(rows, minlength=len(counts)).astype(np.int64, copy=False)


CSRBlock = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""Values, columns and row starts of some consecutive rows."""


def csr_root(blocks: Iterable[CSRBlock], pool: Executor | None = None) -> bytes:
    """Tree root of a sparse matrix that comes as consecutive row blocks ``(data, indices, indptr)``."""
    starts, columns, values = Tree(pool), Tree(pool), Tree(pool)
    total = 0
    starts.push(np.zeros(1, np.int64))
    for data, indices, indptr in blocks:
        data, column, counts = canonical_csr(data, indices, indptr)
        starts.push(total + np.cumsum(counts))
        total += len(data)
        columns.push(column)
        values.push(np.ascontiguousarray(data))
    return merkle_root([starts.root(), columns.root(), values.root()])


def ragged_root(blocks: Iterable[tuple[NDArray[Any], NDArray[Any]]], pool: Executor | None = None) -> bytes:
    """Tree root of ragged rows that come as consecutive blocks ``(values, counts)``."""
    lengths, entries = Tree(pool), Tree(pool)
    for values, counts in blocks:
        lengths.push(counts.astype(np.int64, copy=False))
        entries.push(np.ascontiguousarray(values))
    return merkle_root([lengths.root(), entries.root()])


def array_root(name: str, dims: Sequence[str], dtype: str, shape: Sequence[int], tree: bytes) -> bytes:
    """Digest of one named array, 32 bytes.

    Args:
        name: Name of the field, ``ids``, or the name of a coordinate.
        dims: Names of its dimensions.
        dtype: A numeric dtype, ``text``, ``csr:<dtype>``, ``ragged:<dtype>``; bool is ``bool``.
        shape: Its shape; of a ragged array (rows, entries, width).
        tree: Tree root of its canonical bytes.
    """
    described = {"name": name, "dims": list(dims), "dtype": dtype, "shape": [int(n) for n in shape], "root": tree.hex()}
    return sha256(canonical_json(described)).digest()


def artifact_root(arrays: Mapping[str, bytes], attributes: Mapping[str, Any] | None = None) -> bytes:
    """Digest of one artifact, 32 bytes: its array roots and attributes, sorted by name."""
    described = {
        "arrays": {name: root.hex() for name, root in arrays.items()},
        "attributes": dict(attributes or {}),
    }
    return sha256(canonical_json(described)).digest()


def entries_root(entries: Iterable[tuple[str, str, str, bytes]]) -> bytes:
    """Digest of (view, split, artifact, root) entries in any order, 32 bytes."""
    rows = sorted([view, split, artifact, root.hex()] for view, split, artifact, root in entries)
    return sha256(canonical_json(rows)).digest()


def salted_root(salt: bytes, private_root: bytes) -> bytes:
    """What stands for everything private in public: SHA-256(salt + root). Without the salt no guess can be tested."""
    return sha256(salt + private_root).digest()


def dataset_hash(public: Iterable[tuple[str, str, str, bytes]], solution: bytes | None = None) -> str:
    """The content hash of a dataset version.

    Args:
        public: (view, split, artifact, artifact root) of everything anyone may read.
        solution: Salted root of everything private, or None if nothing is.

    Returns:
        64 hexadecimal digits.
    """
    entries = list(public)
    if solution is not None:
        entries.append(("solution", "", "solution", solution))
    return entries_root(entries).hex()


def file_root(path: Path) -> bytes:
    """Digest of a plain file: one uint8 array that is named like it."""
    tree = Tree()
    size = 0
    with path.open("rb") as stream:
        while chunk := stream.read(LEAF_BYTES):
            size += len(chunk)
            tree.push(np.frombuffer(chunk, np.uint8))
    return array_root(path.name, ["byte"], "uint8", [size], tree.root())


def file_sha256(path: Path) -> str:
    """SHA-256 of the bytes of a file, 64 hexadecimal digits."""
    digest = sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(LEAF_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


__all__ = [
    "LEAF_BYTES",
    "Span",
    "Tree",
    "array_root",
    "artifact_root",
    "canonical_csr",
    "canonical_json",
    "csr_root",
    "dataset_hash",
    "entries_root",
    "file_root",
    "file_sha256",
    "leaf",
    "numeric_dtype",
    "numeric_root",
    "ragged_root",
    "salted_root",
    "span_of",
    "text_bytes",
    "text_root",
]
