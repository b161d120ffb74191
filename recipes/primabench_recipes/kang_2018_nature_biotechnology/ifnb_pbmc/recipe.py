"""Turns the file of stimulated and control cells into a private copy and a public list of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import three_views
from primabench_recipes.formats.cells import as_counts, names, open_cells, text_column

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

CONDITIONS = {"ctrl": "control", "stim": "stimulated"}


def build(context: BuildContext) -> list[Artifact]:
    """Views labelled and censored: ``counts`` CSR float32 and ``cell_type`` (private), ``condition``, ``donor``.

    Raises:
        CorruptDataError: ``X`` holds no counts, or a donor was not measured in both conditions.
    """
    cells = open_cells(context.source("kang_2018.h5ad"))
    raw, donor = text_column(cells.obs, "label"), text_column(cells.obs, "replicate")
    if set(raw) != set(CONDITIONS):
        raise CorruptDataError(f"conditions are {sorted(set(raw))}, expected {sorted(CONDITIONS)}")
    alone = [name for name in sorted(set(donor)) if len(set(raw[donor == name])) != len(CONDITIONS)]
    if alone:
        raise CorruptDataError(f"donor {alone[0]} was not measured in both conditions")
    label = text_column(cells.obs, "cell_type")
    data = EvalData(
        {
            "counts": as_counts(cells.X, "X"),
            "condition": np.array([CONDITIONS[name] for name in raw], dtype=object),
            "donor": donor,
            "cell_type": label,
        },
        ids=list(names(cells.obs_names, "cells")),
        coords={"genes": names(cells.var_names, "genes"), "classes": tuple(sorted(set(label)))},
    )
    columns = {"counts": "genes"}
    said = {"counts": "molecules", "treatment": "interferon beta, 6 hours"}
    return three_views(data, ["counts", "cell_type"], attributes=said, columns=columns, solution=False)
