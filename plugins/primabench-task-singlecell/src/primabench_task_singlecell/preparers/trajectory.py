"""Gives all cells without stages but a root, and keeps stages and the expression that velocities are changes of."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import CorruptDataError, EvalData
from primabench_task_singlecell.preparers.integration import normalised, scored_genes

if TYPE_CHECKING:
    from primabench_core.store.prepare import DatasetReader, Splits

STAGES = {
    "Ductal": 0.0,
    "Ngn3 low EP": 1.0,
    "Ngn3 high EP": 2.0,
    "Pre-endocrine": 3.0,
    "Alpha": 4.0,
    "Beta": 4.0,
    "Delta": 4.0,
    "Epsilon": 4.0,
}
"""Stage of each kind of cell of the developing pancreas; the four fates are one stage."""
COLUMNS = {"expression": "genes", "spliced": "all_genes", "unspliced": "all_genes"}


def prepare(data: DatasetReader) -> Splits:
    """Cells of a recipe with ``expression``, ``stage`` and, where it is known, ``embryo``.

    Raises:
        CorruptDataError: cells have no ids, or all are of one stage.
    """
    cells = data.artifact("labelled")
    stage = np.asarray(cells["stage"], np.float64)
    expression = np.asarray(cells["expression"], np.float32)
    genes = tuple(cells.coords["genes"])
    answers = {"sample": np.asarray(cells["embryo"], object)} if "embryo" in cells.fields else {}
    return _splits(cells, stage, expression, genes, {}, answers)


def prepare_pancreas(data: DatasetReader) -> Splits:
    """Cells with ``spliced`` and ``unspliced`` counts and the kind of each as ``label``.

    Raises:
        CorruptDataError: as :func:`prepare`, or a cell is of a kind without a stage.
    """
    from scipy.sparse import csr_matrix

    cells = data.artifact("labelled")
    label = np.asarray(cells["label"], object)
    strange = sorted(set(label) - set(STAGES))
    if strange:
        raise CorruptDataError(f"{strange[0]!r} has no stage; known are {', '.join(STAGES)}.")
    stage = np.asarray([STAGES[name] for name in label])
    spliced, unspliced = (csr_matrix(cells[name].tocsr()) for name in ("spliced", "unspliced"))
    whole, names = normalised(spliced), tuple(map(str, cells.coords["genes"]))
    chosen = scored_genes(whole, np.zeros(len(label), np.int64))
    expression = np.asarray(whole[:, chosen].toarray(), np.float32)
    genes = tuple(names[g] for g in chosen)
    return _splits(cells, stage, expression, genes, {"spliced": spliced, "unspliced": unspliced}, {"cluster": label})


def _splits(
    cells: EvalData,
    stage: NDArray[np.float64],
    expression: NDArray[np.float32],
    genes: tuple[Any, ...],
    beside: dict[str, Any],
    answers: dict[str, Any],
) -> Splits:
    from primabench_core.store.prepare import Splits

    if cells.ids is None:
        raise CorruptDataError("Cells need ids; without them no prediction can be matched.")
    if len(set(stage[~np.isnan(stage)])) < 2:
        raise CorruptDataError("All cells are of one stage: there is no course to find.")
    shared: dict[str, Any] = {"genes": genes}
    names = [str(i) for i in cells.ids]
    public = {
        "expression": expression,
        "root": root_of(names, stage),
        "stage": np.full(len(stage), np.nan),
        **beside,
    }
    private = {"stage": stage, "expression": expression, "sample": np.asarray(names, object), **answers}
    named = {"all_genes": cells.coords["genes"]} if beside else {}
    return Splits(
        train=None,
        test=EvalData(public, ids=cells.ids, coords={**shared, **named}),
        solution=EvalData(private, ids=cells.ids, coords=shared),
        columns=COLUMNS,
    )


def root_of(ids: list[str], stage: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n,) 1 for one cell of the first stage, the one whose id has the smallest hash; 0 for all others.

    Example:
        >>> root_of(["a", "b"], np.asarray([1.0, 0.0])).tolist()
        [0, 1]
    """
    first = np.flatnonzero(stage == np.nanmin(stage)).tolist()
    root = np.zeros(len(ids), np.int64)
    root[min(first, key=lambda i: hashlib.sha256(f"root:{ids[i]}".encode()).digest())] = 1
    return root
