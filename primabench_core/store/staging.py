"""A place to build in, beside the target: what is in it is either renamed as a whole or removed."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from primabench_core.store.faults import named


@frozen
class Stage:
    """An unfinished build."""

    result: Path
    """Becomes the target."""
    work: Path
    """For anything temporary."""

    def publish(self, target: Path) -> None:
        """See everything through to the disk and give it its final name in one step.

        Raises:
            StoreError: the disk refuses.
        """
        publish(self.result, target)


@contextmanager
def staging(folder: Path, prefix: str, *, private: bool = False) -> Iterator[Stage]:
    """Make a stage in ``folder``; it is removed at the end, whatever happened.

    The caller holds the lock of the target, so a stage that is there already was left by a process that died: it is
    removed first.

    Raises:
        StoreError: the folder cannot be written to.
    """
    with named("write to", folder, private=private):
        folder.mkdir(parents=True, exist_ok=True)
        for stale in folder.glob(f"{prefix}*"):
            shutil.rmtree(stale)
        base = folder / f"{prefix}{secrets.token_hex(8)}"
        base.mkdir(mode=0o700)  # may hold answers until they are in their own folder
    try:
        with named("write to", folder, private=private):
            (base / "result").mkdir()
            (base / "work").mkdir()
            yield Stage(base / "result", base / "work")
    finally:
        shutil.rmtree(base, ignore_errors=True)  # the next stage removes what this one could not


def publish(source: Path, target: Path, *, private: bool = False) -> None:
    """Rename a finished folder, with all of its bytes on the disk before."""
    with named("write", target, private=private):
        for folder, _, files in os.walk(source):
            for name in files:
                _sync(Path(folder) / name)
            _sync(Path(folder))
        target.parent.mkdir(parents=True, exist_ok=True)
        source.rename(target)
        _sync(target.parent)


def _sync(path: Path) -> None:
    if path.is_dir() and os.name == "nt":  # Windows cannot open folders
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
