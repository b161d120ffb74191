"""Recipe of the synthetic dataset: no source, no network, the same content hash everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import EvalData
from primabench_task_perturbation.synthetic.cells import draw

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build(context: BuildContext) -> list[Artifact]:
    """The labelled copy (private), and the names of the cells."""
    from primabench_core.store.artifact import Artifact

    drawn = draw()
    names = np.asarray(drawn.perturbation, object)
    coords = {"genes": drawn.genes}
    labelled = EvalData({"expression": drawn.expression, "perturbation": names}, ids=drawn.ids, coords=coords)
    censored = EvalData({"perturbation": names}, ids=drawn.ids, coords=coords)
    facts = {"synthetic": True, "expression": "log(1 + count), natural logarithm"}
    columns = {"expression": "genes"}
    return [
        Artifact(view="labelled", data=labelled, private=True, attributes=facts, columns=columns),
        Artifact(view="censored", data=censored, attributes={"synthetic": True}),
    ]
