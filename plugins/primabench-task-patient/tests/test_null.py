"""Random embeddings: the mean of folds is chance, and pooling makes them look worse than chance."""

from __future__ import annotations

import numpy as np
import pytest
from primabench_metrics.linear_probe import linear_probe
from primabench_task_patient.folds import make_folds

from primabench_core.state.rows import Labels, Rows

WIDTH = 64


def repeats(kind: str, n: int, over: range) -> tuple[np.ndarray, np.ndarray, float]:
    """Pooled scores and means of folds of random embeddings against answers without any relation to them."""
    pooled, means, chance = [], [], 0.5 if kind == "label" else 0.0
    names = tuple(f"s{i:03d}" for i in range(n))
    for repeat in over:
        rng = np.random.default_rng([n, repeat])
        if kind == "label":
            codes = rng.permutation(np.arange(n) < 0.35 * n).astype(np.int64)
            fold = make_folds(names, labels=[str(c) for c in codes], folds=5)
            answer = {"label": Labels(codes, ("0", "1"))}
        else:
            values = rng.standard_normal(n)
            fold = make_folds(names, values=values.tolist(), folds=5)
            answer = {"value": values}
        truth = {**answer, "fold": Labels(np.asarray(fold, np.int64), tuple("01234"))}
        state = Rows(n, {"embedding": rng.standard_normal((n, WIDTH))}, truth, ids=names)
        outcome = linear_probe(state, task=f"{kind}{repeat}")
        if outcome.values["fold_mean"] is not None:
            pooled.append(outcome.values["pooled"])
            means.append(outcome.values["fold_mean"])
    return np.asarray(pooled), np.asarray(means), chance


def within_three_errors(means: np.ndarray, chance: float) -> bool:
    return bool(abs(means.mean() - chance) <= 3 * means.std(ddof=1) / np.sqrt(len(means)))


@pytest.mark.parametrize("kind", ["label", "value"])
def test_a_few_null_embeddings(kind):
    pooled, means, chance = repeats(kind, 40, range(12))
    assert within_three_errors(means, chance)
    assert pooled.mean() < chance


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 150])
@pytest.mark.parametrize("kind", ["label", "value"])
def test_four_hundred_null_embeddings(kind, n):
    pooled, means, chance = repeats(kind, n, range(400))
    print(f"n={n} {kind}: pooled {pooled.mean():.4f}, fold mean {means.mean():.4f} +- {means.std(ddof=1) / 20:.4f}")
    assert len(means) == 400
    assert within_three_errors(means, chance)
    if n == 40 or kind == "value":  # the bias of pooling; for classes it is gone at 150 (0.499 beside 0.497)
        assert pooled.mean() < means.mean()
