"""Recipes of the synthetic datasets: no source, no network, the same content hash everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core import EvalData
from primabench_task_genome.codons import amino_acids
from primabench_task_genome.preparers.tracks import COLUMNS
from primabench_task_genome.synthetic.draws import Draws

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

SIDE = 16
"""Bases of context to each side of a variant."""
CLASSES = ("alpha", "beta", "none")
MOTIFS = {"alpha": "TATAAATG", "beta": "GGCCAATC", "none": ""}
TRACKS = ("open", "bound", "expressed")
GROUPS = {c: i for i, group in enumerate(("AVLIMC", "FWYH", "STNQ", "KR", "DE", "GP", "*", "?")) for c in group}
"""Amino acids by kind: what decides the made labels."""


def build_labels(context: BuildContext) -> list[Artifact]:
    """Artifacts of ``primabench_synthetic/variant_effect_classification@1.0.0``: 240 variants in 12 made genes."""
    draws = Draws(11)
    rows: list[dict[str, Any]] = []
    for number in range(12):
        chrom, gene = str(1 + number % 4), f"gene_{number:02d}"
        strand = "+-"[number % 2]
        letters = draws.dna(3 * 60 + 2 * SIDE)
        for place in sorted(draws.shuffled(range(3 * 60))[:20]):
            at = SIDE + place
            ref = letters[at]
            alt = draws.one_of([b for b in "ACGT" if b != ref])
            frame = place % 3
            one, other = amino_acids(letters[at - 2 : at], alt, letters[at + 1 : at + 3], ref, frame, strand, 1)
            kinds = 0 if one == other else 4 if "*" in (one, other) else 1 if GROUPS[one] == GROUPS[other] else 3
            rows.append(
                {
                    "chrom": chrom,
                    "pos": 1000 * number + at + 1,
                    "ref": ref,
                    "alt": alt,
                    "gene": gene,
                    "strand": strand,
                    "frame": frame,
                    "window": letters[at - SIDE : at + SIDE + 1],
                    "label": int(2 * kinds + draws.below(6) >= 8),
                }
            )
    return _variants(draws.shuffled(rows), ("label",))


def build_effects(context: BuildContext) -> list[Artifact]:
    """Artifacts of ``primabench_synthetic/variant_effect_regression@1.0.0``: 160 variants with made effects."""
    draws = Draws(12)
    rows: list[dict[str, Any]] = []
    for number in range(160):
        window = draws.dna(2 * SIDE + 1)
        ref = window[SIDE]
        alt = draws.one_of([b for b in "ACGT" if b != ref])
        change = int(alt in "GC") - int(ref in "GC")
        noise = draws.below(9) - 4
        eighths = 6 * change + noise + (8 if draws.below(10) == 0 else 0)
        rows.append(
            {
                "chrom": str(1 + number % 5),
                "pos": 500 * number + 1,
                "ref": ref,
                "alt": alt,
                "window": window,
                "value": eighths / 8,
                "significant": int(abs(eighths) >= 7),
            }
        )
    return _variants(draws.shuffled(rows), ("value", "significant"))


def build_sequences(context: BuildContext) -> list[Artifact]:
    """Artifacts of ``primabench_synthetic/sequence_classification@1.0.0``: 300 sequences of 60 bases, three classes."""
    draws = Draws(13)
    rows = []
    for number in range(300):
        kind = CLASSES[number % 3]
        letters, motif = draws.dna(60), MOTIFS[kind]
        for _ in range(2 if motif else 0):
            at = draws.below(60 - len(motif))
            letters = letters[:at] + motif + letters[at + len(motif) :]
        rows.append((letters, kind))
    rows = draws.shuffled(rows)
    fields = {
        "sequence": np.asarray([letters for letters, _ in rows], object),
        "label": np.asarray([kind for _, kind in rows], object),
    }
    ids = [f"sequence_{i:04d}" for i in range(len(rows))]
    return _views(EvalData(fields, ids=ids, coords={"classes": CLASSES}), ("label",))


def build_tracks(context: BuildContext) -> list[Artifact]:
    """Artifacts of ``primabench_synthetic/track_prediction@1.0.0``: 40 regions of 8 bins, three tracks."""
    draws = Draws(14)
    sequences, regions, values = [], [], []
    for region in range(40):
        rich = draws.below(3)
        for _ in range(8):
            letters = "".join(draws.one_of("ACGT" + "GC" * rich) for _ in range(24))
            gc, purines = letters.count("G") + letters.count("C"), letters.count("A") + letters.count("G")
            sequences.append(letters)
            regions.append(f"region_{region:02d}")
            values.append([gc * 2 + draws.below(9), purines + draws.below(9), gc + purines + draws.below(17)])
    value = np.asarray(values, np.float64) / 8
    peak = (np.asarray(values) > np.median(values, axis=0)).astype(np.float64)
    peak[5::11, 1] = -100.0
    fields = {
        "sequence": np.asarray(sequences, object),
        "region": np.asarray(regions, object),
        "value": value,
        "peak": peak,
    }
    ids = [f"{region}:{i % 8}" for i, region in enumerate(regions)]
    return _views(EvalData(fields, ids=ids, coords={"genes": TRACKS}), ("value", "peak"), COLUMNS)


def _variants(rows: list[dict[str, Any]], answers: tuple[str, ...]) -> list[Artifact]:
    fields: dict[str, Any] = {}
    for name, value in rows[0].items():
        kind = {str: object, int: np.int64, float: np.float64}[type(value)]
        fields[name] = np.asarray([row[name] for row in rows], kind)
    ids = [f"{r['chrom']}:{r['pos']}:{r['ref']}:{r['alt']}" for r in rows]
    return _views(EvalData(fields, ids=ids), answers)


def _views(data: EvalData, answers: tuple[str, ...], columns: dict[str, str] | None = None) -> list[Artifact]:
    """The labelled copy and the solution (private), and the censored copy."""
    from primabench_core.store.artifact import Artifact

    hidden = {name: _missing(np.asarray(data[name])) for name in answers}
    censored = EvalData({**data.fields, **hidden}, ids=data.ids, coords=data.coords)
    solution = EvalData({name: data[name] for name in answers}, ids=data.ids, coords=data.coords)
    named, facts = dict(columns or {}), {"synthetic": True}
    kept = {name: coord for name, coord in named.items() if name in answers}
    return [
        Artifact(view="labelled", data=data, private=True, attributes=facts, columns=named),
        Artifact(view="censored", data=censored, attributes=facts, columns=named),
        Artifact(view="solution", data=solution, private=True, attributes=facts, columns=kept),
    ]


def _missing(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if values.dtype.kind in "OUT":
        return np.full(len(values), None, object)
    return np.full(values.shape, np.nan)
