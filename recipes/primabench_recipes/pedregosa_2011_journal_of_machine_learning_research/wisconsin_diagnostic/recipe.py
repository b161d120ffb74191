"""Turns the file inside scikit-learn into labelled, censored and solution bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import numbered, three_views
from primabench_recipes.formats.tables import read_table

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

MEASURES = (
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave_points",
    "symmetry",
    "fractal_dimension",
)
"""What is measured of each nucleus; the file gives all means, then all standard errors, then all worst values."""

FEATURES = tuple(f"{summary}_{measure}" for summary in ("mean", "error", "worst") for measure in MEASURES)


def build(context: BuildContext) -> list[Artifact]:
    """Artifacts of the dataset: 569 rows, ``features`` (569, 30) float64, ``label`` malignant or benign.

    Raises:
        CorruptDataError: the file does not hold what the card says.
    """
    path = context.source("breast_cancer.csv")
    with path.open(encoding="utf-8") as stream:
        n, width, *classes = stream.readline().strip().split(",")
    table = read_table(path, header=[*FEATURES, "class"], skip=1)
    if (int(n), int(width)) != (table.n, len(FEATURES)) or classes != ["malignant", "benign"]:
        raise CorruptDataError(f"{path.name}: its first line does not describe the rows below it")
    features = np.stack([table.numbers(name) for name in FEATURES], axis=1)
    if (features < 0).any():
        raise CorruptDataError(f"{path.name}: a measure of a nucleus is negative")
    label = np.array([classes[code] for code in table.integers("class")], dtype=object)
    data = EvalData(
        {"features": features, "label": label},
        ids=numbered("aspirate", table.n),
        coords={"measures": FEATURES, "classes": tuple(sorted(classes))},
    )
    return three_views(data, ["label"], columns={"features": "measures"})
