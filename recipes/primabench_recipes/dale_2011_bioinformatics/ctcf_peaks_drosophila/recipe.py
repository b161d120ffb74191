"""Turns two BED files inside pybedtools into one row a cell line and chromosome."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_core.contract.ragged import Ragged
from primabench_recipes.curation.views import three_views
from primabench_recipes.dale_2011_bioinformatics.ctcf_peaks_drosophila.card import CHECKSUMS
from primabench_recipes.formats.intervals import read_bed

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build(context: BuildContext) -> list[Artifact]:
    """Rows ``Kc:chr2L`` …: ``cell_line``, ``chrom`` text, ``peaks`` ragged int64 (start, end), sorted.

    Raises:
        CorruptDataError: two sites of one chromosome overlap, which called sites do not.
    """
    rows: dict[str, np.ndarray] = {}
    for cells in CHECKSUMS:
        sites = read_bed(context.source(f"{cells}.bed"))
        for chrom in sorted(set(sites.chrom.tolist())):
            here = sites.chrom == chrom
            peaks = np.unique(np.stack([sites.start[here], sites.end[here]], axis=1), axis=0)
            if (peaks[1:, 0] < peaks[:-1, 1]).any():
                raise CorruptDataError(f"{cells}.bed: sites on {chrom} overlap")
            rows[f"{cells}:{chrom}"] = peaks
    joined = Ragged(np.concatenate(list(rows.values())), np.array([len(found) for found in rows.values()], np.int64))
    names = [key.split(":") for key in rows]
    fields = {name: np.array([part[i] for part in names], object) for i, name in enumerate(("cell_line", "chrom"))}
    data = EvalData({**fields, "peaks": joined}, ids=list(rows))
    return three_views(data, ["peaks"], attributes={"assembly": "dm3", "peaks": "start and end, 0-based, half-open"})
