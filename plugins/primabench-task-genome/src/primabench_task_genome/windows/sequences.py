"""``get_sequences``: reference and alternative windows around variants."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from attrs import frozen

from primabench_core import UsageError
from primabench_task_genome.windows.cutting import Places, cut_windows
from primabench_task_genome.windows.encoding import Encoder
from primabench_task_genome.windows.genome import Genome
from primabench_task_genome.windows.sources import Readable, read_variants
from primabench_task_genome.windows.variants import Alleles, Bools, Ints, Problems, Variants

if TYPE_CHECKING:
    import pandas as pd

OnMismatch = Literal["raise", "report"]
OnRefused = Literal["raise", "report"]
GenomeLike = Genome | str | Path | Mapping[str, str]

LONGEST = 1 << 40
"""Bases of a window beyond which no genome and no memory reaches."""


@frozen(eq=False, repr=False)
class Sequences:
    """Windows of variants, row by row.

    Example:
        >>> one = get_sequences({"chrom": ["1"], "pos": [3], "ref": ["G"], "alt": ["T"]}, {"1": "ACGTA"}, 4)
        >>> one.ref_seq[0], one.alt_seq[0], int(one.variant_index[0]), one.ids
        ('ACGT', 'ACTT', 2, ('1:3:G:T',))
    """

    ref_seq: Any
    """Windows with the reference allele: (n,) text, (n, length) uint8 codes or (n, length, 4) uint8."""
    alt_seq: Any
    """Windows with the alternative allele, likewise."""
    variant_index: Ints
    """(n,) int64, where the anchor stands in both windows, from 0."""
    variants: Variants
    """The variants of these rows, as they were given."""
    alt_is_genome: Bools
    """(n,) whether the genome holds the alternative allele and not the reference one (``on_ref_mismatch="report"``)."""
    refused: Mapping[int, tuple[str, str]]
    """What was left out (``on_refused="report"``): place among all variants, alternatives of one row counted apart, of
    each, with its field and what was found there."""

    @property
    def n(self) -> int:
        """Number of windows of each kind."""
        return self.variants.n

    @property
    def row(self) -> Ints:
        """(n,) int64, the row of the input that each comes from."""
        return self.variants.row

    @property
    def ids(self) -> tuple[str, ...]:
        """``chrom:pos:ref:alt`` of each."""
        return tuple(map(self.variants.name, range(self.n)))

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"Sequences({self.n:,} variants, {np.shape(self.ref_seq)[1:] or 'text'})"

    def to_pandas(self) -> pd.DataFrame:
        """One row a variant; windows must be text.

        Raises:
            UsageError: windows are arrays.
        """
        import pandas as pd

        if np.ndim(self.ref_seq) > 1:
            raise UsageError("windows are arrays; a table needs encoding='text'")
        columns = {
            "chrom": self.variants.chrom,
            "pos": self.variants.pos,
            "ref": self.variants.ref,
            "alt": self.variants.alt,
            "row": self.row,
            "ref_seq": self.ref_seq,
            "alt_seq": self.alt_seq,
            "variant_index": self.variant_index,
            "alt_is_genome": self.alt_is_genome,
        }
        return pd.DataFrame(columns)


def get_sequences(
    variants: Readable,
    genome: GenomeLike,
    length: int,
    *,
    strand: Any = "+",
    anchor: Any = None,
    encoding: str = "text",
    circular: Any = False,
    on_ref_mismatch: OnMismatch = "raise",
    on_refused: OnRefused = "raise",
) -> Sequences:
    """Reference and alternative windows around variants, in one call for all of them.

    The first base of a variant stands at index ``length // 2``. Bases before it are those of the genome; behind it,
    an insertion pushes bases out of the window and a deletion pulls new ones in, so that windows keep their length.
    Beyond the ends of a linear sequence stands ``N``; a circular one goes on through its origin. On the minus strand
    both windows are reverse complemented last, and the index is ``length - 1 - length // 2``.

    Every reference allele is compared with the genome, upper and lower case alike. All rows are looked at before
    anything is refused.

    Args:
        variants: Columns ``chrom``, ``pos`` (from 1), ``ref``, ``alt`` (both on the plus strand): a VCF file, a pandas
            table, a mapping, an EvalData, a Zarr store of one of these layouts or of VCF Zarr. A row with several
            alternatives becomes several.
        genome: FASTA file (path or any fsspec URL; plain, or compressed with bgzip), names and their text, or an open
            :class:`Genome`.
        length: Bases of a window.
        strand: ``+`` or ``-``, one for all or one a row; by default that of the variants.
        anchor: Positions from 1 that stand in the middle in place of the variant, such as transcription starts, one a
            row of ``variants``. Bases at the anchor stay; a variant that spans it is parted there, as in kipoiseq.
        encoding: ``text``, ``codes`` (A, C, G, T, other: 0 to 4) or ``one_hot`` (columns A, C, G, T).
        circular: Sequences without ends, by name, or True for all; of an open genome its own.
        on_ref_mismatch: ``report``: a variant whose alternative allele is what the genome holds is kept and flagged in
            ``alt_is_genome``. Nothing is swapped: ``ref_seq`` has the reference allele, ``alt_seq`` the genome's. Any
            other mismatch is refused.
        on_refused: ``report``: rows that cannot be used (symbolic alleles, unknown chromosomes, wrong reference …) are
            left out and listed in ``refused``, in place of an error.

    Returns:
        Windows in the order of the variants.

    Raises:
        ContractError: rows cannot be used; every kind of fault is named with its first variants.
        MissingDataError: a file is absent.
        CorruptDataError: a file is not what it should be.
        UsageError: an argument makes no sense.

    Example:
        >>> fasta = {"chr1": "ACGTTGCAAGCTTACGGATCCTAGGCATCA"}
        >>> deletion = {"chrom": ["1"], "pos": [12], "ref": ["TTAC"], "alt": ["T"]}
        >>> found = get_sequences(deletion, fasta, 10)
        >>> found.ref_seq[0], found.alt_seq[0]
        ('CAAGCTTACG', 'CAAGCTGGAT')
    """
    table = read_variants(variants, strand=strand, anchor=anchor)
    return windows_of_variants(
        table,
        open_genome(genome, circular),
        check_length(length),
        Encoder(encoding),
        report=choice("on_ref_mismatch", on_ref_mismatch) == "report",
        skip=choice("on_refused", on_refused) == "report",
    )


def windows_of_variants(
    table: Variants, genome: Genome, length: int, encoder: Encoder, *, report: bool, skip: bool
) -> Sequences:
    """What :func:`get_sequences` does with arguments that are read and checked."""
    size = 2 * table.n * length * encoder.bytes_per_base
    if size > (memory() or size):
        raise _too_large(table.n, length, size)
    try:
        return _windows(table, genome, length, encoder, report=report, skip=skip)
    except MemoryError:
        raise _too_large(table.n, length, size) from None


def memory() -> int:
    """Bytes of memory that this machine has; 0 where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 0


