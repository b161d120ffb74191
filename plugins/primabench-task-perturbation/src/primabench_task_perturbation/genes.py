"""Which genes a metric looks at, and how much each of them weighs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from primabench_core.state.exact import exact_row_sums
from primabench_task_perturbation.profiles import FDR, Floats, Profiles

Ints = NDArray[np.int64]
THRESHOLD = -float(np.log10(FDR))


def top_control_genes(truth: Profiles, k: int) -> Ints:
    """(P, k) genes with the largest mean in the control of each perturbation; ties by name of the gene."""
    names = np.argsort(np.argsort(np.asarray(truth.genes, object), kind="stable"), kind="stable")
    _ = truth.control  # refuses a truth without control
    assert truth.controls is not None
    return np.stack([np.lexsort((names, -control))[:k] for control in truth.controls])[truth.context]


def first_de_genes(truth: Profiles, k: int) -> list[Ints] | None:
    """For each perturbation at most k differential genes of the truth, the strongest first; None if it lists none.

    The list of the solution, else genes of FDR < 0.05 by adjusted p, then |log2 fold change|, then name.
    """
    if truth.rank is not None:
        return [_listed(row, k) for row in truth.rank]
    if truth.significance is None or truth.log_fold_change is None:
        return None
    names = np.argsort(np.argsort(np.asarray(truth.genes, object), kind="stable"), kind="stable")
    found = []
    for significance, change in zip(truth.significance, truth.log_fold_change, strict=True):
        order = np.lexsort((names, -np.abs(change), -significance))
        found.append(order[significance[order] > THRESHOLD][:k])
    return found


def _listed(places: Floats, k: int) -> Ints:
    order = np.argsort(places, kind="stable")
    return order[(places[order] > 0)][:k]


def de_weights(truth: Profiles) -> Floats | None:
    """(P, m) |log2 fold change| of genes of FDR < 0.05, rows sum to 1 or are 0; None if the truth has none."""
    if truth.significance is None or truth.log_fold_change is None:
        return None
    strength = np.where(truth.significance > THRESHOLD, np.abs(truth.log_fold_change), 0.0)
    total = exact_row_sums(strength)[:, None]
    return np.divide(strength, total, out=np.zeros_like(strength), where=total > 0)
