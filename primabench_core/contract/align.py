"""Joining rows by id and columns by name: exact text, nothing positional is trusted."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.arrays import as_ids
from primabench_core.contract.plain import SHOWN, plain
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError

_WINDOW = 8
"""Neighbouring slots read at once in a look-up."""


class IdIndex:
    """Positions of text ids in a truth.

    Loaders mostly deliver the truth's own order, or every k-th row of it: the next ids are compared with the next
    slice first. Other ids go through a hash table in numpy (sorted by hash, so that it is built without a loop), and
    the text found there is compared in full.

    Args:
        ids: The truth's ids, distinct.

    Raises:
        ContractError: an id occurs twice, or is not text.

    Example:
        >>> index = IdIndex(["a", "b", "c"])
        >>> index.lookup(["c", "a", "x"]).tolist(), index.locate(["a", "b"])
        ([2, 0, -1], slice(0, 2, 1))
    """

    def __init__(self, ids: Any) -> None:
        self.ids: list[str] = as_ids(ids)
        self._cursor, self._step = 0, 1
        self._table: _HashTable | None = _HashTable(self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    def __getstate__(self) -> tuple[list[str]]:
        return (self.ids,)  # hashes of text differ between processes: the table is made anew when it is needed

    def __setstate__(self, state: tuple[list[str]]) -> None:
        self.ids, self._cursor, self._step, self._table = state[0], 0, 1, None

    def __repr__(self) -> str:
        return f"IdIndex({len(self.ids):,} ids)"

    def locate(self, ids: Any) -> slice | NDArray[np.int64]:
        """Positions as a slice where the ids follow the truth's order (evenly spaced), else as an array.

        Args:
            ids: A list (fastest), or any sequence or array of text.

        Returns:
            A slice, or (n,) int64 with -1 for ids that the truth does not have.

        Raises:
            ContractError: the ids are not text.
        """
        if type(ids) is not list:
            ids = as_ids(ids)
        if not ids:
            return slice(0, 0, 1)
        n, step, start = len(ids), self._step, self._cursor
        for at in (start, 0) if start else (0,):
            stop = at + n * step
            if stop - step < len(self.ids) and ids == self.ids[at:stop:step]:
                self._cursor = stop
                return slice(at, stop, step)
        if self._table is None:
            self._table = _HashTable(self.ids)
        return self._as_slice(self._table.find(ids))

    def lookup(self, ids: Any) -> NDArray[np.int64]:
        """(n,) int64 positions of the ids, -1 where the truth does not have one."""
        found = self.locate(ids)
        return np.arange(found.start, found.stop, found.step) if isinstance(found, slice) else found

    def _as_slice(self, found: NDArray[np.int64]) -> slice | NDArray[np.int64]:
        """Recognise even spacing, so that the next batch is compared with the next slice."""
        if len(found) < 2 or found[0] < 0:
            return found
        step = int(found[1] - found[0])
        if step < 1 or found[-1] - found[0] != step * (len(found) - 1) or (np.diff(found) != step).any():
            return found
        stop = int(found[-1]) + step
        self._cursor, self._step = stop, step
        return slice(int(found[0]), stop, step)


class _HashTable:
    """Ids by Python's hash: one sorted table of (tag, position), probed for a whole batch at once.

    An entry holds the low bits of the hash above the position + 1; its slot is made of the high bits. Positions are
    confirmed by comparing the UTF-8 of the whole batch with that of the ids found.
    """

    def __init__(self, ids: list[str]) -> None:
        self._ids, n = ids, len(ids)
        bits = max(int(n * 1.6).bit_length(), 3)
        self._shift, self._place = np.uint64(64 - bits), np.uint64(max(n.bit_length(), 1))
        self._mask = np.uint64((1 << int(self._place)) - 1)
        hashes = _hashes(ids)
        order = np.argsort(hashes, kind="stable")
        hashes = hashes[order]
        self._refuse_twins(hashes, order)
        # each entry goes to its slot or to the first free one behind: slot_i = i + max(slot_j - j, j <= i)
        steps = np.arange(n)
        slots = np.maximum.accumulate((hashes >> self._shift).astype(np.int64) - steps) + steps
        last = int(slots[-1]) if n else 0
        table = np.zeros(max(1 << bits, last + 1) + 2 * _WINDOW, np.uint64)  # 0 is free
        table[slots] = hashes << self._place | (order + 1).astype(np.uint64)
        self.table = table
        # every run of _WINDOW entries as one item, so that a batch of runs is one gather
        self._runs: NDArray[Any] = np.ndarray(len(table) - _WINDOW, f"V{8 * _WINDOW}", table, strides=(8,))
        self._texts = _Texts.of(ids)

    def _refuse_twins(self, hashes: NDArray[np.uint64], order: NDArray[np.int64]) -> None:
        same = np.flatnonzero(hashes[1:] == hashes[:-1])
        twins, held = [], set()
        for i in sorted({int(order[j]) for k in same for j in (k, k + 1)}):
            if self._ids[i] in held:
                twins.append(self._ids[i])
            held.add(self._ids[i])
        if twins:
            found = Violation("ids", "distinct ids", "an id again", twins[:SHOWN], len(twins))
            raise ContractError([found], what="The truth")

    def find(self, ids: list[str]) -> NDArray[np.int64]:
        """(n,) int64 positions, -1 where there is none."""
        try:
            hashes = _hashes(ids)
        except TypeError:  # not text, and not even hashable
            hashes = _hashes(as_ids(ids))
        slots = (hashes >> self._shift).astype(np.int64)
        tags = hashes << self._place >> self._place
        runs = self._runs[slots].view(np.uint64).reshape(len(ids), _WINDOW)
        hits = np.flatnonzero(runs >> self._place == tags[:, None])
        if len(hits) == len(ids):
            found = (runs.reshape(-1)[hits] & self._mask).astype(np.int64) - 1
            if np.minimum.reduce(found) >= 0 and self._texts.agree(found, ids):
                return found  # in row order: hits of one row cannot stand in for another, the text says so
        return np.fromiter(map(self._scan, as_ids(ids), slots.tolist(), tags.tolist()), np.int64, len(ids))

    def _scan(self, text: str, slot: int, tag: int) -> int:
        """One id, entry by entry: for ids that are unknown, or lie beyond the first run."""
        while entry := int(self.table[slot]):
            place = (entry & int(self._mask)) - 1
            if entry >> int(self._place) == tag and self._ids[place] == text:
                return place
            slot += 1
        return -1


class _Texts:
    """The UTF-8 of all ids, so that a batch is compared without touching one Python object a row."""

    def __init__(self, ids: list[str], data: NDArray[np.uint8], starts: NDArray[np.int64], width: int) -> None:
        self._ids, self._data, self._starts, self._width = ids, data, starts, width

    @classmethod
    def of(cls, ids: list[str]) -> _Texts:
        joined = _joined(ids)
        if not ids or joined.count(0) != len(ids):  # an id holds the separator: compare objects instead
            return cls(ids, np.empty(0, np.uint8), np.empty(0, np.int64), 0)
        data = np.frombuffer(joined, np.uint8)
        if len(data) % len(ids) == 0:
            rows = data.reshape(len(ids), -1)
            if not rows[:, -1].any():
                return cls(ids, rows, np.empty(0, np.int64), rows.shape[1])
        starts = np.zeros(len(ids) + 1, np.int64)
        starts[1:] = np.flatnonzero(data == 0) + 1
        return cls(ids, data, starts, 0)

    def agree(self, found: NDArray[np.int64], ids: list[str]) -> bool:
        """Whether the ids at these positions are exactly the given ones."""
        if self._width:
            return bool(self._data.take(found, axis=0).tobytes() == _joined(ids))
        if not len(self._starts):
            return [self._ids[i] for i in found.tolist()] == ids
        starts = self._starts.take(found)
        counts = self._starts.take(found + 1) - starts
        ends = np.add.accumulate(counts)
        bytes_at = np.arange(ends[-1]) + np.repeat(starts - ends + counts, counts)
        return bool(self._data.take(bytes_at).tobytes() == _joined(ids))


def _hashes(ids: list[str]) -> NDArray[np.uint64]:
    return np.fromiter(map(hash, ids), np.int64, len(ids)).view(np.uint64)


def _joined(ids: list[str]) -> bytes:
    """One run of bytes, a zero after each id."""
    try:
        return ("\0".join(ids) + "\0").encode("utf-8", "surrogatepass")
    except TypeError:
        return b""  # not text: equal to nothing


def find_repeats(positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions that occur more than once in one shard, sorted.

    Example:
        >>> find_repeats(np.array([3, 1, 3, 2])).tolist()
        [3]
    """
    ordered = np.sort(positions)
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])


