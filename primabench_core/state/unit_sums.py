"""Exact sums of the rows of each unit, rows that are forgotten once added but for the last ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.sparse_rows import dense_of
from primabench_core.state.columns import pack, unpack
from primabench_core.state.grouped_sums import GroupedSums

Ints = NDArray[np.int64]
Tail = tuple[list[str], Ints, NDArray[Any]]

TAIL_ROWS = 1_024
TAIL_BYTES = 1 << 26
"""The last 1,024 rows stay raw, up to 64 MiB. The rows that a sampler repeats are the last ones of a rank."""


class UnitSums:
    """Sums over the rows of each unit, and a tail of rows that are not yet added.

    As :class:`~primabench_core.state.wide_sums.WideSums`, for rows with ids of their own: a row of the tail can be
    taken out again without a trace, so that a row that two states have seen is no double count if one of them still
    holds it raw.

    Args:
        units: Number of units.
        m: Numbers of a row.

    Example:
        >>> import numpy as np
        >>> state = UnitSums(2, 2)
        >>> state.add(["a", "b"], np.array([0, 0]), np.array([[1.0, 2.0], [3.0, 4.0]]))
        >>> state.total().means()[0].tolist()
        [2.0, 3.0]
    """

    __slots__ = ("sums", "tail")

    def __init__(self, units: int, m: int) -> None:
        self.sums = GroupedSums(units, m)
        self.tail: list[Tail] = []
        """(ids, units, rows) not yet added, the oldest first."""

    @property
    def tail_rows(self) -> int:
        """Rows of the tail."""
        return sum(len(ids) for ids, _, _ in self.tail)

    def add(self, ids: Sequence[str], units: Ints, rows: NDArray[Any], at: Ints | None = None) -> None:
        """Take rows that no other state and no earlier update brought; nothing is kept of the caller's array.

        Args:
            ids: (k,) text.
            units: (k,) unit of each row.
            rows: (n, m) reals, an array or sparse rows.
            at: (k,) which of the n rows are meant, ascending; None for all.
        """
        k = len(units)
        if not k:
            return
        at = np.arange(k) if at is None else at
        limit = min(TAIL_ROWS, self._room(rows))
        spare = max(0, k - limit)
        if self.tail_rows + k - spare > 2 * limit or spare:
            self._shorten(limit - (k - spare))
        if spare:
            codes = np.full(len(rows), -1, np.int64)
            codes[at[:spare]] = units[:spare]
            self.sums.add(rows, codes)
        self.tail.append((list(ids[spare:]), units[spare:].copy(), dense_of(rows[at[spare:]])))

    def _room(self, rows: NDArray[Any]) -> int:
        return max(1, TAIL_BYTES // max(1, self.sums.m * rows.itemsize))

    def _shorten(self, keep: int) -> None:
        """Add the oldest rows of the tail, and keep this many."""
        surplus = self.tail_rows - max(0, keep)
        while surplus > 0:
            ids, units, rows = self.tail.pop(0)
            n = min(surplus, len(ids))
            self.sums.add(rows[:n], units[:n])
            if n < len(ids):
                self.tail.insert(0, (ids[n:], units[n:].copy(), rows[n:].copy()))
            surplus -= n

    def take_out(self, ids: Collection[str]) -> set[str]:
        """Take rows out of the tail; gives the ids that it does not hold."""
        wanted, left = set(ids), []
        for names, units, rows in self.tail:
            gone = np.array([name in wanted for name in names], bool)
            if gone.any():
                wanted.difference_update(names[i] for i in np.flatnonzero(gone).tolist())
                stay = np.flatnonzero(~gone)
                names, units, rows = [names[i] for i in stay.tolist()], units[stay], rows[stay]
            if names:
                left.append((names, units, rows))
        self.tail = left
        return wanted

    def copy(self) -> UnitSums:
        """An independent state with the same rows; rows of the tail are never changed, so they are shared."""
        twin = UnitSums(self.sums.groups, self.sums.m)
        twin.sums = self.sums.merge(twin.sums)
        twin.tail = list(self.tail)
        return twin

    def merge(self, other: UnitSums, both: Collection[str]) -> tuple[UnitSums, set[str]]:
        """The rows of both states together; neither operand changes.

        Args:
            other: Another state over the same units.
            both: Ids of rows that both have seen, with the same content.

        Returns:
            The state, and the ids of rows that both had added already: then it is not to be used.
        """
        left, right = self.copy(), other.copy()
        stuck = right.take_out(left.take_out(both)) if both else set()
        left.sums = left.sums.merge(right.sums)
        left.tail += right.tail
        if left.tail:
            left._shorten(left._room(left.tail[0][2]))
        return left, stuck

    def total(self) -> GroupedSums:
        """Sums of all rows, those of the tail included; the state stays as it is."""
        result = self.sums.merge(GroupedSums(self.sums.groups, self.sums.m))
        for _, units, rows in self.tail:
            result.add(rows, units)
        return result

    def to_buffers(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Plain parts."""
        meta, arrays = self.sums.to_buffers()
        parts = {f"sums/{name}": array for name, array in arrays.items()}
        for i, (ids, units, rows) in enumerate(self.tail):
            texts = np.empty(len(ids), object)
            texts[:] = ids
            parts |= {f"tail/{i}/units": units, f"tail/{i}/rows": rows}
            parts |= {f"tail/{i}/ids/{part}": array for part, array in pack(texts).items()}
        return {"sums": meta, "tail": len(self.tail)}, parts

    @classmethod
    def from_buffers(cls, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> UnitSums:
        """The state that :meth:`to_buffers` took apart."""
        told = dict(meta["sums"])
        result = cls(told["groups"], told["m"])
        result.sums = GroupedSums.from_buffers(told, _under("sums/", arrays))
        for i in range(meta["tail"]):
            part = _under(f"tail/{i}/", arrays)
            ids: Any = unpack(_under("ids/", part))
            result.tail.append((ids.tolist(), part["units"], part["rows"]))
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return UnitSums.from_buffers, self.to_buffers()


def _under(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
