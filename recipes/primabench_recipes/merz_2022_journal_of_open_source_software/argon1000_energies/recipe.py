"""Turns six series of numbers inside physical_validation into one table; nothing is hidden, so nothing is private."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.formats.tables import read_table
from primabench_recipes.merz_2022_journal_of_open_source_software.argon1000_energies.card import CHECKSUMS

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build(context: BuildContext) -> list[Artifact]:
    """One public artifact: six rows, ``energy`` (6, 1001) float64 in kJ/mol, ``time_step`` in ps.

    Raises:
        CorruptDataError: series differ in length, or the energy is not conserved to 1 in 1,000.
    """
    from primabench_core.store.artifact import Artifact

    series = {
        step: read_table(context.source(f"dt_{step}.dat"), header=["energy"]).numbers("energy") for step in CHECKSUMS
    }
    if len({len(values) for values in series.values()}) != 1:
        raise CorruptDataError("the series at different time steps differ in length")
    energy = np.stack(list(series.values()))
    if not np.isfinite(energy).all() or (np.ptp(energy, axis=1) > 1e-3 * np.abs(energy[:, 0])).any():
        raise CorruptDataError(
            "a series is not the conserved energy of an NVE simulation: it varies by over 1 in 1,000"
        )
    data = EvalData(
        {"energy": energy, "time_step": np.array([float(step) for step in series])},
        ids=[f"dt={step}ps" for step in series],
    )
    units = {"energy": "kJ/mol, whole box of 1,000 atoms", "time_step": "ps"}
    return [Artifact(view="measured", data=data, attributes=units)]
