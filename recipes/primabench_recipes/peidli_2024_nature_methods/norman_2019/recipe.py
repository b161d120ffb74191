"""Turns scPerturb's file into cells with normalised names of perturbations; counts are private."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import three_views
from primabench_recipes.formats.cells import as_counts, names, open_cells, text_column

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

CONTROLS = frozenset({"control", "ctrl", "non-targeting", "negctrl"})
"""What untreated cells, and the empty half of a pair of guides, are called."""


def build(context: BuildContext) -> list[Artifact]:
    """Views labelled and censored: ``counts`` CSR float32 (private), ``perturbation`` text, ``n_perturbed`` int64.

    Raises:
        CorruptDataError: ``X`` holds no counts, or a name does not have as many parts as the source says.
    """
    cells = open_cells(context.source("NormanWeissman2019_filtered.h5ad"))
    raw = text_column(cells.obs, "perturbation")
    if "nperts" not in cells.obs.columns:
        raise CorruptDataError("obs has no column 'nperts', against which names are checked")
    claimed = np.asarray(cells.obs["nperts"], np.int64)
    perturbation = np.array([normalised(name, int(n)) for name, n in zip(raw, claimed, strict=True)], dtype=object)
    if "control" not in set(perturbation):
        raise CorruptDataError("the file has no control cells")
    data = EvalData(
        {"counts": as_counts(cells.X, "X"), "perturbation": perturbation, "n_perturbed": claimed},
        ids=list(names(cells.obs_names, "cells")),
        coords={"genes": names(cells.var_names, "genes")},
    )
    said = {"counts": "molecules", "cell_line": "K562", "perturbation": "CRISPRa; A+B in alphabetical order"}
    return three_views(data, ["counts"], attributes=said, columns={"counts": "genes"}, solution=False)


def normalised(name: str, parts: int) -> str:
    """``control``, ``A`` or ``A+B`` in alphabetical order.

    Args:
        name: As the source writes it, parts joined by ``_``, ``+`` or ``,``.
        parts: How many genes the source says were perturbed.

    Raises:
        CorruptDataError: the name has another number of parts.

    Example:
        >>> normalised("KLF1_CEBPA", 2), normalised("ctrl", 0), normalised("TP53_control", 1)
        ('CEBPA+KLF1', 'control', 'TP53')
    """
    found = sorted(part for part in re.split(r"[_+,]", name) if part.lower() not in CONTROLS and part)
    if len(found) != parts or len(set(found)) != len(found):
        raise CorruptDataError(f"perturbation {name!r} has {len(found)} parts, the source says {parts}")
    return "+".join(found) or "control"