def _too_large(n: int, length: int, size: int) -> UsageError:
    return UsageError(
        f"windows of {length:,} bases around {n:,} variants take {size:,} bytes, more than there is memory",
        remedy="choose a shorter length, or cut them batch by batch: iter_sequences(…, batch_size=…)",
    )


def _windows(table: Variants, genome: Genome, length: int, encoder: Encoder, *, report: bool, skip: bool) -> Sequences:
    problems = Problems(table.n)
    names, codes = _chromosomes(table, genome, problems)
    places = _places(table, genome, names, codes, length, problems)
    if not skip and problems.bad.all() and table.n:
        problems.refuse(table)
    cut = cut_windows(genome, names, codes, places, problems, encoder, report=report)
    if not skip:
        problems.refuse(table)
    ref, alt, flags, kept = cut.ref, cut.alt, cut.alt_is_genome, table
    if problems.bad.any():
        good = np.flatnonzero(~problems.bad)
        ref, alt, flags, kept = ref[good], alt[good], flags[good], table.take(good)
    index = np.full(kept.n, places.centre, np.int64)
    if kept.strand is not None:
        encoder.turn(ref, kept.strand)
        encoder.turn(alt, kept.strand)
        index[kept.strand] = length - 1 - places.centre
    return Sequences(encoder.finish(ref), encoder.finish(alt), index, kept, flags, problems.by_row() if skip else {})


def open_genome(genome: GenomeLike, circular: Any) -> Genome:
    """The genome that an argument means.

    Raises:
        UsageError: an open genome was given with another ``circular``.
    """
    if isinstance(genome, Genome):
        if circular is not False:
            raise UsageError("an open Genome says itself which sequences are circular")
        return genome
    return Genome(genome, circular=circular)


