"""Baselines of variant effects: no training, no allele frequencies, no conservation tracks, no network."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import EvalData, UsageError
from primabench_task_genome.baselines.draws import uniform_by_id
from primabench_task_genome.codons import mitochondrial_frames, severity

_PURINES = ("A", "G")
MITOCHONDRIAL = ("M", "MT", "chrM", "chrMT")


def perfect(solution: EvalData, *, seed: int = 0) -> EvalData:
    """The truth itself as a score; runs inside the runner."""
    return _scored(solution, np.asarray(solution["label"]).astype(np.float64))


def random(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """A uniform score for each variant, by a hash of seed and id."""
    return _scored(test, uniform_by_id(test, seed=seed)[:, 0])


def transversion(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """1 for a transversion or a change of length, 0 for a transition, which evolution makes more often."""
    pairs = zip(_texts(test, "ref"), _texts(test, "alt"), strict=True)
    return _scored(test, np.asarray([float(not _is_transition(ref, alt)) for ref, alt in pairs]))


def codon_severity(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Grantham distance of the amino acids before and after, stops above all.

    The frame comes from the fields ``frame`` and ``strand``, or, of mitochondrial variants, from the reference's own
    genes, read with the mitochondrial code. Where neither is there, the largest distance over all frames of both
    strands that change the amino acid stands in: a guess, but one that looks at nothing but six bases.
    """
    chrom, pos = _texts(test, "chrom"), np.asarray(test["pos"]).tolist()
    ref, alt, window = (_texts(test, name) for name in ("ref", "alt", "window"))
    frames = _frames_given(test)
    found = np.zeros(test.n)
    for row in range(test.n):
        if len(ref[row]) != 1 or len(alt[row]) != 1:
            continue
        middle = len(window[row]) // 2
        before, behind = window[row][middle - 2 : middle], window[row][middle + 1 : middle + 3]
        is_mitochondrial = chrom[row] in MITOCHONDRIAL
        code = 2 if is_mitochondrial else 1
        if frames is not None:
            choices = [frames[row]]
        elif is_mitochondrial:
            choices = [(frame, strand) for _, frame, strand in mitochondrial_frames(int(pos[row]))]
        else:
            choices = [(frame, strand) for frame in range(3) for strand in "+-"]
        found[row] = max(
            (severity(before, alt[row], behind, ref[row], frame, strand, code) for frame, strand in choices),
            default=0.0,
        )
    return _scored(test, found)


def perfect_effect(solution: EvalData, *, seed: int = 0) -> EvalData:
    """The measured effects; runs inside the runner."""
    return _effect(solution, np.asarray(solution["value"], np.float64))


def random_effect(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """A uniform effect in [-1, 1) for each variant, by a hash of seed and id."""
    return _effect(test, 2 * uniform_by_id(test, seed=seed)[:, 0] - 1)


def gc_change(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """G and C of the alternative allele less those of the reference allele."""
    pairs = zip(_texts(test, "ref"), _texts(test, "alt"), strict=True)
    return _effect(test, np.asarray([float(_gc(alt) - _gc(ref)) for ref, alt in pairs]))


def _gc(allele: str) -> int:
    return allele.count("G") + allele.count("C")


def _is_transition(ref: str, alt: str) -> bool:
    return len(ref) == len(alt) == 1 and (ref in _PURINES) == (alt in _PURINES)


def _frames_given(test: EvalData) -> list[tuple[int, str]] | None:
    if "frame" not in test or "strand" not in test:
        return None
    return list(zip(np.asarray(test["frame"], np.int64).tolist(), _texts(test, "strand"), strict=True))


def _texts(data: EvalData, name: str) -> list[str]:
    if name not in data:
        raise UsageError(
            f"This baseline needs the field {name!r}; the data hold {sorted(data.fields)}.",
            remedy="primabench list baselines",
        )
    values: NDArray[Any] = np.asarray(data[name], object)
    return [str(v) for v in values.tolist()]


def _scored(data: EvalData, score: NDArray[np.float64]) -> EvalData:
    return EvalData({"score": score}, ids=data.ids)


def _effect(data: EvalData, value: NDArray[np.float64]) -> EvalData:
    return EvalData({"value": value}, ids=data.ids)
