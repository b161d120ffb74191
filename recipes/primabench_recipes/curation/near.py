"""Near duplicates among sequences: MinHash signatures of k-mers, bands to find candidates, the exact share to judge.

Sketches: Broder 1997, doi:10.1109/SEQUEN.1997.666900. Nothing is drawn: the same sequences give the same answer, in
any order. Sequences shorter than k are compared as wholes only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import sha256

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_recipes.formats.fasta import reverse_complement

BANDS, ROWS = 32, 4
"""Of two sets with a Jaccard index of 0.8 one pair in 10^7 meets in no band; of 0.5 one in eight."""
LEAST = 0.8
"""Jaccard index of the k-mers from which on two sequences are called near."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def _words(count: int) -> NDArray[np.uint64]:
    """Odd multipliers that never change."""
    digests = b"".join(sha256(f"near {i}".encode()).digest()[:8] for i in range(count))
    return np.frombuffer(digests, "<u8") | np.uint64(1)


_FACTORS = _words(BANDS * ROWS)


@frozen(eq=False)
class Sketch:
    """K-mers of a sequence and what stands for them in the bands."""

    kmers: NDArray[np.uint64]
    """(m,) hashes of the distinct k-mers, sorted."""
    bands: tuple[bytes, ...]

    @classmethod
    def of(cls, sequence: str, k: int, both_strands: bool = False) -> Sketch:
        """Of one sequence; with both strands, it and its reverse complement have one sketch."""
        kmers = _kmers(sequence, k)
        if both_strands and len(kmers):
            kmers = np.minimum(kmers, _kmers(reverse_complement(sequence), k)[::-1])
        kmers = np.unique(kmers)
        if not len(kmers):
            return cls(kmers, ())
        mixed = kmers[:, None] * _FACTORS
        mixed ^= mixed >> np.uint64(29)
        least = (mixed * _MULTIPLIER).min(axis=0).reshape(BANDS, ROWS)
        return cls(kmers, tuple(band.tobytes() for band in least))


def _kmers(sequence: str, k: int) -> NDArray[np.uint64]:
    letters = np.frombuffer(sequence.encode("utf-8"), np.uint8).astype(np.uint64)
    if len(letters) < k:
        return np.zeros(0, np.uint64)
    found = np.zeros(len(letters) - k + 1, np.uint64)
    for place in range(k):  # a polynomial over the letters, in steps over the whole sequence
        found = found * np.uint64(0x100000001B3) + letters[place : len(letters) - k + 1 + place]
    found ^= found >> np.uint64(31)
    return found * _MULTIPLIER


def jaccard(a: Sketch, b: Sketch) -> float:
    """Share of common k-mers among all."""
    common = len(np.intersect1d(a.kmers, b.kmers, assume_unique=True))
    total = len(a.kmers) + len(b.kmers) - common
    return common / total if total else 0.0


def with_a_near_one(
    asked: Iterable[str], known: Iterable[str], k: int, *, both_strands: bool = False, least: float = LEAST
) -> set[str]:
    """Sequences that have a near, but not an equal one among others.

    Args:
        asked: Sequences to look at.
        known: Those that they may be near to; may be the same ones.
        k: Letters of a k-mer.
        both_strands: A sequence and its reverse complement are one.
        least: Jaccard index from which on they are near.

    Example:
        >>> base = "ACGTTGCAAGCTTACCGATGGCATTACGGATCCA" * 3
        >>> sorted(with_a_near_one([base[:-1] + "G", "T" * 60], [base], 8)) == [base[:-1] + "G"]
        True
    """
    sketches: dict[str, Sketch] = {}

    def sketch(sequence: str) -> Sketch:
        if sequence not in sketches:
            sketches[sequence] = Sketch.of(sequence, k, both_strands)
        return sketches[sequence]

    places: dict[tuple[int, bytes], list[str]] = defaultdict(list)
    for sequence in sorted(set(known)):
        for number, band in enumerate(sketch(sequence).bands):
            places[number, band].append(sequence)
    found = set()
    for sequence in sorted(set(asked)):
        equal = {sequence, reverse_complement(sequence)} if both_strands else {sequence}
        met = {other for key in enumerate(sketch(sequence).bands) for other in places.get(key, ())} - equal
        if any(jaccard(sketch(sequence), sketch(other)) >= least for other in sorted(met)):
            found.add(sequence)
    return found


def rows_of(sequences: Sequence[str], chosen: set[str]) -> int:
    """Rows whose sequence is one of these."""
    return sum(sequence in chosen for sequence in sequences)