def unknown_ids(ids: Sequence[str], positions: NDArray[np.int64], known: Sequence[str]) -> Violation | None:
    """The violation that names ids which the truth does not have, with a hint where one is nearly right."""
    rows = np.flatnonzero(positions < 0)
    if not len(rows):
        return None
    first = ids[int(rows[0])]
    remedy = "ids are joined as exact text"
    trimmed = first.strip()
    if len(known) <= 100_000:
        alike = [
            k
            for k in known
            if k.strip().lower() == trimmed.lower() or (k.lstrip("0") or "0") == (first.lstrip("0") or "0")
        ]
        if alike:
            remedy += f": {first!r} is not {alike[0]!r}"
    return Violation("ids", "ids of the truth", "unknown ids", [ids[int(r)] for r in rows[:SHOWN]], len(rows), remedy)


def join_names(
    expected: Sequence[Any], given: Any, noun: str = "name", field: str = "", *, hidden: bool = False
) -> tuple[NDArray[np.int64] | None, list[Violation]]:
    """How to bring columns (or rows) into the order of the expected names.

    Args:
        expected: Names of the truth, distinct, in canonical order.
        given: Names of the prediction.
        noun: What is joined, in the singular: ``gene``, ``class``, ``perturbation``.
        field: Name for the message; by default the plural of ``noun``.
        hidden: The names of the truth are private: messages count those that are missing and hint at none.

    Returns:
        ``(order, [])`` so that ``array[:, order]`` is in canonical order, ``(None, [])`` if it already is, or
        ``(None, violations)`` that name unknown, missing and repeated names.

    Example:
        >>> join_names(["A", "B"], ["B", "A"], "gene")[0].tolist()
        [1, 0]
    """
    wanted = list(expected)
    held = given if type(given) is list else plain(given, field or noun).tolist()
    if held == wanted and {type(h) for h in held} == {type(w) for w in wanted}:
        return None, []
    name = field or _plural(noun)
    kinds = {isinstance(h, str) for h in held}
    wants = {isinstance(w, str) for w in wanted}
    if held and wanted and kinds != wants:
        found = "text" if kinds == {True} else "integers" if kinds == {False} else "a mixture of types"
        return None, [Violation(name, "text" if wants == {True} else "integers, as in the truth", found)]
    place: dict[Any, int] = {}
    twins: dict[Any, None] = {}
    for i, item in enumerate(held):
        if item in place:
            twins[item] = None
        place.setdefault(item, i)
    known = set(wanted)
    unknown = [h for h in place if h not in known]
    missing = [w for w in wanted if w not in place]
    violations = []
    if twins:
        violations.append(_names(name, f"each {noun} once", "a name again", list(twins)))
    if unknown:
        hint = "" if hidden else _hint(str(unknown[0]), [str(w) for w in wanted[:5000]])
        violations.append(_names(name, f"the {_plural(noun)} of the truth", f"unknown {_plural(noun)}", unknown, hint))
    if missing:
        violations.append(_names(name, f"every {noun} of the truth", f"missing {_plural(noun)}", missing, "", hidden))
    if violations:
        return None, violations
    return np.fromiter((place[w] for w in wanted), np.int64, len(wanted)), []


def _hint(name: str, known: list[str]) -> str:
    folded = name.strip().lower()
    close = [k for k in known if k.strip().lower() == folded] or get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else ""


def _plural(noun: str) -> str:
    return noun + "es" if noun.endswith("s") else noun + "s"


def _names(
    field: str, expected: str, found: str, names: list[Any], remedy: str = "", hidden: bool = False
) -> Violation:
    return Violation(field, expected, found, [] if hidden else names[:SHOWN], len(names), remedy, noun="name")
