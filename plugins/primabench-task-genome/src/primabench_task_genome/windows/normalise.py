"""Other ways to write the same variant: indels moved to the left, pseudo-autosomal places of Y on X."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import evolve

from primabench_core import UsageError
from primabench_task_genome.windows.genome import Genome
from primabench_task_genome.windows.sequences import GenomeLike, open_genome
from primabench_task_genome.windows.sources import Readable, read_variants
from primabench_task_genome.windows.variants import Ints, Variants

_LOOK_BACK = 256
"""Bases of the genome that are read at once in front of an indel."""

PSEUDO_AUTOSOMAL = {
    "GRCh37": ((10_001, 2_649_520, 60_001), (59_034_050, 59_363_566, 154_931_044)),
    "GRCh38": ((10_001, 2_781_479, 10_001), (56_887_903, 57_217_415, 155_701_383)),
}
"""Assembly -> regions as (first base on Y, last base on Y, first base on X), from 1 (Genome Reference Consortium)."""


def left_normalise(variants: Readable, genome: GenomeLike) -> Variants:
    """The same variants, each as short and as far to the left as it can be written (Tan et al. 2015).

    Bases that both alleles share at the right end are cut off; where one allele would be empty, both take the base
    before, so that an indel in a repeat moves to its beginning. Then bases shared at the left end go, but one. Rows
    that are no DNA, whose chromosome is unknown, or whose reference allele is not the genome's, stay as they are:
    ``get_sequences`` names them, while a cut could hide the bases that are wrong.

    Args:
        variants: As in ``get_sequences``.
        genome: As in ``get_sequences``.

    Returns:
        Variants in the same order; windows of a moved one begin at its new place.

    Example:
        >>> moved = left_normalise({"chrom": ["1"], "pos": [6], "ref": ["ACA"], "alt": ["A"]}, {"1": "GGCACACAG"})
        >>> moved.name(0)
        '1:2:GCA:G'
    """
    table, source = read_variants(variants), open_genome(genome, False)
    pos, ref, alt = table.pos.copy(), list(table.ref), list(table.alt)
    for i in range(table.n):
        name = source.resolve(table.chrom[i]) if isinstance(table.chrom[i], str) else None
        if name is None or pos[i] < 1 or not _are_dna(ref[i], alt[i]) or ref[i].upper() == alt[i].upper():
            continue
        start, before, after = int(pos[i]), ref[i].upper(), alt[i].upper()
        if source.text(name, start - 1, start - 1 + len(before)) == before:
            pos[i], ref[i], alt[i] = _normalised(source, name, start, before, after)
    return evolve(table, pos=pos, ref=tuple(ref), alt=tuple(alt))


def _are_dna(*alleles: Any) -> bool:
    return all(isinstance(a, str) and bool(a) and set(a.upper()) <= set("ACGTN") for a in alleles)


def _normalised(genome: Genome, name: str, pos: int, ref: str, alt: str) -> tuple[int, str, str]:
    before, first = "", pos  # letters of the genome in front, and where they begin
    while ref[-1] == alt[-1] and (min(len(ref), len(alt)) > 1 or pos > 1):
        if min(len(ref), len(alt)) == 1:
            if first == pos:
                first = max(1, pos - _LOOK_BACK)
                before = genome.text(name, first - 1, pos - 1)
            pos -= 1
            base = before[pos - first]
            ref, alt = base + ref, base + alt
        ref, alt = ref[:-1], alt[:-1]
    shared = 0
    while min(len(ref), len(alt)) - shared > 1 and ref[shared] == alt[shared]:
        shared += 1
    return pos + shared, ref[shared:], alt[shared:]


def par_to_x(variants: Readable, assembly: str = "GRCh38") -> Variants:
    """The same variants, those in a pseudo-autosomal region of Y given on X, where genomes for alignment keep them.

    The two copies have the same bases, so alleles stay; anchors move with their variants. A window that reaches beyond
    the region has the context of X.

    Args:
        variants: As in ``get_sequences``.
        assembly: ``GRCh38`` or ``GRCh37``.

    Raises:
        UsageError: another assembly.

    Example:
        >>> y = {"chrom": ["chrY", "Y"], "pos": [10_001, 5_000_000], "ref": ["A", "A"], "alt": ["C", "C"]}
        >>> moved = par_to_x(y)
        >>> moved.chrom, moved.pos.tolist()
        (('chrX', 'Y'), [10001, 5000000])
    """
    if assembly not in PSEUDO_AUTOSOMAL:
        raise UsageError(f"assembly is one of {', '.join(PSEUDO_AUTOSOMAL)}, not {assembly!r}")
    table = read_variants(variants)
    on_y = np.asarray([c in ("Y", "chrY") for c in table.chrom], bool)
    pos: Ints = table.pos.copy()
    anchor: Ints | None = None if table.anchor is None else table.anchor.copy()
    moved = np.zeros(table.n, bool)
    for first, last, on_x in PSEUDO_AUTOSOMAL[assembly]:
        here = on_y & (table.pos >= first) & (table.pos <= last)
        pos[here] += on_x - first
        if anchor is not None:
            anchor[here] += on_x - first
        moved |= here
    chrom = tuple(c[:-1] + "X" if m else c for c, m in zip(table.chrom, moved.tolist(), strict=True))
    return evolve(table, chrom=chrom, pos=pos, anchor=anchor)
