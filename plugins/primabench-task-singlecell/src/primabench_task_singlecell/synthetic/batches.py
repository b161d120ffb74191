"""The synthetic dataset of batch integration: donors are the batches, and one type is absent from one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import EvalData
from primabench_task_singlecell.synthetic.cells import draw

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

STREAM, FOLD = 3, 5
RARE, WITHOUT = "delta", "d3"
"""A type, and the batch whose cells of it are left out: so one type is isolated."""


def build(context: BuildContext) -> list[Artifact]:
    """Artifacts of ``primabench_synthetic/batch_integration@1.0.0``: 116 cells."""
    from primabench_core.store.artifact import Artifact

    drawn = draw(STREAM, fold=FOLD)
    types, donors = np.asarray(drawn.types, object), np.asarray(drawn.donors, object)
    kept = np.flatnonzero((types != RARE) | (donors != WITHOUT))
    ids = tuple(drawn.ids[i] for i in kept)
    coords = {"genes": drawn.genes, "classes": tuple(sorted(set(drawn.types)))}
    counts = drawn.counts[kept].astype(np.float32)
    fields = {"counts": counts, "expression": drawn.expression[kept], "batch": donors[kept], "label": types[kept]}
    hidden = {**fields, "label": np.full(len(ids), None, object)}
    columns = {"counts": "genes", "expression": "genes"}
    facts = {"synthetic": True, "expression": "log(1 + count), natural logarithm"}
    labelled, censored = (EvalData(f, ids=ids, coords=coords) for f in (fields, hidden))
    solution = EvalData({"label": types[kept]}, ids=ids, coords={"classes": coords["classes"]})
    return [
        Artifact(view="labelled", data=labelled, private=True, attributes=facts, columns=columns),
        Artifact(view="censored", data=censored, attributes=facts, columns=columns),
        Artifact(view="solution", data=solution, private=True, attributes={"synthetic": True}),
    ]
