"""R's saved objects (``.rda``): a small reader of the XDR form, for tables and the objects around them. Nothing is run.

The format is described in "R Internals", section 1.8. Functions, byte code and references to packages are refused: a
recipe reads data.
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen

from primabench_core import CorruptDataError

_LARGEST = 256 << 20
"""Bytes of an unpacked file at most."""
_NIL, _REFERENCE = 254, 255
_NAMED = {253: "global", 242: "empty", 241: "base", 250: "base namespace", 251: "missing", 252: "unbound"}
_INT_NA = -(1 << 31)


@frozen(eq=False)
class RObject:
    """A value of R with its attributes."""

    value: Any
    """numpy array, list of text (None for NA), list of objects, dict of a pairlist or environment, or None."""
    attributes: dict[str, RObject] = field(factory=dict)
    """``names``, ``dim``, ``dimnames``, ``class``, the slots of an S4 object …"""

    def __getitem__(self, name: str) -> RObject:
        """An element of a named list or environment, or a slot.

        Raises:
            CorruptDataError: there is none of that name.
        """
        if isinstance(self.value, dict) and name in self.value:
            found: RObject = self.value[name]
            return found
        names = self.attributes.get("names")
        if names is not None and name in names.value:
            item: RObject = self.value[names.value.index(name)]
            return item
        if name in self.attributes:
            return self.attributes[name]
        raise CorruptDataError(f"the object of R has no part {name!r}")

    @property
    def matrix(self) -> np.ndarray[Any, Any]:
        """A vector with ``dim`` in its shape; R stores columns one after the other."""
        return np.asarray(self.value).reshape(tuple(self["dim"].value.tolist()), order="F")

    @property
    def dimnames(self) -> list[list[str]]:
        """Names of rows and columns."""
        return [list(names.value) for names in self["dimnames"].value]


def read_rda(path: Path) -> dict[str, RObject]:
    """Objects of a file by name.

    Args:
        path: Written by R's ``save``, plain or gzipped, in the binary (XDR) form of version 2 or 3.

    Raises:
        CorruptDataError: it is none, is truncated, or holds what is no data.
    """
    data = path.read_bytes()
    try:
        if data[:2] == b"\x1f\x8b":
            with gzip.open(path) as stream:
                data = stream.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise CorruptDataError(f"{path.name} unpacks to more than {_LARGEST:,} bytes")
        if data[:7] not in (b"RDX2\nX\n", b"RDX3\nX\n"):
            raise CorruptDataError(f"{path.name} is no file of R's save in binary form")
        found = _Reader(data, 7).whole()
    except (EOFError, OSError, struct.error, IndexError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise CorruptDataError(f"{path.name} cannot be read: {error}", remedy="get the file again") from error
    if not isinstance(found.value, dict):
        raise CorruptDataError(f"{path.name} holds no named objects")
    return found.value


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at
        self.seen: list[RObject] = []
        self.vectors: dict[int, Callable[[], Any]] = {
            9: self._text,
            10: lambda: self._numbers(">i4", np.int32),
            13: lambda: self._numbers(">i4", np.int32),
            14: lambda: self._numbers(">f8", np.float64),
            16: lambda: [self.item().value for _ in range(self._size())],
            19: lambda: [self.item() for _ in range(self._size())],
            25: lambda: None,
        }

    def whole(self) -> RObject:
        version = self._int()
        self.at += 8  # versions of R that wrote it and can read it
        if version == 3:
            self._take(self._size())  # native encoding
        return self.item()

    def item(self) -> RObject:
        flags = self._int()
        kind, has_attributes, has_tag = flags & 0xFF, bool(flags & 0x200), bool(flags & 0x400)
        if kind == _NIL:
            return RObject(None)
        if kind in _NAMED:
            return RObject(_NAMED[kind])
        if kind == _REFERENCE:
            return self.seen[(flags >> 8 or self._int()) - 1]
        if kind == 1:
            symbol = RObject(self.item().value)
            self.seen.append(symbol)
            return symbol
        if kind == 2:
            return self._pairs(has_attributes, has_tag)
        if kind == 4:
            return self._environment()
        if kind == 238:
            return self._alternative()
        if kind not in self.vectors:
            raise CorruptDataError(f"it holds an object of R of type {kind}, which is no data")
        value = self.vectors[kind]()
        return RObject(value, self._attributes() if has_attributes and kind != 9 else {})

    def _pairs(self, has_attributes: bool, has_tag: bool) -> RObject:
        """A pairlist; without recursion over its length."""
        found: dict[str, RObject] = {}
        attributes: dict[str, RObject] = {}
        while True:
            if has_attributes:
                attributes.update(self._attributes())
            name = str(self.item().value) if has_tag else str(len(found))
            found[name] = self.item()
            flags = self._int()
            if flags & 0xFF != 2:
                self.at -= 4
                rest = self.item()
                if rest.value is not None:
                    raise CorruptDataError("a pairlist of R ends in something else")
                return RObject(found, attributes)
            has_attributes, has_tag = bool(flags & 0x200), bool(flags & 0x400)

    def _environment(self) -> RObject:
        self._int()  # locked or not
        result = RObject({})
        self.seen.append(result)
        self.item()  # what encloses it
        parts = [self.item()]
        table = self.item()
        parts += table.value if isinstance(table.value, list) else []
        for part in parts:
            result.value.update(part.value or {})
        self.item()  # attributes
        return result

    def _alternative(self) -> RObject:
        """A compact form of version 3, of which sequences of integers and wrapped vectors occur in data."""
        name = next(iter(self.item().value.values())).value
        state = self.item()
        attributes = self.item().value or {}
        if name == "compact_intseq":
            n, first, step = state.value
            return RObject(np.arange(int(n), dtype=np.int64) * int(step) + int(first), attributes)
        if str(name).startswith("wrap_") and isinstance(state.value, list):
            return RObject(state.value[0].value, {**state.value[0].attributes, **attributes})
        raise CorruptDataError(f"it holds a vector of R in the form {name!r}, which is not read")

    def _attributes(self) -> dict[str, RObject]:
        found = self.item().value
        return found if isinstance(found, dict) else {}

    def _text(self) -> str | None:
        size = self._int()
        return None if size == -1 else self._take(size).decode("utf-8")

    def _numbers(self, stored: str, kind: Any) -> np.ndarray[Any, Any]:
        n = self._size()
        found = np.frombuffer(self._take(n * np.dtype(stored).itemsize), stored).astype(kind)
        return np.where(found == _INT_NA, np.nan, found) if kind is np.int32 and (found == _INT_NA).any() else found

    def _size(self) -> int:
        n = self._int()
        if n < 0:
            raise CorruptDataError("it holds a vector longer than this reader takes")
        return n

    def _int(self) -> int:
        return int(struct.unpack(">i", self._take(4))[0])

    def _take(self, n: int) -> bytes:
        part = self.data[self.at : self.at + n]
        if len(part) < n:
            raise EOFError("it ends early")
        self.at += n
        return part
