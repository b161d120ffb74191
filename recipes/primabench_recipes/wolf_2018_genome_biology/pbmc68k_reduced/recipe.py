"""Turns the file inside scanpy into labelled, censored and solution bytes; nothing is split, scaled or selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core import CorruptDataError, EvalData

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

LABEL = "bulk_labels"
"""Column of ``obs`` that holds the annotation."""

INPUTS = ("n_genes", "n_counts", "percent_mito", "S_score", "G2M_score", "phase")
"""Columns of ``obs`` that describe one cell at a time; ``louvain`` is left out because it saw all cells."""

ATTRIBUTES = {"expression": "log(1 + counts per 10,000), natural logarithm, rounded to 3 decimals by the source"}


def build(context: BuildContext) -> list[Artifact]:
    """Artifacts of ``wolf_2018_genome_biology/pbmc68k_reduced@1.0.0``.

    Returns:
        ``labelled`` (private), ``censored`` (the same rows, every label missing) and ``solution`` (labels alone):
        700 rows; ``expression`` (700, 765) float32 CSR, ``label`` text, the inputs; coordinates genes and classes.

    Raises:
        CorruptDataError: the file does not hold what the card says.
    """
    from primabench_core.store.artifact import Artifact

    cells = read_cells(context.source("10x_pbmc68k_reduced.h5ad"))
    labels = cells["label"]
    hidden = EvalData({**cells.fields, "label": np.full(cells.n, None, object)}, ids=cells.ids, coords=cells.coords)
    answers = EvalData({"label": labels}, ids=cells.ids, coords={"classes": cells.coords["classes"]})
    columns = {"expression": "genes"}
    return [
        Artifact(view="labelled", data=cells, private=True, attributes=ATTRIBUTES, columns=columns),
        Artifact(view="censored", data=hidden, attributes=ATTRIBUTES, columns=columns),
        Artifact(view="solution", data=answers),
    ]


def read_cells(path: Path) -> EvalData:
    """The labelled cells, with the claims of the card checked against the values.

    Args:
        path: ``10x_pbmc68k_reduced.h5ad``.

    Returns:
        700 cells in the order of the file.

    Raises:
        CorruptDataError: a claim does not hold.
    """
    stored = open_file(path)
    expression = stored.raw.X.astype(np.float32)
    check_log_values(expression, np.asarray(stored.obs["n_counts"], np.float64))
    labels = _text(stored.obs[LABEL])
    fields: dict[str, Any] = {"expression": expression, "label": labels}
    for name in INPUTS:
        column = stored.obs[name]
        fields[name] = _text(column) if name == "phase" else np.asarray(column)
    return EvalData(
        fields,
        ids=[str(name) for name in stored.obs_names],
        coords={"genes": tuple(map(str, stored.raw.var_names)), "classes": tuple(sorted(set(labels)))},
    )


def open_file(path: Path) -> Any:
    """The AnnData of the file; an old version wrote it, which anndata remarks on at each array."""
    import warnings

    import anndata

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return anndata.read_h5ad(path)


def check_log_values(expression: Any, n_counts: np.ndarray) -> None:
    """Refuse a matrix that is not log(1 + counts per 10,000): the scaled ``X`` of the same file, for one.

    Turned back, each value must be a whole number of molecules, within the three decimals that the source kept.

    Args:
        expression: (cells, genes) sparse or dense.
        n_counts: (cells,) molecules of each cell over all genes.

    Raises:
        CorruptDataError: it is something else.
    """
    dense = np.asarray(expression.toarray() if hasattr(expression, "toarray") else expression, np.float64)
    if not np.isfinite(dense).all() or dense.min() < 0:
        raise CorruptDataError("expression holds negative or infinite numbers, so it is neither counts nor log values")
    molecules = np.expm1(dense) * n_counts[:, None] / 1e4
    rounding = 0.5e-3 * np.exp(dense) * n_counts[:, None] / 1e4  # what half a unit of the third decimal can move
    if (np.abs(molecules - np.round(molecules)) > rounding + 1e-3).any():
        raise CorruptDataError("expression turned back from logarithms is no whole number of molecules")


def _text(column: Any) -> np.ndarray:
    values = np.asarray(column.astype(object))
    if not all(isinstance(value, str) and value for value in values):
        raise CorruptDataError(f"obs column {column.name!r} has cells without a value")
    return values
