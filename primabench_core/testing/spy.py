"""Watches what is read from stores: which chunks, not how."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock


@contextlib.contextmanager
def watch_chunks() -> Iterator[list[str]]:
    """Keys of all chunks that are read from local zarr stores while the context is open, in order.

    Metadata (``zarr.json``) do not count.

    Example:
        >>> with watch_chunks() as seen:
        ...     pass
        >>> seen
        []
    """
    from zarr.storage import LocalStore

    seen: list[str] = []
    real = LocalStore.get

    async def get(self: Any, key: str, *args: Any, **kwargs: Any) -> Any:
        if not key.endswith("zarr.json"):
            seen.append(key)
        return await real(self, key, *args, **kwargs)

    with mock.patch.object(LocalStore, "get", get):
        yield seen
