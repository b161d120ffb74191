"""Predictions that are opened where they are folded: local files, Zarr stores whose ids stay unread, and URLs.

A Zarr store behind a URL is read in ranges, so that a worker brings only the rows that it folds; any other file there
is brought whole. Credentials are those of stores (``PRIMABENCH_S3_KEY_ID`` …), in the process that reads.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import zarr
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest

from primabench_core.contract.contract import Contract
from primabench_core.contract.evaldata import EvalData
from primabench_core.errors import MissingDataError, UsageError
from primabench_core.store.address import Address
from primabench_core.store.ignoring import keep_fields, leave_out
from primabench_core.store.lazy import read
from primabench_core.store.prediction_files import SUFFIXES, read_predictions
from primabench_core.store.prediction_files import _checked_mapping as checked_mapping
from primabench_core.store.prediction_files import _rename as rename
from primabench_core.store.remote import Remote
from primabench_core.store.stored import StoredData
from primabench_core.store.zarr_io import open_lazy


def is_remote(place: str) -> bool:
    """Whether a place is the URL of another machine."""
    return "://" in place and not Address.of(place).is_local


def open_predictions(
    place: str, contract: Contract, mapping: Mapping[str, str] | None = None, ignore: Sequence[str] = ()
) -> EvalData:
    """As :func:`~primabench_core.store.prediction_files.read_predictions`, for URLs too; what can stay unread does.

    Args:
        place: Path, or ``gs://``, ``s3://``, ``https://`` URL.
        contract: Fields of the prediction.
        mapping: Column of the file by field.
        ignore: Columns to leave out, ``"*"``: all that are neither ids nor a field.

    Raises:
        MissingDataError: nothing is there.
        CorruptDataError: bytes that are not what the suffix says.
        StoreError: it cannot be read.
        UsageError: a suffix that is not read, or a layout that cannot be read behind a URL.

    Example:
        >>> open_predictions("gs://bucket/model.zarr", contract).n  # doctest: +SKIP
        10000000
    """
    names = dict(mapping or {})
    if is_remote(place):
        return _open_remote(place, contract, names, ignore)
    path = Path(place.removeprefix("file://"))
    if path.suffix.lower() == ".zarr" and path.is_dir() and "ids" not in names and _is_ours(path):
        return _renamed(open_lazy(path), path, contract, names, ignore)
    return read_predictions(path, contract, names, ignore=ignore)


def describe(place: str) -> dict[str, Any]:
    """What tells stored predictions from others, without reading their rows; for the key of a job.

    The hash of a ``manifest.json``, else the listing of the objects: their names, sizes, and times or tags.
    """
    if is_remote(place):
        return _describe_remote(place)
    path = Path(place.removeprefix("file://"))
    manifest = path / "manifest.json"
    if manifest.is_file():
        return {"manifest": sha256(manifest.read_bytes()).hexdigest()}
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path] if path.is_file() else []
    found = []
    for file in files:
        about = file.stat()
        found.append([file.relative_to(path).as_posix(), about.st_size, about.st_mtime_ns])
    return {"place": str(path.absolute()), "objects": found}


def _describe_remote(place: str) -> dict[str, Any]:
    remote = Remote(Address.of(place))
    if Path(place).suffix.lower() == ".zarr":
        try:
            return {"manifest": sha256(remote.read("manifest.json")).hexdigest()}
        except MissingDataError:
            pass
    from primabench_core.store.attempts import attempt

    listed = attempt("list", place, lambda: remote._filesystem().find(remote.address.url, detail=True))
    tags = ("size", "ETag", "etag", "md5Hash", "generation", "mtime", "updated", "LastModified")
    return {"place": place, "objects": sorted([n, *(str(i.get(t, "")) for t in tags)] for n, i in listed.items())}


def _is_ours(path: Path) -> bool:
    return "primabench" in read(str(path), False, "metadata", lambda: dict(zarr.open_group(path, mode="r").attrs))


def _renamed(
    data: EvalData, path: Path, contract: Contract, mapping: dict[str, str], ignore: Sequence[str]
) -> EvalData:
    """Fields under the names of the contract; nothing is read for that."""
    columns = checked_mapping(mapping, contract)
    if not columns and not ignore:
        return data
    assert isinstance(data, StoredData)
    fields = rename(leave_out(data.fields, ignore, columns, path), contract, columns, path)
    return StoredData(keep_fields(fields, ignore, contract), data._open_ids, data._open_coords, data.n)


def _open_remote(place: str, contract: Contract, mapping: dict[str, str], ignore: Sequence[str]) -> EvalData:
    name = Path(place).name
    suffix = Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"{name!r} is no prediction file; known suffixes: {', '.join(SUFFIXES)}", remedy="convert it")
    if suffix == ".zarr":
        remote = Remote(Address.of(place))
        remote.read("zarr.json")  # says what is wrong with the address before zarr looks for other layouts
        data = open_lazy(Path(name), chunks=RemoteChunks(remote), place=place)
        return _renamed(data, Path(name), contract, mapping, ignore)
    parent, _, file = place.rpartition("/")
    with tempfile.TemporaryDirectory() as folder:
        local = Path(folder, file)
        local.write_bytes(Remote(Address.of(parent)).read(file))
        return read_predictions(local, contract, mapping, ignore=ignore).load()


class RemoteChunks(Store):  # type: ignore[misc]
    """A Zarr store behind a URL, for reading: objects and ranges of them; consolidated metadata are needed.

    Args:
        remote: Where the store's root is.
    """

    supports_writes = supports_deletes = False
    supports_partial_writes = False
    supports_listing = False

    def __init__(self, remote: Remote) -> None:
        super().__init__(read_only=True)
        self._remote = remote

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemoteChunks) and other._remote.address == self._remote.address

    __hash__ = None  # type: ignore[assignment]

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        """Bytes of an object, or of a range; None if there is no such object."""
        try:
            data = await asyncio.to_thread(self._bytes, key, byte_range)
        except MissingDataError:
            return None
        return prototype.buffer.from_bytes(data)

    def _bytes(self, key: str, asked: Any) -> bytes:
        if asked is None:
            return self._remote.read(key)
        if isinstance(asked, RangeByteRequest):
            return self._remote.read(key, asked.start, asked.end)
        if isinstance(asked, OffsetByteRequest):
            return self._remote.read(key, asked.offset)
        assert isinstance(asked, SuffixByteRequest)
        return self._remote.read(key, -asked.suffix)

    async def get_partial_values(self, prototype: Any, key_ranges: Any) -> Any:
        """Several ranges."""
        return [await self.get(key, prototype, byte_range) for key, byte_range in key_ranges]

    async def exists(self, key: str) -> bool:
        """Whether an object is there."""
        return await asyncio.to_thread(self._remote.has, key)

    async def set(self, key: str, value: Any) -> None:
        """Refused."""
        raise UsageError("predictions behind a URL are only read")

    async def delete(self, key: str) -> None:
        """Refused."""
        raise UsageError("predictions behind a URL are only read")

    def list(self) -> AsyncIterator[str]:
        """Refused: no right to list is needed."""
        raise UsageError("predictions behind a URL are not listed; write consolidated metadata")

    def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Refused, as :meth:`list`."""
        return self.list()

    def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Refused, as :meth:`list`."""
        return self.list()
