"""How much of the variance batches (or the cell cycle) explain, before and after integration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError, ParameterError
from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_sum
from primabench_core.state.rows import Rows
from primabench_task_singlecell.integration.components import N_COMPONENTS, leading
from primabench_task_singlecell.integration.defined import defined
from primabench_task_singlecell.integration.pairs import Floats, Ints
from primabench_task_singlecell.integration.work import CORRECTED, EMBEDDING, GRAPH, UndefinedError, panel_of

NOTHING = 1e-12
"""Share of variance that counts as none: it is made of rounding."""
EXPRESSION = "expression"


@defined
def pcr_comparison(state: Rows, *, components: str | int = "standard", clip: bool = True) -> Outcome:
    """Principal component regression on batch, compared: (pre - post)/pre (Buttner et al. 2019; Luecken et al. 2022).

    PCR = Σ_k Var_k R²(PC_k | batch) / Σ_k Var_k with batch as a category. Over all components it is the share of the
    sum of squares that lies between batches, so an embedding needs no decomposition.

    Args:
        state: Rows with coordinates of cells, the truth's ``embedding`` (or ``expression``) before integration, and
            ``batch``.
        components: ``all``, a number of leading components, or ``standard``: all of an embedding and 50 of a matrix,
            or as many as there are.
        clip: Not below 0; the unclipped number stands in ``values``.

    Returns:
        Value in [0, 1] if clipped; ``pcr_pre``, ``pcr_post``, ``pcr_comparison_unclipped`` and the components in
        ``values``. ``zero_denominator`` if batch explains nothing before, ``constant_prediction`` if all cells lie in
        one point, ``single_batch``, ``not_applicable`` for a graph or without a representation before.
    """
    panel = panel_of(state)
    batch = panel.batch()
    (pre, pre_width), (post, post_width) = (
        (between_share(space, batch.codes), space.shape[1]) for space in _spaces(state, components)
    )
    if pre is None or pre <= NOTHING:
        return Outcome.undefined("zero_denominator", "batch explains nothing before integration", n=panel.n)
    if post is None:
        return Outcome.undefined("constant_prediction", "all cells lie in one point", n=panel.n)
    unclipped = (pre - post) / pre
    values = {
        "pcr_pre": pre,
        "pcr_post": post,
        "pcr_comparison_unclipped": unclipped,
        "components": {"pre": pre_width, "post": post_width},
    }
    return Outcome(max(unclipped, 0.0) if clip else unclipped, n=panel.n, values=values)


def _spaces(state: Rows, components: str | int) -> Iterator[Floats]:
    """Coordinates before, then after; one at a time, for each may be large."""
    whole = isinstance(components, int) and not isinstance(components, bool)
    if not (whole and components > 0) and components not in ("all", "standard"):  # type: ignore[operator]
        raise ParameterError(
            f"components={components!r} is none of 'all', 'standard' and a positive number.", remedy="components='all'"
        )
    kind = next(name for name in (EMBEDDING, CORRECTED, GRAPH) if name in state.prediction)
    if kind == GRAPH:
        raise UndefinedError("not_applicable", "a graph of neighbours has no coordinates", state.n)
    name = next((name for name in (EMBEDDING, EXPRESSION) if name in state.truth), None)
    if name is None:
        raise UndefinedError("not_applicable", "the truth has no representation before integration", state.n)
    for given, is_matrix in ((state.truth[name], name == EXPRESSION), (state.prediction[kind], kind == CORRECTED)):
        yield _some(np.asarray(given, np.float64), components, is_matrix)


def _some(space: Floats, components: str | int, is_matrix: bool) -> Floats:
    if components == "all" or (components == "standard" and not is_matrix):
        return space
    return leading(space, N_COMPONENTS if components == "standard" else int(components))


def _middled(space: Floats) -> Floats | None:
    """Around the mean and none larger than 1; None if constant."""
    scaled = np.ldexp(space, -int(np.frexp(np.abs(space).max(initial=0.0))[1]))
    spread = np.ptp(scaled, axis=0) if len(scaled) else np.zeros(scaled.shape[1])
    varies = spread > NOTHING * np.abs(scaled).max(axis=0, initial=0.0)
    if not varies.any():
        return None
    middled: Floats = scaled if varies.all() else scaled[:, varies]
    middled -= middled.mean(axis=0)
    np.ldexp(middled, -int(np.frexp(max(-middled.min(), middled.max()))[1]), out=middled)
    return middled


def between_share(space: Floats, codes: Ints) -> float | None:
    """Share of the sum of squares that lies between groups; None if there is none at all.

    Args:
        space: (n, width) float64.
        codes: (n,) groups from 0, none empty.
    """
    middled = _middled(space)
    if middled is None:
        return None
    sizes = np.bincount(codes)
    means = np.stack([middled[codes == group].sum(axis=0) for group in range(len(sizes))]) / sizes[:, None]
    between = exact_sum((np.square(means) * sizes[:, None]).ravel())
    return between / exact_sum(np.einsum("ij,ij->i", middled, middled))


@defined
def cell_cycle_conservation(state: Rows, *, components: str | int = "standard") -> Outcome:
    """Mean over batches of 1 - |after - before|/before, clipped, of the variance that S and G2/M scores explain.

    Inside each batch PCR is taken on both scores together (Luecken et al. 2022). Scores are the truth's field
    ``cell_cycle``; which genes they are made of depends on the organism and is an input
    (:func:`primabench_task_singlecell.integration.genes.set_score`).

    Args:
        state: Rows with coordinates of cells, the truth's ``embedding`` (or ``expression``), ``batch`` and
            ``cell_cycle`` (n, 2).
        components: As in :func:`pcr_comparison`, decomposed batch by batch.

    Returns:
        Value in [0, 1], each batch in ``per_unit``; ``component_undefined`` if the scores explain nothing before in
        some batch (the mean over the others stands in ``mean_over_defined``), ``not_applicable`` without scores.
    """
    if "cell_cycle" not in state.truth:
        return Outcome.undefined("not_applicable", "the truth has no scores of the cell cycle", n=state.n)
    panel = panel_of(state)
    batch = panel.labels("batch")
    scores: Any = np.asarray(state.truth["cell_cycle"], np.float64)
    if scores.ndim != 2 or scores.shape[1] != 2:
        found = f"shape {scores.shape}"
        raise ContractError([Violation("cell_cycle", "two scores a cell: S and G2/M", found)], what="The truth")
    per_batch: dict[str, float | None] = {}
    for code, name in enumerate(batch.classes):
        rows = np.flatnonzero(batch.codes == code)
        before, after = (explained(space, scores[rows]) for space in _spaces(state.take(rows), components))
        if before is None or before <= NOTHING or after is None:
            per_batch[str(name)] = None
        else:
            per_batch[str(name)] = max(0.0, 1.0 - abs(after - before) / before)
    values = np.asarray([v for v in per_batch.values() if v is not None])
    mean = exact_sum(values) / len(values) if len(values) else None
    out = len(per_batch) - len(values)
    if out:
        return Outcome.undefined(
            "component_undefined",
            f"scores explain nothing, or nothing varies, in {out} of {len(per_batch)} batches",
            n=panel.n,
            per_unit=per_batch,
            n_undefined=out,
            mean_over_defined=mean,
        )
    return Outcome(mean, n=panel.n, per_unit=per_batch, n_undefined=0)


def explained(space: Floats, covariates: Floats) -> float | None:
    """Share of the sum of squares of all columns that a linear model of the covariates explains, None if there is none.

    Args:
        space: (n, width) float64.
        covariates: (n, c) float64.
    """
    middled = _middled(space)
    if middled is None:
        return None
    given = covariates - covariates.mean(axis=0)
    u, s, _ = np.linalg.svd(given, full_matrices=False)
    base = u[:, s > NOTHING * max(float(s.max(initial=0.0)), 1e-300)]
    if len(space) <= base.shape[1] + 1 or not s.any():
        return 0.0 if not s.any() else 1.0
    return exact_sum(np.square(base.T @ middled).ravel()) / exact_sum(np.einsum("ij,ij->i", middled, middled))
