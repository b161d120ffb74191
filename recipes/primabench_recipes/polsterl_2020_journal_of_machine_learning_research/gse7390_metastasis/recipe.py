"""Turns the ARFF file inside scikit-survival into labelled, censored and solution bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import numbered, three_views
from primabench_recipes.formats.arff import read_arff

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build(context: BuildContext) -> list[Artifact]:
    """198 rows: ``expression`` (198, 76) float64, clinical columns, ``time`` in days and ``event`` 0 or 1.

    Raises:
        CorruptDataError: expression is not on a log2 scale, or a time is not positive.
    """
    path = context.source("metastasis.arff")
    table, _ = read_arff(path)
    probes = [name for name in table.columns if name.startswith("X")]
    expression = np.stack([table.numbers(name) for name in probes], axis=1)
    if not np.isfinite(expression).all() or expression.min() < 0 or expression.max() > 20:
        raise CorruptDataError(f"{path.name}: expression lies outside of 0 to 20, so it is not log2 of intensities")
    time = table.numbers("t.tdm")
    if (time <= 0).any():
        raise CorruptDataError(f"{path.name}: a time is not positive")
    grade = np.array([{"unkown": "unknown"}.get(value, value) for value in table.text("grade")], dtype=object)
    data = EvalData(
        {
            "expression": expression,
            "age": table.numbers("age"),
            "size": table.numbers("size"),
            "grade": grade,
            "er": table.text("er"),
            "time": time,
            "event": table.integers("e.tdm"),
        },
        ids=numbered("patient", table.n),
        coords={"probes": [name.removeprefix("X") for name in probes]},
    )
    units = {"expression": "log2 intensity", "time": "days to metastasis or last look", "age": "years", "size": "cm"}
    return three_views(data, ["time", "event"], attributes=units, columns={"expression": "probes"})
