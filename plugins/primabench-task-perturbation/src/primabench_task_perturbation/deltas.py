"""Agreement of predicted and true effects: correlation and cosine of differences to a reference profile."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from primabench_metrics.numbers import SPREAD, is_constant
from primabench_metrics.ranks import centred_ranks

from primabench_core.spec import Outcome
from primabench_core.state.column_moments import ColumnMoments
from primabench_core.state.exact import exact_column_sums, exact_moments, exact_row_sums, pearson_from_moments
from primabench_core.state.units import Units
from primabench_task_perturbation.beside import Unit, over_profiles
from primabench_task_perturbation.genes import first_de_genes
from primabench_task_perturbation.profiles import Floats, Profiles, profiles_of

MIN_GENES = 3
"""Two points always correlate by ±1."""
Agreement = Callable[[Floats, Floats], Unit]


def pearson_delta(
    state: Units,
    *,
    reference: str = "control",
    top_de_genes: int = 0,
    policy: str = "strict",
    baselines: str = "all",
) -> Outcome:
    """Pearson correlation over genes of Δ̂_p = μ̂_p − r and Δ_p = μ_p − r, then the mean over perturbations.

    Args:
        state: Perturbations with means.
        reference: r: ``control`` (of the truth), ``mean_of_perturbed`` (mean over all perturbations of the truth, for
            both sides: a shift common to all perturbed cells counts for nothing), ``leave_one_out`` (mean over the
            other perturbations of the truth).
        top_de_genes: Only the first so many differential genes of the truth; 0 for all genes.
        policy: What an undefined perturbation does to the mean.
        baselines: ``all`` or ``none``.

    Returns:
        Value in [-1, 1]; ``constant_prediction`` or ``constant_truth`` where an effect does not vary,
        ``no_reference_effect`` for a perturbation without differential genes, ``too_few_items`` for fewer than three.
    """
    return _deltas(state, ("pearson", reference, top_de_genes), _pearson, reference, top_de_genes, policy, baselines)


def spearman_delta(
    state: Units, *, reference: str = "control", policy: str = "strict", baselines: str = "all"
) -> Outcome:
    """As :func:`pearson_delta`, on mid-ranks of the differences."""
    return _deltas(state, ("spearman", reference), _spearman, reference, 0, policy, baselines)


def cosine_delta(
    state: Units, *, reference: str = "control", policy: str = "strict", baselines: str = "all"
) -> Outcome:
    """Cosine between Δ̂_p and Δ_p; as :func:`pearson_delta` otherwise. A scale of the prediction does not matter."""
    return _deltas(state, ("cosine", reference), _cosine, reference, 0, policy, baselines)


def _deltas(
    state: Units, key: tuple[object, ...], agreement: Agreement, reference: str, top: int, policy: str, baselines: str
) -> Outcome:
    lists = first_de_genes(profiles_of(state.whole or state), top) if top and state.n else None
    if top and state.n and lists is None:
        return Outcome.undefined("not_applicable", "the truth lists no differential genes")

    def score(predicted: Floats, truth: Profiles) -> Sequence[Unit]:
        if reference == "leave_one_out" and len(predicted) < 2:
            return [Outcome.undefined("too_few_items", "there is no other perturbation")] * len(predicted)
        base = reference_of(truth, reference)
        if lists is None and agreement is _pearson:
            return _pearsons(predicted, truth.means, base)
        found: list[Unit] = []
        for p in range(len(predicted)):
            genes = slice(None) if lists is None else lists[p]
            if lists is not None and not len(lists[p]):
                found.append(Outcome.undefined("no_reference_effect"))
                continue
            found.append(_agree(predicted[p, genes], truth.means[p, genes], base[p, genes], agreement))
        return found

    return over_profiles(state, ("delta", *key), score, policy=policy, baselines=baselines, optimum=1.0)


def reference_of(truth: Profiles, name: str) -> Floats:
    """(P, m) what is subtracted from both sides."""
    if name == "control":
        return truth.control
    n, total = len(truth.means), exact_column_sums(truth.means)
    if name == "mean_of_perturbed":
        return np.broadcast_to(total / n, truth.means.shape)
    return np.asarray((total - truth.means) / (n - 1))


def _pearsons(predicted: Floats, true: Floats, base: Floats) -> list[Unit]:
    """Of all perturbations over all genes at once, the same bits as one by one."""
    problems = [_problem(*sides) for sides in zip(predicted, true, base, strict=True)]
    moments = ColumnMoments(len(predicted)).add(
        np.ascontiguousarray((predicted - base).T), np.ascontiguousarray((true - base).T)
    )
    found: list[Unit] = []
    for problem, each in zip(problems, moments.moments(), strict=True):
        value = None if problem else pearson_from_moments(each)
        found.append(problem or (Outcome.undefined("numerical_failure") if value is None else value))
    return found


def _agree(predicted: Floats, true: Floats, base: Floats, agreement: Agreement) -> Unit:
    return _problem(predicted, true, base) or agreement(predicted - base, true - base)


def _problem(predicted: Floats, true: Floats, base: Floats) -> Outcome | None:
    """Why two effects cannot be compared, or None."""
    if len(predicted) < MIN_GENES:
        return Outcome.undefined("too_few_items", f"{len(predicted)} of at least {MIN_GENES} genes")
    for profile, reason in ((true, "constant_truth"), (predicted, "constant_prediction")):
        delta = profile - base
        size = max(float(np.abs(profile).max()), float(np.abs(base).max()))
        if is_constant(delta) or float(np.ptp(delta)) <= SPREAD * size:  # else the rounding of the profiles correlates
            return Outcome.undefined(reason)
    return None


def _pearson(x: Floats, y: Floats) -> Unit:
    found = pearson_from_moments(exact_moments(x, y))
    return Outcome.undefined("numerical_failure") if found is None else found


def spearman_of(x: Floats, y: Floats) -> float:
    """Spearman's correlation of two vectors that vary, from integer ranks."""
    a, b = centred_ranks(x).astype(object), centred_ranks(y).astype(object)
    spread = float(np.dot(a, a)) * float(np.dot(b, b))
    return min(1.0, max(-1.0, float(np.dot(a, b)) / spread**0.5))


def _spearman(x: Floats, y: Floats) -> Unit:
    return spearman_of(x, y)


def _cosine(x: Floats, y: Floats) -> Unit:
    scale_x, scale_y = float(np.abs(x).max()), float(np.abs(y).max())
    x, y = x / scale_x, y / scale_y
    xy, xx, yy = exact_row_sums(np.stack([x * y, x * x, y * y])).tolist()
    return min(1.0, max(-1.0, xy / (xx * yy) ** 0.5))
