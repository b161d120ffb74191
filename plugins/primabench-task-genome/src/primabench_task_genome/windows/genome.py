"""A genome: sequences by the names that people use for them, with what lies beyond their ends."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from primabench_core import UsageError
from primabench_task_genome.windows.fasta import Bases, Source, Span, open_source

N = ord("N")
_MITOCHONDRIAL = ("M", "MT")


class Genome:
    """Sequences of a FASTA file, a URL, or a mapping; opened once, to be used for many calls.

    ``chr1`` and ``1`` are one chromosome, ``chrM``, ``M``, ``MT`` and ``chrMT`` are one; a name that the file holds
    itself always wins.

    Args:
        place: Path or fsspec URL of a FASTA file (plain, or compressed with ``bgzip``), or names and their text.
        circular: Sequences without ends, by any of their names, or True for all: windows run on through the origin.

    Raises:
        MissingDataError: there is no such file.
        CorruptDataError: it is no FASTA file that can be indexed.
        UsageError: ``circular`` names no sequence of it.

    Example:
        >>> genome = Genome({"chrM": "ACGTN"}, circular=["MT"])
        >>> genome.resolve("MT"), genome.text("M", -2, 3)
        ('chrM', 'TNACG')
    """

    def __init__(
        self, place: str | Path | Mapping[str, str], *, circular: bool | str | Collection[str] = False
    ) -> None:
        self._source: Source = open_source(place)
        self.lengths: Mapping[str, int] = self._source.lengths
        """Bases of each sequence, by its own name."""
        if not isinstance(circular, bool | str) and not _are_names(circular):
            raise UsageError(f"circular is True, False or names of sequences, not {circular!r}")
        if isinstance(circular, bool):
            self.circular = frozenset(self.lengths) if circular else frozenset[str]()
        else:
            self.circular = frozenset(map(self._known, [circular] if isinstance(circular, str) else circular))

    def _known(self, name: str) -> str:
        found = self.resolve(name)
        if found is None:
            raise UsageError(f"circular names {name!r}, which {self.name} does not hold")
        return found

    @property
    def name(self) -> str:
        """How messages call it."""
        return self._source.name

    @property
    def gap(self) -> int:
        """Bases between two spans below which one read is cheaper than two."""
        return self._source.gap

    def resolve(self, chrom: str) -> str | None:
        """Own name of the sequence that a chromosome's name means, None if there is none."""
        if chrom in self.lengths:
            return chrom
        bare = chrom.removeprefix("chr")
        names = _MITOCHONDRIAL if bare in _MITOCHONDRIAL else (bare,)
        return next((p + n for n in names for p in ("chr", "") if p + n in self.lengths), None)

    def text(self, chrom: str, start: int, end: int) -> str:
        """Upper-case letters of a half-open, 0-based span, ``N`` beyond the ends, round the origin of a circle.

        Raises:
            UsageError: there is no such chromosome.
        """
        name = self.resolve(chrom)
        if name is None:
            raise UsageError(f"{self.name} holds no chromosome {chrom!r}")
        return self.spans(name, [(start, end)])[0].tobytes().decode("ascii")

    def spans(self, name: str, spans: list[Span]) -> list[Bases]:
        """Upper-case bytes of half-open spans that may reach beyond the ends.

        Args:
            name: Own name of a sequence.
            spans: 0-based starts and ends.
        """
        length = self.lengths[name]
        if name in self.circular:
            return [self._round(name, start, end, length) for start, end in spans]
        inside = [(max(0, min(start, length)), max(0, min(end, length))) for start, end in spans]
        read = iter(self._source.fetch(name, [(start, end) for start, end in inside if end > start]))
        found = []
        for (start, end), (low, high) in zip(spans, inside, strict=True):
            bases = next(read) if high > low else np.empty(0, np.uint8)
            if (low, high) == (start, end):
                found.append(bases)
                continue
            padded = np.full(end - start, N, np.uint8)
            padded[low - start : low - start + len(bases)] = bases
            found.append(padded)
        return found

    def _round(self, name: str, start: int, end: int, length: int) -> Bases:
        if 0 <= start < end <= length:
            return self._source.fetch(name, [(start, end)])[0]
        whole = self._source.fetch(name, [(0, length)])[0]
        turns = -(-(end - start + start % length) // length)
        laps: Bases = np.tile(whole, turns)
        return laps[start % length : start % length + end - start]


def _are_names(value: object) -> bool:
    return isinstance(value, Collection) and all(isinstance(name, str) for name in value)
