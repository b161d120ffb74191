"""CRISPR screens as scPerturb harmonised them: raw counts, names of perturbations in one form."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import three_views
from primabench_recipes.formats.cells import as_counts, names, open_cells, text_column

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact

CONTROL = "control"
CONTROLS = frozenset({"control", "ctrl", "non-targeting", "non-targeting control", "negctrl"})
"""What cells with a guide against nothing are called."""
_PLASMID = re.compile(r"_p[A-Z]{2}\d+$")
UNASSIGNED = frozenset({"*", "", "nan", "None"})
"""What a cell without an assigned guide is called."""


def single_target(name: str) -> str:
    """The gene that a guide aims at, ``control``, or nothing for a cell without an assigned guide.

    Plasmid names at the end are dropped, so that guides of one gene are one perturbation. A name with another separator
    inside is refused: this screen has no combinations.

    Raises:
        CorruptDataError: the name looks like a combination.

    Example:
        >>> single_target("CREB1_pDS269"), single_target("non-targeting"), single_target("*")
        ('CREB1', 'control', '')
    """
    if name in UNASSIGNED:
        return ""
    gene = _PLASMID.sub("", name)
    if gene.lower() in CONTROLS:
        return CONTROL
    if not gene or re.search(r"[+,;]", gene):
        raise CorruptDataError(f"perturbation {name!r} is no single gene")
    return gene


def screen_views(path: Path, said: dict[str, Any], target: Callable[[str], str] = single_target) -> list[Artifact]:
    """Views labelled and censored: ``counts`` CSR float32 (private), ``perturbation`` text.

    Args:
        path: An h5ad file of scPerturb, raw counts in ``X``.
        said: Attributes of the data.
        target: The normalised name of a perturbation; cells for which it is empty are left out and counted.

    Raises:
        CorruptDataError: ``X`` holds no counts, a name cannot be read, or there are no control cells.
    """
    cells = open_cells(path)
    raw = text_column(cells.obs, "perturbation", missing=True)
    perturbation = np.array([target(name or "") for name in raw], dtype=object)
    kept = np.flatnonzero(perturbation != "")
    if CONTROL not in set(perturbation.tolist()):
        raise CorruptDataError("the file has no control cells")
    ids = names(cells.obs_names, "cells")
    data = EvalData(
        {"counts": as_counts(cells.X[kept], "X"), "perturbation": perturbation[kept]},
        ids=[ids[i] for i in kept.tolist()],
        coords={"genes": names(cells.var_names, "genes")},
    )
    facts = {"counts": "molecules", **said, "cells_without_a_guide": len(raw) - len(kept)}
    return three_views(data, ["counts"], attributes=facts, columns={"counts": "genes"}, solution=False)
