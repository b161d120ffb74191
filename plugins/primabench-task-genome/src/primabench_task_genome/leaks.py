"""Which test sequences a model has met in training: exact copies, other strands, near duplicates by MinHash.

Near means that at least eight tenths of the k-mers of two sequences (either strand) are shared. Candidates come from
one-permutation MinHash signatures in bands (Li, Owen & Zhang 2012; Broder 1997) and every candidate is then compared by
its true set of k-mers, so that no pair is called near that is not; a pair close to the threshold may be missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Words = NDArray[np.uint64]

KINDS = ("no", "exact", "reverse_complement", "near")
"""What a test sequence is to the training ones; the first that fits, from exact on."""

K = 12
"""Letters of a k-mer."""
THRESHOLD = 0.8
"""Share of k-mers (Jaccard) from which two sequences are near duplicates."""
BINS, ROWS = 32, 2
"""Parts of a signature, and how many make a band: a pair at the threshold shares a band with 1 - 10⁻⁷ certainty."""
MOST_CANDIDATES = 64
"""Training sequences of one band that are compared; a band of more is a repeat."""

_COMPLEMENT = str.maketrans("ACGTURYKMBVDHacgturykmbvdh", "TGCAAYRMKVBHDtgcaayrmkvbhd")
_CODE = np.full(256, 4, np.uint8)
for _i, _letters in enumerate(("Aa", "Cc", "Gg", "TtUu")):
    for _letter in _letters:
        _CODE[ord(_letter)] = _i
_EMPTY = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


def reverse_complement(letters: str) -> str:
    """The other strand, with IUPAC ambiguity codes.

    Example:
        >>> reverse_complement("AACGN")
        'NCGTT'
    """
    return letters.translate(_COMPLEMENT)[::-1]


def canonical(letters: str) -> str:
    """The strand that comes first in the alphabet, upper case: both strands of a sequence are one.

    Example:
        >>> canonical("TTG") == canonical("CAA")
        True
    """
    upper = letters.upper()
    return min(upper, reverse_complement(upper))


def near_duplicates(train: Sequence[str], test: Sequence[str], *, near: bool = True) -> Codes:
    """What each test sequence is to the training ones.

    Args:
        train: DNA; case does not matter.
        test: DNA.
        near: Look for near duplicates too.

    Returns:
        (len(test),) int64, places in :data:`KINDS`.

    Example:
        >>> near_duplicates(["ACGTTT", "GGGGGG"], ["ACGTTT", "AAACGT", "CCCCCA"]).tolist()
        [1, 2, 0]
    """
    known = {text.upper() for text in train}
    turned = {reverse_complement(text) for text in known}
    found = np.zeros(len(test), np.int64)
    for i, text in enumerate(test):
        upper = text.upper()
        found[i] = 1 if upper in known else 2 if upper in turned else 0
    open_rows = np.flatnonzero(found == 0)
    if near and len(open_rows) and len(train):
        hits = _near([test[i] for i in open_rows.tolist()], sorted(known))  # bands are cut short: no chance order
        found[open_rows[hits]] = 3
    return found


def kmers(letters: str) -> Words:
    """Distinct k-mers of a sequence as numbers, each the smaller of its two strands; none with other letters."""
    codes = _CODE[np.frombuffer(letters.encode("ascii", "replace"), np.uint8)]
    n = len(codes) - K + 1
    if n < 1:
        return np.empty(0, np.uint64)
    forward, backward = np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    odd = np.zeros(n, bool)
    for j in range(K):
        part = codes[j : j + n]
        odd |= part == 4
        forward = (forward << np.uint64(2)) | part
        backward |= (np.uint64(3) - np.minimum(part, 3).astype(np.uint64)) << np.uint64(2 * j)
    return np.unique(np.minimum(forward, backward)[~odd])


def _mixed(words: Words) -> Words:
    """Well-mixed numbers (the finaliser of SplitMix64)."""
    with np.errstate(over="ignore"):
        x = words + np.uint64(0x9E37_79B9_7F4A_7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
        return x ^ (x >> np.uint64(31))


def _signature(words: Words) -> Words:
    """(BINS,) smallest mixed number of each bin."""
    mixed = np.sort(_mixed(words))
    places = (mixed >> np.uint64(64 - BINS.bit_length() + 1)).astype(np.int64)
    found = np.full(BINS, _EMPTY)
    bins, first = np.unique(places, return_index=True)
    found[bins] = mixed[first]
    return found


def _bands(words: Words) -> Iterator[tuple[int, bytes]]:
    """Keys under which near sequences meet; parts of a signature without any k-mer say nothing."""
    signature = _signature(words)
    for band in range(0, BINS, ROWS):
        part = signature[band : band + ROWS]
        if (part != _EMPTY).all():
            yield band, part.tobytes()


def _near(test: list[str], train: list[str]) -> NDArray[np.bool_]:
    """Whether each test sequence shares enough k-mers with any training one."""
    sought: dict[tuple[int, bytes], list[int]] = {}
    sets = [kmers(text) for text in test]
    for i, words in enumerate(sets):
        for key in _bands(words):
            sought.setdefault(key, []).append(i)
    found = np.zeros(len(test), bool)
    compared: dict[tuple[int, bytes], int] = {}
    for text in train:
        words = kmers(text)
        candidates: set[int] = set()
        for key in _bands(words):
            if key in sought and compared.setdefault(key, 0) < MOST_CANDIDATES:
                compared[key] += 1
                candidates.update(sought[key])
        for i in candidates:
            if not found[i]:
                shared = len(np.intersect1d(words, sets[i], assume_unique=True))
                found[i] = shared >= THRESHOLD * (len(words) + len(sets[i]) - shared)
    return found
