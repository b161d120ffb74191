"""Turns a table of SMILES and labels into labelled, censored and solution bytes; nothing is parsed or dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import numbered, three_views
from primabench_recipes.formats.tables import read_table

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build(context: BuildContext) -> list[Artifact]:
    """Three views: ``smiles`` text, answer ``label`` (1 passes the barrier).

    Raises:
        CorruptDataError: a label is neither 0 nor 1.
    """
    table = read_table(context.source("BBBP.csv"))
    label = table.integers("BBBP")
    if set(label.tolist()) != {0, 1}:
        raise CorruptDataError(f"{table.file}: labels are {sorted(set(label.tolist()))}, expected 0 and 1")
    data = EvalData({"smiles": table.text("smiles"), "label": label}, ids=numbered("molecule", table.n))
    return three_views(data, ["label"], attributes={"label": "1 passes the blood-brain barrier"})
