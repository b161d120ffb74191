"""Turns MolTrans' three tables into the splits that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import blind_order, numbered, published_splits
from primabench_recipes.formats.tables import read_table
from primabench_recipes.huang_2021_bioinformatics.biosnap.card import PARTS

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

COLUMNS = {"smiles": "SMILES", "sequence": "Target Sequence", "drug": "DrugBank ID", "protein": "Gene"}
"""Our field -> column of the source; its column ``Gene`` holds UniProt accessions."""


def build(context: BuildContext) -> list[Artifact]:
    """Splits train, val and test: texts, and ``label`` 0 or 1.

    Raises:
        CorruptDataError: a label is neither 0 nor 1, or a split lacks one of them.
    """
    parts = {part: read_pairs(context.source(f"{part}.csv"), part) for part in PARTS}
    return published_splits(parts, ["label"], attributes={"label": "1 recorded, 0 no record (drawn 1:1)"})


def read_pairs(path: Path, part: str) -> EvalData:
    """Rows of one table, ordered by the hash of drug and protein; a pair may stand twice in the source."""
    table = read_table(path)
    label = table.integers("Label")
    if set(label.tolist()) != {0, 1}:
        raise CorruptDataError(f"{path.name}: labels are {sorted(set(label.tolist()))}, expected 0 and 1")
    fields = {name: table.text(column) for name, column in COLUMNS.items()}
    order = blind_order([f"{a}:{b}" for a, b in zip(fields["drug"], fields["protein"], strict=True)])
    columns = {**fields, "label": label}
    return EvalData({name: values[order] for name, values in columns.items()}, ids=numbered(part, table.n))
