"""What the baselines read: an expression matrix, and components of it that are fitted on given cells alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from primabench_core import EvalData, UsageError

EXPRESSION = "expression"
"""Name of the main field: cells x genes, log-normalised, dense or sparse."""
N_COMPONENTS = 50
_DENSE_LIMIT = 50_000_000
"""Numbers (400 MB as float64) up to which a matrix is made dense and decomposed exactly."""


class Components(Protocol):
    """A fitted projection of expression rows."""

    def transform(self, X: Any) -> NDArray[np.float64]:
        """(n, genes) to (n, components)."""


def expression(data: EvalData) -> Any:
    """The expression matrix: (cells, genes) float64, an array, or a CSR matrix where that would not fit.

    Raises:
        UsageError: the dataset has no field ``expression``.
    """
    if EXPRESSION not in data:
        raise UsageError(
            f"This baseline needs the field {EXPRESSION!r} (cells x genes); the data hold {sorted(data.fields)}.",
            remedy="primabench list baselines",
        )
    field = data[EXPRESSION]
    if hasattr(field, "tocsr"):
        sparse = field.tocsr().astype(np.float64)
        return sparse if sparse.shape[0] * sparse.shape[1] > _DENSE_LIMIT else sparse.toarray()
    return np.asarray(field, dtype=np.float64)


def labels(data: EvalData, name: str = "label") -> NDArray[Any]:
    """A label field as an array of text or int64."""
    return np.asarray(data[name])


def fit_components(X: Any, *, seed: int) -> Components:
    """Principal components of the rows of ``X``: 50, but at most a quarter of the cells.

    With more components than that, those of pure noise are scaled up beside the others and a classifier fits them.

    Args:
        X: (n, genes) float64, array or CSR: the only cells that the result depends on.
        seed: Start vector of the iterative solver that large matrices need.
    """
    from sklearn.decomposition import PCA

    n_components = max(1, min(N_COMPONENTS, X.shape[0] // 4, X.shape[1] - 1))
    exact = isinstance(X, np.ndarray) and X.size <= _DENSE_LIMIT
    return PCA(n_components, svd_solver="full" if exact else "arpack", random_state=seed).fit(X)  # type: ignore[no-any-return]


def one_thread() -> AbstractContextManager[object]:
    """Runs numerical libraries on one thread: the same bits whatever the number of cores, and no crowding."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    return threadpool_limits(limits=1)  # type: ignore[no-any-return]


def names_of_rows(data: EvalData) -> Sequence[str]:
    """Ids, or row numbers as text where rows have none."""
    return [str(i) for i in (range(data.n) if data.ids is None else data.ids)]


def draw_by_id(ids: Iterable[str], n: int, *, seed: int) -> NDArray[np.int64]:
    """One number of ``range(n)`` for each id, uniform, by SHA-256 of seed and id.

    A draw belongs to its id, so that neither the order of rows nor a generator's stream enters.

    Example:
        >>> draw_by_id(["a", "b"], 100, seed=0).tolist() == draw_by_id(["b", "a"], 100, seed=0).tolist()[::-1]
        True
    """
    digests = (hashlib.sha256(f"{seed}:{i}".encode()).digest() for i in ids)
    return np.asarray([(int.from_bytes(d[:8], "big") * n) >> 64 for d in digests], np.int64)
