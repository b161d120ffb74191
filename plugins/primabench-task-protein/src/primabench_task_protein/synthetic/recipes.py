"""Recipe of the synthetic scans: no source, no network, the same content hash everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core import EvalData
from primabench_task_protein.baselines.blosum import BLOSUM62, LETTERS

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

SCANS = (
    ("P00001", "Activity", "High", "Human"),
    ("P00001", "Stability", "High", "Human"),
    ("P00001", "Activity", "High", "Human"),
    ("P00002", "Binding", "Medium", "Prokaryote"),
    ("P00003", "Expression", "Low", "Virus"),
    ("P00004", "OrganismalFitness", "Medium", "Eukaryote"),
    ("P00004", "Stability", "Medium", "Eukaryote"),
    ("P00005", "Activity", "Low", "Virus"),
)
"""Protein, selection type, alignment depth and taxon of each scan."""
LENGTH, VARIANTS = 40, 60
STREAM = 31


def build(context: BuildContext) -> list[Artifact]:
    """Artifacts of ``primabench_synthetic/fitness_prediction@1.0.0``."""
    draw = _Draws()
    proteins = {scan[0]: "".join(LETTERS[draw.below(20)] for _ in range(LENGTH)) for scan in SCANS}
    rows: list[dict[str, Any]] = []
    for number, (protein, selection, depth, taxon) in enumerate(SCANS):
        scan = _scan(draw, proteins[protein], pairs=number % 2 == 1)
        middle = sorted(fitness for _, _, fitness in scan)[VARIANTS // 2]
        for mutant, sequence, fitness in scan:
            rows.append(
                {
                    "assay": f"SCAN_{number}",
                    "uniprot": protein,
                    "selection": selection,
                    "msa_depth": depth,
                    "taxon": taxon,
                    "mutation_depth": str(mutant.count(":") + 1),
                    "wild_type": proteins[protein],
                    "mutant": mutant,
                    "sequence": sequence,
                    "value": fitness / 8,
                    "label": int(fitness >= middle),
                }
            )
    return _views(rows)


def _scan(draw: _Draws, protein: str, *, pairs: bool) -> list[tuple[str, str, int]]:
    """Distinct variants, their sequence and fitness in eighths."""
    found: dict[str, tuple[str, int]] = {}
    while len(found) < VARIANTS:
        sequence, names, fitness = list(protein), [], draw.below(25)
        places = sorted({draw.below(LENGTH) for _ in range(1 + int(pairs and draw.below(2)))})
        for place in places:
            old = protein[place]
            new = [c for c in LETTERS if c != old][draw.below(19)]
            sequence[place] = new
            names.append(f"{old}{place + 1}{new}")
            fitness += 4 * (BLOSUM62[old, new] - BLOSUM62[old, old])
        found.setdefault(":".join(names), ("".join(sequence), fitness))
    return [(name, sequence, fitness) for name, (sequence, fitness) in found.items()]


class _Draws:
    """Whole numbers from raw Philox words, fixed by its definition and not by a generator's methods."""

    def __init__(self) -> None:
        self._words = np.random.Philox(key=np.asarray([STREAM, 0], np.uint64))

    def below(self, n: int) -> int:
        return (int(self._words.random_raw()) * n) >> 64


def _views(rows: list[dict[str, Any]]) -> list[Artifact]:
    """The labelled copy and the solution (private), and the censored copy."""
    from primabench_core.store.artifact import Artifact

    kinds: dict[type, Any] = {str: object, int: np.int64, float: np.float64}
    fields = {name: np.asarray([r[name] for r in rows], kinds[type(value)]) for name, value in rows[0].items()}
    ids = [f"{row['assay']}:{row['mutant']}" for row in rows]
    hidden = {name: np.full(len(rows), np.nan) for name in ("value", "label")}
    facts = {"synthetic": True}
    solution = EvalData({name: fields[name] for name in ("value", "label")}, ids=ids)
    return [
        Artifact(view="labelled", data=EvalData(fields, ids=ids), private=True, attributes=facts),
        Artifact(view="censored", data=EvalData({**fields, **hidden}, ids=ids), attributes=facts),
        Artifact(view="solution", data=solution, private=True, attributes=facts),
    ]
