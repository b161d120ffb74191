"""Watches what is read from stores: which chunks, not how."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock


@contextlib.contextmanager
def watch_chunks() -> Iterator[list[str]]:
    """Keys of all chunks (or shards) that are read from local zarr stores while the context is open, in order.

    Metadata (``zarr.json``) do not count.

    Example:
        >>> with watch_chunks() as seen:
        ...     pass
        >>> seen
        []
    """
    from zarr.storage import LocalStore

    from primabench_core.store.shards import Rows

    seen: list[str] = []
    real, opened = LocalStore.get, Rows._open

    async def get(self: Any, key: str, *args: Any, **kwargs: Any) -> Any:
        if not key.endswith("zarr.json"):
            seen.append(key)
        return await real(self, key, *args, **kwargs)

    def open_shard(self: Any, layout: Any, shard: int) -> int:
        """Rows that are read straight from their shard pass zarr by."""
        seen.append(f"{self.array.path}/c/{shard}")
        return opened(self, layout, shard)

    with mock.patch.object(LocalStore, "get", get), mock.patch.object(Rows, "_open", open_shard):
        yield seen
