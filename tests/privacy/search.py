"""Finds what must not be found: needles in texts, bytes, objects and files."""

from __future__ import annotations

import json
import pickle
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np


@attrs.frozen(repr=False)
class Needles:
    """What only the private folder holds."""

    words: tuple[str, ...]
    """Names, paths, digests."""
    numbers: tuple[float, ...]

    def in_text(self, text: str) -> list[str]:
        found = [word for word in self.words if word in text]
        return found + [repr(n) for n in self.numbers if repr(n)[:11] in text]

    def in_bytes(self, data: bytes) -> list[str]:
        """As text, and as the binary forms of the numbers."""
        found = [word for word in self.words if word.encode() in data or word.encode("utf-16-le") in data]
        for number in self.numbers:
            forms = (repr(number)[:11].encode(), struct.pack("<d", number), struct.pack("<f", number))
            if any(form in data for form in forms):
                found.append(repr(number))
        return found

    def clean(self, *things: Any) -> None:
        """Fail if a thing, or its repr, holds a needle."""
        for thing in things:
            if isinstance(thing, bytes):
                found = self.in_bytes(thing)
                assert not found, found
            for text in (str(thing), repr(thing)):
                assert self.in_text(text) == [], text[:500]


def reachable(value: Any, depth: int = 4) -> Iterator[Any]:
    """A value and all that its public attributes, items and methods without arguments give."""
    seen: set[int] = set()
    queue = [(value, depth)]
    while queue:
        item, left = queue.pop()
        if id(item) in seen or isinstance(item, type) or callable(item):
            continue
        if type(item).__module__.split(".")[0] in ("xarray", "pandas", "anndata", "scipy"):
            yield item
            continue
        seen.add(id(item))
        yield item
        if left:
            queue += [(inner, left - 1) for inner in _inside(item)]


def _inside(item: Any) -> Iterator[Any]:
    if isinstance(item, str | bytes | int | float | bool | None | np.ndarray):
        return
    if isinstance(item, dict) or hasattr(item, "items"):
        yield from (part for pair in item.items() for part in pair)
    elif isinstance(item, list | tuple | set | frozenset):
        yield from item
    for name in dir(item):
        if name.startswith("_") or name in CHANGING:
            continue
        try:
            found = getattr(item, name)
            yield found() if callable(found) and name in ASKING else found
        except Exception as error:  # noqa: BLE001  (whatever is refused must not quote either)
            yield error


CHANGING = {"update", "merge", "reset", "save", "load"}
ASKING = {"to_dict", "to_pandas", "to_numpy", "to_xarray", "keys", "values", "items", "compute"}


def pickled(value: Any) -> bytes:
    """Bytes of its pickle; nothing if it has none."""
    try:
        return pickle.dumps(value)
    except (TypeError, pickle.PicklingError, AttributeError):
        return b""


def held_by(folder: Path, skip: tuple[Path, ...] = ()) -> Iterator[tuple[Path, bytes]]:
    """Every file with its bytes: members of archives, values of Zarr arrays uncompressed."""
    import zarr

    for path in sorted(folder.rglob("*")):
        if any(path == other or other in path.parents for other in skip):
            continue
        yield path, str(path.relative_to(folder)).encode()
        if not path.is_file():
            continue
        yield path, path.read_bytes()
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                yield from ((path, name.encode() + b"\n" + archive.read(name)) for name in archive.namelist())
        if path.name == "zarr.json" and json.loads(path.read_text())["node_type"] == "array":
            values = np.asarray(zarr.open_array(path.parent, mode="r")[...])
            text = "\n".join(map(str, values.tolist())) if values.dtype.kind in "OUT" else ""
            yield path, text.encode() if text else values.tobytes()
