"""What the preparers share: the views of a dataset of labelled cells, and checks that it can be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core import CorruptDataError, EvalData

if TYPE_CHECKING:
    from primabench_core.store.prepare import DatasetReader

LABEL, CLASSES = "label", "classes"
COLUMNS = {"expression": "genes"}
"""Coordinates of two-dimensional fields."""


@frozen(eq=False, repr=False)
class LabelledCells:
    """The three views of a recipe over the same cells, checked against each other."""

    labelled: EvalData
    """Every field and every type; private."""
    censored: EvalData
    """The same cells, types missing."""
    solution: EvalData
    """Types alone; private."""
    types: dict[str, str]
    """Type of each cell id."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the types, sorted; public."""
        return tuple(sorted(set(self.types.values())))

    def public(self, cells: EvalData) -> EvalData:
        """The same data with the list of types as a coordinate."""
        return EvalData(cells.fields, ids=cells.ids, coords={**cells.coords, CLASSES: self.classes})

    def answers(self, cells: EvalData) -> EvalData:
        """Ids and types of a solution, nothing else."""
        return EvalData({LABEL: cells.fields[LABEL]}, ids=cells.ids, coords={CLASSES: self.classes})


def read_cells(data: DatasetReader) -> LabelledCells:
    """Open the views ``labelled``, ``censored`` and ``solution``.

    Raises:
        CorruptDataError: a view has no label field, a cell has no type, a censored cell has one, or the views disagree.
    """
    labelled, censored, solution = (data.artifact(view) for view in ("labelled", "censored", "solution"))
    types, answers = _types(labelled, "labelled"), _types(solution, "solution")
    if types != answers:
        raise CorruptDataError("The labelled copy and the solution do not hold the same types of the same cells.")
    if set(_ids(censored)) != set(types):
        raise CorruptDataError("The censored copy does not hold the cells of the labelled copy.")
    if LABEL in censored and any(t is not None for t in _labels(censored)):
        raise CorruptDataError("The censored copy holds types of cells.")
    return LabelledCells(labelled, censored, solution, types)


def _ids(cells: EvalData) -> list[str]:
    if cells.ids is None:
        raise CorruptDataError("Cells need ids; without them no list can split and no prediction can be matched.")
    return [str(i) for i in cells.ids]


def _labels(cells: EvalData) -> NDArray[Any]:
    return np.asarray(cells[LABEL], dtype=object)


def _types(cells: EvalData, view: str) -> dict[str, str]:
    """Type of each cell; none may be missing."""
    if LABEL not in cells:
        raise CorruptDataError(f"The {view} view has no field {LABEL!r}; it holds {sorted(cells.fields)}.")
    types = dict(zip(_ids(cells), _labels(cells), strict=True))
    unnamed = [i for i, t in types.items() if not isinstance(t, str) or not t]
    if unnamed:
        raise CorruptDataError(f"The {view} view has {len(unnamed)} cells without a type (first: {unnamed[0]}).")
    return types
