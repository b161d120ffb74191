"""Every metric through the public API: the same bits however rows arrive, and the best value for a perfect answer."""

from __future__ import annotations

import numpy as np
import pytest
from metric_views import DECLARED

import primabench_core as pb

N = 60


def fold_of(y):
    fold = np.empty(len(y), int)
    for label in np.unique(y):
        fold[y == label] = np.arange((y == label).sum()) % 3
    return fold


def inputs(spec, seed=0, *, perfect=False):
    """Prediction and truth with ties, in the first fields that the metric reads."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(N) % (2 if any(p.name == "positive" for p in spec.parameters) else 3))
    numbers = rng.integers(1, 12, N) / 4
    noisy = np.where(rng.random(N) < 0.3, rng.permutation(y), y)
    one_hot = np.eye(y.max() + 1)[y]
    soft = (one_hot * 0.6 + rng.dirichlet(np.ones(one_hot.shape[1]), N) * 0.4) if not perfect else one_hot
    guess = {
        "label": y if perfect else noisy,
        "cluster": y + 5 if perfect else noisy - 1,
        "score": (numbers if "value" in names(spec.truth) else y.astype(float))
        if perfect
        else rng.integers(0, 9, N) / 8,
        "value": numbers if perfect else np.abs(numbers + rng.integers(-2, 3, N) / 8) + 0.125,
        "probability": soft,
        "embedding": np.eye(4)[y % 4] * 50 + rng.standard_normal((N, 4)) * (0 if perfect else 20),
    }
    members = 2 if spec.name == "paired_accuracy" else 6
    answer = {"label": y, "value": numbers, "group": np.arange(N) // members, "fold": fold_of(y)}
    if spec.name == "paired_accuracy":
        answer["label"] = np.arange(N) % 2
        guess["score"] = answer["label"] + 0.0 if perfect else guess["score"]
    if "probe" in spec.name:
        del answer["group"]
    return pick(guess, spec.prediction), pick(answer, spec.truth)


def names(alternatives):
    return {option.name for options in alternatives for option in options}


def pick(values, alternatives):
    found = (next((o.name for o in options if o.name in values), None) for options in alternatives)
    chosen = {name: values[name] for name in found if name}
    if "probability" in {o.name for options in alternatives for o in options} and len(alternatives[0]) == 1:
        return {"probability": values["probability"]}
    return chosen


def with_parameters(spec):
    return {"k": 2} if spec.name.endswith("_at_k") else {}


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_any_split_in_any_order_gives_the_bits_of_one_shot(name):
    spec = DECLARED[name][1]
    prediction, truth = inputs(spec)
    ids = [f"row {i}" for i in range(N)]
    params = with_parameters(spec)
    whole = pb.score(name, prediction, truth, **params)
    assert whole.name == name
    assert whole.value is not None, whole.detail
    named = pb.score(name, {"ids": ids, **prediction}, {"ids": ids, **truth}, **params)
    if name != "linear_probe":  # its inner folds are drawn by id, so rows without ids are other rows
        assert named.value == whole.value
    rng = np.random.default_rng(1)
    for _ in range(3):
        order = rng.permutation(N)
        shards = [part.tolist() for part in np.array_split(order, [0, 1, 20, 20, 50])]
        assert pb.score(name, prediction, truth, shards=shards, **params).value == whole.value
        given = {"ids": [ids[i] for i in order], **{k: v[order] for k, v in prediction.items()}}
        assert pb.score(name, given, {"ids": ids, **truth}, **params).value == named.value


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_a_perfect_prediction_reaches_the_best_value(name):
    spec = DECLARED[name][1]
    if spec.best is None or name in ("enrichment_factor", "silhouette", "davies_bouldin", "calinski_harabasz"):
        pytest.skip("the best value depends on the data")
    if name in ("recall_at_k", "hit_rate_at_k", "n_unpredicted_classes"):
        pytest.skip("the best value depends on k, or is only information")
    prediction, truth = inputs(spec, perfect=True)
    result = pb.score(name, prediction, truth, **with_parameters(spec))
    assert result.value == pytest.approx(spec.best, abs=1e-12 if result.reproducibility == "tolerance" else 0)


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_values_stay_in_the_declared_range(name):
    spec = DECLARED[name][1]
    for seed in range(3):
        value = pb.score(name, *inputs(spec, seed), **with_parameters(spec)).value
        assert spec.low is None or value >= spec.low
        assert spec.high is None or value <= spec.high


@pytest.mark.parametrize("name", sorted(n for n, (_, s) in DECLARED.items() if s.reproducibility == "exact"))
def test_rows_of_the_truth_in_another_order_change_no_bit(name):
    spec = DECLARED[name][1]
    prediction, truth = inputs(spec)
    order = np.random.default_rng(2).permutation(N)
    turned = pb.score(
        name,
        {k: v[order] for k, v in prediction.items()},
        {k: v[order] for k, v in truth.items()},
        **with_parameters(spec),
    )
    assert turned.value == pb.score(name, prediction, truth, **with_parameters(spec)).value


def test_both_spellings_are_one_identity():
    y, p = ["a", "b", "b", "a"], ["a", "b", "a", "c"]
    for name, (base, params) in {
        "macro_recall": ("recall", {"average": "macro"}),
        "macro_f1_truth_labels": ("macro_f1", {"labels": "truth"}),
        "mcc_sklearn": ("mcc", {"mode": "sklearn"}),
    }.items():
        left, right = (pb.score(n, {"label": p}, {"label": y}, **q) for n, q in ((name, {}), (base, params)))
        assert (left.name, left.value) == (right.name, right.value) == (name, left.value)


def test_questions_that_fields_cannot_answer_are_refused():
    p = np.full((3, 3), 1 / 3)
    with pytest.raises(pb.ContractError, match="multi_class"):
        pb.score("auroc", {"probability": p}, {"label": [0, 1, 2]})
    with pytest.raises(pb.ContractError, match="positive"):
        pb.score("auroc", {"score": [0.1, 0.2]}, {"label": ["x", "y"]})
    with pytest.raises(pb.ContractError, match="positive"):
        pb.score("recall", {"label": ["x", "y"]}, {"label": ["x", "y"]})
    with pytest.raises(pb.ParameterError, match="bins"):
        pb.score("expected_calibration_error", {"probability": p}, {"label": [0, 1, 2]}, bins=0)
