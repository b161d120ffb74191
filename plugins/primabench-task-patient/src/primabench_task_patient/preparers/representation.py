"""Gives every sample without its answer; answers and folds go to the solution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError, EvalData

if TYPE_CHECKING:
    from primabench_core.store.prepare import DatasetReader, Splits

FIVE_YEARS = 1825
"""Days."""
COLUMNS = {"counts": "genes", "expression": "probes"}


def prepare(data: DatasetReader) -> Splits:
    """All samples of the censored view, and the solution with the folds that the recipe made."""
    from primabench_core.store.prepare import Splits

    solution = data.artifact("solution")
    if ("label" in solution) == ("value" in solution) or not {"fold", "role"} & set(solution.fields):
        raise CorruptDataError(f"A solution has 'label' or 'value', and folds; found {sorted(solution.fields)}.")
    test, solution = _with_classes(data.artifact("censored"), solution)
    return Splits(train=None, test=test, solution=solution, columns=COLUMNS)


def _with_classes(test: EvalData, solution: EvalData) -> tuple[EvalData, EvalData]:
    """Both with the names of the classes as a coordinate: they are public, who has which is not."""
    if "label" not in solution:
        return test, solution
    classes = {"classes": tuple(sorted({str(label) for label in np.asarray(solution["label"]).tolist()}))}
    return (
        EvalData(test.fields, ids=test.ids, coords={**test.coords, **classes}),
        EvalData(solution.fields, ids=solution.ids, coords={**solution.coords, **classes}),
    )


def prepare_gse7390(data: DatasetReader) -> Splits:
    """Patients whose state at five years is known: expression alone, and whether a metastasis came by then.

    Raises:
        CorruptDataError: the list of folds does not name exactly these patients.
    """
    from primabench_core.store.prepare import Splits

    folds = {patient: fold for fold, patients in data.id_list().items() for patient in patients}
    known = five_years(data.artifact("solution"))
    if set(known) != set(folds):
        raise CorruptDataError("The list of folds does not name the patients whose state at five years is known.")
    ids = sorted(known)
    censored = data.artifact("censored").select(ids)
    label = np.asarray([known[i] for i in ids], object)
    solution = EvalData({"label": label, "fold": np.asarray([folds[i] for i in ids], object)}, ids=ids)
    test = EvalData({"expression": censored["expression"]}, ids=ids, coords={"probes": censored.coords["probes"]})
    test, solution = _with_classes(test, solution)
    return Splits(train=None, test=test, solution=solution, columns=COLUMNS)


def five_years(solution: EvalData) -> dict[str, str]:
    """``metastasis`` or ``free`` by patient; who was last seen free before five years is left out.

    Args:
        solution: ``time`` in days and ``event`` 0 or 1.
    """
    time, event = np.asarray(solution["time"], np.float64), np.asarray(solution["event"])
    found = {}
    for patient, days, happened in zip(solution.ids or (), time.tolist(), event.tolist(), strict=True):
        if happened and days <= FIVE_YEARS:
            found[str(patient)] = "metastasis"
        elif days > FIVE_YEARS or (days == FIVE_YEARS and not happened):
            found[str(patient)] = "free"
    return found
