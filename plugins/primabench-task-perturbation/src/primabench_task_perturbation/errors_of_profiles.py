"""Errors of mean profiles: L2 distance, mean squared and mean absolute error, over chosen or weighted genes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_row_sums
from primabench_core.state.row_errors import row_errors
from primabench_core.state.units import Units
from primabench_task_perturbation.beside import Unit, over_profiles
from primabench_task_perturbation.genes import de_weights, first_de_genes, top_control_genes
from primabench_task_perturbation.profiles import Floats, Profiles, profiles_of


def l2_pseudobulk(
    state: Units, *, top_k_control_genes: int = 0, policy: str = "strict", baselines: str = "all"
) -> Outcome:
    """‖μ̂_p − μ_p‖₂, then the mean over perturbations (Ahlmann-Eltze et al. 2025).

    Args:
        state: Perturbations with means.
        top_k_control_genes: Only the genes with the largest mean in control, ties by name; 0 for all genes. If there
            are fewer genes, all of them are used (flag ``fewer_genes``).
        policy: What an undefined perturbation does to the mean.
        baselines: ``all`` or ``none``.

    Returns:
        Value of at least 0.
    """
    k = top_k_control_genes

    def score(predicted: Floats, truth: Profiles) -> Sequence[Unit]:
        if not k or k >= predicted.shape[1]:
            return np.sqrt(row_errors(np.ascontiguousarray(predicted), truth.means, "squared_error")).tolist()  # type: ignore[no-any-return]
        chosen = top_control_genes(truth, k)
        rows = np.arange(len(predicted))[:, None]
        squared = row_errors(predicted[rows, chosen], truth.means[rows, chosen], "squared_error")
        return np.sqrt(squared).tolist()  # type: ignore[no-any-return]

    few = state.n > 0 and k > profiles_of(state.whole or state).means.shape[1]
    return over_profiles(
        state,
        ("l2", k),
        score,
        policy=policy,
        baselines=baselines,
        optimum=0.0,
        flags=("fewer_genes",) if few else (),
    )


def mse_pseudobulk(state: Units, *, policy: str = "strict", baselines: str = "all") -> Outcome:
    """Mean over genes of (μ̂_p − μ_p)², then the mean over perturbations."""
    return _mean_error(state, "squared_error", policy, baselines)


def mae_pseudobulk(state: Units, *, policy: str = "strict", baselines: str = "all") -> Outcome:
    """Mean over genes of |μ̂_p − μ_p|, then the mean over perturbations."""
    return _mean_error(state, "absolute_error", policy, baselines)


def _mean_error(state: Units, kind: str, policy: str, baselines: str) -> Outcome:
    def score(predicted: Floats, truth: Profiles) -> Sequence[Unit]:
        sums = row_errors(np.ascontiguousarray(predicted), truth.means, kind)  # type: ignore[arg-type]
        return (sums / predicted.shape[1]).tolist()  # type: ignore[no-any-return]

    return over_profiles(state, (kind,), score, policy=policy, baselines=baselines, optimum=0.0)


def mse_top_20_de_genes(state: Units, *, policy: str = "strict", baselines: str = "all") -> Outcome:
    """Mean squared error over at most the first 20 differential genes of the truth.

    Returns:
        ``no_reference_effect`` for a perturbation without any, ``not_applicable`` if the truth lists none at all.
    """
    lists = None if not state.n else first_de_genes(profiles_of(state.whole or state), 20)
    if state.n and lists is None:
        return Outcome.undefined("not_applicable", "the truth lists no differential genes")

    def score(predicted: Floats, truth: Profiles) -> Sequence[Unit]:
        return [_subset_error(predicted[p], truth.means[p], genes) for p, genes in enumerate(lists or ())]

    return over_profiles(state, ("mse top 20",), score, policy=policy, baselines=baselines, optimum=0.0)


def _subset_error(predicted: Floats, true: Floats, genes: np.ndarray) -> Unit:
    if not len(genes):
        return Outcome.undefined("no_reference_effect")
    return float(row_errors(predicted[None, genes], true[None, genes], "squared_error")[0]) / len(genes)


def weighted_mse(state: Units, *, policy: str = "strict", baselines: str = "all") -> Outcome:
    """Σ w_g (μ̂_pg − μ_pg)² with weights from the strength of differential expression that sum to 1.

    w_g is proportional to |log2 fold change| over genes of FDR < 0.05 of the truth, else 0 (after Mejia et al. 2025,
    doi:10.1101/2025.06.23.661105).

    Returns:
        ``no_reference_effect`` for a perturbation without differential genes.
    """
    weights = None if not state.n else de_weights(profiles_of(state.whole or state))
    if state.n and weights is None:
        return Outcome.undefined("not_applicable", "the truth holds no differential expression")

    def score(predicted: Floats, truth: Profiles) -> Sequence[Unit]:
        assert weights is not None
        terms = weights * np.square(predicted - truth.means)
        return _or_no_effect(exact_row_sums(terms), weights)

    return over_profiles(state, ("weighted mse",), score, policy=policy, baselines=baselines, optimum=0.0)


def weighted_r2_delta(state: Units, *, policy: str = "strict", baselines: str = "all") -> Outcome:
    """1 − Σ w(Δ − Δ̂)²/Σ w(Δ − Δ̄)², weights as :func:`weighted_mse`, Δ̄ = Σ wΔ.

    Returns:
        At most 1; ``zero_denominator`` where the true effect does not vary over weighted genes.
    """
    weights = None if not state.n else de_weights(profiles_of(state.whole or state))
    if state.n and weights is None:
        return Outcome.undefined("not_applicable", "the truth holds no differential expression")

    def score(predicted: Floats, truth: Profiles) -> Sequence[Unit]:
        assert weights is not None
        delta = truth.means - truth.control
        centre = exact_row_sums(weights * delta)[:, None]
        spread = exact_row_sums(weights * np.square(delta - centre))
        errors = exact_row_sums(weights * np.square(predicted - truth.means))
        found = _or_no_effect(errors, weights)
        for p, value in enumerate(found):
            if not isinstance(value, Outcome):
                flat = spread[p] <= 0
                found[p] = Outcome.undefined("zero_denominator") if flat else 1.0 - value / float(spread[p])
        return found

    return over_profiles(state, ("weighted r2",), score, policy=policy, baselines=baselines, optimum=1.0)


def _or_no_effect(values: Floats, weights: Floats) -> list[Unit]:
    none = ~(weights > 0).any(axis=1)
    return [
        Outcome.undefined("no_reference_effect") if n else float(v) for v, n in zip(values.tolist(), none, strict=True)
    ]
