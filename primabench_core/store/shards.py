"""Reads rows of a sharded array straight from its files, where the array is laid out as :mod:`zarr_io` writes it.

A shard is its chunks one behind another, then an index of (offset, length) for each, with a checksum. Contiguous rows
are then a few positioned reads into the caller's memory; a general reader copies them several times. Every checksum is
compared as zarr does, but for shards that were compared with their SHA-256 when they entered the cache: these are not
checked again. Arrays of any other layout, and shards that are not on this disk, are read by zarr.
"""

from __future__ import annotations

import math
import os
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import google_crc32c
import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from primabench_core.state.threads import allowed

_THREADS = 4
"""Decode at once, where there are processors for them."""
_PIECE_BYTES = 1 << 18
_OPEN = 8
"""Shards that are open at a time."""
_NOTHING = np.iinfo(np.uint64).max
_SEEKING: AbstractContextManager[object] = nullcontext() if hasattr(os, "pread") else Lock()
"""Without positioned reads threads must not move a file's place under each other."""


class ShardAbsentError(Exception):
    """A shard is not on this disk."""


@frozen
class _Layout:
    """What the metadata of an array say, as far as it matters here."""

    folder: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    chunk_rows: int
    shard_rows: int
    compressed: bool
    summed: bool
    """Whether each chunk ends with a checksum."""
    checked: bool
    """Whether that is compared."""

    @property
    def row_bytes(self) -> int:
        return self.dtype.itemsize * math.prod(self.shape[1:])

    @property
    def chunks_in_shard(self) -> int:
        return self.shard_rows // self.chunk_rows


def _layout(array: Any, folder: Path, trusted: bool = False) -> _Layout | None:
    """The layout of a zarr array, or None if it is not the one that is read here."""
    described = array.metadata.to_dict()
    shape, dtype = tuple(int(n) for n in array.shape), np.dtype(array.dtype)
    codecs = [_plain(codec) for codec in described["codecs"]]
    grid, keys = _plain(described["chunk_grid"]), _plain(described["chunk_key_encoding"])
    if not shape or 0 in shape or dtype.kind not in "biuf" or len(codecs) != 1 or codecs[0][0] != "sharding_indexed":
        return None
    if grid[0] != "regular" or keys[0] != "default" or keys[1].get("separator", "/") != "/":
        return None
    sharding = codecs[0][1]
    shard, chunk = tuple(grid[1]["chunk_shape"]), tuple(sharding["chunk_shape"])
    inner = [_plain(codec) for codec in sharding["codecs"]]
    index = [_plain(codec) for codec in sharding["index_codecs"]]
    names = [name for name, _ in inner]
    little = dtype.itemsize == 1 or inner[0][1].get("endian", "little") == "little"
    fits = (
        names in (["bytes"], ["bytes", "crc32c"], ["bytes", "zstd"], ["bytes", "zstd", "crc32c"])
        and [name for name, _ in index] == ["bytes", "crc32c"]
        and index[0][1].get("endian", "little") == "little"
        and str(sharding.get("index_location", "end")).rpartition(".")[2] == "end"
        and shard[1:] == chunk[1:] == shape[1:]
        and shard[0] % chunk[0] == 0
        and little
    )
    if not fits:
        return None
    place = folder / array.path / "c"
    compressed, summed = "zstd" in names, "crc32c" in names
    return _Layout(
        place, shape, dtype.newbyteorder("<"), chunk[0], shard[0], compressed, summed, summed and not trusted
    )


def _plain(described: Any) -> tuple[str, dict[str, Any]]:
    if isinstance(described, str):
        return described, {}
    return str(described["name"]), dict(described.get("configuration") or {})


@frozen
class _Piece:
    """Rows of one chunk that are wanted: ``first`` to ``last`` within it, and where they go."""

    shard: int
    chunk: int
    first: int
    last: int
    at: int


@frozen
class _Stored:
    """Where the compressed bytes of a piece lie."""

    piece: _Piece
    handle: int
    offset: int
    size: int

    def read(self) -> bytes:
        with _SEEKING:
            return _read_bytes(self.handle, self.offset, self.size)


def _close(handles: dict[int, int]) -> None:
    while handles:
        os.close(handles.popitem()[1])


