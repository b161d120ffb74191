"""Turns the AnnData file inside InMoose into one public artifact of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.formats.cells import as_counts, names, open_cells, text_column

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build(context: BuildContext) -> list[Artifact]:
    """One public artifact: ``counts`` (samples, genes) float32 CSR, ``donor`` text, ``treated``, ``read_length``.

    Raises:
        CorruptDataError: the matrix holds no counts, or a donor is not measured with and without treatment.
    """
    from primabench_core.store.artifact import Artifact

    samples = open_cells(context.source("airway.h5ad"))
    donor, dexamethasone = text_column(samples.obs, "cell"), text_column(samples.obs, "dex")
    if set(dexamethasone) != {"trt", "untrt"} or any(
        set(dexamethasone[donor == one]) != {"trt", "untrt"} for one in set(donor)
    ):
        raise CorruptDataError("airway.h5ad: not every donor is measured with and without dexamethasone")
    data = EvalData(
        {
            "counts": as_counts(samples.X, "X"),
            "donor": donor,
            "treated": (dexamethasone == "trt").astype(np.int64),
            "read_length": np.asarray(samples.obs["avgLength"], np.int64),
        },
        ids=list(names(samples.obs_names, "samples")),
        coords={"genes": names(samples.var_names, "genes")},
    )
    return [Artifact(view="measured", data=data, attributes={"counts": "reads a gene"}, columns={"counts": "genes"})]
