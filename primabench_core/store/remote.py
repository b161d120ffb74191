"""A store that is no folder of this machine: reads and creates single objects, never lists and never writes over."""

from __future__ import annotations

import os
import threading
import warnings
from pathlib import Path
from typing import Any

from primabench_core.errors import CorruptDataError, MissingDataError, StoreError
from primabench_core.store.address import Address
from primabench_core.store.attempts import ObjectExistsError, attempt
from primabench_core.store.credentials import gcs_options, s3_options
from primabench_core.store.faults import PRIVATE
from primabench_core.store.quiet import hush
from primabench_core.store.settings import OFFLINE, offline

TIMEOUT = 60.0
"""Seconds without a byte after which a request counts as unanswered."""


class Remote:
    """Objects below the address of a store.

    Reading needs no right to list. Credentials live in the filesystem object of this process alone: the value can be
    pickled and shown, and carries its address only.

    Args:
        address: Of any kind but a local folder.

    Example:
        >>> Remote(Address.of("gs://bucket/x"))
        Remote('gs://bucket/x')
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._open: tuple[int, Any] = (0, None)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Remote({self.address.url!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Remote, (self.address,)

    def url(self, path: str) -> str:
        """Address of an object, for messages."""
        joiner = "!/" if self.address.kind == "zip" else "/"
        return f"{self.address.url.removeprefix('zip::')}{joiner}{path}"

    def read(
        self, path: str, start: int | None = None, stop: int | None = None, *, limit: int = 0, private: bool = False
    ) -> bytes:
        """Bytes of an object, or of a range of it.

        Args:
            path: Below the store.
            start: First byte.
            stop: Byte behind the last one.
            limit: Refuse an object of more bytes than this; 0 is no limit.
            private: No message says what was asked for.

        Raises:
            MissingDataError: there is no such object.
            CorruptDataError: it is shorter than the range, or larger than the limit.
            StoreError: the store cannot be read, or ``PRIMABENCH_OFFLINE`` is set.
        """
        filesystem = self._filesystem()
        shown = self.url(path)
        asked = (0, limit + 1) if limit and start is None else (start, stop)
        found: bytes = attempt(
            "read", shown, lambda: filesystem.cat_file(self._inner(path), start=asked[0], end=asked[1]), private=private
        )
        if limit and len(found) > limit:
            raise CorruptDataError(
                f"{PRIVATE if private else shown} has more than {limit:,} bytes, which is more than is expected there",
                remedy="do not use this copy",
            )
        if start is not None and stop is not None and len(found) != stop - start:
            place = PRIVATE if private else shown
            if len(found) > stop - start:
                raise StoreError(
                    f"{self.address.url} ignores Range requests: it answered {len(found):,} bytes for {stop - start:,}",
                    remedy="serve the store with a server that answers ranges",
                )
            raise CorruptDataError(
                f"{place} is truncated: it has {start + len(found):,} bytes, at least {stop:,} are expected",
                remedy="the copy in that store is damaged; use another store or build the dataset",
            )
        return found

    def has(self, path: str) -> bool:
        """Whether an object is there."""
        try:
            self.read(path, 0, 1)  # its metadata may ask for the right to list, and hide why they cannot be had
        except MissingDataError:
            return False
        return True

    def create(self, path: str, data: bytes, *, private: bool = False) -> None:
        """Write an object that must not be there.

        Raises:
            ObjectExistsError: it is there.
            StoreError: the store is read-only, or refuses.
        """
        if self.address.kind not in ("gs", "s3"):
            raise StoreError(
                f"{self.address.url} can only be read", remedy="publish to gs://, s3:// or a folder that it serves"
            )
        filesystem = self._filesystem()
        sent = False

        def send() -> None:
            nonlocal sent
            again, sent = sent, True
            try:
                filesystem.pipe_file(self._inner(path), data, mode="create")
            except FileExistsError:
                # an attempt whose answer was lost may have succeeded
                if not (again and filesystem.cat_file(self._inner(path)) == data):
                    raise

        attempt("create", self.url(path), send, private=private)

    def _inner(self, path: str) -> str:
        if self.address.kind == "zip":
            return path
        base = self.address.url
        return f"{base}/{path}" if path else base

    def _filesystem(self) -> Any:
        """The filesystem of this process; a forked child opens its own."""
        if self.address.kind != "zip" and offline():
            raise StoreError(
                f"{self.address.url} is not in the cache as far as it is needed, and {OFFLINE} forbids to go there",
                remedy=f"fetch once without {OFFLINE}, or point PRIMABENCH_STORE at a local copy",
            )
        with self._lock:
            if self._open[0] != os.getpid():
                opened = attempt("open", self.address.url, lambda: _OPENERS[self.address.kind](self.address))
                hush()
                self._open = (os.getpid(), opened)
            return self._open[1]


def _open_s3(_: Address) -> Any:
    options = s3_options(TIMEOUT).values
    import s3fs

    # cached instances are found by anyone and show their arguments
    filesystem = s3fs.S3FileSystem(**options, skip_instance_cache=True, use_listings_cache=False)
    filesystem.retries = 1
    return filesystem


def _open_gcs(_: Address) -> Any:
    options = gcs_options(TIMEOUT).values
    from gcsfs.core import GCSFileSystem  # the plain class: the experimental one asks Google about each bucket

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="GCS project not set")  # only who lists or creates buckets needs one
        return GCSFileSystem(**options, skip_instance_cache=True, use_listings_cache=False)


def _open_http(_: Address) -> Any:
    import aiohttp
    from fsspec.implementations.http import HTTPFileSystem

    timeout = aiohttp.ClientTimeout(total=None, sock_connect=min(TIMEOUT, 20), sock_read=TIMEOUT)
    return HTTPFileSystem(
        client_kwargs={"timeout": timeout}, block_size=0, skip_instance_cache=True, use_listings_cache=False
    )


def _open_zip(address: Address) -> Any:
    from fsspec.implementations.zip import ZipFileSystem

    path = Path(address.url.removeprefix("zip::"))
    if not path.is_file():
        raise MissingDataError(
            f"the store {path} is not there", remedy="set PRIMABENCH_STORE to a folder or a zip file"
        )
    return ZipFileSystem(str(path), skip_instance_cache=True)


_OPENERS = {"s3": _open_s3, "gs": _open_gcs, "http": _open_http, "zip": _open_zip}

__all__ = ["TIMEOUT", "ObjectExistsError", "Remote"]