@define
class Rows:
    """Consecutive rows of an open array.

    Args:
        array: The open zarr array.
        folder: Folder of the artifact on this disk, or None.
        trusted: Its shards were compared with their SHA-256 when they came; checksums of chunks are not compared again.
    """

    array: Any
    folder: Path | None
    trusted: bool = False
    _known: _Layout | None = field(default=None, init=False)
    _looked: bool = field(default=False, init=False)
    _indices: dict[int, NDArray[np.uint64]] = field(factory=dict, init=False)
    _last: tuple[int, int, NDArray[Any]] | None = field(default=None, init=False)
    """The chunk that was decoded last: the next batch often begins in it."""

    def read(self, start: int, stop: int, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Rows ``start`` to ``stop``.

        Args:
            start: First row.
            stop: Row behind the last one.
            out: C-contiguous array of that shape and the array's dtype to fill; to reuse one saves a third of the time.

        Raises:
            ValueError: bytes do not decode or fail their checksum.
        """
        handles: dict[int, int] = {}
        try:
            return self._read(start, stop, out, handles)
        finally:
            _close(handles)

    def stream(self, start: int, stop: int, buffer: NDArray[Any]) -> Generator[NDArray[Any]]:
        """Consecutive blocks of rows in one buffer; a shard stays open until its last row was read.

        Args:
            start: First row.
            stop: Row behind the last one.
            buffer: As many rows as a block has; each block is valid until the next one is asked for.

        Raises:
            ValueError: as :meth:`read`.
        """
        handles: dict[int, int] = {}
        try:
            for first in range(start, stop, len(buffer)):
                last = min(first + len(buffer), stop)
                yield self._read(first, last, buffer[: last - first], handles)
        finally:
            _close(handles)

    def _read(self, start: int, stop: int, out: NDArray[Any] | None, handles: dict[int, int]) -> NDArray[Any]:
        target = self._read_straight(start, stop, out, handles)
        if target is None:
            target = self.array[start:stop]
        if out is None or out is target:
            return target
        out[...] = target
        return out

    def _read_straight(
        self, start: int, stop: int, out: NDArray[Any] | None, handles: dict[int, int]
    ) -> NDArray[Any] | None:
        """The rows from their files, in ``out`` where it fits; None where zarr has to read them."""
        layout = self._see()
        if layout is None:
            return None
        fits = out is not None and out.flags.c_contiguous and out.dtype == layout.dtype
        target = out if fits and out is not None else np.empty((stop - start, *layout.shape[1:]), layout.dtype)
        try:
            self._fill(layout, start, stop, target, handles)
        except ShardAbsentError:
            return None
        return target

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return np.dtype(self.array.dtype).itemsize * math.prod(self.array.shape[1:]) or 1

    @property
    def is_raw(self) -> bool:
        """Whether any rows can be read without reading the rest of their chunk."""
        layout = self._see()
        return layout is not None and not layout.compressed and not layout.checked

    def _see(self) -> _Layout | None:
        if not self._looked:
            self._known = None if self.folder is None else _layout(self.array, self.folder, self.trusted)
            self._looked = True
        return self._known

    def _fill(self, layout: _Layout, start: int, stop: int, out: NDArray[Any], handles: dict[int, int]) -> None:
        """Fill ``out``; shards that are opened for it stay in ``handles``, at most eight."""
        if out.shape != (stop - start, *layout.shape[1:]):
            raise IndexError(f"out has shape {out.shape}, expected {(stop - start, *layout.shape[1:])}")
        pending: list[_Stored] = []
        for piece in _pieces(layout, start, stop):
            if piece.shard not in handles:
                if len(handles) == _OPEN:  # so that neither open files nor compressed bytes pile up
                    self._decode_all(layout, pending, out)
                    pending.clear()
                    _close(handles)
                handles[piece.shard] = self._open(layout, piece.shard)
            self._one(layout, handles[piece.shard], piece, out, pending)
        self._decode_all(layout, pending, out)

    def _open(self, layout: _Layout, shard: int) -> int:
        path = layout.folder.joinpath(str(shard), *["0"] * (len(layout.shape) - 1))
        try:
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        except FileNotFoundError:
            raise ShardAbsentError from None
        if shard not in self._indices:
            try:
                self._indices[shard] = _read_index(handle, layout.chunks_in_shard)
            except BaseException:
                os.close(handle)
                raise
        return handle

    def _one(self, layout: _Layout, handle: int, piece: _Piece, out: NDArray[Any], pending: list[_Stored]) -> None:
        rows = piece.last - piece.first
        last = self._last
        if last is not None and last[:2] == (piece.shard, piece.chunk):
            out[piece.at : piece.at + rows] = last[2][piece.first : piece.last]
            return
        offset, size = (int(n) for n in self._indices[piece.shard][piece.chunk])
        if offset == _NOTHING:
            raise ValueError("a chunk is missing from its shard")
        if layout.compressed:
            pending.append(_Stored(piece, handle, offset, size))
            return
        expected = layout.chunk_rows * layout.row_bytes + 4 * layout.summed
        if size != expected:
            raise ValueError(f"a chunk has {size} bytes, expected {expected}")
        whole = rows == layout.chunk_rows
        if whole or not layout.checked:
            _read_into(handle, offset + piece.first * layout.row_bytes, out[piece.at : piece.at + rows], layout.checked)
            return
        chunk = np.empty((layout.chunk_rows, *layout.shape[1:]), layout.dtype)
        _read_into(handle, offset, chunk, layout.checked)
        out[piece.at : piece.at + rows] = chunk[piece.first : piece.last]
        self._last = (piece.shard, piece.chunk, chunk)

    def _decode_all(self, layout: _Layout, pending: list[_Stored], out: NDArray[Any]) -> None:
        def decode(item: _Stored) -> None:
            piece, data = item.piece, item.read()
            rows = piece.last - piece.first
            if rows == layout.chunk_rows:
                _decode(data, out[piece.at : piece.at + rows], layout)
                return
            chunk = np.empty((layout.chunk_rows, *layout.shape[1:]), layout.dtype)
            _decode(data, chunk, layout)
            out[piece.at : piece.at + rows] = chunk[piece.first : piece.last]
            self._last = (piece.shard, piece.chunk, chunk)

        worth = len(pending) > 1 and layout.chunk_rows * layout.row_bytes >= 1 << 18
        if worth and allowed(_THREADS) > 1:
            list(_pool(os.getpid()).map(decode, pending))
        else:
            for item in pending:
                decode(item)


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Threads that decode; a forked child makes its own."""
    return ThreadPoolExecutor(allowed(_THREADS), thread_name_prefix="primabench-decode")


def _pieces(layout: _Layout, start: int, stop: int) -> Iterator[_Piece]:
    row = start
    while row < stop:
        number = row // layout.chunk_rows
        first = row - number * layout.chunk_rows
        last = min(layout.chunk_rows, stop - number * layout.chunk_rows)
        shard, chunk = divmod(number, layout.chunks_in_shard)
        yield _Piece(shard, chunk, first, last, row - start)
        row += last - first


def _read_index(handle: int, chunks: int) -> NDArray[np.uint64]:
    length = 16 * chunks + 4
    size = os.fstat(handle).st_size
    if size < length:
        raise ValueError(f"a shard has {size} bytes, its index alone has {length}")
    data = _read_bytes(handle, size - length, length)
    if google_crc32c.value(data[:-4]) != int.from_bytes(data[-4:], "little"):
        raise ValueError("the index of a shard fails its checksum")
    index = np.frombuffer(data[:-4], "<u8").reshape(chunks, 2)
    used = index[index[:, 0] != _NOTHING]
    if len(used) and (used > size).any():
        raise ValueError("the index of a shard points behind its end")
    return index


if hasattr(os, "preadv"):

    def _read_into(handle: int, offset: int, out: NDArray[Any], checked: bool) -> None:
        """Fill an array from a file; with a checksum in pieces, each of which is summed while it is in the cache."""
        flat = out.reshape(-1).view(np.uint8)
        step, total = (_PIECE_BYTES if checked else len(flat)) or 1, 0
        for start in range(0, len(flat), step):
            piece = flat[start : start + step]
            done = 0
            while done < len(piece):
                got = os.preadv(handle, [piece[done:].data], offset + start + done)
                if not got:
                    raise ValueError("a shard ends within a chunk")
                done += got
            if checked:
                total = google_crc32c.extend(total, piece)
        if checked and total.to_bytes(4, "little") != _read_bytes(handle, offset + len(flat), 4):
            raise ValueError("a chunk fails its checksum")

    def _read_bytes(handle: int, offset: int, size: int) -> bytes:
        parts, done = [], 0
        while done < size:
            part = os.pread(handle, size - done, offset + done)
            if not part:
                raise ValueError("a shard ends within a chunk")
            parts.append(part)
            done += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)
