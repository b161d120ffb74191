"""Keeps addresses of answers out of the logs of libraries below, which name at level DEBUG whatever they read."""

from __future__ import annotations

import logging
from typing import Any

from zarr.storage import LocalStore

from primabench_core.store.faults import PRIVATE
from primabench_core.store.location import PRIVATE as FOLDER

_LIBRARIES = ("fsspec", "gcsfs", "s3fs", "aiobotocore", "botocore", "aiohttp", "urllib3", "google", "asyncio")
_MARKS = (f"/{FOLDER}/", f"%2F{FOLDER}%2F", f"%2f{FOLDER}%2f")


class QuietStore(LocalStore):  # type: ignore[misc]
    """A folder whose path zarr cannot log."""

    def __str__(self) -> str:
        return PRIVATE

    def __repr__(self) -> str:
        return f"<store of {PRIVATE}>"


def local_store(path: Any, *, private: bool, read_only: bool = False) -> LocalStore:
    """A folder as zarr sees it; where answers lie, one that does not say so."""
    return (QuietStore if private else LocalStore)(path, read_only=read_only)


def _is_public(record: logging.LogRecord) -> bool:
    try:
        text = record.getMessage()
    except (TypeError, ValueError):  # a library's own slip; the handlers report it
        return True
    return not any(mark in text for mark in _MARKS)


def hush() -> None:
    """Let the libraries that talk to remote stores log nothing about private parts; to be called when one is opened."""
    for name in [*_LIBRARIES, *logging.root.manager.loggerDict]:
        if name.partition(".")[0] in _LIBRARIES:
            logging.getLogger(name).addFilter(_is_public)  # the same filter is added once
