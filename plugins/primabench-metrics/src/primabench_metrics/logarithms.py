"""Logarithms of integers that are the same bits on every platform."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Context, Decimal
from functools import lru_cache

_CONTEXT = Context(prec=30)


@lru_cache(maxsize=1 << 16)
def log_int(k: int) -> float:
    """Natural logarithm of a positive integer, rounded from 30 correct digits.

    The logarithm of a C library may differ in its last bit from one platform to the next; decimal arithmetic is
    specified to the digit.

    Example:
        >>> log_int(1), log_int(10)
        (0.0, 2.302585092994046)
    """
    return float(Decimal(k).ln(_CONTEXT))


def terms_k_log_k(counts: Iterable[int]) -> list[float]:
    """k·ln k of each positive count, for a correctly rounded sum; a zero adds nothing."""
    return [k * log_int(k) for k in counts if k]
