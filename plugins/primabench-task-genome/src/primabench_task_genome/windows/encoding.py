"""What a window holds: letters, codes, or one column a base."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from primabench_core import UsageError

Bases = NDArray[np.uint8]
Encoding = Literal["text", "codes", "one_hot"]

_A, _C, _G, _T, _N = (ord(c) for c in "ACGTN")
_PIECE = 1 << 17
"""Bytes that are turned at once: they stay in the cache."""

_COMPLEMENT = np.arange(256, dtype=np.uint8)
for _letter, _other in zip("ACGTURYKMBVDH", "TGCAAYRMKVBHD", strict=True):
    _COMPLEMENT[ord(_letter)] = ord(_other)
_CODE_COMPLEMENT = np.asarray([3, 2, 1, 0, 4], np.uint8)
_ONE_HOT = np.vstack([np.eye(4), np.zeros((1, 4))]).astype(np.uint8)


class Encoder:
    """Turns letters into what windows hold, and windows round to the other strand.

    ``text`` and ``codes``: A, C, G, T are 0 to 3, anything else is 4. ``one_hot``: four columns in that order, all 0
    for anything else.
    """

    def __init__(self, encoding: str) -> None:
        if encoding not in get_args(Encoding):
            raise UsageError(f"encoding is one of {', '.join(get_args(Encoding))}, not {encoding!r}")
        self.encoding = encoding
        self.is_text = encoding == "text"

    @property
    def bytes_per_base(self) -> int:
        """Bytes that one base of a finished window takes."""
        return 4 if self.encoding == "one_hot" else 1

    def of(self, letters: Bases) -> Bases:
        """The same letters encoded, in an array of its own."""
        if self.is_text:
            return letters
        found = np.ascontiguousarray(letters).copy()
        encode_codes(found.reshape(-1))
        return found

    def encode(self, buffer: Bases) -> None:
        """Encode letters in place."""
        if not self.is_text:
            encode_codes(buffer)

    def turn(self, windows: Bases, rows: NDArray[np.bool_]) -> None:
        """Make windows of some rows those of the other strand, in place."""
        table = _COMPLEMENT if self.is_text else _CODE_COMPLEMENT
        chosen = np.flatnonzero(rows)
        step = max(1, _PIECE // max(1, windows.shape[1]))
        for first in range(0, len(chosen), step):
            some = chosen[first : first + step]
            windows[some] = table[windows[some, ::-1]]

    def finish(self, windows: Bases) -> Any:
        """(n,) object array of text, (n, length) uint8 codes, or (n, length, 4) uint8."""
        if self.encoding == "codes":
            return windows
        if self.encoding == "one_hot":
            return np.take(_ONE_HOT, windows, axis=0)
        n, length = windows.shape
        text = windows.tobytes().decode("ascii")
        found = np.empty(n, object)
        found[:] = [text[i : i + length] for i in range(0, n * length, length)]
        return found


def encode_codes(letters: Bases) -> None:
    """Letters to codes in place: A, C, G, T to 0, 1, 2, 3, anything else to 4.

    Bits 1 and 2 of the four letters tell them apart: ``(x >> 1 ^ x >> 2) & 3``. Whole arrays in steps of a cache.
    """
    shape = (min(_PIECE, len(letters)),)
    code, other, odd = np.empty(shape, np.uint8), np.empty(shape, np.uint8), np.empty(shape, bool)
    same = np.empty(shape, bool)
    for first in range(0, len(letters), _PIECE):
        x = letters[first : first + _PIECE]
        c, o, bad, eq = code[: len(x)], other[: len(x)], odd[: len(x)], same[: len(x)]
        np.right_shift(x, 1, out=c)
        np.right_shift(x, 2, out=o)
        np.bitwise_xor(c, o, out=c)
        np.bitwise_and(c, 3, out=c)
        np.not_equal(x, _A, out=bad)
        for letter in (_C, _G, _T):
            np.not_equal(x, letter, out=eq)
            np.logical_and(bad, eq, out=bad)
        if bad.any():
            c[bad] = 4
        x[:] = c
