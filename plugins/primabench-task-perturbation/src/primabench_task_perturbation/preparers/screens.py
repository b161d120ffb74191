"""Screens: single perturbations and combinations, held out by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_task_perturbation.names import parts_of
from primabench_task_perturbation.preparers.cells import Cells, log_normalised, most_variable, splits_of
from primabench_task_perturbation.splitting import TRAIN, leave_perturbation_out, simulation

if TYPE_CHECKING:
    from collections.abc import Callable

    from primabench_core.store.prepare import DatasetReader, Splits

GENES = 5_000
"""Most variable genes over training cells; those that are perturbed stay in any case."""
MIN_CELLS = 10
"""Perturbations of fewer cells are left out: neither their mean nor their test says much."""


def prepare_simulation(data: DatasetReader) -> Splits:
    """Held out by GEARS' ``simulation`` classes; see :func:`primabench_task_perturbation.splitting.simulation`."""
    return _prepare(data, simulation)


def prepare_leave_out(data: DatasetReader) -> Splits:
    """A quarter of the perturbations held out."""
    return _prepare(data, leave_perturbation_out)


def _prepare(data: DatasetReader, split: Callable[[Sequence[str]], Mapping[str, str]]) -> Splits:
    labelled = data.artifact("labelled")
    names = np.asarray(labelled["perturbation"], object)
    distinct, counts = np.unique(names.astype(str), return_counts=True)
    few = {name for name, count in zip(distinct.tolist(), counts.tolist(), strict=True) if count < MIN_CELLS}
    kept = np.flatnonzero(~np.isin(names, sorted(few)))
    value: Any = labelled["expression"] if "expression" in labelled else log_normalised(labelled["counts"])
    ids = labelled.ids or ()
    cells = Cells([ids[i] for i in kept.tolist()], labelled.coords["genes"], value[kept], names[kept])  # type: ignore[arg-type]
    classes = split(cells.names)
    return splits_of(_fewer_genes(cells, classes), classes)


def _fewer_genes(cells: Cells, classes: Mapping[str, str]) -> Cells:
    """The genes that the task is about, chosen on training cells and controls."""
    if len(cells.genes) <= GENES:
        return cells
    held = [name for name, kind in classes.items() if kind != TRAIN]
    targets = {part for name in classes for part in parts_of(name)}
    always = np.array([i for i, gene in enumerate(cells.genes) if gene in targets], np.int64)
    rows = np.flatnonzero(~np.isin(cells.perturbation, held))
    chosen = most_variable(cells.value, rows, GENES, always)
    return Cells(cells.ids, [cells.genes[i] for i in chosen.tolist()], cells.value[:, chosen], cells.perturbation)
