"""Recall of the rarest class."""

from __future__ import annotations

import numpy as np

from primabench_core.spec import Outcome
from primabench_core.state.counts import Counts


def rarest_class_recall(state: Counts) -> Outcome:
    """Recall of the class with the fewest true rows; of several such classes the smallest recall."""
    table, classes = state.square()
    rows = table.sum(1)
    if not rows.any():
        return Outcome.undefined("too_few_items", "there are no rows", n=0)
    rarest = [i for i in range(len(classes)) if rows[i] == rows[rows > 0].min()]
    found = {str(classes[i]): float(np.diag(table)[i] / rows[i]) for i in rarest}
    return Outcome(min(found.values()), per_unit=found)