def check_length(length: Any) -> int:
    """The length of windows.

    Raises:
        UsageError: it is no whole number from 1, or longer than any genome.
    """
    if isinstance(length, bool) or not isinstance(length, int | np.integer) or length < 1:
        raise UsageError(f"length is a whole number from 1, not {length!r}")
    if length > LONGEST:
        raise UsageError(f"length is a number of bases; two windows of it take {2 * int(length):.3g} bytes")
    return int(length)


def choice(name: str, value: str) -> str:
    """An argument that is ``raise`` or ``report``.

    Raises:
        UsageError: it is neither.
    """
    if value not in ("raise", "report"):
        raise UsageError(f"{name} is 'raise' or 'report', not {value!r}")
    return value


def _chromosomes(table: Variants, genome: Genome, problems: Problems) -> tuple[list[str], Ints]:
    """Own names of the sequences that occur, and (n,) which one each row is on; -1 if none."""
    places: dict[str, int] = {}
    known: dict[str, int] = {}
    given = _texts(table.chrom)
    for chrom in dict.fromkeys(given):
        own = genome.resolve(chrom)
        known[chrom] = -1 if own is None else places.setdefault(own, len(places))
    codes = np.fromiter(map(known.__getitem__, given), np.int64, table.n)
    if given is not table.chrom:
        no_text = np.fromiter((not isinstance(c, str) for c in table.chrom), bool, table.n)
        codes[no_text] = -1
        problems.add("chrom", "a name", "no text", no_text, "Give names as text, '1' and not 1.")
    held = ", ".join(list(genome.lengths)[:4]) + (", …" if len(genome.lengths) > 4 else "")
    problems.add("chrom", f"a sequence of {genome.name} ({held or 'none'})", "another name", codes < 0)
    return list(places), codes


def _places(table: Variants, genome: Genome, names: list[str], codes: Ints, length: int, problems: Problems) -> Places:
    """Rows as numbers; what can be wrong with a row without a look at the genome is noted."""
    ref, alt = (_texts(column) for column in (table.ref, table.alt))
    places = Places(
        table.pos - 1,
        table.pos - 1 if table.anchor is None else table.anchor - 1,
        Alleles.of(ref),
        Alleles.of(alt),
        length,
    )
    sizes = np.asarray([*(genome.lengths[name] for name in names), np.iinfo(np.int64).max], np.int64)
    circular = np.asarray([*(name in genome.circular for name in names), False])
    size, is_circular = sizes[codes], circular[codes]
    problems.add(
        "pos", "a whole number from 1", "something else", table.pos < 1,
        "Give numbers, not text; add 1 where positions are counted from 0.",
    )  # fmt: skip
    problems.add("pos", "a position on its sequence", "one beyond its end", (table.pos > size) & (codes >= 0))
    if table.anchor is not None:
        off = (table.anchor < 1) | (table.anchor > size)
        problems.add("anchor", "a position on its sequence", "something else", off)
    dna = "letters A, C, G, T or N"
    problems.add("ref", dna, "something else", ~places.ref.are_dna())
    odd = ~places.alt.are_dna()
    symbolic, absent = np.zeros(table.n, bool), np.zeros(table.n, bool)
    for row in np.flatnonzero(odd).tolist():
        symbolic[row] = alt[row][:1] == "<" or alt[row] == "*" or "[" in alt[row] or "]" in alt[row]
        absent[row] = alt[row] in ("", ".")
    problems.add("alt", dna, "a symbolic allele, which has no sequence", symbolic)
    problems.add("alt", dna, "no alternative allele", absent)
    problems.add("alt", dna, "something else", odd)
    same = np.fromiter(map(eq, map(str.upper, alt), map(str.upper, ref)), bool, table.n)
    problems.add("alt", "another allele than ref", "the same one", same)
    beyond = ~is_circular & (places.start + places.ref.lengths > size)
    problems.add("pos", "a reference allele on its sequence", "one that reaches beyond its end", beyond)
    problems.add(
        "ref",
        "an allele shorter than its circular sequence",
        "one that is as long, or longer",
        is_circular & (places.ref.lengths >= size),
    )
    return places


def _texts(column: tuple[Any, ...]) -> Sequence[str]:
    """The column itself if it is all text, else empty text in place of anything else."""
    return column if set(map(type, column)) <= {str} else [v if isinstance(v, str) else "" for v in column]
