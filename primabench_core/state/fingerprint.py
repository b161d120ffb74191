"""SHA-256 of predictions and truths: canonical content in canonical order, whatever the path that brought it there.

A fingerprint is SHA-256 over canonical JSON of the number of rows, a digest of their ids, and for every field, sorted
by name, its kind, width and tree root. Rows are taken in canonical order in blocks of 65,536; each block is one leaf
of a hash tree (:mod:`primabench_core.state.merkle`). Content is made canonical first, so that neither sharding nor
dtype, device or unused classes enter:

========== ==========================================================================================================
reals      little-endian float64; -0.0 is 0.0, any NaN is one quiet NaN
labels     int64, or per label its length in bytes as uint32, then UTF-8; without a label (code -1): the smallest
           integer, or the length 0xFFFFFFFF and no bytes
text       as labels that are text
ragged     per block the entries of each row as int64, then all entries as float64
========== ==========================================================================================================

Rows of more than 256 bytes (32 numbers) go in by the SHA-256 of each row: the leaf is over these digests. A row's
digest can then be taken where the row is, and the row itself forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.contract.ragged import Ragged
from primabench_core.contract.sparse_rows import dense_of
from primabench_core.state.merkle import leaf_of, merkle_root
from primabench_core.state.rows import Column, Labels
from primabench_core.state.threads import allowed

if TYPE_CHECKING:
    from typing_extensions import Buffer

VERSION = 1
"""Of the definition above; part of the header."""

_BLOCK = 65_536
_NARROW = 256
"""Bytes of a row, as float64, up to which rows are hashed in blocks as they are."""
_PIECE = 65_536
"""Numbers made canonical at once: they stay in cache until they are hashed."""
_THREADS, _APART, _LARGE = 4, 4_096, 1 << 26
"""Most threads that hash rows, bytes of a row from which they do not wait for each other, bytes that are worth them."""
_MISSING_TEXT, _MISSING_INTEGER = b"\xff\xff\xff\xff", -(1 << 63)
_QUIET_NAN = np.array([0x7FF8000000000000], np.uint64).view(np.float64)[0]

Positions = NDArray[np.int64]


@frozen(eq=False)
class RowDigests:
    """A wide field of which only the digest of each row was kept."""

    digests: NDArray[np.uint64]
    """(n, 4): the SHA-256 of each row, as :func:`row_digests` gives them."""
    width: int
    """Numbers of a row."""


def is_wide(width: int) -> bool:
    """Whether rows of so many numbers enter a fingerprint by their digests."""
    return 8 * width > _NARROW


def row_digests(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """SHA-256 of each row in canonical form, as a fingerprint takes them.

    Args:
        rows: (k, m) float32 or float64.

    Returns:
        (k, 4) uint64, the bytes of the digests in their order.
    """
    raw = b"".join(_row_digests(rows, 8 * rows.shape[1]))
    return np.frombuffer(raw, np.uint64).reshape(len(rows), 4)


def ids_digest(ids: Sequence[str] | None, n: int) -> str:
    """Digest of the rows' ids in canonical order, as hex; of row numbers, in constant time, if there are none.

    Args:
        ids: Text, or None where rows are numbered.
        n: Rows.

    Example:
        >>> ids_digest(None, 3)
        'rows:3'
    """
    if ids is None:
        return f"rows:{n}"
    digest = sha256()
    for start in range(0, n, _BLOCK):
        digest.update(_as_text_bytes(list(ids[start : start + _BLOCK])))
    return digest.hexdigest()


def fingerprint(
    ids: Sequence[str] | None,
    columns: Mapping[str, Column | RowDigests],
    *,
    n: int,
    salt: bytes | None = None,
    seen: Positions | None = None,
    ids_sha: str | None = None,
    coords: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Fingerprint of fields in canonical order.

    Args:
        ids: (n,) text, or None where rows are numbered.
        columns: Each field over all n rows: Labels, Ragged, text as objects, or (n,) / (n, w) reals.
        n: Rows of the whole.
        salt: Hashed before the content, so that a private truth cannot be guessed from its fingerprint.
        seen: Ascending positions of the rows that exist, None for all n. What the others hold does not matter.
        ids_sha: :func:`ids_digest` of the ids, if it is known already.
        coords: Names along columns that belong to the content.

    Returns:
        64 hexadecimal digits.

    Example:
        >>> import numpy as np
        >>> x = np.array([0.5, -0.0], np.float32)
        >>> fingerprint(None, {"x": x}, n=2) == fingerprint(None, {"x": x.astype(np.float64) + 0.0}, n=2)
        True
    """
    if seen is not None and len(seen) == n:
        seen = None
    header: dict[str, Any] = {
        "version": VERSION,
        "n": int(n),
        "ids": ids_sha or ids_digest(ids, n),
        "fields": [_describe(name, columns[name], seen) for name in sorted(columns)],
    }
    if seen is not None:
        header["seen"] = _root([seen.astype("<i8").data])
    if coords:
        header["coords"] = {name: ids_digest(names, len(names)) for name, names in coords.items()}
    text = json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256((salt or b"") + text.encode()).hexdigest()


