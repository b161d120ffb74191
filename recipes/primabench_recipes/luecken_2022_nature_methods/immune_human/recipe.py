"""Turns scIB's file of human immune cells into labelled, censored and solution bytes; nothing is selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import three_views
from primabench_recipes.formats.cells import as_counts, as_log_values, names, open_cells, text_column

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

PSEUDOTIME = "dpt_pseudotime"


def build(context: BuildContext) -> list[Artifact]:
    """Three views: ``counts`` and ``expression`` CSR float32, ``batch``, ``whole_counts``, answers ``label`` (+ time).

    Raises:
        CorruptDataError: ``X`` is not log-normalised, the layer holds no counts, or a cell has no type or batch.
    """
    cells = open_cells(context.source("Immune_ALL_human.h5ad"))
    if "counts" not in cells.layers:
        raise CorruptDataError("the file has no layer 'counts'; X is log-normalised and is not taken for counts")
    batch, label = text_column(cells.obs, "batch"), text_column(cells.obs, "final_annotation")
    counts, whole = counts_by_batch(cells.layers["counts"], batch)
    fields: dict[str, Any] = {
        "counts": counts,
        "expression": as_log_values(cells.X, "X"),
        "batch": batch,
        "whole_counts": whole,
        "label": label,
    }
    answers = ["label"]
    if PSEUDOTIME in cells.obs.columns:
        fields["pseudotime"] = np.asarray(cells.obs[PSEUDOTIME], np.float64)
        answers.append("pseudotime")
    data = EvalData(
        fields,
        ids=list(names(cells.obs_names, "cells")),
        coords={"genes": names(cells.var_names, "genes"), "classes": tuple(sorted(set(label)))},
    )
    columns = {"counts": "genes", "expression": "genes"}
    states = {"counts": "molecules or reads", "expression": "log(1 + normalised counts), by the source"}
    return three_views(data, answers, attributes=states, columns=columns)


def counts_by_batch(matrix: Any, batch: np.ndarray) -> tuple[Any, np.ndarray]:
    """The layer as CSR float32, and for each cell whether the counts of its batch are whole numbers.

    Raises:
        CorruptDataError: no batch has whole counts, or a number is negative or infinite.
    """
    from scipy import sparse

    rows = sparse.csr_matrix(matrix)
    if not np.isfinite(rows.data).all() or (rows.data < 0).any():
        raise CorruptDataError("layer 'counts' holds negative or infinite numbers")
    whole = np.zeros(len(batch), np.int64)
    for name in sorted(set(batch)):
        try:
            as_counts(rows[batch == name], name)
        except CorruptDataError:
            continue
        whole[batch == name] = 1
    if not whole.any():
        raise CorruptDataError("layer 'counts' holds fractions in every batch, so it is no layer of counts")
    return rows.astype(np.float32), whole
