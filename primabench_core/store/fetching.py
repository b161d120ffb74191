"""Brings objects of a remote store into the cache: a temporary name, their SHA-256 compared, then their own name."""

from __future__ import annotations

import os
import secrets
import shutil
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

from attrs import frozen

from primabench_core.errors import CorruptDataError, StoreError
from primabench_core.store.faults import PRIVATE, named
from primabench_core.store.hashing import file_sha256
from primabench_core.store.remote import Remote
from primabench_core.store.writing import Progress

THREADS = 8
"""Objects that are fetched at a time."""

RANGE_BYTES = 16 << 20
"""Bytes asked for in one request: what a broken connection costs, and what is in memory for each thread."""

CACHE_VARIABLE = "PRIMABENCH_CACHE"

_REST = 64 << 20
"""Bytes that are left free on the disk of the cache."""


@frozen
class Wanted:
    """One object and where it goes."""

    path: str
    """Below the store."""
    target: Path
    sha256: str
    size: int
    private: bool = False


def is_here(item: Wanted) -> bool:
    """Whether an object lies in the cache; it got its name only after it was verified."""
    try:
        return item.target.stat().st_size == item.size
    except OSError:
        return False


def fetch_objects(
    remote: Remote, items: Sequence[Wanted], temporary: Path, progress: Progress | None = None, label: str = "fetching"
) -> None:
    """Fetch what is not here yet, several objects at a time.

    Args:
        remote: Where from.
        items: What; objects that are here are left alone.
        temporary: Folder on the same disk for unfinished objects.
        progress: Called as ``progress(label, bytes done, bytes in all)``.
        label: What is fetched.

    Raises:
        CorruptDataError: an object is not the one that its manifest describes; it is named.
        StoreError: the store does not give it, or the disk refuses.
    """
    absent = [item for item in items if not is_here(item)]
    total = sum(item.size for item in absent)
    if not absent:
        return
    _check_space(temporary, total)
    count = _Count(progress, label, total)
    queue = iter(absent)
    turn = threading.Lock()

    def work() -> None:  # a job for each of 1e5 objects would cost more than the small ones among them
        while not count.stopped:
            with turn:
                item = next(queue, None)
            if item is None:
                return
            try:
                _fetch(remote, item, temporary, count)
            except BaseException:
                count.stopped = True  # the others end at their next range
                raise

    with ThreadPoolExecutor(min(THREADS, len(absent))) as pool:
        jobs = [pool.submit(work) for _ in range(min(THREADS, len(absent)))]
    faults = [error for job in jobs if (error := job.exception()) is not None]
    for error in sorted(faults, key=lambda fault: isinstance(fault, _Stopped)):
        raise error


class _Stopped(StoreError):
    """Another object failed."""


class _Count:
    """Bytes that arrived, over all threads."""

    def __init__(self, progress: Progress | None, label: str, total: int) -> None:
        self._progress, self._label, self._total = progress, label, total
        self._done, self._lock, self.stopped = 0, threading.Lock(), False
        self.add(0)

    def add(self, size: int) -> None:
        with self._lock:
            self._done += size
            if self._progress:
                self._progress(self._label, self._done, self._total)


def _check_space(folder: Path, total: int) -> None:
    with named("look at", folder, variable=CACHE_VARIABLE):
        free = shutil.disk_usage(folder).free
    if total + _REST > free:
        raise StoreError(
            f"the cache needs {total:,} bytes and its disk has {free:,} left",
            remedy=f"primabench cache clear, or point {CACHE_VARIABLE} at a larger disk",
        )


def _fetch(remote: Remote, item: Wanted, temporary: Path, count: _Count) -> None:
    part = temporary / f"{secrets.token_hex(8)}.part"
    try:
        with named("write to the cache", temporary, private=item.private, variable=CACHE_VARIABLE):
            digest = _receive(remote, item, part, count)
            if digest != item.sha256:
                raise CorruptDataError(
                    f"{PRIVATE if item.private else remote.url(item.path)} is not what its manifest describes"
                    + ("" if item.private else f": expected SHA-256 {item.sha256}, found {digest}"),
                    remedy="that copy is damaged or was changed; fetch again, use another store, or build the dataset",
                )
            item.target.parent.mkdir(parents=True, exist_ok=True)
            part.replace(item.target)
    finally:
        part.unlink(missing_ok=True)


def _receive(remote: Remote, item: Wanted, part: Path, count: _Count) -> str:
    """Write an object to a file range by range; one that is longer than described is cut and then misses its hash."""
    digest = sha256()
    with part.open("xb") as stream:
        for start in range(0, item.size, RANGE_BYTES):
            if count.stopped:
                raise _Stopped("another object could not be fetched")
            stop = min(start + RANGE_BYTES, item.size)
            piece = remote.read(item.path, start, stop, private=item.private)
            digest.update(piece)
            stream.write(piece)
            count.add(len(piece))
        stream.flush()
        os.fsync(stream.fileno())
    return digest.hexdigest()


def first_bad(items: Sequence[Wanted]) -> Wanted | None:
    """The first object in the cache whose bytes are not those of its manifest; absent ones are no fault."""
    for item in items:
        if item.target.is_file() and (not is_here(item) or file_sha256(item.target) != item.sha256):
            return item
    return None


def put_file(path: Path, data: bytes, temporary: Path, *, private: bool = False) -> None:
    """Write a small file under a temporary name and rename it."""
    part = temporary / f"{secrets.token_hex(8)}.part"
    with named("write to the cache", path, private=private, variable=CACHE_VARIABLE):
        try:
            with part.open("xb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            path.parent.mkdir(parents=True, exist_ok=True)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
