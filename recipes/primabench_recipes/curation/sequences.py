"""Labelled sequences as rows, in an order that says nothing about the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import blind_order, numbered

IUPAC = frozenset("ACGTNRYSWKMBDHV")


def labelled_sequences(
    letters: Sequence[str],
    labels: Sequence[str],
    prefix: str,
    **groups: Sequence[str],
) -> EvalData:
    """One row a sequence: upper case, labels as text, rows by the hash of their sequence.

    Args:
        letters: DNA; lower case marks repeats in some sources and is dropped.
        labels: Class of each, as text.
        prefix: Ids are ``prefix-000000`` on.
        **groups: Further columns of text.

    Raises:
        CorruptDataError: a sequence holds a letter that is no base, or is empty.
    """
    upper = [text.upper() for text in letters]
    odd = next((text for text in upper if not text or not set(text) <= IUPAC), None)
    if odd is not None:
        strange = sorted(set(odd) - IUPAC)
        raise CorruptDataError(
            f"a sequence holds {strange[0]!r}, which is no base" if strange else "a sequence is empty"
        )
    order = blind_order(upper)
    columns: Mapping[str, Sequence[str]] = {"sequence": upper, "label": labels, **groups}
    fields = {name: np.array(list(values), dtype=object)[order] for name, values in columns.items()}
    return EvalData(fields, ids=numbered(prefix, len(upper)), coords={"classes": tuple(sorted(set(labels)))})
