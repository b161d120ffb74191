"""What the preparers share: names of the stored artifact, censorship, and checks that a dataset can be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import CorruptDataError, EvalData

VIEW, ARTIFACT = "labelled", "data"
"""The recipe's private, uncensored copy: ``expression``, ``label``, coordinates ``genes`` and ``classes``."""
LABEL = "label"


def types_of(cells: EvalData) -> NDArray[Any]:
    """(n,) the cell types as text.

    Raises:
        CorruptDataError: there is no label field, or a cell has no type.
    """
    if LABEL not in cells.fields:
        raise CorruptDataError(f"The labelled cells have no field {LABEL!r}; they hold {sorted(cells.fields)}.")
    types = np.asarray(cells.fields[LABEL][:], dtype=object)
    unnamed = [i for i, t in enumerate(types) if not isinstance(t, str) or not t]
    if unnamed:
        raise CorruptDataError(f"{len(unnamed)} cells of the labelled copy have no type (first row: {unnamed[0]}).")
    return types


def censored(cells: EvalData, classes: Sequence[str]) -> EvalData:
    """The same cells with every label missing; rows, other fields and the list of types stay."""
    fields: Mapping[str, Any] = {**cells.fields, LABEL: np.full(cells.n, None, object)}
    return EvalData(fields, ids=cells.ids, coords={**cells.coords, "classes": tuple(classes)})


def solution_of(cells: EvalData, types: NDArray[Any], classes: Sequence[str]) -> EvalData:
    """Ids and types alone."""
    return EvalData({LABEL: types}, ids=cells.ids, coords={"classes": tuple(classes)})
