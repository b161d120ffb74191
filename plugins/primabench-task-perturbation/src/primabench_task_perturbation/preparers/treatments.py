"""Treated and untreated cells of several donors and types: the response of each type in donors that are held out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError
from primabench_task_perturbation.preparers.cells import Cells, log_normalised, most_variable, splits_of
from primabench_task_perturbation.roles import CONTROL
from primabench_task_perturbation.splitting import drawn

if TYPE_CHECKING:
    from primabench_core.store.prepare import DatasetReader, Splits

GENES = 5_000
MIN_CELLS = 10
TREATED = "stimulated"
HELD_DONORS = 0.25


def prepare(data: DatasetReader) -> Splits:
    """Donors split: of a quarter of them the treated cells are the answer, type by type.

    A perturbation is ``TYPE:stimulated``, its control are the untreated cells of that type in the same donors. All
    cells of the other donors are training data.

    Raises:
        CorruptDataError: there are fewer than two donors, or no type has enough cells on both sides.
    """
    labelled = data.artifact("labelled")
    condition, donor, kind = (np.asarray(labelled[f], object) for f in ("condition", "donor", "cell_type"))
    test = sorted(drawn(donor.tolist(), HELD_DONORS, 1)) or sorted(set(donor.tolist()))[:1]
    if len(set(donor.tolist())) < 2:
        raise CorruptDataError("a split by donor needs at least two donors")
    held, treated = np.isin(donor, test), condition == TREATED
    types = [
        t
        for t in sorted(set(kind.tolist()))
        if all(
            min((side & (kind == t) & (treated == x)).sum() for side in (held, ~held)) >= MIN_CELLS
            for x in (True, False)
        )
    ]
    if not types:
        raise CorruptDataError(f"no cell type has {MIN_CELLS} cells in each condition of training and held-out donors")
    kept = np.flatnonzero(np.isin(kind, types))
    names = np.where(treated, np.array([f"{t}:{TREATED}" for t in kind], object), CONTROL)[kept]
    value = log_normalised(labelled["counts"])[kept]
    ids, genes = labelled.ids or (), labelled.coords["genes"]
    own = held[kept]
    if len(genes) > GENES:
        chosen = most_variable(value, np.flatnonzero(~own), GENES, np.zeros(0, np.int64))
        value, genes = value[:, chosen], tuple(genes[i] for i in chosen.tolist())
    cells = Cells([ids[i] for i in kept.tolist()], genes, value, names, kind[kept])  # type: ignore[arg-type]
    return splits_of(cells, dict.fromkeys(cells.names, "donor_unseen"), held=own)
