"""EvalData as Zarr v3: sharded, zstd with a checksum on every chunk, consolidated metadata, chunks along rows.

One artifact is one group. Its children are ``ids`` (text), the coordinates (text), and the fields:

======== ===================================================================================================
numeric  an array
text     ``string-array``; ``categorical`` (codes, sorted categories, -1 = missing) where values repeat or miss
sparse   ``csr_matrix`` of AnnData: data, indices, indptr, attribute ``shape``; canonical (sorted, no zeros)
ragged   ``ragged``: values, and counts with the CF attribute ``sample_dimension``
======== ===================================================================================================

The same data give the same bytes: nothing of the machine or the time is stored.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.codecs import Crc32cCodec, ZstdCodec
from zarr.storage import WrapperStore

from primabench_core.contract.evaldata import EvalData
from primabench_core.errors import CorruptDataError, MissingDataError
from primabench_core.store.columns import Column
from primabench_core.store.content import columns_of
from primabench_core.store.faults import PRIVATE
from primabench_core.store.hashing import canonical_csr
from primabench_core.store.lazy import LazyArray, LazyCSR, LazyRagged, LazyText, read
from primabench_core.store.quiet import local_store
from primabench_core.store.stored import StoredData

FORMAT = 1
CHUNK_BYTES = 4 << 20
SHARD_BYTES = 64 << 20

_ENCODING = {
    "numeric": ("array", "0.2.0"),
    "string": ("string-array", "0.2.0"),
    "categorical": ("categorical", "0.2.0"),
    "sparse": ("csr_matrix", "0.1.0"),
    "ragged": ("ragged", "1"),
}


class _Guarded(WrapperStore):  # type: ignore[misc]
    """A store in which an absent or empty chunk is an error; zarr would read it as fill values, that is, as zeros."""

    def __init__(self, store: Any, place: str) -> None:
        super().__init__(store)
        self._place = place

    def __str__(self) -> str:
        return self._place  # zarr logs it

    def __repr__(self) -> str:
        return f"<store of {self._place}>"

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        found = await self._store.get(key, prototype, byte_range)
        gone = found is None or not len(found)
        if gone and not key.endswith("zarr.json") and "/c/" in f"/{key}/":
            shown = "" if self._place == PRIVATE else f" {key}"
            raise CorruptDataError(
                f"{self._place}: a chunk{shown} is missing from the store or empty",
                remedy="primabench verify --dataset NAME names what is damaged; then build or fetch the dataset again",
            )
        return found


def write(
    data: EvalData,
    path: Path,
    *,
    attributes: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    chunk_bytes: int = CHUNK_BYTES,
    shard_bytes: int = SHARD_BYTES,
    compress: bool = True,
    checksum: bool = True,
    private: bool = False,
) -> None:
    """Write one artifact.

    Args:
        data: What to write; lazily opened fields are copied block by block.
        path: Folder that must not exist yet.
        attributes: Plain values stored beside the data.
        columns: Coordinate that names the columns of a two-dimensional field.
        chunk_bytes: Size of the unit of reading.
        shard_bytes: Size of a file, before compression.
        compress: Whether chunks are compressed with zstd.
        checksum: Whether each chunk carries a checksum, which finds damage when it is read. Without one and without
            compression reading is fastest, and only verification finds damage.
        private: It holds answers: no log says where it lies.

    Raises:
        UsageError: a field has a dtype or shape that cannot be stored.
        StoreError: the disk refuses.
    """
    parts = columns_of(data, columns)
    codecs = (*([ZstdCodec(level=3)] if compress else []), *([Crc32cCodec()] if checksum else []))
    with zarr.config.set({"array.write_empty_chunks": True}):
        group = zarr.create_group(
            store=local_store(path, private=private),
            zarr_format=3,
            attributes={
                "primabench": FORMAT,
                "n": data.n,
                "ids": data.ids is not None,
                "fields": [c.name for c in parts if c.name in data.fields],
                "coords": [c.name for c in parts if c.name in data.coords],
                "attributes": dict(attributes or {}),
                "columns": dict(columns or {}),
            },
        )
        for part in parts:
            _WRITERS[part.kind](_Target(group, chunk_bytes, shard_bytes, codecs), part)
    with _without_notice():
        zarr.consolidate_metadata(group.store)


@contextmanager
def _without_notice() -> Iterator[None]:
    """Consolidated metadata of Zarr v3 is an extension that every reader we know understands; zarr warns each time."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Consolidated metadata is currently not part")
        yield


