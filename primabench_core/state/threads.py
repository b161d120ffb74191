"""How many threads a piece of work may start."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_alone: ContextVar[bool] = ContextVar("alone", default=False)


@contextmanager
def one_thread() -> Iterator[None]:
    """Within it work stays in the calling thread.

    For callers that are themselves one of many, such as the workers of a cluster: the processors have been given out
    already, and more threads would only take them from each other. Results do not depend on it.

    Example:
        >>> with one_thread():
        ...     allowed(4)
        1
    """
    before = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(before)


def allowed(most: int) -> int:
    """Threads that the calling thread may start: at most ``most``, and no more than this process has processors."""
    if _alone.get():
        return 1
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(most, processors))
