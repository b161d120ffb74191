"""Placed storage of one prediction field: a buffer of n rows in which every value stands at its canonical position.

A store never judges whether a row may be written; :class:`~primabench_core.state.placed.PlacedRows` asks first and
writes last, so that a refused batch has touched nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.ragged import Ragged
from primabench_core.contract.sparse_rows import DENSE_BYTES, SparseRows, dense_of

Where = slice | NDArray[np.int64]
"""Rows: a slice with positive step, or (k,) int64 positions, each in ``range(n)``."""
Values = NDArray[Any] | Ragged
"""Content of k rows: (k,) codes, (k,) or (k, w) reals, (k,) text as objects, or ragged entries. Rows of units may be
SparseRows too, which stand for an array."""

BLOCK = 65_536
"""Rows handled at once where a pass needs a temporary."""
_UNSEEN = b"\xff" * 4096


class FixedStore:
    """Rows of constant width: label codes in the narrowest unsigned type, float32/float64 reals, or digests (uint64).

    A one-dimensional store can be the *lead*: bytes that are all ones mean "never seen". As a code that is the
    largest number, as a float a NaN that no arithmetic produces, so one look at the old bytes tells seen from unseen.
    Negative zero is stored as zero: the two are the same content.
    """

    __slots__ = ("bits", "data", "is_codes", "name", "shape")

    def __init__(self, name: str, n: int, like: NDArray[Any], *, fill: bool) -> None:
        self.name = name
        self.is_codes = like.dtype.kind != "f"
        self.shape = like.shape[1:]
        self._adopt(_blank((n, *self.shape), like.dtype) if fill else np.zeros((n, *self.shape), like.dtype))

    def _adopt(self, data: NDArray[Any]) -> None:
        self.data = data
        self.bits = data.view(f"u{data.itemsize}") if data.ndim == 1 else data

    def stage(self, values: Any) -> NDArray[Any]:
        """These values in a type that :meth:`write` takes; raises ValueError where the shape or type cannot fit."""
        values = canonical(values)
        if type(values) is Ragged:
            raise ValueError(f"ragged rows where rows were {_describe(self.data)}")
        if values.shape[1:] != self.shape or (values.dtype.kind != "f") != self.is_codes:
            raise ValueError(f"{_describe(values)} where rows were {_describe(self.data)}")
        return narrow(values, self.data.dtype) if self.is_codes and not self.shape else values

    def write(self, where: Where, values: NDArray[Any]) -> None:
        """Put the values in place; widens the buffer if they need it (float32 to float64 is exact)."""
        if values.itemsize > self.data.itemsize:
            wide = (
                _blank(self.data.shape, values.dtype) if self.data.ndim == 1 else np.empty_like(self.data, values.dtype)
            )
            np.copyto(wide, self.data, where=True if self.data.ndim > 1 else ~unseen(self.bits))
            self._adopt(wide)
        if self.is_codes:
            self.data[where] = values
        elif type(where) is slice:
            np.add(values, 0.0, out=self.data[where])  # copies, and turns -0.0 into 0.0 on the way
        else:
            for start in range(0, len(values), BLOCK):
                self.data[where[start : start + BLOCK]] = values[start : start + BLOCK] + 0.0

    def take(self, where: Where) -> NDArray[Any]:
        """A copy (positions) or a view (slice) of rows."""
        rows: NDArray[Any] = self.data[where]
        return rows

    def copy(self) -> FixedStore:
        """An independent store with the same rows."""
        twin = object.__new__(FixedStore)
        twin.name, twin.is_codes, twin.shape = self.name, self.is_codes, self.shape
        twin._adopt(self.data.copy())
        return twin


class RaggedStore:
    """Rows of varying length: entries in a pool in order of arrival, first entry and length at each position."""

    __slots__ = ("counts", "name", "pool", "starts", "total")

    def __init__(self, name: str, n: int) -> None:
        self.name = name
        self.starts = np.zeros(n, np.int64)
        self.counts = np.zeros(n, np.int64)
        self.pool: list[NDArray[Any]] = []
        self.total = 0

    def stage(self, values: Any) -> Ragged:
        """The entries as they are; raises ValueError where their shape or type cannot join the others."""
        if not isinstance(values, Ragged):
            raise ValueError(f"{type(values).__name__} where rows were ragged")
        entries = values.values
        if len(entries) and self.pool:  # rows without entries have no width to compare
            before = self.pool[0]
            if entries.shape[1:] != before.shape[1:] or (entries.dtype.kind == "f") != (before.dtype.kind == "f"):
                raise ValueError(f"entries of {_describe(entries)} where they were {_describe(before)}")
        return values

    def write(self, where: Where, values: Ragged) -> None:
        """Put the rows in place."""
        entries = values.values
        if len(entries):
            self.pool.append(entries + 0.0 if entries.dtype.kind == "f" else entries.copy())
        self.starts[where] = self.total + np.cumsum(values.counts) - values.counts
        self.counts[where] = values.counts
        self.total += len(entries)

    def take(self, where: Where) -> Ragged:
        """A copy of rows."""
        if len(self.pool) > 1:
            self.pool = [np.concatenate(self.pool)]
        counts = self.counts[where]
        shift = np.cumsum(counts) - counts
        places = np.arange(int(counts.sum())) + np.repeat(self.starts[where] - shift, counts)
        return Ragged(self.pool[0][places] if self.pool else np.empty((0, 0)), counts)

    def copy(self) -> RaggedStore:
        """An independent store with the same rows; the entries themselves are never changed, so they are shared."""
        twin = object.__new__(RaggedStore)
        twin.name, twin.pool, twin.total = self.name, list(self.pool), self.total
        twin.starts, twin.counts = self.starts.copy(), self.counts.copy()
        return twin


class TextStore:
    """Rows of text, as Python strings."""

    __slots__ = ("data", "name")

    def __init__(self, name: str, n: int) -> None:
        self.name = name
        self.data = np.full(n, "", object)

    def stage(self, values: Any) -> NDArray[Any]:
        """(k,) text as objects; raises ValueError for anything else."""
        texts = canonical(values)
        if isinstance(texts, Ragged) or texts.dtype.kind != "O" or texts.ndim != 1:
            raise ValueError(f"{'ragged rows' if isinstance(texts, Ragged) else _describe(texts)} where rows were text")
        return np.asarray(texts)

    def write(self, where: Where, values: NDArray[Any]) -> None:
        """Put the rows in place."""
        self.data[where] = values

    def take(self, where: Where) -> NDArray[Any]:
        """A copy (positions) or a view (slice) of rows."""
        rows: NDArray[Any] = self.data[where]
        return rows

    def copy(self) -> TextStore:
        """An independent store with the same rows."""
        twin = object.__new__(TextStore)
        twin.name, twin.data = self.name, self.data.copy()
        return twin


Store = FixedStore | RaggedStore | TextStore


def make_store(name: str, n: int, values: Values, *, fill: bool) -> Store:
    """Storage for n rows like these; ``fill`` marks all of them as unseen."""
    if isinstance(values, Ragged):
        return RaggedStore(name, n)
    if values.dtype.kind == "O":
        return TextStore(name, n)
    if values.dtype.kind != "f" and values.ndim == 1:
        values = narrow(values, np.dtype(np.uint8))
    return FixedStore(name, n, values, fill=fill)


def canonical(values: Any) -> Any:
    """Content in one of the shapes of :data:`Values`: sparse matrices become dense, half precision float32."""
    if type(values) is not np.ndarray:
        if isinstance(values, Ragged | SparseRows):
            return values
        values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    kind = values.dtype.kind
    if kind == "f":
        return (
            values if values.itemsize in (4, 8) else values.astype(np.float32 if values.itemsize == 2 else np.float64)
        )
    if kind in "OUT":
        return values.astype(object, copy=False)
    if values.dtype == np.uint64 and values.ndim == 2:
        return values  # digests of rows
    if kind not in "iu" or values.ndim != 1:
        raise ValueError(f"rows cannot hold {_describe(values)}; labels are 1-D codes, numbers are floats")
    return values


def narrow(codes: NDArray[Any], at_least: np.dtype[Any]) -> NDArray[Any]:
    """Codes in the narrowest unsigned type that holds them, not narrower than asked for.

    The largest number of the type is kept free for "unseen". Raises ValueError for a negative code.
    """
    if codes.dtype == at_least:
        return codes
    if not len(codes):
        return codes.astype(at_least)
    top = int(
        np.maximum.reduce(codes.view(f"u{codes.itemsize}"))
    )  # a negative code looks huge here: one pass for both ends
    if codes.dtype.kind == "i" and top >> (8 * codes.itemsize - 1):
        raise ValueError("a label code is negative")
    width = at_least.itemsize
    while top >= (1 << 8 * width) - 1:
        width *= 2
    return codes.astype(f"u{width}")


def unseen(bits: NDArray[Any]) -> NDArray[np.bool_]:
    """Which of these old bytes of a lead were never written."""
    gone: NDArray[np.bool_] = np.equal(bits, _all_ones(bits.dtype))
    return gone


def none_seen(bits: NDArray[Any]) -> bool:
    """Whether none of these old bytes of a lead was ever written."""
    if bits.nbytes <= len(_UNSEEN):
        return _UNSEEN.startswith(bits.tobytes())  # a quarter of the time of a comparison and a reduction
    for start in range(0, len(bits), BLOCK):
        block = bits[start : start + BLOCK]
        if np.count_nonzero(np.equal(block, _all_ones(bits.dtype))) < len(block):
            return False
    return True


def same_rows(left: Any, right: Any) -> NDArray[np.bool_]:
    """(k,) whether rows hold the same content. Types may differ in width: float32 is compared as float64."""
    if isinstance(left, SparseRows) or isinstance(right, SparseRows):
        step = max(1, DENSE_BYTES // (8 * left.shape[1]))
        cuts = range(0, len(left), step)
        found = [same_rows(*(dense_of(side[i : i + step]) for side in (left, right))) for i in cuts]
        return np.concatenate([np.zeros(0, bool), *found])
    if isinstance(left, Ragged) and isinstance(right, Ragged):
        equal: NDArray[np.bool_] = np.equal(left.counts, right.counts)
        rows = np.flatnonzero(equal & (left.counts > 0))
        if len(rows):
            entries = _whole_rows(np.equal(left.take(rows).values, right.take(rows).values))
            equal[rows[np.repeat(np.arange(len(rows)), left.counts[rows])[~entries]]] = False
        return equal
    return _whole_rows(np.asarray(np.equal(left, right), bool))


def largest(
    values: NDArray[Any], group: NDArray[np.intp], before: NDArray[Any], seen: NDArray[np.bool_]
) -> NDArray[Any]:
    """The real of largest magnitude in each group, of a tie the positive one, whatever the order.

    Args:
        values: (k,) reals.
        group: (k,) group of each, in ``range(m)``; every group occurs.
        before: (m,) an earlier value of each group.
        seen: (m,) whether there is one.
    """
    order = np.lexsort((values, np.abs(values), group))
    ends = np.append(np.flatnonzero(np.diff(group[order])), len(order) - 1)
    best = values[order[ends]]
    a, b = np.abs(before), np.abs(best)
    return np.where(seen & ((a > b) | ((a == b) & (before > best))), before, best)


def take_rows(values: Any, rows: Any) -> Any:
    """The rows at these places of a batch."""
    return values.take(rows) if isinstance(values, Ragged) else values[rows]


def pack(values: Any) -> dict[str, NDArray[Any]]:
    """A column as plain numeric arrays (no objects): text and ragged rows as lengths and content."""
    if isinstance(values, Ragged):
        return {"counts": values.counts, "entries": values.values}
    if isinstance(values, SparseRows):
        return {"data": values.data, "columns": values.columns, "ends": values.ends, "width": np.array([values.width])}
    if values.dtype.kind == "O":
        encoded = [text.encode() for text in values]
        counts = np.fromiter(map(len, encoded), np.int64, len(encoded))
        return {"lengths": counts, "utf8": np.frombuffer(b"".join(encoded), np.uint8)}
    return {"values": values}


def unpack(parts: Mapping[str, NDArray[Any]]) -> Any:
    """The column that :func:`pack` took apart."""
    if "values" in parts:
        return parts["values"]
    if "entries" in parts:
        return Ragged(parts["entries"], parts["counts"])
    if "columns" in parts:
        return SparseRows(parts["data"], parts["columns"], parts["ends"], int(parts["width"][0]))
    raw, ends = parts["utf8"].tobytes(), np.cumsum(parts["lengths"]).tolist()
    texts = np.empty(len(ends), object)
    texts[:] = [raw[a:b].decode() for a, b in zip([0, *ends], ends, strict=False)]
    return texts


def _whole_rows(matches: NDArray[np.bool_]) -> NDArray[np.bool_]:
    rows: NDArray[np.bool_] = matches
    if matches.ndim > 1:
        rows = np.logical_and.reduce(matches, axis=tuple(range(1, matches.ndim)))
    return rows


def _blank(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    data = np.empty(shape, dtype)
    data.view(np.uint8).fill(0xFF)
    return data


def _all_ones(dtype: np.dtype[Any]) -> Any:
    return dtype.type((1 << 8 * dtype.itemsize) - 1)


def _describe(values: NDArray[Any]) -> str:
    width = f" of shape (rows, {', '.join(map(str, values.shape[1:]))})" if values.ndim > 1 else ""
    return f"{values.dtype}{width}"
