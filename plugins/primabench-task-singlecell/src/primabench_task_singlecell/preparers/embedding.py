"""Gives all cells without types; whole batches or donors are the folds that probes are scored on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_task_singlecell.preparers.cells import COLUMNS, read_cells

if TYPE_CHECKING:
    from primabench_core.store.prepare import DatasetReader, Splits


def prepare_by_batch(data: DatasetReader) -> Splits:
    """Batches are domains, groups and folds."""
    return _prepared(data, "batch")


def prepare_by_donor(data: DatasetReader) -> Splits:
    """Donors are domains, groups and folds."""
    return _prepared(data, "donor")


def _prepared(data: DatasetReader, name: str) -> Splits:
    """Splits of cells.

    Raises:
        CorruptDataError: the cells have no such field, or all are of one domain.
    """
    from primabench_core.store.prepare import Splits

    cells = read_cells(data)
    if name not in cells.censored.fields:
        raise CorruptDataError(f"The censored view has no field {name!r}; it holds {sorted(cells.censored.fields)}.")
    domain = np.asarray(cells.censored[name][:], object)
    if len(set(domain)) < 2:
        raise CorruptDataError("All cells are of one domain: labels cannot be transferred.")
    sides = {"domain": domain, "fold": domain, "group": domain}
    public = cells.public(cells.censored)
    kept = {key: value for key, value in public.fields.items() if key in ("expression", "counts", "label")}
    answers = cells.answers(cells.solution.select(list(cells.censored.ids or ())))
    columns = {key: "genes" for key in (*COLUMNS, "counts") if key in kept}
    return Splits(
        train=None,
        test=EvalData({**kept, **sides}, ids=public.ids, coords=public.coords),
        solution=EvalData({**answers.fields, **sides}, ids=answers.ids, coords=answers.coords),
        columns=columns,
    )
