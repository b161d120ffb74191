"""Turns the three tables inside pydebiaseddta into the splits that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import published_splits
from primabench_recipes.formats.tables import read_table
from primabench_recipes.ozcelik_2023_journal_of_computational_biology.affinity_sample.card import CHECKSUMS

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build(context: BuildContext) -> list[Artifact]:
    """Splits train, val and test: ``smiles``, ``sequence``, ``ligand``, ``protein`` text, ``affinity`` float64.

    Raises:
        CorruptDataError: a value lies outside of the scale of KIBA scores.
    """
    parts = {split: read_pairs(context.source(f"{split}.csv")) for split in CHECKSUMS}
    return published_splits(parts, ["affinity"], attributes={"affinity": "KIBA score, higher is stronger"})


def read_pairs(path: Path) -> EvalData:
    """Rows of one table; an id is ligand and protein."""
    table = read_table(path)
    ligand, protein, affinity = table.text("ligand_id"), table.text("prot_id"), table.numbers("affinity_score")
    if affinity.min() < 0 or affinity.max() > 18:
        raise CorruptDataError(
            f"{path.name}: KIBA scores lie between 0 and 18, found {affinity.min()}-{affinity.max()}"
        )
    return EvalData(
        {
            "smiles": table.text("smiles"),
            "sequence": table.text("aa_sequence"),
            "ligand": ligand,
            "protein": protein,
            "affinity": affinity,
        },
        ids=[f"{a}:{b}" for a, b in zip(ligand, protein, strict=True)],
    )
