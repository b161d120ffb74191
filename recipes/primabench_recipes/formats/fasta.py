"""FASTA: sequences with a header line each, wrapped or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import frozen

from primabench_core import CorruptDataError
from primabench_recipes.formats.text_files import open_text


@frozen
class Sequence:
    """One entry."""

    header: str
    """The line behind ``>``."""
    letters: str

    @property
    def name(self) -> str:
        """The header up to its first blank."""
        return self.header.split(maxsplit=1)[0] if self.header.strip() else ""


def parse_fasta(lines: Iterable[str], file: str) -> Iterator[Sequence]:
    """Entries of FASTA text, one at a time.

    Raises:
        CorruptDataError: letters come before the first header, or an entry has none.
    """
    header: str | None = None
    parts: list[str] = []
    for line in lines:
        text = line.strip()
        if text.startswith(">"):
            if header is not None:
                yield _entry(header, parts, file)
            header, parts = text[1:], []
        elif text:
            if header is None:
                raise CorruptDataError(f"{file} is no FASTA file: it begins with {text[:20]!r}")
            parts.append(text)
    if header is not None:
        yield _entry(header, parts, file)


def read_fasta(path: Path) -> list[Sequence]:
    """All entries of a plain or gzipped file."""
    return list(iterate_fasta(path))


def iterate_fasta(path: Path) -> Iterator[Sequence]:
    """Entries of a plain or gzipped file, one in memory at a time (for genomes)."""
    with open_text(path) as stream:
        yield from parse_fasta(stream, path.name)


def _entry(header: str, parts: list[str], file: str) -> Sequence:
    if not parts:
        raise CorruptDataError(f"{file}: the entry {header[:40]!r} has no letters")
    return Sequence(header, "".join(parts))


_COMPLEMENT = str.maketrans("ACGTUNRYSWKMBDHVacgtunryswkmbdhv", "TGCAANYRSWMKVHDBtgcaanyrswmkvhdb")


def reverse_complement(letters: str) -> str:
    """The other strand, with IUPAC ambiguity codes.

    Example:
        >>> reverse_complement("AACGN")
        'NCGTT'
    """
    return letters.translate(_COMPLEMENT)[::-1]
