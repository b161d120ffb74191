"""What a change of one base does to a protein: genetic codes, reading frames, and how unlike two amino acids are."""

from __future__ import annotations

from itertools import product

from primabench_task_genome.leaks import reverse_complement

_ORDER = ["".join(c) for c in product("TCAG", repeat=3)]
GENETIC_CODES = {
    1: dict(zip(_ORDER, "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG", strict=True)),
    2: dict(zip(_ORDER, "FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIMMTTTTNNKKSS**VVVVAAAADDEEGGGG", strict=True)),
}
"""NCBI translation tables: 1 of the nucleus, 2 of vertebrate mitochondria; codon -> amino acid, ``*`` for a stop."""

MITOCHONDRIAL_GENES = {
    "MT-ND1": (3307, 4262, "+"),
    "MT-ND2": (4470, 5511, "+"),
    "MT-CO1": (5904, 7445, "+"),
    "MT-CO2": (7586, 8269, "+"),
    "MT-ATP8": (8366, 8572, "+"),
    "MT-ATP6": (8527, 9207, "+"),
    "MT-CO3": (9207, 9990, "+"),
    "MT-ND3": (10059, 10404, "+"),
    "MT-ND4L": (10470, 10766, "+"),
    "MT-ND4": (10760, 12137, "+"),
    "MT-ND5": (12337, 14148, "+"),
    "MT-ND6": (14149, 14673, "-"),
    "MT-CYB": (14747, 15887, "+"),
}
"""Coding sequences of the revised Cambridge reference (NC_012920.1): first and last base from 1, strand."""

_PROPERTIES = {
    "S": (1.42, 9.2, 32), "R": (0.65, 10.5, 124), "L": (0, 4.9, 111), "P": (0.39, 8.0, 32.5), "T": (0.71, 8.6, 61),
    "A": (0, 8.1, 31), "V": (0, 5.9, 84), "G": (0.74, 9.0, 3), "I": (0, 5.2, 111), "F": (0, 5.2, 132),
    "Y": (0.20, 6.2, 136), "C": (2.75, 5.5, 55), "H": (0.58, 10.4, 96), "Q": (0.89, 10.5, 85), "N": (1.33, 11.6, 56),
    "K": (0.33, 11.3, 119), "D": (1.38, 13.0, 54), "E": (0.92, 12.3, 83), "M": (0, 5.7, 105), "W": (0.13, 5.4, 170),
}  # fmt: skip
"""Composition, polarity and volume of side chains (Grantham 1974, table 1)."""

STOP = 250.0
"""What a gained or lost stop counts: more than the largest distance, 215."""


def grantham(one: str, other: str) -> float:
    """Distance of two amino acids, 0 to about 215 (Grantham 1974, doi:10.1126/science.185.4154.862); stops: 250.

    Example:
        >>> round(grantham("L", "I")), round(grantham("D", "E")), grantham("A", "A"), grantham("R", "*")
        (5, 45, 0.0, 250.0)
    """
    if one == other:
        return 0.0
    if "*" in (one, other):
        return STOP
    (c1, p1, v1), (c2, p2, v2) = _PROPERTIES[one], _PROPERTIES[other]
    return float(50.723 * (1.833 * (c1 - c2) ** 2 + 0.1018 * (p1 - p2) ** 2 + 0.000399 * (v1 - v2) ** 2) ** 0.5)


def amino_acids(before: str, alt: str, behind: str, ref: str, frame: int, strand: str, code: int) -> tuple[str, str]:
    """Amino acid with the reference and with the alternative base; ``?`` where bases are unknown.

    Args:
        before: At least two bases before the variant, on the plus strand.
        alt: Alternative base.
        behind: At least two bases behind it.
        ref: Reference base.
        frame: Place of the variant in its codon, 0 to 2, on the coding strand.
        strand: Coding strand.
        code: Number of the genetic code.

    Example:
        >>> amino_acids("AA", "A", "GC", "T", 2, "+", 1)  # AAT -> AAA
        ('N', 'K')
    """
    first = frame if strand == "+" else 2 - frame  # place in the codon on the plus strand
    found = []
    for base in (ref, alt):
        codon = (before[len(before) - first :] if first else "") + base + behind[: 2 - first]
        codon = reverse_complement(codon) if strand == "-" else codon
        found.append(GENETIC_CODES[code].get(codon, "?"))
    return found[0], found[1]


def severity(before: str, alt: str, behind: str, ref: str, frame: int, strand: str, code: int) -> float:
    """Grantham distance of the change, 0 where bases are unknown."""
    one, other = amino_acids(before, alt, behind, ref, frame, strand, code)
    return 0.0 if "?" in (one, other) else grantham(one, other)


def mitochondrial_frames(pos: int) -> list[tuple[str, int, str]]:
    """Gene, place in the codon and strand of each coding sequence over a position; some overlap.

    Example:
        >>> mitochondrial_frames(14673), len(mitochondrial_frames(8530))
        ([('MT-ND6', 0, '-')], 2)
    """
    return [
        (gene, (pos - first if strand == "+" else last - pos) % 3, strand)
        for gene, (first, last, strand) in MITOCHONDRIAL_GENES.items()
        if first <= pos <= last
    ]
