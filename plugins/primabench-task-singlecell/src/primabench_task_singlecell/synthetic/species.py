"""The synthetic dataset of two species: each has genes of its own names and one type that the other lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import EvalData
from primabench_task_singlecell.synthetic.cells import SyntheticCells, draw

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

STREAMS = {"human": 5, "mouse": 6}
FOLD = 5
RARE, ALONE = "delta", "epsilon"
"""The rarest type, and what it is called in the second species: neither is in both."""


def build(context: BuildContext) -> list[Artifact]:
    """Artifacts of ``primabench_synthetic/embedding_quality_two_species@1.0.0``: 240 cells, 40 genes a species."""
    from primabench_core.store.artifact import Artifact

    drawn = {name: draw(stream, fold=FOLD) for name, stream in STREAMS.items()}
    ids = tuple(f"{name}_{i}" for name, cells in drawn.items() for i in cells.ids)
    types = [_named(name, kind) for name, cells in drawn.items() for kind in cells.types]
    label = np.asarray(types, object)
    coords = {
        "genes": tuple(f"{name}:{_gene(name, g)}" for name, cells in drawn.items() for g in cells.genes),
        "classes": tuple(sorted(set(types))),
    }
    fields = {
        "counts": _side_by_side(list(drawn.values())),
        "species": np.repeat(np.asarray([*drawn], object), [len(cells.ids) for cells in drawn.values()]),
        "donor": np.asarray([f"{name}_{d}" for name, cells in drawn.items() for d in cells.donors], object),
    }
    facts, columns = {"synthetic": True}, {"counts": "genes"}
    labelled = EvalData({**fields, "label": label}, ids=ids, coords=coords)
    censored = EvalData({**fields, "label": np.full(len(ids), None, object)}, ids=ids, coords=coords)
    solution = EvalData({"label": label}, ids=ids, coords={"classes": coords["classes"]})
    return [
        Artifact(view="labelled", data=labelled, private=True, attributes=facts, columns=columns),
        Artifact(view="censored", data=censored, attributes=facts, columns=columns),
        Artifact(view="solution", data=solution, private=True, attributes=facts),
    ]


def _named(species: str, kind: str) -> str:
    return ALONE if (species, kind) == ("mouse", RARE) else kind


def _gene(species: str, name: str) -> str:
    """As symbols of the two species differ: GENE_01 and Gene_01."""
    return name.upper() if species == "human" else name.capitalize()


def _side_by_side(drawn: list[SyntheticCells]) -> np.ndarray:
    """Counts of each species over its own columns, 0 elsewhere."""
    n, genes = len(drawn[0].ids), len(drawn[0].genes)
    counts = np.zeros((n * len(drawn), genes * len(drawn)), np.float32)
    for place, cells in enumerate(drawn):
        counts[place * n : (place + 1) * n, place * genes : (place + 1) * genes] = cells.counts
    return counts