def _describe(name: str, column: Column | RowDigests, seen: Positions | None) -> dict[str, Any]:
    """Name, kind, width and root of one field."""
    if isinstance(column, RowDigests):
        kind, width = "float64", [column.width]
        leaves: Iterator[bytes] = (leaf_of([np.ascontiguousarray(b).data]) for b in _blocks(column.digests, seen))
    elif isinstance(column, Labels):
        kind, width = "text" if any(isinstance(c, str) for c in column.classes) else "int64", []
        leaves = _label_leaves(column, seen)
    elif isinstance(column, Ragged):
        kind, width = "ragged", [*column.values.shape[1:]] if len(column.values) else []
        leaves = _ragged_leaves(column, seen)
    elif column.dtype.kind in "OU":
        kind, width = "text", []
        leaves = (leaf_of([_as_text_bytes(b.tolist())]) for b in _blocks(column, seen))
    elif column.dtype.kind in "iu":
        kind, width = "int64", []
        leaves = (leaf_of([np.ascontiguousarray(b, "<i8").data]) for b in _blocks(column, seen))
    else:
        kind, width = "float64", [*column.shape[1:]]
        leaves = _real_leaves(column, seen)
    return {"name": name, "kind": kind, "width": width, "root": merkle_root(list(leaves)).hex()}


def _blocks(column: Any, seen: Positions | None) -> Iterator[Any]:
    total = len(column) if seen is None else len(seen)
    for start in range(0, total, _BLOCK):
        yield column[start : start + _BLOCK] if seen is None else column[seen[start : start + _BLOCK]]


def _label_leaves(column: Labels, seen: Positions | None) -> Iterator[bytes]:
    if any(isinstance(c, str) for c in column.classes):
        encoded = np.empty(len(column.classes) + 1, object)  # the last entry is where code -1, no label, points
        encoded[:] = [*(_as_text_bytes([str(c)]) for c in column.classes), _MISSING_TEXT]
        for codes in _blocks(column.codes, seen):
            yield leaf_of([b"".join(encoded[codes].tolist())])
        return
    values = np.array([*column.classes, _MISSING_INTEGER], "<i8")
    plain = bool((values[:-1] == np.arange(len(values) - 1)).all())
    for codes in _blocks(column.codes, seen):
        plainly = plain and codes.min(initial=0) >= 0
        yield leaf_of([np.ascontiguousarray(codes if plainly else values[codes], "<i8").data])


def _ragged_leaves(column: Ragged, seen: Positions | None) -> Iterator[bytes]:
    total = len(column) if seen is None else len(seen)
    for start in range(0, total, _BLOCK):
        rows = np.arange(start, min(total, start + _BLOCK)) if seen is None else seen[start : start + _BLOCK]
        part = column.take(rows)
        yield leaf_of([np.ascontiguousarray(part.counts, "<i8").data, *_canonical(part.values)])


def _real_leaves(column: NDArray[Any], seen: Positions | None) -> Iterator[bytes]:
    row_bytes = 8 * int(np.prod(column.shape[1:]))
    for block in _blocks(column, seen):
        yield leaf_of(_canonical(block) if row_bytes <= _NARROW else _row_digests(block, row_bytes))


def _canonical(block: NDArray[Any]) -> Iterator[Buffer]:
    """A block of reals as canonical bytes, through one reused buffer."""
    width = int(np.prod(block.shape[1:]))
    rows = max(1, _PIECE // max(1, width))
    buffer = np.empty((min(rows, len(block)), *block.shape[1:]), "<f8")
    for start in range(0, len(block), rows):
        part = dense_of(block[start : start + rows])
        piece = buffer[: len(part)]
        np.add(part, 0.0, out=piece)  # widens, and turns -0.0 into 0.0
        if piece.size and np.isnan(piece.max()):
            piece[np.isnan(piece)] = _QUIET_NAN
        yield piece.data if piece.size else b""


def _row_digests(block: NDArray[Any], row_bytes: int) -> Iterator[bytes]:
    threads = allowed(_THREADS) if row_bytes >= _APART and len(block) * row_bytes >= _LARGE else 1
    if threads == 1:
        yield from _digests_of(block, row_bytes)
        return
    from concurrent.futures import ThreadPoolExecutor

    step = max(1, -(-len(block) // (4 * threads)))
    parts = (block[start : start + step] for start in range(0, len(block), step))
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(lambda part: b"".join(_digests_of(part, row_bytes)), parts)


def _digests_of(block: NDArray[Any], row_bytes: int) -> Iterator[bytes]:
    for piece in _canonical(block):
        raw = memoryview(piece).cast("B")
        rows = [sha256(raw[start : start + row_bytes]).digest() for start in range(0, len(raw), row_bytes)]
        yield b"".join(rows)  # one update of the leaf a piece, not one a row


def _as_text_bytes(texts: list[str] | list[str | None]) -> bytes:
    """Length as uint32, then UTF-8, one after the other; a missing text is a length that no text has."""
    encoded = [b"" if text is None else text.encode() for text in texts]
    lengths = np.fromiter(map(len, encoded), "<u4", len(encoded)).tobytes()
    parts: list[bytes] = [b""] * (2 * len(encoded))
    parts[::2] = [lengths[i : i + 4] for i in range(0, len(lengths), 4)]
    parts[1::2] = encoded
    if None in texts:
        for i in [i for i, text in enumerate(texts) if text is None]:
            parts[2 * i] = _MISSING_TEXT
    return b"".join(parts)


def _root(parts: list[Buffer]) -> str:
    return merkle_root([leaf_of(parts)]).hex()
