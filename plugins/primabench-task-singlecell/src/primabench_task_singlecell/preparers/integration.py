"""Gives all cells without types, and keeps types, batches and the representation before integration as the truth."""

from __future__ import annotations

import hashlib
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import CorruptDataError, EvalData
from primabench_task_singlecell.baselines.features import one_thread
from primabench_task_singlecell.integration.components import leading
from primabench_task_singlecell.integration.genes import normalised_dispersion, set_score

if TYPE_CHECKING:
    from primabench_core.store.prepare import DatasetReader, Splits

SCORED_GENES = 2_000
"""Genes that corrected matrices and expected counts are scored on; all where there are fewer."""
HELD_OUT = 10
"""One cell in so many is held out from the fit of a model of counts, inside each batch."""
COLUMNS = {"expression": "genes", "counts": "genes", "all_counts": "all_genes"}
HUMAN_GENES = 20
"""So many genes of a phase have to be measured for its score."""


def prepare(data: DatasetReader) -> Splits:
    """Cells of a recipe with ``label``, ``batch``, ``counts`` and ``expression``."""
    return _prepared(data, "label", "batch", human=False)


def prepare_immune_human(data: DatasetReader) -> Splits:
    """The same, with scores of the human cell cycle and the curated pseudotime where the file has it."""
    return _prepared(data, "label", "batch", human=True)


def prepare_kang(data: DatasetReader) -> Splits:
    """Blood cells with and without interferon: the condition is the batch."""
    return _prepared(data, "cell_type", "condition", human=True)


def _prepared(data: DatasetReader, label: str, batch: str, *, human: bool) -> Splits:
    """Splits of cells.

    Raises:
        CorruptDataError: the labelled copy lacks types, batches or counts, or is of one batch.
    """
    from primabench_core.store.prepare import Splits

    cells = data.artifact("labelled")
    for name in (label, batch, "counts"):
        if name not in cells.fields:
            raise CorruptDataError(f"The labelled view has no field {name!r}; it holds {sorted(cells.fields)}.")
    if cells.ids is None:
        raise CorruptDataError("Cells need ids; without them no prediction can be matched.")
    types, batches = (np.asarray(cells[name][:], object) for name in (label, batch))
    kept = np.flatnonzero([t is not None for t in types])
    cells = cells.select(kept)
    types, batches = types[kept], batches[kept]
    if len(set(batches)) < 2:
        raise CorruptDataError("All cells are of one batch: there is nothing to integrate.")
    genes = tuple(cells.coords["genes"])
    counts = as_sparse(cells["counts"])
    whole = as_sparse(cells["expression"]) if "expression" in cells.fields else normalised(counts)
    chosen = scored_genes(whole, batches)
    expression = np.asarray(whole[:, chosen].toarray(), np.float32)
    role = roles([str(i) for i in cells.ids], batches)
    solution: dict[str, Any] = {
        "label": types,
        "batch": batches,
        "embedding": leading(expression.astype(np.float64)),
        "expression": expression,
        "role": role,
    }
    if np.array_equal(counts.data, np.floor(counts.data)):
        solution["counts"] = np.asarray(counts[:, chosen].toarray(), np.float32)
    scores = human_cycle(whole, genes) if human else None
    if scores is not None:
        solution["cell_cycle"] = scores
    if "pseudotime" in cells.fields:
        solution["pseudotime"] = np.asarray(cells["pseudotime"][:], np.float64)
    classes = tuple(sorted(set(types)))
    named = {"genes": tuple(genes[g] for g in chosen), "classes": classes}
    public = {
        "expression": expression,
        "all_counts": counts,
        "batch": batches,
        "role": role,
        "label": np.full(len(types), None, object),
    }
    return Splits(
        train=None,
        test=EvalData(public, ids=cells.ids, coords={**named, "all_genes": genes}),
        solution=EvalData(solution, ids=cells.ids, coords=named),
        columns=COLUMNS,
    )


def as_sparse(field: Any) -> Any:
    """A stored matrix as CSR."""
    from scipy.sparse import csr_matrix

    return csr_matrix(field.tocsr() if hasattr(field, "tocsr") else np.asarray(field[:]))


def normalised(counts: Any) -> Any:
    """ln(1 + 10^4 share) of CSR counts; a cell without counts stays empty."""
    from scipy.sparse import diags

    totals = np.asarray(counts.sum(axis=1), np.float64).ravel()
    scaled = (diags(1e4 / np.where(totals > 0, totals, 1.0)) @ counts.astype(np.float64)).tocsr()
    scaled.data = np.log1p(scaled.data)
    return scaled


def scored_genes(expression: Any, batches: NDArray[Any], most: int = SCORED_GENES) -> NDArray[np.intp]:
    """Columns with the largest normalised dispersion, averaged over batches; ties by the order of columns.

    Args:
        expression: (n, genes) CSR.
        batches: (n,) text.
        most: Genes.

    Returns:
        Columns in their own order; all where there are not more.
    """
    genes = expression.shape[1]
    if genes <= most:
        return np.arange(genes)
    total = np.zeros(genes)
    for name in sorted(set(batches)):
        part = expression[np.flatnonzero(batches == name)].astype(np.float64)
        n = part.shape[0]
        if n < 2:
            continue
        mean = np.asarray(part.mean(axis=0)).ravel()
        square = np.asarray(part.multiply(part).mean(axis=0)).ravel()
        found = normalised_dispersion(mean, np.maximum(square - mean * mean, 0.0) * n / (n - 1))
        total += np.where((mean > 0) & np.isfinite(found), found, 0.0)
    return np.sort(np.argsort(-total, kind="stable")[:most])


def roles(ids: list[str], batches: NDArray[Any]) -> NDArray[Any]:
    """``score`` for one cell in ten of each batch (at least one), by a hash of its id; ``fit`` for the others."""
    role = np.full(len(ids), "fit", object)
    for name in sorted(set(batches)):
        rows = np.flatnonzero(batches == name)
        order = sorted(rows.tolist(), key=lambda i: hashlib.sha256(f"held out:{ids[i]}".encode()).digest())
        role[order[: max(1, len(order) // HELD_OUT)]] = "score"
    return role


def human_cycle(expression: Any, genes: tuple[str, ...]) -> NDArray[np.float64] | None:
    """(n, 2) scores of S and G2/M by the genes of Tirosh et al. 2016; None where too few of them are measured."""
    text = resources.files("primabench_task_singlecell").joinpath("integration/cell_cycle_human.tsv").read_text()
    phases = [line.split("\t") for line in text.splitlines()]
    members = {phase: [g for g, p in phases if p == phase and g in set(genes)] for phase in ("S", "G2M")}
    if min(map(len, members.values())) < HUMAN_GENES:
        return None
    with one_thread():
        return np.stack([set_score(expression, genes, members[phase]) for phase in ("S", "G2M")], axis=1)
