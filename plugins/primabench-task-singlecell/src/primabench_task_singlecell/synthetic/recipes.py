"""Recipes of the synthetic datasets: no source, no network, the same content hash everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import EvalData
from primabench_task_singlecell.preparers.cells import CLASSES, COLUMNS, LABEL
from primabench_task_singlecell.synthetic.cells import SyntheticCells, draw

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

ANNOTATION_STREAM, CLUSTERING_STREAM = 1, 2
EMBEDDING_STREAM = 4
"""3 is that of :mod:`primabench_task_singlecell.synthetic.batches`."""


def build_annotation(context: BuildContext) -> list[Artifact]:
    """Artifacts of ``primabench_synthetic/cell_type_annotation@1.0.0``."""
    return artifacts_of(draw(ANNOTATION_STREAM, fold=3))


def build_clustering(context: BuildContext) -> list[Artifact]:
    """Artifacts of ``primabench_synthetic/clustering@1.0.0``."""
    return artifacts_of(draw(CLUSTERING_STREAM, fold=5))


def build_embedding_quality(context: BuildContext) -> list[Artifact]:
    """Artifacts of ``primabench_synthetic/embedding_quality@1.0.0``."""
    return artifacts_of(draw(EMBEDDING_STREAM, fold=3))


def artifacts_of(drawn: SyntheticCells) -> list[Artifact]:
    """The labelled copy and the solution (private), and the censored copy."""
    from primabench_core.store.artifact import Artifact

    types = np.asarray(drawn.types, object)
    coords = {"genes": drawn.genes, CLASSES: tuple(sorted(set(drawn.types)))}
    open_fields = {"expression": drawn.expression, "donor": np.asarray(drawn.donors, object)}
    labelled = EvalData({**open_fields, LABEL: types}, ids=drawn.ids, coords=coords)
    censored = EvalData({**open_fields, LABEL: np.full(len(types), None, object)}, ids=drawn.ids, coords=coords)
    solution = EvalData({LABEL: types}, ids=drawn.ids, coords={CLASSES: coords[CLASSES]})
    facts = {"synthetic": True, "expression": "log(1 + count), natural logarithm"}
    return [
        Artifact(view="labelled", data=labelled, private=True, attributes=facts, columns=COLUMNS),
        Artifact(view="censored", data=censored, attributes=facts, columns=COLUMNS),
        Artifact(view="solution", data=solution, private=True, attributes={"synthetic": True}),
    ]
