"""What integration does to genes: highly variable ones, kept or lost; and scores of gene sets, as the cell cycle's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.errors import UsageError
from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_sum
from primabench_core.state.rows import Rows
from primabench_task_singlecell.integration.defined import defined
from primabench_task_singlecell.integration.pairs import Floats
from primabench_task_singlecell.integration.variance import EXPRESSION
from primabench_task_singlecell.integration.work import CORRECTED, occurring

MOST = 500
ROUNDING = 1e-9
BINS = np.arange(10, 105, 5)
"""Percentiles of the mean between which dispersions are compared."""


@defined
def hvg_overlap(state: Rows, *, n_genes: int = MOST) -> Outcome:
    """Mean over batches of the share of highly variable genes that stay highly variable (Luecken et al. 2022).

    In each batch, genes are ranked by their dispersion (variance over mean) less the median and over the median
    deviation of the genes of like mean (Zheng et al. 2017); the first ``n_genes``, or half of the expressed genes, are
    taken before, and as many after; overlap over the smaller set.

    Args:
        state: Rows with a ``corrected`` matrix, the truth's ``expression`` and ``batch``.
        n_genes: Genes at most.

    Returns:
        Value in [0, 1], each batch in ``per_unit``; ``not_applicable`` for an embedding or a graph;
        ``component_undefined`` if a batch has fewer than two cells or two expressed genes.
    """
    if CORRECTED not in state.prediction:
        return Outcome.undefined("not_applicable", "only a corrected matrix has genes", n=state.n)
    if EXPRESSION not in state.truth:
        return Outcome.undefined("not_applicable", "the truth has no expression before integration", n=state.n)
    before: Any = np.asarray(state.truth[EXPRESSION], np.float64)
    after: Any = np.asarray(state.prediction[CORRECTED], np.float64)
    batch = occurring(state.truth["batch"], "batch")
    found: dict[str, float | None] = {}
    for code, name in enumerate(batch.classes):
        rows = batch.codes == code
        pre = variable_genes(before[rows], n_genes)
        post = None if pre is None else variable_genes(after[rows], n_genes, exactly=len(pre))
        both = None if pre is None or post is None else len(np.intersect1d(pre, post))
        found[str(name)] = None if both is None else both / min(len(pre), len(post))  # type: ignore[arg-type]
    values = np.asarray([v for v in found.values() if v is not None])
    mean = exact_sum(values) / len(values) if len(values) else None
    out = len(found) - len(values)
    if out:
        detail = f"{out} of {len(found)} batches have too few cells or genes"
        more: dict[str, Any] = {"per_unit": found, "n_undefined": out, "mean_over_defined": mean}
        return Outcome.undefined("component_undefined", detail, n=state.n, **more)
    return Outcome(mean, n=state.n, per_unit=found, n_undefined=0)


def variable_genes(matrix: Floats, most: int, *, exactly: int | None = None) -> NDArray[np.intp] | None:
    """Columns with the largest normalised dispersion (the ``cell_ranger`` rule), None if it cannot be said.

    Args:
        matrix: (n, genes) float64.
        most: Genes at most; half of the genes that some cell expresses if these are fewer. Equals of the last one are
            taken, too.
        exactly: So many in place of ``most`` and half.
    """
    expressed = np.flatnonzero((matrix != 0).any(axis=0))
    wanted = min(most, len(expressed) // 2) if exactly is None else min(exactly, len(expressed))
    if len(matrix) < 2 or wanted < 1:
        return None
    part = matrix[:, expressed]
    found = normalised_dispersion(part.mean(axis=0), part.var(axis=0, ddof=1))
    known = np.sort(found[~np.isnan(found)])[::-1]
    if not len(known):
        return None
    cut = known[min(wanted, len(known)) - 1]
    return np.asarray(expressed[np.where(np.isnan(found), 0.0, found) >= cut], np.intp)


def normalised_dispersion(mean: Floats, variance: Floats) -> Floats:
    """(genes,) dispersion less the median and over the median deviation of genes of like mean; NaN for no deviation.

    Args:
        mean: (genes,) float64.
        variance: (genes,) float64, with one degree of freedom less than cells.

    A mean that is nothing but rounding beside the deviation (a matrix centred inside batches) has no dispersion.
    """
    found = np.full(len(mean), np.nan)
    usable = np.abs(mean) > ROUNDING * np.sqrt(variance)
    usable |= variance == 0
    found[usable] = _normalised(mean[usable], variance[usable])
    return found


def _normalised(mean: Floats, variance: Floats) -> Floats:
    if not len(mean):
        return np.empty(0)
    mean = np.where(mean == 0, 1e-12, mean)
    dispersion = variance / mean
    edges = np.concatenate([[-np.inf], np.percentile(mean, BINS), [np.inf]])
    place = np.searchsorted(edges, mean, side="left")
    found = np.full(len(mean), np.nan)
    for bin_ in np.unique(place):
        at = place == bin_
        gaps = dispersion[at] - np.median(dispersion[at])
        deviation = np.median(np.abs(gaps))
        if deviation > 0:
            found[at] = gaps / deviation
    return found


def set_score(expression: Any, genes: Sequence[str], members: Sequence[str], *, bins: int = 25) -> Floats:
    """Score of a gene set in each cell: its mean less the mean of all other genes of like mean expression.

    As the scores of Tirosh et al. 2016 (doi:10.1126/science.aad0501), without the random draw of control genes: all
    genes of a bin are its control, and bins weigh as they occur among the members.

    Args:
        expression: (n, genes) log-normalised, dense or sparse.
        genes: Names of the columns.
        members: Names of the set, such as S-phase genes of the organism; names without a column are left out.
        bins: Groups of like mean expression.

    Returns:
        (n,) float64.

    Raises:
        UsageError: no member has a column.

    Example:
        >>> set_score(np.asarray([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]), ["a", "b", "c"], ["a"], bins=1).tolist()
        [1.0, -1.0]
    """
    at = {name: i for i, name in enumerate(genes)}
    inside = np.asarray(sorted({at[m] for m in members if m in at}), np.int64)
    if not len(inside):
        raise UsageError("None of the genes of the set is among the columns.", remedy="the gene list of the organism")
    dense: Any = np.asarray(expression.toarray() if hasattr(expression, "toarray") else expression, np.float64)
    order = np.argsort(dense.mean(axis=0), kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) * bins // max(len(order), 1)
    outside = np.ones(len(order), bool)
    outside[inside] = False
    control = np.zeros(len(dense))
    for bin_, times in zip(*np.unique(place[inside], return_counts=True), strict=True):
        others = outside & (place == bin_)
        if others.any():
            control += dense[:, others].mean(axis=1) * times / len(inside)
    score: Floats = dense[:, inside].mean(axis=1) - control
    return score
