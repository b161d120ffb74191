"""Scores of predicted differential expression, row by row, as OpenProblems (2023) ranks them.

The prediction is sign(log fold change)·−log10(adjusted p) of each gene, one row a perturbation. The target is the same
number of the truth, clipped to ±4: from its differential expression where it has one, else its rows as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from primabench_metrics.numbers import is_constant

from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_moments, exact_row_sums, pearson_from_moments
from primabench_core.state.row_errors import row_errors
from primabench_core.state.units import Units
from primabench_task_perturbation.beside import Unit, over_units
from primabench_task_perturbation.deltas import MIN_GENES
from primabench_task_perturbation.profiles import VALUE, Floats, profiles_of

CLIP = 4.0


def _target(state: Units) -> Floats:
    told = profiles_of(state)
    if told.log_fold_change is not None and told.significance is not None:
        return np.clip(np.sign(told.log_fold_change) * told.significance, -CLIP, CLIP)
    return np.clip(told.means, -CLIP, CLIP)


def _rows(state: Units, name: str, score: Callable[[Floats, Floats], Sequence[Unit]], policy: str) -> Outcome:
    return over_units(state, ("rowwise", name), lambda s: score(s.means(VALUE), _target(s)), policy=policy)


def mean_rowwise_rmse(state: Units, *, policy: str = "strict") -> Outcome:
    """Root of the mean squared error over genes of each row, then the mean over rows."""

    def score(x: Floats, y: Floats) -> Sequence[Unit]:
        return np.sqrt(row_errors(np.ascontiguousarray(x), y, "squared_error") / x.shape[1]).tolist()  # type: ignore[no-any-return]

    return _rows(state, "rmse", score, policy)


def mean_rowwise_pearson(state: Units, *, policy: str = "strict") -> Outcome:
    """Pearson correlation over genes of each row, then the mean over rows; a constant row has none."""

    def one(x: Floats, y: Floats) -> Unit:
        if len(x) < MIN_GENES:
            return Outcome.undefined("too_few_items", f"{len(x)} of at least {MIN_GENES} genes")
        if is_constant(y) or is_constant(x):
            return Outcome.undefined("constant_truth" if is_constant(y) else "constant_prediction")
        found = pearson_from_moments(exact_moments(x, y))
        return Outcome.undefined("numerical_failure") if found is None else found

    return _rows(state, "pearson", lambda x, y: [one(a, b) for a, b in zip(x, y, strict=True)], policy)


def mean_rowwise_cosine(state: Units, *, policy: str = "strict") -> Outcome:
    """Cosine over genes of each row, then the mean over rows; a row of zeros has none."""

    def score(x: Floats, y: Floats) -> Sequence[Unit]:
        found: list[Unit] = []
        for a, b in zip(x, y, strict=True):
            scales = [float(np.abs(side).max()) for side in (a, b)]
            if not all(scales):
                found.append(Outcome.undefined("constant_truth" if not scales[1] else "constant_prediction"))
                continue
            a, b = a / scales[0], b / scales[1]
            ab, aa, bb = exact_row_sums(np.stack([a * b, a * a, b * b])).tolist()
            found.append(min(1.0, max(-1.0, ab / (aa * bb) ** 0.5)))
        return found

    return _rows(state, "cosine", score, policy)
