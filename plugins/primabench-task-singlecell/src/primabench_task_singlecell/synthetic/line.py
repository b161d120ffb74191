"""The synthetic dataset of trajectory inference: made cells along a line, in five stages."""

from __future__ import annotations

from bisect import bisect_right
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from primabench_core import EvalData
from primabench_task_singlecell.synthetic.cells import count_table, raw_words

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

STREAM = 12
STAGES, CELLS_PER_STAGE, GENES = 5, 20, 30
_STEPS = 8
"""Places inside of a stage."""


def draw_line() -> tuple[EvalData, EvalData]:
    """Cells with and without their stages.

    Example:
        >>> labelled, censored = draw_line()
        >>> labelled["expression"].shape, sorted(set(labelled["stage"].tolist()))
        ((100, 30), [0.0, 1.0, 2.0, 3.0, 4.0])
    """
    n = STAGES * CELLS_PER_STAGE
    words = iter(raw_words(STREAM, n * (GENES + 2) + GENES))
    base = [Fraction(1 + next(words) % 4, 2) for _ in range(GENES)]
    rows = []
    for stage in range(STAGES):
        for _ in range(CELLS_PER_STAGE):
            key = next(words)
            along = (stage + Fraction(next(words) % _STEPS, _STEPS)) / STAGES  # 0 to 1
            means = [base[g] * (1 + 4 * (along, 1 - along, Fraction(1, 2))[g % 3]) for g in range(GENES)]
            rows.append((key, float(stage), [bisect_right(count_table(mean), next(words)) for mean in means]))
    rows.sort(key=lambda row: row[0])  # an order that says nothing
    counts = np.asarray([row[2] for row in rows], np.int64)
    context = Context(prec=30)
    table = [float((Decimal(1) + c).ln(context)) for c in range(int(counts.max()) + 1)]
    expression = np.asarray(table, np.float64)[counts].astype(np.float32)
    ids, coords = (
        tuple(f"synthetic_{i:04d}" for i in range(n)),
        {"genes": tuple(f"gene_{g:02d}" for g in range(GENES))},
    )
    stages = np.asarray([row[1] for row in rows])
    labelled = EvalData({"expression": expression, "stage": stages}, ids=ids, coords=coords)
    return labelled, EvalData({"expression": expression, "stage": np.full(n, np.nan)}, ids=ids, coords=coords)


def build(context: BuildContext) -> list[Artifact]:
    """Artifacts of ``primabench_synthetic/trajectory_inference@1.0.0``."""
    from primabench_core.store.artifact import Artifact

    labelled, censored = draw_line()
    solution = EvalData({"stage": labelled["stage"]}, ids=labelled.ids)
    facts = {"synthetic": True, "expression": "log(1 + count), natural logarithm"}
    columns = {"expression": "genes"}
    return [
        Artifact(view="labelled", data=labelled, private=True, attributes=facts, columns=columns),
        Artifact(view="censored", data=censored, attributes=facts, columns=columns),
        Artifact(view="solution", data=solution, private=True, attributes={"synthetic": True}),
    ]
