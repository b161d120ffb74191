"""AnnData files: opened without remarks of old writers, columns as text, values held to the claimed state."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import CorruptDataError


def open_cells(path: Path) -> Any:
    """The AnnData of a file; an old version wrote some, which anndata remarks on at each array.

    Raises:
        CorruptDataError: it is no h5ad file.
    """
    import anndata

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return anndata.read_h5ad(path)
        except (OSError, KeyError) as error:
            raise CorruptDataError(f"{path.name} is no h5ad file: {error}", remedy="get the file again") from error


def text_column(obs: Any, name: str, *, missing: bool = False) -> NDArray[Any]:
    """(cells,) text of a column of ``obs``.

    Args:
        obs: Table of cells.
        name: The column.
        missing: Whether a cell may have none (it becomes None).

    Raises:
        CorruptDataError: there is no such column, or a cell has no value.
    """
    if name not in obs.columns:
        raise CorruptDataError(f"obs has no column {name!r}; it has {', '.join(map(str, obs.columns))}")
    values = [value if isinstance(value, str) and value else None for value in obs[name].astype(object)]
    if not missing and None in values:
        raise CorruptDataError(f"obs column {name!r} has {values.count(None)} cells without a value")
    return np.array(values, dtype=object)


def as_counts(matrix: Any, noun: str) -> Any:
    """The matrix as CSR float32, held to be counts: whole, finite, not negative.

    Raises:
        CorruptDataError: it is something else (log values, scaled values).
    """
    sparse = _csr(matrix)
    if not np.isfinite(sparse.data).all() or (sparse.data < 0).any():
        raise CorruptDataError(f"{noun} holds negative or infinite numbers, so it is no matrix of counts")
    if (sparse.data != np.floor(sparse.data)).any():
        raise CorruptDataError(f"{noun} holds fractions, so it is no matrix of counts")
    if sparse.data.size and sparse.data.max() >= 1 << 24:
        raise CorruptDataError(f"{noun} holds counts above 2^24, which float32 does not keep")
    return sparse.astype(np.float32)


def as_log_values(matrix: Any, noun: str) -> Any:
    """The matrix as CSR float32, held to be logarithms of something counted: finite, not negative, not all whole.

    Raises:
        CorruptDataError: it is something else (counts, scaled values).
    """
    sparse = _csr(matrix)
    if not np.isfinite(sparse.data).all() or (sparse.data < 0).any():
        raise CorruptDataError(f"{noun} holds negative or infinite numbers, so it is not log-normalised")
    if sparse.data.size and ((sparse.data == np.floor(sparse.data)).all() or sparse.data.max() > 30):
        raise CorruptDataError(f"{noun} holds whole or very large numbers, so it is not log-normalised")
    return sparse.astype(np.float32)


def _csr(matrix: Any) -> Any:
    from scipy import sparse

    found = sparse.csr_matrix(matrix)
    found.sum_duplicates()
    found.eliminate_zeros()
    return found


def names(index: Any, noun: str) -> tuple[str, ...]:
    """Names of cells or genes as text, each once.

    Raises:
        CorruptDataError: a name is empty or stands twice.
    """
    found = tuple(str(name) for name in index)
    if len(set(found)) != len(found) or "" in found:
        raise CorruptDataError(f"names of {noun} are not unique, or one is empty")
    return found
