"""Gives all cells without a label, once: training and test data are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from primabench_task_singlecell.preparers.cells import ARTIFACT, VIEW, censored, solution_of, types_of

if TYPE_CHECKING:
    from primabench_core.store.prepare import DatasetReader, Splits


def prepare(data: DatasetReader) -> Splits:
    """All cells without types, and the types. The coordinate ``classes`` makes their number public (track k given)."""
    from primabench_core.store.prepare import Splits

    cells = data.artifact(VIEW, ARTIFACT)
    types = types_of(cells)
    classes = tuple(sorted(set(types)))
    return Splits(train=None, test=censored(cells, classes), solution=solution_of(cells, types, classes))
