"""Turns scPerturb's file into cells with normalised names of perturbations; counts are private."""

from __future__ import annotations

from typing import TYPE_CHECKING

from primabench_recipes.formats.screens import screen_views

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build(context: BuildContext) -> list[Artifact]:
    """Views labelled and censored: ``counts`` CSR float32 (private), ``perturbation`` text.

    Raises:
        CorruptDataError: ``X`` holds no counts, a name is no single gene, or there are no controls.
    """
    said = {"cell_line": "K562", "perturbation": "CRISPRi; guides of one gene together"}
    return screen_views(context.source("AdamsonWeissman2016_GSM2406681_10X010.h5ad"), said)
