"""Recipes of the synthetic datasets: no source, no network, the same content hash everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import EvalData
from primabench_task_singlecell.preparers.cells import ARTIFACT, VIEW, censored, solution_of
from primabench_task_singlecell.synthetic.cells import SyntheticCells, draw

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

ANNOTATION_STREAM, CLUSTERING_STREAM = 1, 2


def build_annotation(context: BuildContext) -> tuple[Artifact, ...]:
    """Artifacts of ``primabench_synthetic/cell_type_annotation@1.0.0``."""
    return _artifacts(draw(ANNOTATION_STREAM, fold=3))


def build_clustering(context: BuildContext) -> tuple[Artifact, ...]:
    """Artifacts of ``primabench_synthetic/clustering@1.0.0``."""
    return _artifacts(draw(CLUSTERING_STREAM, fold=5))


def _artifacts(drawn: SyntheticCells) -> tuple[Artifact, ...]:
    from primabench_core.store.artifact import Artifact

    classes = tuple(sorted(set(drawn.types)))
    types = np.asarray(drawn.types, object)
    cells = EvalData(
        {"expression": drawn.expression, "label": types, "donor": np.asarray(drawn.donors, object)},
        ids=drawn.ids,
        coords={"genes": drawn.genes, "classes": classes},
    )
    attributes = {"synthetic": True, "expression": "log(1 + count), natural logarithm"}
    columns = {"expression": "genes"}
    hidden, answers = censored(cells, classes), solution_of(cells, types, classes)
    return (
        Artifact(view=VIEW, name=ARTIFACT, data=cells, private=True, attributes=attributes, columns=columns),
        Artifact(view="censored", name=ARTIFACT, data=hidden, attributes=attributes, columns=columns),
        Artifact(view="solution", name=ARTIFACT, data=answers, private=True, attributes={"synthetic": True}),
    )
