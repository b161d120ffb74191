"""Tracks over bins of regions, split by the frozen id list of the preparer: whole regions are held out."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError, EvalData

if TYPE_CHECKING:
    from primabench_core.store.prepare import DatasetReader, Splits

COLUMNS = {"value": "genes", "peak": "genes"}


def prepare(data: DatasetReader) -> Splits:
    """Training bins with signal, test bins with their sequence alone.

    Raises:
        CorruptDataError: the list does not name every bin once, or a region lies on both sides.
    """
    from primabench_core.store.prepare import Splits

    labelled, lists = data.artifact("labelled").load(), data.id_list()
    if set(lists) != {"train", "test"} or sorted(chain(*lists.values())) != sorted(map(str, labelled.ids or ())):
        raise CorruptDataError("The id list does not name every bin of the dataset once, in train or test.")
    train, test = labelled.select(lists["train"]), labelled.select(lists["test"])
    shared = set(np.asarray(train["region"]).tolist()) & set(np.asarray(test["region"]).tolist())
    if shared:
        raise CorruptDataError(f"{len(shared)} regions lie in train and in test.")
    answers = {name: test[name] for name in ("value", "region", "peak") if name in test}
    shown = {name: test[name] for name in ("sequence", "region")}
    return Splits(
        train=train,
        test=EvalData(shown, ids=test.ids),
        solution=EvalData(answers, ids=test.ids, coords=test.coords),
        columns=COLUMNS,
    )
