"""Recipes of the synthetic datasets: no source, no network, the same content hash everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core import EvalData
from primabench_task_patient.synthetic.patients import GENES, MadeCohort, endotype, severity

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build_endotype(context: BuildContext) -> list[Artifact]:
    """Artifacts of ``primabench_synthetic/patient_representation@1.0.0``."""
    return artifacts_of(endotype())


def build_severity(context: BuildContext) -> list[Artifact]:
    """Artifacts of ``primabench_synthetic/patient_severity@1.0.0``."""
    return artifacts_of(severity())


def artifacts_of(made: MadeCohort) -> list[Artifact]:
    """The labelled copy and the solution (private), and the censored copy."""
    from primabench_core.store.artifact import Artifact

    counts = made.counts.astype(np.float32)
    coords = {"genes": GENES}
    answers: dict[str, Any] = {"fold": np.asarray(made.folds, object)}
    answers |= {"label": np.asarray(made.labels, object)} if made.labels else {"value": np.asarray(made.values)}
    if len(set(made.patients)) < len(made.samples):
        answers["group"] = np.asarray(made.patients, object)
    answer = "label" if made.labels else "value"
    missing = np.full(len(made.samples), None, object) if made.labels else np.full(len(made.samples), np.nan)
    ids = made.samples
    facts = {"synthetic": True, "counts": "reads a gene"}
    columns = {"counts": "genes"}
    return [
        Artifact(
            view="labelled", data=EvalData({"counts": counts, **answers}, ids=ids, coords=coords), private=True,
            attributes=facts, columns=columns,
        ),
        Artifact(
            view="censored", data=EvalData({"counts": counts, answer: missing}, ids=ids, coords=coords),
            attributes=facts, columns=columns,
        ),
        Artifact(view="solution", data=EvalData(answers, ids=ids), private=True, attributes={"synthetic": True}),
    ]  # fmt: skip
