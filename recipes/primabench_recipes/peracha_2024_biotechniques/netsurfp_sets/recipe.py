"""Turns a table of residues (letters with blanks between them) into one row a chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import numbered, three_views
from primabench_recipes.formats.tables import Table, read_table
from primabench_recipes.peracha_2024_biotechniques.netsurfp_sets.card import SETS

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

COLUMNS = {"sequence": "input", "q3": "dssp3", "q8": "dssp8", "ordered": "disorder", "evaluated": "cb513_mask"}
"""Our field -> column of the source, whose ``disorder`` is 1 where a residue is ordered."""

TO_THREE = {**dict.fromkeys("HGI", "H"), **dict.fromkeys("EB", "E"), **dict.fromkeys("STC", "C")}


def build(context: BuildContext) -> list[Artifact]:
    """Three views: ``sequence``, masks and answers ``q3``, ``q8``, all text with a letter a residue.

    Raises:
        CorruptDataError: lengths differ, a state is unknown, or ``q3`` does not follow from ``q8``.
    """
    table = read_table(context.source("chains.csv"))
    if table.n != SETS[context.key.slug][0]:
        raise CorruptDataError(f"{table.file} has {table.n} chains, {context.key.slug} has {SETS[context.key.slug][0]}")
    fields = {
        name: residues(table, column, digits=name in ("ordered", "evaluated")) for name, column in COLUMNS.items()
    }
    for row in range(table.n):
        check_chain({name: values[row] for name, values in fields.items()}, f"{table.file}, row {row + 1}")
    data = EvalData(fields, ids=numbered(context.key.slug, table.n))
    return three_views(data, ["q3", "q8"], attributes={"masks": "1 counts, 0 does not"})


def residues(table: Table, column: str, *, digits: bool) -> np.ndarray:
    """(chains,) text with a letter a residue; masks are numbers in the source and become digits."""
    found = [text.split() for text in table.text(column)]
    if digits:
        found = [[str(int(float(word))) for word in words] for words in found]
    if any(len(word) != 1 for words in found for word in words):
        raise CorruptDataError(f"{table.file}, column {column!r}: expected one letter a residue, with blanks between")
    return np.array(["".join(words) for words in found], dtype=object)


def check_chain(chain: dict[str, str], where: str) -> None:
    """Refuse a chain whose parts do not fit each other."""
    if len({len(text) for text in chain.values()}) != 1:
        raise CorruptDataError(f"{where}: sequence, states and masks differ in length")
    for mask in ("ordered", "evaluated"):
        if not set(chain[mask]) <= {"0", "1"}:
            raise CorruptDataError(f"{where}: a mask holds other signs than 0 and 1")
    for three, eight, ordered in zip(chain["q3"], chain["q8"], chain["ordered"], strict=True):
        if eight not in TO_THREE or (ordered == "1" and TO_THREE[eight] != three):
            raise CorruptDataError(f"{where}: state {three!r} does not follow from {eight!r}")