else:  # Windows has no positioned reads

    def _read_into(handle: int, offset: int, out: NDArray[Any], checked: bool) -> None:
        flat = out.reshape(-1).view(np.uint8)
        data = _read_bytes(handle, offset, len(flat) + 4 * checked)
        body = data[: len(flat)]
        if checked and google_crc32c.value(body) != int.from_bytes(data[-4:], "little"):
            raise ValueError("a chunk fails its checksum")
        flat[:] = np.frombuffer(body, np.uint8)

    def _read_bytes(handle: int, offset: int, size: int) -> bytes:
        os.lseek(handle, offset, os.SEEK_SET)
        parts, done = [], 0
        while done < size:
            part = os.read(handle, size - done)
            if not part:
                raise ValueError("a shard ends within a chunk")
            parts.append(part)
            done += len(part)
        return b"".join(parts)


def _decode(data: bytes, out: NDArray[Any], layout: _Layout) -> None:
    from numcodecs.zstd import decompress

    if layout.summed:
        view = np.frombuffer(data, np.uint8)
        fails = layout.checked and google_crc32c.value(view[:-4]) != int.from_bytes(data[-4:], "little")
        if len(view) < 4 or fails:
            raise ValueError("a chunk fails its checksum")
        data = view[:-4]  # type: ignore[assignment]  # any buffer will do
    decompress(data, out.reshape(-1).view(np.uint8))