class _Target:
    """Where arrays are created, with the sizes of chunks and shards."""

    def __init__(self, group: Any, chunk_bytes: int, shard_bytes: int, codecs: tuple[Any, ...]) -> None:
        self.group, self.chunk_bytes, self.shard_bytes, self.codecs = group, chunk_bytes, shard_bytes, codecs

    def child(self, name: str, encoding: str, **attributes: Any) -> _Target:
        kind, version = _ENCODING[encoding]
        described = {"encoding-type": kind, "encoding-version": version, **attributes}
        inner = self.group.create_group(name, attributes=described)
        return _Target(inner, self.chunk_bytes, self.shard_bytes, self.codecs)

    def array(
        self, name: str, shape: tuple[int, ...], dtype: str, dims: tuple[str, ...], **attributes: Any
    ) -> _Appender:
        """Create a sharded array and give what fills it row after row."""
        width = max(1, int(np.prod(shape[1:])))
        row = width * (32 if dtype == "str" else np.dtype(dtype).itemsize)
        rows = max(1, min(shape[0], self.chunk_bytes // row))
        chunks_in_shard = max(1, min(-(-shape[0] // rows), self.shard_bytes // (rows * row)))
        rest = tuple(max(1, size) for size in shape[1:])
        array = self.group.create_array(
            name,
            shape=shape,
            dtype=dtype,
            chunks=(rows, *rest),
            shards=(rows * chunks_in_shard, *rest),
            compressors=self.codecs or None,
            fill_value="" if dtype == "str" else 0,
            dimension_names=dims,
            attributes=attributes,
        )
        return _Appender(array, rows * chunks_in_shard)


class _Appender:
    """Fills an array with consecutive blocks; each shard is written once, when it is complete."""

    def __init__(self, array: Any, shard: int) -> None:
        self._array, self._shard = array, shard
        self._parts: list[NDArray[Any]] = []
        self._held, self._done = 0, 0

    def add(self, block: NDArray[Any]) -> None:
        while len(block):
            room = self._shard - self._held
            head, block = block[:room], block[room:]
            self._parts.append(head)
            self._held += len(head)
            if self._held == self._shard:
                self.close()

    def close(self) -> None:
        if self._held:
            whole = self._parts[0] if len(self._parts) == 1 else np.concatenate(self._parts)
            self._array[self._done : self._done + self._held] = whole
            self._done += self._held
            self._parts, self._held = [], 0


def _write_numeric(target: _Target, part: Column) -> None:
    kind, version = _ENCODING["numeric"]
    described = {"encoding-type": kind, "encoding-version": version}
    appender = target.array(part.name, part.shape, part.dtype, part.dims, **described)
    for block in part.blocks():
        appender.add(np.asarray(block))
    appender.close()


def _write_text(target: _Target, part: Column) -> None:
    values = [value for block in part.blocks() for value in block]
    words = sorted({value for value in values if value is not None})
    if None in values or (part.name != "ids" and len(words) <= len(values) // 2):
        _write_categorical(target, part, values, words)
        return
    kind, version = _ENCODING["string"]
    described = {"encoding-type": kind, "encoding-version": version}
    appender = target.array(part.name, part.shape, "str", part.dims, **described)
    appender.add(np.array(values, dtype=object))
    appender.close()


def _write_categorical(target: _Target, part: Column, values: list[Any], words: list[str]) -> None:
    group = target.child(part.name, "categorical", ordered=False)
    code = {word: i for i, word in enumerate(words)} | {None: -1}
    dtype = next(kind for kind in ("int8", "int16", "int32", "int64") if len(words) <= np.iinfo(kind).max)
    codes = group.array("codes", part.shape, dtype, part.dims)
    codes.add(np.fromiter((code[value] for value in values), dtype, len(values)))
    codes.close()
    categories = group.array("categories", (len(words),), "str", (f"{part.name}_category",))
    categories.add(np.array(words, dtype=object))
    categories.close()


def _write_sparse(target: _Target, part: Column) -> None:
    total = sum(int(canonical_csr(*block)[2].sum()) for block in part.blocks())
    group = target.child(part.name, "sparse", shape=list(part.shape))
    entry = (f"{part.name}_entry",)
    data = group.array("data", (total,), part.dtype, entry)
    narrow = next(kind for kind in ("uint16", "int32", "int64") if part.shape[1] <= np.iinfo(kind).max)
    indices = group.array("indices", (total,), narrow, entry)
    indptr = group.array("indptr", (part.n + 1,), "int64", (f"{part.name}_start",))
    indptr.add(np.zeros(1, np.int64))
    before = 0
    for block in part.blocks():
        values, columns, counts = canonical_csr(*block)
        data.add(values)
        indices.add(columns.astype(narrow))
        indptr.add(before + np.cumsum(counts))
        before += len(values)
    for appender in (data, indices, indptr):
        appender.close()


def _write_ragged(target: _Target, part: Column) -> None:
    n, total, width = part.shape
    group = target.child(part.name, "ragged")
    values = group.array("values", (total, width), part.dtype, part.dims[1:])
    counts = group.array("counts", (n,), "int64", part.dims[:1], sample_dimension=part.dims[1])
    for block in part.blocks():
        values.add(block.values)
        counts.add(block.counts)
    values.close()
    counts.close()


_WRITERS: dict[str, Callable[[_Target, Column], None]] = {
    "numeric": _write_numeric,
    "text": _write_text,
    "sparse": _write_sparse,
    "ragged": _write_ragged,
}


def open_lazy(
    path: Path, *, private: bool = False, chunks: Any = None, place: str = "", trusted: bool = False
) -> EvalData:
    """Open an artifact: consolidated metadata are read now, values when they are sliced.

    Args:
        path: Folder of the artifact.
        private: It holds answers: no error says where it lies.
        chunks: A zarr store to read from in place of the folder, such as one that brings what is not there.
        place: Address of such a store, for messages; then there need not be a folder.
        trusted: Whole objects in the folder were compared with their SHA-256 when they came, as those of the cache;
            checksums of their chunks are not compared again.

    Returns:
        An EvalData whose fields, ids and coordinates stay in the store until they are used.

    Raises:
        MissingDataError: nothing is there.
        CorruptDataError: metadata are damaged.
        StoreError: the disk does not give them.
    """
    remote = bool(place)
    place = PRIVATE if private else place or str(path)
    if not remote and not path.is_dir():
        raise MissingDataError(f"there is no stored data at {place}", remedy="primabench list datasets")

    def load() -> EvalData:
        store = _Guarded(local_store(path, private=private, read_only=True) if chunks is None else chunks, place)
        group = zarr.open_group(store, mode="r", zarr_format=3, use_consolidated=True)
        if group.attrs.get("primabench") != FORMAT:
            raise ValueError("not an artifact of this version of the store")
        children = {name: _open_child(group, name, place, private, None if remote else path, trusted) for name in group}
        ids = children["ids"] if group.attrs["ids"] else None
        fields = {str(name): children[str(name)] for name in group.attrs["fields"]}
        coords = {str(name): children[str(name)] for name in group.attrs["coords"]}
        return StoredData(fields, ids, coords, int(group.attrs["n"]))

    return read(place, private, "metadata", load)


def stored_attributes(path: Path, *, private: bool = False) -> tuple[dict[str, Any], dict[str, str]]:
    """Attributes of a stored artifact, and the coordinate of each two-dimensional field.

    Raises:
        CorruptDataError: metadata are damaged.
    """
    place = PRIVATE if private else str(path)

    def load() -> tuple[dict[str, Any], dict[str, str]]:
        store = local_store(path, private=private, read_only=True)
        group = zarr.open_group(store, mode="r", zarr_format=3, use_consolidated=True)
        return dict(group.attrs["attributes"]), dict(group.attrs["columns"])

    return read(place, private, "metadata", load)


def _open_child(group: Any, name: str, place: str, private: bool, folder: Path | None, trusted: bool) -> Any:
    node = group[name]
    encoding = node.attrs["encoding-type"]
    if encoding == "array":
        return LazyArray(node, name, place, private, folder, trusted)
    if encoding == "string-array":
        return LazyText(node, None, name, place, private)
    if encoding == "categorical":
        return LazyText(node["codes"], node["categories"], name, place, private, folder, trusted)
    if encoding == "csr_matrix":
        return LazyCSR(node, name, place, private, folder, trusted)
    if encoding == "ragged":
        return LazyRagged(node, name, place, private, folder, trusted)
    raise ValueError(f"{name}: unknown encoding {encoding!r}")
