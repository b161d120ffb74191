"""Numbers in the one form that is hashed: little-endian, one quiet NaN, no negative zero, bool as uint8."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

_PEEK = 256
"""Numbers at the front of a piece that say whether it is worth while to look for the sign of all."""


@frozen
class _Bits:
    """Floats of one width as integers."""

    unsigned: np.dtype[Any]
    signed: np.dtype[Any]
    quiet: int
    """The one NaN."""
    infinity: int
    lowest: int
    """-0.0, read as a signed integer."""

    def is_canonical(self, piece: NDArray[Any]) -> bool:
        """See in one or two passes without writing that there is neither -0.0 nor NaN."""
        if not len(piece):
            return True
        bits = piece.view(self.unsigned)
        if bits[:_PEEK].max() <= self.infinity and bits.max() <= self.infinity:
            return True  # no sign is set, and there is no NaN
        if piece.view(self.signed).min() == self.lowest:
            return False
        with np.errstate(invalid="ignore"):
            return not np.isnan(piece.max())  # a NaN anywhere comes through


_BITS = {
    size: _Bits(np.dtype(f"u{size}"), np.dtype(f"i{size}"), quiet, infinity, -(1 << (8 * size - 1)))
    for size, quiet, infinity in (
        (2, 0x7E00, 0x7C00),
        (4, 0x7FC00000, 0x7F800000),
        (8, 0x7FF8000000000000, 0x7FF0000000000000),
    )
}
"""By bytes of a float."""


def canonical(flat: NDArray[Any]) -> NDArray[Any]:
    """A one-dimensional array as its bytes are hashed: itself where it is canonical already, as nearly always.

    Args:
        flat: At most a leaf, so that the processor's cache still holds it when it is hashed.
    """
    dtype = flat.dtype
    little = dtype if dtype.isnative and sys.byteorder == "little" else dtype.newbyteorder("<")
    if dtype.kind == "b":
        return flat.view(np.uint8)
    if dtype.kind == "f":
        bits = _BITS[dtype.itemsize]
        if not (dtype.isnative and bits.is_canonical(flat)):
            with np.errstate(invalid="ignore", over="ignore"):  # a signalling NaN is as good a NaN as any
                flat = np.add(flat, 0, dtype=dtype.newbyteorder("="))  # -0.0 + 0 = 0.0; float16 stays what it is
                if np.isnan(flat.max(initial=0)):
                    flat.view(bits.unsigned)[np.isnan(flat)] = bits.quiet
    return flat if flat.dtype is little else flat.astype(little, copy=False)
