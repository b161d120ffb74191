"""Draws synthetic cohorts with integers alone, so that every platform and numpy version makes the same bytes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_task_patient.folds import make_folds

N_GENES = 60
MARKERS = 8
"""Genes that follow the answer."""
GENES = tuple(f"gene_{g:02d}" for g in range(N_GENES))


@frozen(eq=False)
class MadeCohort:
    """A made data set and the answers of its one task."""

    id: str
    samples: tuple[str, ...]
    patients: tuple[str, ...]
    counts: NDArray[np.int64]
    """(samples, 60) int64."""
    labels: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
    folds: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    """``train`` or ``test`` where the split is fixed."""


def endotype() -> MadeCohort:
    """d001: 60 patients, two molecular subtypes, five stratified folds.

    Example:
        >>> made = endotype()
        >>> made.counts.shape, sorted(set(made.labels))
        ((60, 60), ['A', 'B'])
    """
    words = _words(1)
    labels = tuple("AB"[next(words) % 2] for _ in range(60))
    samples = _names("d001", 60)
    counts = _counts(words, [24 if label == "B" else 0 for label in labels], shift=())
    folds = make_folds(samples, labels=labels, folds=5, seed="endotype")
    return MadeCohort("d001", samples, samples, counts, labels=labels, folds=tuple(folds))


def severity() -> MadeCohort:
    """d002: 40 patients with two visits each, a clinical score, five folds that keep patients whole."""
    words = _words(2)
    patients = tuple(f"p{i // 2:02d}" for i in range(80))
    base = [next(words) % 24 for _ in range(40)]
    score = [max(0, base[i // 2] + next(words) % 5 - 2) for i in range(80)]
    shifts = tuple(next(words) % N_GENES for _ in range(80))
    counts = _counts(words, score, shift=tuple(shifts[2 * (i // 2)] for i in range(80)))
    samples, values = _names("d002", 80), tuple(float(s) for s in score)
    folds = make_folds(samples, values=values, groups=patients, folds=5, seed="severity")
    return MadeCohort("d002", samples, patients, counts, values=values, folds=tuple(folds))


def response() -> MadeCohort:
    """d003: 48 patients, response to a treatment, one fixed split: two centres train, the third tests."""
    words = _words(3)
    labels = tuple(("no", "yes")[next(words) % 2] for _ in range(48))
    samples = _names("d003", 48)
    counts = _counts(words, [14 if label == "yes" else 0 for label in labels], shift=())
    sides = tuple("test" if i % 3 == 2 else "train" for i in range(48))
    return MadeCohort("d003", samples, samples, counts, labels=labels, sides=sides)


def _names(dataset: str, n: int) -> tuple[str, ...]:
    return tuple(f"{dataset}_s{i:03d}" for i in range(n))


def _words(stream: int) -> Iterator[int]:
    """Raw 64-bit words of a Philox counter: fixed by its definition, not by a generator's methods."""
    raw = np.random.Philox(key=np.asarray([stream, 7], np.uint64)).random_raw(60_000)
    return iter(int(word) for word in np.asarray(raw))


def _counts(words: Iterator[int], signal: list[int], shift: tuple[int, ...]) -> NDArray[np.int64]:
    """Counts of each sample: a level of the gene, times depth, noise and, for markers, the signal (0 to about 24).

    Noise is a sum of four draws below 32, so between 0 and 124 around 62.
    """
    level = [20 + next(words) % 400 for _ in range(N_GENES)]
    rows = []
    for sample, strength in enumerate(signal):
        depth = 6 + next(words) % 5
        row = []
        for gene in range(N_GENES):
            noise = sum((next_word >> (5 * k)) % 32 for next_word in (next(words),) for k in range(4))
            effect = 48 + (strength if gene < MARKERS else 0)
            if shift and gene == shift[sample]:
                effect *= 3
            row.append(level[gene] * depth * (32 + noise) * effect // (94 * 48))
        rows.append(row)
    return np.asarray(rows, np.int64)
