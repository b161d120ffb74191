"""Variants as columns, one row an alternative allele, and what makes a row unusable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core import ContractError, UsageError
from primabench_core.contract.violations import Violation

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

SHOWN = 5
_KIND = np.zeros(256, np.uint8)
_KIND[[ord(c) for c in "ACGTNacgtn"]] = 1


@frozen(eq=False)
class Variants:
    """Alternative alleles: where they are and what they change, as they were given.

    Example:
        >>> variants = Variants.of(["1", "1"], [10, 12], ["A", "C"], ["G,T", "CT"])
        >>> variants.n, variants.alt, variants.row.tolist()
        (3, ('G', 'T', 'CT'), [0, 0, 1])
    """

    chrom: tuple[Any, ...]
    pos: Ints
    """(n,) int64, from 1; 0 where what was given is no position."""
    ref: tuple[Any, ...]
    alt: tuple[Any, ...]
    row: Ints
    """(n,) int64, the row of the input that each comes from; several alternatives share one."""
    strand: Bools | None = None
    """(n,) True where windows are read from the minus strand; None for the plus strand throughout."""
    anchor: Ints | None = None
    """(n,) int64 from 1: the base that sits in the middle of the window; None: the first base of the variant."""
    pos_given: tuple[Any, ...] | None = None
    """(n,) positions as they were given, where one of them is none; None where all can be read."""

    @property
    def n(self) -> int:
        """Number of alternative alleles."""
        return len(self.chrom)

    @classmethod
    def of(
        cls,
        chrom: Iterable[Any],
        pos: Iterable[Any],
        ref: Iterable[Any],
        alt: Iterable[Any],
        *,
        strand: Iterable[Any] | str = "+",
        anchor: Iterable[Any] | None = None,
    ) -> Variants:
        """Variants of columns; an ``alt`` of several alleles, ``"G,T"`` or a list, becomes several rows.

        Args:
            chrom: Names of chromosomes.
            pos: Positions from 1.
            ref: Reference alleles, on the plus strand.
            alt: Alternative alleles, on the plus strand.
            strand: ``+`` or ``-``, one for all or one a row.
            anchor: Positions from 1 that sit in the middle of windows; by default ``pos``.

        Raises:
            UsageError: the columns have different lengths, or a strand is neither ``+`` nor ``-``.
        """
        columns = [_listed(c) for c in (chrom, pos, ref, alt)]
        lengths = {len(c) for c in columns}
        if len(lengths) != 1:
            raise UsageError(f"columns of variants have different lengths: {[len(c) for c in columns]}")
        n = lengths.pop()
        minus = _minus(strand, n)
        centre = None if anchor is None else _positions(_listed(anchor))
        if centre is not None and len(centre) != n:
            raise UsageError(f"there are {len(centre)} anchors for {n} variants")
        names, places, before, after = columns
        row, read = np.arange(n, dtype=np.int64), _positions(places)
        if not set(map(type, after)) <= {str} or "," in "".join(after):
            parts = [_alternatives(a) for a in after]
            row = np.repeat(row, [len(p) for p in parts])
            after = [a for p in parts for a in p]
            order = row.tolist()
            names, before = [names[i] for i in order], [before[i] for i in order]
        return cls(
            tuple(names),
            read[row],
            tuple(before),
            tuple(after),
            row,
            None if minus is None else minus[row],
            None if centre is None else centre[row],
            None if read.all() else tuple(places[i] for i in row.tolist()),
        )

    def take(self, rows: Ints | slice) -> Variants:
        """The variants at these places."""
        order = range(self.n)[rows] if isinstance(rows, slice) else rows.tolist()
        return Variants(
            tuple(self.chrom[i] for i in order),
            self.pos[rows],
            tuple(self.ref[i] for i in order),
            tuple(self.alt[i] for i in order),
            self.row[rows],
            None if self.strand is None else self.strand[rows],
            None if self.anchor is None else self.anchor[rows],
            None if self.pos_given is None else tuple(self.pos_given[i] for i in order),
        )

    def name(self, place: int) -> str:
        """``chrom:pos:ref:alt`` of one; what is no position stands there as it was given, text in quotes."""
        pos: Any = self.pos[place]
        if not pos and self.pos_given is not None:
            given = self.pos_given[place]
            pos = f"{given.item() if isinstance(given, np.generic) else given!r:.30}"
        return f"{self.chrom[place]}:{pos}:{self.ref[place]}:{self.alt[place]}"


def _listed(column: Any) -> list[Any]:
    found = column.tolist() if hasattr(column, "tolist") else column
    if isinstance(found, str) or not isinstance(found, Iterable):
        what = "the text " if isinstance(found, str) else ""
        raise UsageError(f"a column of variants has one value a row, a list or an array; this is {what}{found!r}")
    return list(found)


def _alternatives(value: Any) -> list[Any]:
    if isinstance(value, str):
        return value.split(",")
    return list(value) or [""] if isinstance(value, Sequence | np.ndarray) else [value]


def _positions(values: list[Any]) -> Ints:
    """Whole numbers from 1; 0 for anything else."""
    if set(map(type, values)) <= {int} and all(-(2**62) < v < 2**62 for v in values):
        return np.maximum(np.asarray(values, np.int64), 0)
    if set(map(type, values)) <= {int, float}:
        values = [int(v) if v == v and abs(v) < 2**53 and v == int(v) else 0 for v in values]
    whole = [
        int(v) if isinstance(v, int | np.integer) and not isinstance(v, bool) and 0 < v < 2**62 else 0 for v in values
    ]
    return np.asarray(whole, np.int64)


def _minus(strand: Iterable[Any] | str, n: int) -> Bools | None:
    if isinstance(strand, str):
        if strand not in ("+", "-"):
            raise UsageError(f"strand is '+' or '-', not {strand!r}")
        return np.ones(n, bool) if strand == "-" else None
    values = _listed(strand)
    if len(values) != n:
        raise UsageError(f"strand has {len(values)} values for {n} variants")
    odd = next((i for i, v in enumerate(values) if v not in ("+", "-", 1, -1)), None)
    if odd is not None:
        raise UsageError(f"strand is '+' or '-' (or 1 or -1) in each row, not {values[odd]!r} as in row {odd}")
    minus = np.asarray([v in ("-", -1) for v in values], bool)
    return minus if minus.any() else None


@frozen(eq=False)
class Alleles:
    """A column of alleles as upper-case bytes, one behind the other."""

    letters: NDArray[np.uint8]
    starts: Ints
    """(n,) where each begins."""
    lengths: Ints
    """(n,) int64."""

    @classmethod
    def of(cls, texts: Sequence[str]) -> Alleles:
        """Alleles of texts; characters beyond ASCII become ``?``."""
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        letters = np.frombuffer("".join(texts).upper().encode("ascii", "replace"), np.uint8)
        return cls(letters, np.cumsum(lengths) - lengths, lengths)

    def are_dna(self) -> Bools:
        """(n,) whether each has letters, and none but A, C, G, T and N."""
        good = np.concatenate(([0], np.cumsum(_KIND[self.letters], dtype=np.int64)))
        found: Bools = (self.lengths > 0) & (good[self.starts + self.lengths] - good[self.starts] == self.lengths)
        return found

    def matrix(self, rows: Ints, width: int) -> NDArray[np.uint8]:
        """(len(rows), width) the first letters of rows that have at least so many."""
        found: NDArray[np.uint8] = self.letters[self.starts[rows][:, None] + np.arange(width)]
        return found


class Problems:
    """What is wrong with rows: the first finding of each, by field."""

    def __init__(self, n: int) -> None:
        self.bad = np.zeros(n, bool)
        self._found: list[tuple[str, str, str, str, Ints]] = []

    def add(self, field: str, expected: str, found: str, where: Bools, remedy: str = "") -> None:
        """Note rows that are not bad yet."""
        new = where & ~self.bad
        if new.any():
            self.bad |= new
            self._found.append((field, expected, found, remedy, np.flatnonzero(new)))

    def violations(self, variants: Variants) -> list[Violation]:
        """One for each kind of fault, with the first few variants and the rows of the input that they stand in."""
        return [
            Violation(
                field,
                expected,
                found,
                [f"{variants.name(i)} in row {variants.row[i]}" for i in rows[:SHOWN].tolist()],
                len(rows),
                remedy,
            )
            for field, expected, found, remedy, rows in self._found
        ]

    def by_row(self) -> dict[int, tuple[str, str]]:
        """Place of each refused row, with its field and what was found there."""
        return {i: (field, found) for field, _, found, _, rows in self._found for i in rows.tolist()}

    def refuse(self, variants: Variants) -> None:
        """Raise if there is anything.

        Raises:
            ContractError: with every finding.
        """
        if self._found:
            raise ContractError(self.violations(variants), what="The list of variants")
