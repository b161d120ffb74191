from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given
from hypothesis import strategies as st
from metric_views import laws, outcome, reason, rows, value
from primabench_metrics import calibration as c


def make(seed, n=40, k=3, dtype=np.float64):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k), n).astype(dtype)
    return p, rng.integers(0, k, n)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_agrees_with_scikit_learn(k):
    for seed in range(20):
        p, y = make(seed, k=k)
        state = rows({"probability": p}, {"label": y}, classes=tuple(range(k)))
        assert value(c.log_loss(state)) == pytest.approx(sk.log_loss(y, p, labels=range(k)), rel=1e-12)
        if k == 2:
            expected = sk.brier_score_loss(y, p[:, 1], labels=[0, 1])
        else:
            expected = sk.brier_score_loss(y, p, labels=range(k), scale_by_half=False)
        assert value(c.brier_score(state)) == pytest.approx(expected, rel=1e-12)


def ece_by_hand(p, y, bins):
    top, called = p.max(1), p.argmax(1)
    total = 0.0
    for b in range(bins):
        inside = (top > b / bins) & (top <= (b + 1) / bins)
        if inside.any():
            total += inside.mean() * abs((called == y)[inside].mean() - top[inside].mean())
    return total


@pytest.mark.parametrize("bins", [1, 10, 15])
def test_calibration_error_by_hand(bins):
    for seed in range(20):
        p, y = make(seed)
        state = rows({"probability": p}, {"label": y}, classes=(0, 1, 2))
        result = outcome(c.expected_calibration_error(state, bins=bins))
        assert result.value == pytest.approx(ece_by_hand(p, y, bins), abs=1e-12)
        assert sum(result.values["bin_rows"]) == len(y)


def test_a_bin_holds_its_upper_edge():
    state = rows({"probability": [[0.6, 0.4], [0.60001, 0.39999]]}, {"label": ["a", "a"]}, classes=("a", "b"))
    assert outcome(c.expected_calibration_error(state, bins=5)).values["bin_rows"] == [0, 0, 1, 1, 0]


def test_shared_top_probability_counts_by_its_share():
    state = rows({"probability": [[0.5, 0.5]]}, {"label": ["a"]}, classes=("a", "b"))
    assert value(c.expected_calibration_error(state)) == 0.0


@laws
@given(seed=st.integers(0, 2**32 - 1))
def test_order_of_rows_and_of_classes_changes_no_bit(seed):
    rng = np.random.default_rng(seed)
    p, y = make(seed, n=int(rng.integers(1, 50)))
    p = np.round(p, 1)
    p[:, 2] = 1 - p[:, 0] - p[:, 1]
    p = np.clip(p, 0, 1)
    state = rows({"probability": p}, {"label": y}, classes=(0, 1, 2))
    shuffled = state.take(rng.permutation(len(y)))
    turn = rng.permutation(3)
    names = np.array(["x", "y", "z"])
    renamed = rows({"probability": p[:, turn]}, {"label": names[y]}, classes=tuple(names[turn]))
    for metric in (c.log_loss, c.brier_score, c.expected_calibration_error):
        assert value(metric(state)) == value(metric(shuffled)) == value(metric(renamed))


def test_the_binary_brier_score_looks_at_one_column():
    p, y = make(1, k=2)
    state = rows({"probability": p}, {"label": y}, classes=(0, 1))
    assert value(c.brier_score(state)) == pytest.approx(value(c.brier_score(state, positive=0)))
    text = rows({"probability": p}, {"label": np.array(["a", "b"])[y]}, classes=("a", "b"))
    assert value(c.brier_score(text)) == value(c.brier_score(state))


def test_a_perfect_prediction_has_no_loss():
    y = np.array([0, 2, 1])
    state = rows({"probability": np.eye(3)[y]}, {"label": y}, classes=(0, 1, 2))
    for metric in (c.log_loss, c.brier_score, c.expected_calibration_error):
        assert value(metric(state)) == 0.0


def test_columns_belong_to_classes_by_name():
    p = np.array([[0.1, 0.7, 0.2]])
    state = rows({"probability": p}, {"label": ["b"]}, classes=("c", "b", "a"))
    assert value(c.log_loss(state)) == pytest.approx(-np.log(0.7))


def test_zero_probability_of_the_truth():
    state = rows({"probability": [[1.0, 0.0]]}, {"label": ["b"]}, classes=("a", "b"))
    assert value(c.log_loss(state)) == pytest.approx(36.04365338911715)
    assert reason(c.log_loss(state, clip=0.0)) == "numerical_failure"


def test_without_rows_there_is_no_value():
    state = rows({"probability": np.empty((0, 2))}, {"label": []}, classes=(0, 1))
    for metric in (c.log_loss, c.brier_score, c.expected_calibration_error):
        assert reason(metric(state)) == "too_few_items"


def test_single_precision_is_cast_up():
    p, y = make(3, dtype=np.float32)
    state = rows({"probability": p}, {"label": y}, classes=(0, 1, 2))
    wide = rows({"probability": p.astype(np.float64)}, {"label": y}, classes=(0, 1, 2))
    for metric in (c.log_loss, c.brier_score, c.expected_calibration_error):
        assert value(metric(state)) == value(metric(wide))


@pytest.mark.parametrize("bins", [5, 10, 15])
def test_an_edge_lies_in_one_bin_in_either_precision(bins):
    top = np.arange(bins // 2 + 1, bins + 1) / bins
    p = np.column_stack([top, 1 - top])
    found = [
        outcome(
            c.expected_calibration_error(rows({"probability": q}, {"label": [0] * len(p)}, classes=(0, 1)), bins=bins)
        )
        for q in (p, p.astype(np.float32))
    ]
    assert found[0].values["bin_rows"] == found[1].values["bin_rows"]
    assert found[0].values["bin_rows"][bins // 2 :] == [1] * (bins - bins // 2)
