"""A bounded sample of the rows of each unit: those with the smallest hash of seed and row id, in any order of arrival.

Bottom-k sampling: the k smallest of a union are among the k smallest of its parts, so that shards merge, and a smaller
sample is a part of a larger one. Source: Cohen and Kaplan 2007, doi:10.1145/1281100.1281133.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.sparse_rows import dense_of
from primabench_core.state.columns import pack, unpack

Ints = NDArray[np.int64]


def row_keys(ids: Sequence[str], seed: int) -> NDArray[np.uint64]:
    """(k,) uint64 hash of each row id under a seed; uniform, the same on every machine.

    Example:
        >>> row_keys(["a"], 0)[0] == row_keys(["b", "a"], 0)[1] != row_keys(["a"], 1)[0]
        True
    """
    start = blake2b(str(int(seed)).encode() + b"\0", digest_size=8)
    raw = bytearray()
    for name in ids:
        state = start.copy()
        state.update(name.encode())
        raw += state.digest()
    return np.frombuffer(bytes(raw), "<u8").astype(np.uint64)


def smallest(units: Ints, keys: NDArray[np.uint64], k: int) -> Ints:
    """Rows among the k smallest keys of their unit, ordered by unit and key; rows of a unit below zero are left out."""
    order = np.lexsort((keys, units))
    order = order[units[order] >= 0]
    ordered = units[order]
    starts = np.searchsorted(ordered, ordered)
    return order[np.arange(len(order)) - starts < k]


class UnitSamples:
    """At most k rows of each unit, chosen by :func:`row_keys`.

    Args:
        units: Number of units.
        k: Most rows of a unit.
        seed: Of the hash.

    Example:
        >>> import numpy as np
        >>> names, rows = [f"r{i}" for i in range(9)], np.arange(9.0)[:, None]
        >>> one, left, right = (UnitSamples(1, 3, 0) for _ in range(3))
        >>> one.add(names, np.zeros(9, np.int64), rows)
        >>> left.add(names[:5], np.zeros(5, np.int64), rows[:5])
        >>> right.add(names[5:], np.zeros(4, np.int64), rows[5:])
        >>> one.rows().tolist() == right.merge(left).rows().tolist()
        True
    """

    __slots__ = ("_ids", "_keys", "_limits", "_rows", "_units", "k", "seed", "units")

    def __init__(self, units: int, k: int, seed: int) -> None:
        self.units, self.k, self.seed = units, k, seed
        self._ids: list[str] = []
        self._keys: NDArray[np.uint64] = np.zeros(0, np.uint64)
        self._units: Ints = np.zeros(0, np.int64)
        self._rows: NDArray[Any] = np.zeros((0, 0))
        self._limits = np.full(units, np.iinfo(np.uint64).max, np.uint64)

    def add(self, ids: Sequence[str], units: Ints, rows: NDArray[Any], at: Ints | None = None) -> None:
        """Take rows; a row that is held already is passed over. Nothing is kept of the caller's array.

        Args:
            ids: (k,) text.
            units: (k,) unit of each row.
            rows: (n, m) reals, an array or sparse rows.
            at: (k,) which of the n rows are meant; None for all.
        """
        keys = row_keys(ids, self.seed)
        fresh = np.flatnonzero(keys <= self._limits[units])
        held = set(self._ids)
        fresh = np.array([i for i in fresh.tolist() if ids[i] not in held], np.int64)
        fresh = fresh[np.sort(smallest(units[fresh], keys[fresh], self.k))]  # others are in no sample
        if len(fresh):
            new = dense_of(rows[fresh if at is None else at[fresh]])
            before = self._rows if len(self._ids) else np.zeros((0, rows.shape[1]), rows.dtype)
            self._take(
                [*self._ids, *(ids[i] for i in fresh.tolist())],
                np.concatenate([self._keys, keys[fresh]]),
                np.concatenate([self._units, units[fresh]]),
                np.concatenate([before, new + rows.dtype.type(0)]),
            )

    def _take(self, ids: list[str], keys: NDArray[np.uint64], units: Ints, rows: NDArray[Any]) -> None:
        chosen = smallest(units, keys, self.k)
        self._ids, self._keys = [ids[i] for i in chosen.tolist()], keys[chosen]
        self._units, self._rows = units[chosen], rows[chosen]
        full = np.flatnonzero(np.bincount(self._units, minlength=self.units) >= self.k)
        last = np.searchsorted(self._units, full, side="right") - 1
        self._limits[full] = self._keys[last]

    def merge(self, other: UnitSamples) -> UnitSamples:
        """The sample of both sets of rows; neither operand changes."""
        result = UnitSamples(self.units, self.k, self.seed)
        for part in (self, other):
            if part._ids:
                result.add(part._ids, part._units, part._rows)
        return result

    @property
    def ids(self) -> list[str]:
        """Ids of the rows."""
        return self._ids

    @property
    def home(self) -> Ints:
        """(rows,) unit of each row, ascending; rows of a unit by their hash."""
        return self._units

    @property
    def keys(self) -> NDArray[np.uint64]:
        """(rows,) their hashes."""
        return self._keys

    def rows(self) -> NDArray[Any]:
        """(rows, m) the rows."""
        return self._rows

    def to_buffers(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Plain parts: equal samples give equal parts."""
        texts = np.empty(len(self._ids), object)
        texts[:] = self._ids
        arrays = {f"ids/{part}": array for part, array in pack(texts).items()}
        meta = {"units": self.units, "k": self.k, "seed": self.seed}
        return meta, {**arrays, "home": self._units, "rows": self._rows}

    @classmethod
    def from_buffers(cls, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> UnitSamples:
        """The sample that :meth:`to_buffers` took apart."""
        result = cls(meta["units"], meta["k"], meta["seed"])
        ids: Any = unpack({name[4:]: array for name, array in arrays.items() if name.startswith("ids/")})
        if len(ids):
            result.add(ids.tolist(), arrays["home"], arrays["rows"])
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return UnitSamples.from_buffers, self.to_buffers()
