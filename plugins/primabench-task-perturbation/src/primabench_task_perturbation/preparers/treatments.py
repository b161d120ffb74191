"""Treated and untreated cells of several donors and types: the response of each type in donors that are held out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError
from primabench_task_perturbation.preparers.cells import Cells, log_normalised, most_variable, splits_of
from primabench_task_perturbation.pseudobulk import has_replicates
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
    cells of the other donors are training data. Donors are the replicates of the test of differential expression,
    where two of them or more are held out; types that fewer than two of these have in both conditions are left out.

    Raises:
        CorruptDataError: there are fewer than two donors, or no type has enough cells on both sides.
    """
    labelled = data.artifact("labelled")
    condition, donor, kind = (np.asarray(labelled[f], object) for f in ("condition", "donor", "cell_type"))
    test = sorted(drawn(donor.tolist(), HELD_DONORS, 1)) or sorted(set(donor.tolist()))[:1]
    if len(set(donor.tolist())) < 2:
        raise CorruptDataError("a split by donor needs at least two donors")
    held, treated = np.isin(donor, test), condition == TREATED
    between_donors = has_replicates(test)

    def is_answered(t: str) -> bool:
        """Whether there are enough cells of a type."""
        sides = [(side & (kind == t) & (treated == x)) for side in (held, ~held) for x in (True, False)]
        if min(side.sum() for side in sides) < MIN_CELLS:
            return False
        return not between_donors or has_replicates(sorted(set(donor[sides[0]]) & set(donor[sides[1]])))

    types = [t for t in sorted(set(kind.tolist())) if is_answered(t)]
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
    replicate = donor[kept] if between_donors else None
    cells = Cells([ids[i] for i in kept.tolist()], genes, value, names, kind[kept], replicate)  # type: ignore[arg-type]
    return splits_of(cells, dict.fromkeys(cells.names, "donor_unseen"), held=own)
