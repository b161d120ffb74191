"""RNA structures as rows: the sequence, a grouping, and a ragged field of base pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from primabench_core import EvalData
from primabench_core.contract.ragged import Ragged
from primabench_recipes.formats.rna_structures import Structure, as_pairs


def as_rows(structures: Mapping[str, Structure], **groups: Callable[[str], str]) -> EvalData:
    """One row a molecule.

    Args:
        structures: By id.
        groups: Fields that follow from the id, such as the family.

    Returns:
        ``sequence`` text, ``pairs`` ragged int32 (positions from 0), and the groups.
    """
    counts = np.array([len(s.pairs) for s in structures.values()], np.int64)
    values = np.concatenate([s.pairs for s in structures.values()]) if counts.sum() else as_pairs([])
    fields = {name: np.array([of(key) for key in structures], dtype=object) for name, of in groups.items()}
    sequences = np.array([s.sequence for s in structures.values()], dtype=object)
    return EvalData({"sequence": sequences, **fields, "pairs": Ragged(values, counts)}, ids=list(structures))
