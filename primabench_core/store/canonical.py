"""Numbers in the one form that is hashed: little-endian, one quiet NaN, no negative zero, bool as uint8."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_CACHE_BYTES = 1 << 19
"""Bytes that are brought into canonical form at a time: a piece stays in the processor's cache until hashed."""

_QUIET_NAN = {
    2: (np.uint16, 0x7E00, 0x7C00),
    4: (np.uint32, 0x7FC00000, 0x7F800000),
    8: (np.uint64, 0x7FF8000000000000, 0x7FF0000000000000),
}
"""By bytes of a float: the integer of that width, the bits of the one NaN, and those of infinity."""


def canonical_parts(flat: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """A one-dimensional array as little-endian pieces; floats lose their NaN payloads and the sign of zero."""
    if flat.dtype.kind != "f":
        yield flat.view(np.uint8) if flat.dtype.kind == "b" else flat.astype(flat.dtype.newbyteorder("<"), copy=False)
        return
    unsigned, quiet, _ = _QUIET_NAN[flat.dtype.itemsize]
    native, little = flat.dtype.newbyteorder("="), flat.dtype.newbyteorder("<")
    step = _CACHE_BYTES // flat.dtype.itemsize
    buffer: NDArray[Any] | None = None
    look = _Look(*_QUIET_NAN[flat.dtype.itemsize][::2])
    for start in range(0, len(flat), step):
        source = flat[start : start + step]
        if native == flat.dtype and look.is_canonical(source):
            yield source.astype(little, copy=False)
            continue
        if buffer is None:
            buffer = np.empty(min(len(flat), step), native)  # each part is hashed before the next one is asked for
        part = buffer[: len(source)]
        with np.errstate(invalid="ignore", over="ignore"):  # a signalling NaN is as good a NaN as any
            np.add(source, 0, out=part)  # -0.0 + 0 = 0.0
            if np.isnan(part.max()):  # a NaN anywhere comes through
                part.view(unsigned)[np.isnan(part)] = quiet
        yield part.astype(little, copy=False)


class _Look:
    """Sees in one or two passes without writing that floats hold neither -0.0 nor NaN, as nearly all pieces do."""

    def __init__(self, unsigned: Any, infinity: int) -> None:
        self._unsigned, self._infinity = unsigned, infinity
        self._signed = np.dtype(f"i{np.dtype(unsigned).itemsize}")
        self._lowest = np.iinfo(self._signed).min  # the bits of -0.0
        self._negative = False

    def is_canonical(self, piece: NDArray[Any]) -> bool:
        if not self._negative:
            if piece.view(self._unsigned).max() <= self._infinity:  # no sign is set, and there is no NaN
                return True
            self._negative = True  # the next piece will have negative numbers too
        if piece.view(self._signed).min() == self._lowest:
            return False
        with np.errstate(invalid="ignore"):
            return not np.isnan(piece.max())  # a NaN anywhere comes through
