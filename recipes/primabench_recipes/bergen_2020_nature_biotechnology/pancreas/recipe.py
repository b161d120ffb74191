"""Turns scVelo's file of the developing pancreas into labelled, censored and solution bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import three_views
from primabench_recipes.formats.cells import as_counts, names, open_cells, text_column

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

LAYERS = ("spliced", "unspliced")

STAGES = frozenset(
    {"Ductal", "Ngn3 low EP", "Ngn3 high EP", "Pre-endocrine", "Alpha", "Beta", "Delta", "Epsilon"},
)
"""What the column ``clusters`` may say."""


def build(context: BuildContext) -> list[Artifact]:
    """Three views: ``spliced`` and ``unspliced`` CSR float32, ``label`` text (one of eight stages).

    Raises:
        CorruptDataError: a layer holds no counts, a cell has no stage, or a stage is unknown.
    """
    cells = open_cells(context.source("endocrinogenesis_day15.h5ad"))
    absent = [name for name in LAYERS if name not in cells.layers]
    if absent:
        raise CorruptDataError(f"the file has no layer {absent[0]!r}")
    label = text_column(cells.obs, "clusters")
    strange = sorted(set(label) - STAGES)
    if strange:
        raise CorruptDataError(f"unknown stage {strange[0]!r}; expected {', '.join(sorted(STAGES))}")
    fields: dict[str, Any] = {name: as_counts(cells.layers[name], name) for name in LAYERS}
    data = EvalData(
        {**fields, "label": label},
        ids=list(names(cells.obs_names, "cells")),
        coords={"genes": names(cells.var_names, "genes"), "classes": tuple(sorted(set(label)))},
    )
    said = dict.fromkeys(LAYERS, "molecules")
    return three_views(data, ["label"], attributes=said, columns=dict.fromkeys(LAYERS, "genes"))
