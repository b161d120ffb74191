"""Expression to learn from, the candidate edges to weigh, and which of them the network has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_task_singlecell.grn.edges import rows_of

if TYPE_CHECKING:
    from primabench_core.store.prepare import DatasetReader, Splits


def prepare(data: DatasetReader) -> Splits:
    """Splits of a recipe with the views ``measured`` (cells) and ``solution`` (artifact ``edges``).

    Regulators are those of the network that are expressed, targets the genes of the network that are expressed, and no
    edge leads from a gene to itself.

    Returns:
        ``train``: ``expression`` of all cells. ``test``: the candidate edges as ``regulator`` and ``target``.
        ``solution``: ``label``, and ``regulator``.

    Raises:
        CorruptDataError: cells have no names of genes, or the network has no edge among them.
    """
    from primabench_core.store.prepare import Splits

    cells, network = data.artifact("measured"), data.artifact("solution", "edges")
    genes = tuple(map(str, cells.coords.get("genes", ())))
    if not genes:
        raise CorruptDataError("The measured cells carry no names of genes.")
    pairs = set(zip(*(map(str, np.asarray(network[name], object)) for name in ("regulator", "target")), strict=True))
    expressed = set(genes)
    regulators = {a for a, _ in pairs} & expressed
    targets = {name for pair in pairs for name in pair} & expressed
    solution = rows_of(pairs, regulators, targets, named=genes)
    if not solution.n or not np.asarray(solution["label"]).any():
        raise CorruptDataError("The network has no edge between two expressed genes.")
    ends = [str(name).partition(">")[2] for name in solution.ids or ()]
    return Splits(
        train=EvalData({"expression": cells["expression"]}, ids=cells.ids, coords={"genes": genes}),
        test=EvalData(
            {"regulator": solution["regulator"], "target": np.asarray(ends, object)},
            ids=solution.ids,
            coords={"genes": genes},
        ),
        solution=solution,
        columns={"expression": "genes"},
    )
