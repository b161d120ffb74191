"""Turns the two tables inside InMoose into one public artifact of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.formats.cells import as_counts, names
from primabench_recipes.formats.tables import read_table

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build(context: BuildContext) -> list[Artifact]:
    """One public artifact: ``counts`` (samples, genes) float32 CSR, ``treated`` 0 or 1, ``library`` text.

    Raises:
        CorruptDataError: the matrix holds no counts, or the two tables do not name the same samples.
    """
    from primabench_core.store.artifact import Artifact

    table = read_table(context.source("counts.tsv"), delimiter="\t")
    annotation = read_table(context.source("samples.csv"))
    samples = [name for name in table.columns if name != "gene_id"]
    described = {name.removesuffix("fb"): row for row, name in enumerate(annotation.text("file"))}
    if set(described) != set(samples):
        raise CorruptDataError("counts.tsv and samples.csv do not name the same samples")
    order = [described[name] for name in samples]
    condition = annotation.text("condition")[order]
    if set(condition) != {"treated", "untreated"}:
        raise CorruptDataError(f"samples.csv: conditions are {sorted(set(condition))}, expected treated and untreated")
    data = EvalData(
        {
            "counts": as_counts(np.stack([table.numbers(name) for name in samples]), "counts.tsv"),
            "treated": (condition == "treated").astype(np.int64),
            "library": annotation.text("type")[order],
        },
        ids=samples,
        coords={"genes": names(table.text("gene_id"), "genes")},
    )
    return [Artifact(view="measured", data=data, attributes={"counts": "reads a gene"}, columns={"counts": "genes"})]
