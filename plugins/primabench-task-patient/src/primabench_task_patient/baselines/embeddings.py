"""Embeddings without a model: noise, principal components, variable genes. None of them sees a label."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import EvalData, UsageError
from primabench_task_patient.submitting import Cohort, log_cpm

Floats = NDArray[np.float64]
RANDOM_WIDTH, COMPONENTS, GENES = 64, 50, 500


def random_vectors(samples: tuple[str, ...], *, seed: int = 0, width: int = RANDOM_WIDTH) -> Floats:
    """(samples, width) Gaussian noise; a sample's vector depends on seed and id alone.

    Example:
        >>> random_vectors(("a", "b")).shape
        (2, 64)
    """
    keys = [hashlib.sha256(f"{seed}:{sample}".encode()).digest() for sample in samples]
    rows = [np.random.default_rng(int.from_bytes(key[:16], "big")).standard_normal(width) for key in keys]
    return np.stack(rows) if rows else np.empty((0, width))


def principal_components(expression: Any, *, width: int = COMPONENTS) -> Floats:
    """(samples, components) principal components of the given samples: 50, but at most a quarter of the samples.

    They are fitted on all samples of the data set, without labels: transductive, as every embedding may be that was
    made with the inputs at hand.

    Args:
        expression: (samples, genes) log expression.
        width: Components at most.
    """
    from sklearn.decomposition import PCA
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    X = np.asarray(expression, np.float64)
    width = max(1, min(width, X.shape[0] // 4, X.shape[1]))
    with threadpool_limits(limits=1):
        fitted = PCA(n_components=width, svd_solver="full").fit_transform(X)
    signs = np.sign(fitted[np.abs(fitted).argmax(axis=0), np.arange(width)])
    found: Floats = fitted * np.where(signs == 0, 1.0, signs)
    return found


def variable_genes(expression: Any, genes: tuple[str, ...], *, width: int = GENES) -> Floats:
    """(samples, genes) the 500 genes of the largest variance; of equal variances the first by name.

    Args:
        expression: (samples, genes) log expression.
        genes: Names of the columns.
        width: Genes at most.
    """
    X = np.asarray(expression, np.float64)
    spread = X.var(axis=0)
    order = sorted(range(X.shape[1]), key=lambda g: (-spread[g], genes[g]))[:width]
    found: Floats = X[:, order]
    return found


def pca_of(cohort: Cohort) -> Floats:
    """Principal components of log2(CPM + 1) of a cohort."""
    return principal_components(cohort.log_cpm)


def hvg_of(cohort: Cohort) -> Floats:
    """Variable genes of log2(CPM + 1) of a cohort."""
    return variable_genes(cohort.log_cpm, cohort.genes)


def random_of(cohort: Cohort) -> Floats:
    """Noise for each sample of a cohort."""
    return random_vectors(cohort.samples)


def random(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Noise for each sample."""
    return _embedding(test, random_vectors(_samples(test), seed=seed))


def pca(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Principal components of log expression."""
    return _embedding(test, principal_components(_expression(test)))


def hvg(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """The most variable genes of log expression."""
    X = _expression(test)
    names = next((test.coords[c] for c in ("genes", "probes") if c in test.coords), None)
    return _embedding(test, variable_genes(X, tuple(map(str, names or range(X.shape[1])))))


def perfect(solution: EvalData, *, seed: int = 0) -> EvalData:
    """The truth itself as an embedding: classes as columns, or the number; runs inside the runner."""
    if "label" in solution:
        label = np.asarray(solution["label"]).astype(str)
        return _embedding(solution, (label[:, None] == np.unique(label)[None]).astype(np.float64))
    return _embedding(solution, np.asarray(solution["value"], np.float64)[:, None])


def _samples(data: EvalData) -> tuple[str, ...]:
    return tuple(str(i) for i in (range(data.n) if data.ids is None else data.ids))


def _expression(data: EvalData) -> Floats:
    """Log expression: ``expression`` as it stands, or log2(CPM + 1) of ``counts``.

    Raises:
        UsageError: the data have neither.
    """
    if "expression" in data:
        return np.asarray(data["expression"], np.float64)
    if "counts" in data:
        return log_cpm(data["counts"])
    raise UsageError(f"This baseline needs 'expression' or 'counts'; the data hold {sorted(data.fields)}.")


def _embedding(data: EvalData, vectors: Floats) -> EvalData:
    return EvalData({"embedding": vectors}, ids=data.ids)
