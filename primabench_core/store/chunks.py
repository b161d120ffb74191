"""Chunks of a remote artifact that are brought when they are read, and kept in the cache.

The store under the zarr array looks here first: at whole objects, then at kept ranges of objects. What is not here
comes from the remote store with range requests. A whole object is compared with its SHA-256; a range cannot be, so the
checksum that every chunk and every shard index carries speaks for it.
"""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path
from typing import Any

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.storage import LocalStore, WrapperStore

from primabench_core.errors import CorruptDataError
from primabench_core.store import cache
from primabench_core.store.address import Address
from primabench_core.store.faults import named
from primabench_core.store.fetching import CACHE_VARIABLE, Wanted
from primabench_core.store.manifest import ArtifactEntry, StoredObject
from primabench_core.store.mirror import Mirror
from primabench_core.store.remote import Remote

WHOLE_BYTES = 1 << 20
"""Objects up to this size are brought whole: a range of them costs as much time."""

_CHECK_EVERY = 64 << 20
"""Bytes of new chunks after which the size limit is looked at."""


def origin_of(split: Path) -> Path | None:
    """The unit of the cache that a split lies in, or None: its store is a local one."""
    # {unit}/{publication}/output/{slug}/v{version}/{task}-p{version}/{split}/data.zarr
    parents = split.absolute().parents
    return parents[6] if len(parents) > 6 and (parents[6] / cache.ORIGIN).is_file() else None


def remote_chunks(unit: Path, artifact: Path, entry: ArtifactEntry) -> Any:
    """The zarr store of an artifact in the cache, which brings what is not here.

    Args:
        unit: What :func:`origin_of` said.
        artifact: Folder of the artifact.
        entry: What the manifest says of it.
    """
    origin = cache.read_origin(unit)
    mirror = Mirror(unit, origin.dataset, Remote(Address.of(origin.store)))
    folder = artifact.absolute().parents[1].name
    wanted = {
        stored.path: item for stored, item in zip(entry.objects, mirror.wanted(folder, [entry], False), strict=True)
    }
    return _ChunkStore(LocalStore(artifact, read_only=True), _Chunks(mirror, wanted, entry.objects))


class _Chunks:
    """Ranges of the objects of one artifact."""

    def __init__(self, mirror: Mirror, wanted: dict[str, Wanted], objects: tuple[StoredObject, ...]) -> None:
        self.mirror, self.wanted = mirror, wanted
        self.sizes = {stored.path: stored.size for stored in objects}
        self._added = 0

    def read(self, key: str, start: int, stop: int) -> bytes:
        """Bytes of an object, from here or from there."""
        item = self.wanted[key]
        if item.size <= WHOLE_BYTES or (start, stop) == (0, item.size):
            self.mirror.bring_objects([item])
            with named("read", item.target, variable=CACHE_VARIABLE):
                return item.target.read_bytes()[start:stop]
        kept = self.mirror.root / cache.CHUNKS / item.sha256[:2] / f"{item.sha256}-{start}-{stop}"
        try:
            found = kept.read_bytes()
        except FileNotFoundError:
            found = b""
        if len(found) == stop - start:
            return found
        found = self.mirror.remote.read(item.path, start, stop)
        self._keep(kept, found)
        return found

    def _keep(self, path: Path, data: bytes) -> None:
        with named("write to the cache", path, variable=CACHE_VARIABLE):
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f".{secrets.token_hex(8)}.part")
            try:
                part.write_bytes(data)
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)
        self._added += len(data)
        if self._added > _CHECK_EVERY:
            self._added = 0
            cache.make_room(0, keep=self.mirror.root)


class _ChunkStore(WrapperStore):  # type: ignore[misc]
    """Looks on the disk, then asks the remote store; a chunk that no manifest names is absent."""

    def __init__(self, store: Any, chunks: _Chunks) -> None:
        super().__init__(store)
        self._chunks = chunks

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        found = await self._store.get(key, prototype, byte_range)
        if found is not None or key not in self._chunks.wanted:
            return found
        start, stop = _range(byte_range, self._chunks.sizes[key])
        data = await asyncio.to_thread(self._chunks.read, key, start, stop)
        return prototype.buffer.from_bytes(data)

    async def get_partial_values(self, prototype: Any, key_ranges: Any) -> Any:
        return [await self.get(key, prototype, byte_range) for key, byte_range in key_ranges]

    async def exists(self, key: str) -> bool:
        return key in self._chunks.wanted or bool(await self._store.exists(key))


def _range(asked: Any, size: int) -> tuple[int, int]:
    if asked is None:
        return 0, size
    if isinstance(asked, RangeByteRequest):
        start, stop = asked.start, asked.end
    elif isinstance(asked, OffsetByteRequest):
        start, stop = asked.offset, size
    elif isinstance(asked, SuffixByteRequest):
        start, stop = max(0, size - asked.suffix), size
    else:
        raise TypeError(f"unknown kind of range {asked!r}")
    if not 0 <= start <= stop <= size:
        raise CorruptDataError(
            f"a shard index points to bytes {start} to {stop} of an object of {size}",
            remedy="that copy is damaged; fetch the dataset again",
        )
    return start, stop
