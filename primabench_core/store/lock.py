"""One builder at a time for one dataset version, among processes; a lock dies with its holder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from primabench_core.store.faults import named


@contextmanager
def exclusive(path: Path, variable: str = "PRIMABENCH_STORE") -> Iterator[None]:
    """Hold the lock file until the block ends; wait for another holder first.

    The system releases the lock when the holder dies, so a killed build blocks nobody. The empty file stays: to
    remove it would let two holders in.

    Raises:
        StoreError: the folder cannot be written to, or its file system knows no locks.
    """
    with named("lock", path, variable=variable):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        with named("lock", path, variable=variable, remedy="use a store on a file system that supports locks"):
            _acquire(handle)
        yield
    finally:
        os.close(handle)  # closing releases


if sys.platform == "win32":
    import msvcrt

    def _acquire(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
else:
    import fcntl

    def _acquire(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)
