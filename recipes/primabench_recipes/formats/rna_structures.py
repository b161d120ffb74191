"""RNA secondary structures: bpseq and ct files, and dot-bracket text with any number of bracket kinds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core import CorruptDataError

_OPEN = "([{<ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CLOSE = ")]}>abcdefghijklmnopqrstuvwxyz"


@frozen(eq=False)
class Structure:
    """A molecule and its base pairs."""

    sequence: str
    pairs: NDArray[np.int32]
    """(pairs, 2) positions from 0, the smaller first, sorted."""


def parse_bpseq(lines: Iterable[str], file: str) -> Structure:
    """A bpseq file: ``position base partner`` a line, positions from 1, partner 0 where unpaired.

    Raises:
        CorruptDataError: positions are not consecutive, or i pairs with j but j not with i.
    """
    rows = [line.split() for line in lines if line.strip() and not line.startswith(("#", ">"))]
    rows = [row for row in rows if len(row) == 3 and row[0].isdigit()]
    return _of_partners([(int(i), base, int(j)) for i, base, j in rows], file)


def parse_ct(lines: Iterable[str], file: str) -> Structure:
    """A connectivity table: a title with the length, then ``position base before after partner number`` a line.

    Raises:
        CorruptDataError: as for :func:`parse_bpseq`, or lines are missing.
    """
    rows = [line.split() for line in lines if line.strip()]
    length = int(rows[0][0]) if rows and rows[0][0].isdigit() else 0
    body = [row for row in rows[1 : length + 1] if len(row) >= 6]
    if not length or len(body) != length:
        raise CorruptDataError(f"{file}: the title promises {length} bases, the table has {len(body)}")
    return _of_partners([(int(row[0]), row[1], int(row[4])) for row in body], file)


def _of_partners(rows: list[tuple[int, str, int]], file: str) -> Structure:
    if [i for i, _, _ in rows] != list(range(1, len(rows) + 1)) or not rows:
        raise CorruptDataError(f"{file}: positions do not run from 1 to the number of bases")
    partner = {i: j for i, _, j in rows if j}
    odd = next((i for i, j in partner.items() if partner.get(j) != i or i == j), None)
    if odd is not None:
        raise CorruptDataError(f"{file}: base {odd} pairs with {partner[odd]}, which does not pair with it")
    found = sorted((i - 1, j - 1) for i, j in partner.items() if i < j)
    return Structure("".join(base for _, base, _ in rows), as_pairs(found))


def parse_dot_bracket(sequence: str, brackets: str, file: str) -> Structure:
    """Dot-bracket text; every kind of bracket is balanced on its own, so crossing pairs are kept.

    Raises:
        CorruptDataError: lengths differ, a bracket is not closed, or a sign is unknown.

    Example:
        >>> parse_dot_bracket("GGAACC", "(.[.)]", "x").pairs.tolist()
        [[0, 4], [2, 5]]
    """
    if len(sequence) != len(brackets):
        raise CorruptDataError(f"{file}: {len(sequence)} bases, {len(brackets)} signs of structure")
    waiting: dict[str, list[int]] = {}
    found: list[tuple[int, int]] = []
    for place, sign in enumerate(brackets):
        if sign in _OPEN:
            waiting.setdefault(sign, []).append(place)
        elif sign in _CLOSE:
            stack = waiting.get(_OPEN[_CLOSE.index(sign)])
            if not stack:
                raise CorruptDataError(f"{file}: {sign!r} at {place + 1} closes nothing")
            found.append((stack.pop(), place))
        elif sign not in ".-_,:":
            raise CorruptDataError(f"{file}: {sign!r} is no sign of a structure")
    left = next((sign for sign, stack in waiting.items() if stack), None)
    if left:
        raise CorruptDataError(f"{file}: {left!r} is never closed")
    return Structure(sequence, as_pairs(sorted(found)))


def as_pairs(found: list[tuple[int, int]]) -> NDArray[Any]:
    """Pairs as (n, 2) int32, also where there are none."""
    return np.array(found, np.int32).reshape(-1, 2)


def crossing(pairs: NDArray[Any]) -> int:
    """How many pairs cross another one (i < k < j < l), which is what makes a pseudoknot.

    Example:
        >>> crossing(np.array([[0, 4], [2, 5], [6, 8]]))
        2
    """
    marked = np.zeros(len(pairs), bool)
    for place, (i, j) in enumerate(pairs.tolist()):
        inside = (pairs[:, 0] > i) & (pairs[:, 0] < j) & (pairs[:, 1] > j)
        if inside.any():
            marked |= inside
            marked[place] = True
    return int(marked.sum())
