"""Content hash v1 once more, as plainly as its definition reads: no streaming, no numpy tricks, nothing shared."""

from __future__ import annotations

import json
import math
import struct
from hashlib import sha256


def tree(data: bytes, leaf: int = 2**20) -> bytes:
    pieces = [data[i : i + leaf] for i in range(0, len(data), leaf)] or [b""]
    level = [sha256(b"\x00" + piece).digest() for piece in pieces]
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [sha256(b"\x01" + pair[0] + pair[1]).digest() if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0]


def join(roots: list[bytes]) -> bytes:
    level = roots
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [sha256(b"\x01" + pair[0] + pair[1]).digest() if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0]


def floats(values, size: int) -> bytes:
    code, nan = {4: ("<f", b"\x00\x00\xc0\x7f"), 8: ("<d", b"\x00\x00\x00\x00\x00\x00\xf8\x7f")}[size]
    return b"".join(nan if math.isnan(value) else struct.pack(code, 0.0 if value == 0 else value) for value in values)


def integers(values, code: str = "<q") -> bytes:
    return b"".join(struct.pack(code, int(value)) for value in values)


def text(values) -> bytes:
    encoded = [None if value is None else value.encode("utf-8") for value in values]
    return b"".join(b"\xff\xff\xff\xff" if data is None else struct.pack("<I", len(data)) + data for data in encoded)


def csr(dense) -> bytes:
    """Tree root of a dense float64 list of lists, as if it were sparse."""
    starts, columns, values = [0], [], []
    for row in dense:
        for j, value in enumerate(row):
            if value != 0:
                columns.append(j)
                values.append(value)
        starts.append(len(columns))
    return join([tree(integers(starts)), tree(integers(columns)), tree(floats(values, 8))])


def canonical(value) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def array(name, dims, dtype, shape, root: bytes) -> bytes:
    described = {"name": name, "dims": dims, "dtype": dtype, "shape": shape, "root": root.hex()}
    return sha256(canonical(described)).digest()


def artifact(arrays: dict[str, bytes], attributes: dict) -> bytes:
    described = {"arrays": {k: v.hex() for k, v in arrays.items()}, "attributes": attributes}
    return sha256(canonical(described)).digest()


def dataset(entries) -> str:
    rows = sorted([view, split, name, root.hex()] for view, split, name, root in entries)
    return sha256(canonical(rows)).hexdigest()
