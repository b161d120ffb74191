"""VCF: the first eight columns; several alternatives in one line become several variants."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from primabench_core import CorruptDataError
from primabench_recipes.formats.text_files import open_text


@frozen
class Variant:
    """One alternative allele."""

    chrom: str
    pos: int
    """From 1, as the format says."""
    name: str
    ref: str
    alt: str
    info: dict[str, str]
    """``INFO``; a flag has the value ``""``."""


def read_vcf(path: Path) -> Iterator[Variant]:
    """Variants of a plain or gzipped file, in its order.

    Raises:
        CorruptDataError: there is no header line, or a line has too few columns.
    """
    started = False
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.startswith("##"):
                continue
            if line.startswith("#CHROM"):
                started = True
                continue
            text = line.rstrip("\r\n")
            if not text:
                continue
            parts = text.split("\t")
            if not started or len(parts) < 8 or not parts[1].isdigit():
                raise CorruptDataError(f"{path.name}, line {number} is no variant: {text[:60]!r}")
            info = dict(item.partition("=")[::2] for item in parts[7].split(";") if item not in ("", "."))
            for alt in parts[4].split(","):
                yield Variant(parts[0], int(parts[1]), parts[2], parts[3], alt, info)
    if not started:
        raise CorruptDataError(f"{path.name} has no #CHROM line, so it is no VCF file")
