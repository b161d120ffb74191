"""All variants of all scans, tested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core import CorruptDataError, EvalData

if TYPE_CHECKING:
    from primabench_core.store.prepare import DatasetReader, Splits

ANSWERS = ("value", "label")
GROUPS = ("assay", "uniprot", "selection", "msa_depth", "taxon", "mutation_depth")


def prepare(data: DatasetReader) -> Splits:
    """Variants without fitness, and fitness with what assays are grouped by.

    Raises:
        CorruptDataError: a variant stands twice in an assay, or a class is neither 0 nor 1.
    """
    from primabench_core.store.prepare import Splits

    labelled, censored = data.artifact("labelled").load(), data.artifact("censored").load()
    rows = list(zip(_texts(labelled, "assay"), _texts(labelled, "mutant"), strict=True))
    if len(set(rows)) != len(rows):
        raise CorruptDataError(f"{len(rows) - len(set(rows))} variants stand twice in their assay.")
    if not np.isin(np.asarray(labelled["label"]), (0, 1)).all():
        raise CorruptDataError("Classes of variants must be 0 or 1.")
    answers: dict[str, Any] = {name: labelled[name] for name in (*ANSWERS, *GROUPS) if name in labelled}
    answers["value"] = np.asarray(answers["value"], np.float64)
    answers["label"] = np.asarray(answers["label"], np.int64)
    shown = {name: value for name, value in censored.fields.items() if name not in ANSWERS}
    ids = [str(i) for i in censored.ids or ()]
    return Splits(
        train=None,
        test=EvalData(shown, ids=censored.ids),
        solution=EvalData(answers, ids=labelled.ids).select(ids),
    )


def _texts(data: EvalData, name: str) -> list[str]:
    return [str(v) for v in np.asarray(data[name], object).tolist()]
