"""Gives all cells without a label, once: training and test data are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from primabench_task_singlecell.preparers.cells import COLUMNS, read_cells

if TYPE_CHECKING:
    from primabench_core.store.prepare import DatasetReader, Splits


def prepare(data: DatasetReader) -> Splits:
    """All cells without types, and the types. The coordinate ``classes`` makes their number public (track k given)."""
    from primabench_core.store.prepare import Splits

    cells = read_cells(data)
    return Splits(
        train=None, test=cells.public(cells.censored), solution=cells.answers(cells.solution), columns=COLUMNS
    )
