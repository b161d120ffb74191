"""Sums over the rows of a wide field that are forgotten once added, but for the last ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.state.column_moments import ColumnMoments
from primabench_core.state.torch_rows import rows_on
from primabench_core.state.torch_sums import is_tensor

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

TAIL_ROWS = 1_024
TAIL_BYTES = 1 << 26
"""The last batch or 1,024 rows, whichever is more, stay raw, up to 64 MiB."""


class WideSums:
    """Exact moments of predicted and true rows, and a tail of rows that are not yet added.

    A row of the tail can be taken out again without a trace; an added one cannot. So a row that two states have seen
    is no double count if one of them still holds it raw, as it is with the rows that a sampler repeats at its end.
    Rows may be tensors of a device: they are added there, and those of the tail stay there until the state travels.

    Args:
        m: Numbers of a row.
    """

    __slots__ = ("m", "moments", "tail")

    def __init__(self, m: int) -> None:
        self.m = m
        self.moments = ColumnMoments(m)
        self.tail: list[tuple[Ints, Any]] = []
        """(positions, rows) not yet added, the oldest first."""

    @property
    def tail_rows(self) -> int:
        """Rows of the tail."""
        return sum(len(positions) for positions, _ in self.tail)

    def add(self, positions: Ints, rows: Any, truth: NDArray[Any], usable: Mask | None = None) -> None:
        """Take (k, m) rows that no other state and no earlier update brought; nothing is kept of the caller's array.

        Args:
            positions: (k,) place of each row in the truth.
            rows: float32 or float64, finite; an array or a tensor.
            truth: (n, m) true rows.
            usable: (n,) which true rows have an answer; None for all.
        """
        if not len(positions):
            return
        limit = self._limit(rows, len(rows))
        have = self.tail_rows
        if have + len(rows) <= min(2 * limit, self._room(rows)):
            self.tail.append((positions.copy(), _own(rows)))
            return
        spare = max(0, len(rows) - limit)
        self._shorten(limit - (len(rows) - spare), truth, usable)
        if spare:
            self._fold(self.moments, positions[:spare], rows[:spare], truth, usable)
        self.tail.append((positions[spare:].copy(), _own(rows[spare:])))

    def _room(self, rows: Any) -> int:
        return max(1, TAIL_BYTES // max(1, self.m * int(rows.dtype.itemsize)))

    def _limit(self, rows: Any, batch: int) -> int:
        return min(max(batch, TAIL_ROWS), self._room(rows))

    def _shorten(self, keep: int, truth: NDArray[Any], usable: Mask | None) -> None:
        """Add the oldest rows of the tail, and keep this many."""
        surplus = self.tail_rows - max(0, keep)
        while surplus > 0:
            positions, rows = self.tail.pop(0)
            n = min(surplus, len(positions))
            self._fold(self.moments, positions[:n], rows[:n], truth, usable)
            if n < len(positions):
                self.tail.insert(0, (positions[n:].copy(), _own(rows[n:])))
            surplus -= n

    @staticmethod
    def _fold(moments: ColumnMoments, positions: Ints, rows: Any, truth: NDArray[Any], usable: Mask | None) -> None:
        if usable is not None:
            kept = np.flatnonzero(usable[positions])
            if len(kept) < len(positions):
                positions, rows = positions[kept], rows[kept]
        if not len(positions):
            return
        first, last = int(positions[0]), int(positions[-1])
        if last - first == len(positions) - 1 and bool((np.diff(positions) == 1).all()):
            run = slice(first, last + 1)
            moments.add(rows, rows_on(truth, run, rows.device) if is_tensor(rows) else truth[run])
            return
        if is_tensor(rows):
            moments.add(rows, rows_on(truth, positions, rows.device))
            return
        step = max(256, (1 << 24) // max(1, rows.shape[1] * truth.itemsize) // 256 * 256)
        for start in range(0, len(positions), step):
            moments.add(rows[start : start + step], truth[positions[start : start + step]])

    def take_out(self, positions: Ints) -> Ints:
        """Take rows out of the tail; gives the positions that it does not hold."""
        left = []
        found = np.zeros(len(positions), bool)
        for places, rows in self.tail:
            gone = np.isin(places, positions)
            if gone.any():
                found |= np.isin(positions, places)
                places, rows = places[~gone], rows[np.flatnonzero(~gone)]
            if len(places):
                left.append((places, rows))
        self.tail = left
        return positions[~found]

    def copy(self) -> WideSums:
        """An independent state with the same rows; rows of the tail are never changed, so they are shared."""
        twin = WideSums(self.m)
        twin.moments = self.moments.merge(ColumnMoments(self.m))
        twin.tail = list(self.tail)
        return twin

    def merge(
        self, other: WideSums, both: Ints, truth: NDArray[Any], usable: Mask | None = None
    ) -> tuple[WideSums, Ints]:
        """The rows of both states together; neither operand changes.

        Args:
            other: Another state over the same truth.
            both: Positions that both have seen, with the same content.
            truth: As in :meth:`add`.
            usable: As in :meth:`add`.

        Returns:
            The state, and the positions of rows that both had added already: then it is not to be used.
        """
        left, right = self.copy(), other.copy()
        stuck = right.take_out(left.take_out(both)) if len(both) else both
        left.moments = left.moments.merge(right.moments)
        left.tail += right.tail
        if left.tail:
            left._shorten(left._room(left.tail[0][1]), truth, usable)
        return left, stuck

    def total(self, truth: NDArray[Any], usable: Mask | None = None) -> ColumnMoments:
        """Moments of all rows, those of the tail included; the state stays as it is."""
        moments = self.moments.merge(ColumnMoments(self.m))
        for positions, rows in self.tail:
            self._fold(moments, positions, rows, truth, usable)
        return moments

    def to_buffers(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Plain parts."""
        meta, arrays = self.moments.to_buffers()
        parts = {f"moments/{name}": array for name, array in arrays.items()}
        for i, (positions, rows) in enumerate(self.tail):
            parts |= {f"tail/{i}/positions": positions, f"tail/{i}/rows": _at_home(rows)}
        return {"m": self.m, "moments": meta, "tail": len(self.tail)}, parts

    @classmethod
    def from_buffers(cls, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> WideSums:
        """The state that :meth:`to_buffers` took apart."""
        result = cls(meta["m"])
        moments = {k.removeprefix("moments/"): a for k, a in arrays.items() if k.startswith("moments/")}
        result.moments = ColumnMoments.from_buffers(dict(meta["moments"]), moments)
        result.tail = [(arrays[f"tail/{i}/positions"], arrays[f"tail/{i}/rows"]) for i in range(meta["tail"])]
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return WideSums.from_buffers, self.to_buffers()


def _own(rows: Any) -> Any:
    return rows.clone() if is_tensor(rows) else rows.copy()


def _at_home(rows: Any) -> NDArray[Any]:
    """The rows on the host."""
    home: NDArray[Any] = rows.cpu().numpy() if is_tensor(rows) else rows
    return home
