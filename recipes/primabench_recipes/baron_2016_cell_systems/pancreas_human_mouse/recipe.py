"""Turns the tables of six donors into cells of two species; genes keep their names and are told apart by species."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.baron_2016_cell_systems.pancreas_human_mouse.card import FILES
from primabench_recipes.curation.views import three_views
from primabench_recipes.formats.cells import names
from primabench_recipes.formats.text_files import open_text

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

HEADER = ["", "barcode", "assigned_cluster"]
"""Columns before the genes: name of the cell, barcode, type."""


@frozen(eq=False)
class Donor:
    """The table of one donor."""

    species: str
    genes: tuple[str, ...]
    cells: tuple[str, ...]
    types: tuple[str, ...]
    counts: Any
    """(cells, genes) CSR float32."""


def build(context: BuildContext) -> list[Artifact]:
    """Three views: ``counts`` CSR float32 over ``species:gene``, ``species``, ``donor``, ``label`` (hidden).

    Raises:
        CorruptDataError: a table has another layout, donors of a species other genes, or species no type in common.
    """
    from scipy.sparse import block_diag, vstack

    donors = {name: read_donor(context.source(file), name) for file in FILES for name in [file.partition(".")[0]]}
    species = list(dict.fromkeys(donor.species for donor in donors.values()))
    genes: list[str] = []
    parts = []
    for name in species:
        same = [donor for donor in donors.values() if donor.species == name]
        if any(donor.genes != same[0].genes for donor in same):
            raise CorruptDataError(f"tables of donors of {name} have different genes")
        genes += [f"{name}:{gene}" for gene in same[0].genes]
        parts.append(vstack([donor.counts for donor in same]))
    found = {name: {t for d in donors.values() if d.species == name for t in d.types} for name in species}
    if not set.intersection(*found.values()):
        raise CorruptDataError("no type has the same name in both species")
    label = _texts(donor.types for donor in donors.values())
    data = EvalData(
        {
            "counts": block_diag(parts, format="csr"),
            "species": _texts(repeat(donor.species, len(donor.cells)) for donor in donors.values()),
            "donor": _texts(repeat(name, len(donor.cells)) for name, donor in donors.items()),
            "label": label,
        },
        ids=list(names([cell for donor in donors.values() for cell in donor.cells], "cells")),
        coords={"genes": names(genes, "genes"), "classes": tuple(sorted(set(label)))},
    )
    return three_views(data, ["label"], attributes={"counts": "molecules"}, columns={"counts": "genes"})


def read_donor(path: Path, donor: str) -> Donor:
    """Read a table with a cell a row.

    Types are put in lower case: ``T_cell`` of the mouse is ``t_cell`` of the human tables.

    Args:
        path: The table, gzipped or not.
        donor: Species and number, which the name of every cell begins with.

    Raises:
        CorruptDataError: another header, a row of another length or another donor's, or a value that is no count.
    """
    from scipy.sparse import csr_matrix, vstack

    cells, types, rows = [], [], []
    with open_text(path) as stream:
        header = [_bare(word) for word in stream.readline().rstrip("\r\n").split(",")]
        if header[: len(HEADER)] != HEADER or len(header) == len(HEADER):
            raise CorruptDataError(f"{path.name} begins with {header[:4]}, expected {HEADER} and genes")
        genes = names(header[len(HEADER) :], f"genes of {donor}")
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            cell, _, kind, values = (*line.split(",", 3), "", "", "", "")[:4]
            cell, kind = _bare(cell), _bare(kind)
            if not cell.startswith(f"{donor}_") or not kind:
                raise CorruptDataError(f"{path.name}: row {number} is no cell of {donor} with a type")
            cells.append(cell)
            types.append(kind.lower())
            rows.append(csr_matrix(_counts(values, len(genes), f"{path.name}: row {number}")[None]))
    if not rows:
        raise CorruptDataError(f"{path.name} has no cells")
    return Donor(donor.rstrip("0123456789"), genes, tuple(cells), tuple(types), vstack(rows, format="csr"))


def _counts(text: str, n: int, where: str) -> NDArray[np.float32]:
    """The numbers of a row.

    Raises:
        CorruptDataError: there are not n, or one is no count.
    """
    words = text.rstrip("\r\n").split(",")
    if len(words) != n:
        raise CorruptDataError(f"{where} has {len(words)} numbers, expected {n}")
    try:
        values = np.array(words, np.float64)
    except ValueError as error:
        raise CorruptDataError(f"{where} holds something that is no number: {error}") from None
    if not np.isfinite(values).all() or (values < 0).any() or (values != np.floor(values)).any():
        raise CorruptDataError(f"{where} holds numbers that are no counts")
    if (values >= 1 << 24).any():
        raise CorruptDataError(f"{where} holds counts above 2^24, which float32 does not keep")
    return values.astype(np.float32)


def _bare(word: str) -> str:
    return word.strip().strip('"')


def _texts(parts: Any) -> NDArray[Any]:
    return np.array([text for part in parts for text in part], dtype=object)
