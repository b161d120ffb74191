"""Turns destiny's object of early mouse embryos into labelled, censored and solution bytes, under blind names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import blind_order, numbered, three_views
from primabench_recipes.formats.cells import names
from primabench_recipes.formats.rda import RObject, read_rda

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

CELL_NUMBERS = (2, 4, 8, 16, 32, 64)
"""Cells of an embryo at each stage."""


def build(context: BuildContext) -> list[Artifact]:
    """Three views: ``expression`` (cells, genes) float32, and ``stage``, log2 of the cells of the embryo, private.

    The source names a cell by its stage, embryo and number (``16C 3.9``) and lists stages one after the other. Rows get
    the order of a hash of their expression, and numbers as ids; ``source_name`` and ``embryo`` are private.

    Raises:
        CorruptDataError: the file holds no such object, or cells of other stages.
    """
    file = context.source("guo_norm.rda")
    objects = read_rda(file)
    if "guo_norm" not in objects:
        raise CorruptDataError(f"{file.name} holds {', '.join(objects)}, not guo_norm")
    measured, about = objects["guo_norm"]["assayData"]["exprs"], objects["guo_norm"]["phenoData"]["data"]
    expression = np.ascontiguousarray(measured.matrix.T, np.float32)
    cells, number = _text(about["Cell"]), np.asarray(about["num_cells"].value)
    if not len(expression) == len(cells) == len(number) or not np.isfinite(expression).all():
        raise CorruptDataError(f"{file.name}: expression and cells do not fit together, or a value is missing")
    strange = sorted(set(number.tolist()) - set(CELL_NUMBERS))
    if strange:
        raise CorruptDataError(f"{file.name}: an embryo of {strange[0]:g} cells; expected {CELL_NUMBERS}")
    odd = [name for name, n in zip(cells, number, strict=True) if not name.startswith(f"{n:g}C ") or "." not in name]
    if odd:
        raise CorruptDataError(f"{file.name}: the name {odd[0]!r} is not one of its stage")
    order = blind_order([row.tobytes().hex() for row in expression.astype("<f4")])
    data = EvalData(
        {
            "expression": expression[order],
            "stage": np.log2(number[order].astype(np.float64)),
            "embryo": np.asarray([cells[i].partition(".")[0] for i in order], object),
            "source_name": np.asarray([cells[i] for i in order], object),
        },
        ids=numbered("cell", len(order)),
        coords={"genes": names(measured.dimnames[0], "genes")},
    )
    said = {"expression": "normalised cycle difference, larger is more", "stage": "log2 of the cells of the embryo"}
    answers = ["stage", "embryo", "source_name"]
    return three_views(data, answers, attributes=said, columns={"expression": "genes"})


def _text(column: RObject) -> list[str]:
    """A column of text, or of a factor."""
    levels = column.attributes.get("levels")
    if levels is None:
        return list(map(str, column.value))
    return [str(levels.value[int(code) - 1]) for code in column.value]
