from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from metric_views import laws, outcome, reason, rows, value
from primabench_metrics import correlation as c
from primabench_metrics.pairs import pair_counts
from primabench_metrics.ranks import centred_ranks

METRICS = [
    (c.pearson, lambda x, y: scipy.stats.pearsonr(x, y).statistic),
    (c.spearman, lambda x, y: scipy.stats.spearmanr(x, y).statistic),
    (c.kendall_tau_b, lambda x, y: scipy.stats.kendalltau(x, y).statistic),
]
small = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 6)), min_size=3, max_size=40)


@pytest.mark.parametrize(("metric", "reference"), METRICS)
@laws
@given(pairs=small)
def test_agrees_with_scipy_on_ties(metric, reference, pairs):
    x, y = np.asarray(pairs, float).T / 7
    state = rows({"value": x}, {"value": y})
    if np.ptp(y) == 0:
        assert reason(metric(state)) == "constant_truth"
    elif np.ptp(x) == 0:
        assert reason(metric(state)) == "constant_prediction"
    else:
        assert value(metric(state)) == pytest.approx(reference(x, y), abs=1e-13)


@pytest.mark.parametrize(("metric", "reference"), METRICS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_agrees_with_scipy_on_random_numbers(metric, reference, dtype):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(500).astype(dtype)
    y = (x + rng.standard_normal(500)).astype(dtype)
    expected = reference(x.astype(np.float64), y.astype(np.float64))
    assert value(metric(rows({"value": x}, {"value": y}))) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize(("metric", "_"), METRICS)
@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_an_offset_in_float32_changes_no_bit(metric, _, offset):
    rng = np.random.default_rng(1)
    x = (rng.integers(-8, 8, 100) * 8).astype(np.float32)
    y = (rng.integers(-8, 8, 100) * 8).astype(np.float32)
    moved = rows({"value": x + np.float32(offset)}, {"value": y + np.float32(offset)})
    assert value(metric(moved)) == value(metric(rows({"value": x}, {"value": y})))


@pytest.mark.parametrize(("metric", "_"), METRICS)
@laws
@given(pairs=small, seed=st.integers(0, 2**32 - 1))
def test_order_of_rows_changes_no_bit(metric, _, pairs, seed):
    x, y = np.asarray(pairs, float).T / 7
    state = rows({"value": x}, {"value": y})
    shuffled = state.take(np.random.default_rng(seed).permutation(len(x)))
    assert outcome(metric(state)) == outcome(metric(shuffled))


@pytest.mark.parametrize(("metric", "_"), METRICS)
def test_perfect_and_opposite_reach_the_ends(metric, _):
    x = np.random.default_rng(2).standard_normal(101)
    assert value(metric(rows({"value": x}, {"value": x}))) == 1.0
    assert value(metric(rows({"value": -x}, {"value": x}))) == -1.0


@pytest.mark.parametrize(("metric", "_"), METRICS)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_fewer_than_three_items(metric, _, n):
    assert reason(metric(rows({"value": np.arange(n)}, {"value": np.arange(n)}))) == "too_few_items"


@pytest.mark.parametrize(("metric", "_"), METRICS)
def test_rounding_noise_is_constant(metric, _):
    noise = np.array([1.0, 1.0000000000000002, 1.0, 0.9999999999999998])
    ramp = np.arange(4.0)
    assert reason(metric(rows({"value": noise}, {"value": ramp}))) == "constant_prediction"
    assert reason(metric(rows({"value": ramp}, {"value": noise}))) == "constant_truth"
    assert reason(metric(rows({"value": noise}, {"value": noise}))) == "constant_truth"
    assert reason(metric(rows({"value": np.zeros(4)}, {"value": ramp}))) == "constant_prediction"


@pytest.mark.parametrize("scale", [1e-30, 1e-160, 1e150, 1e-300])
def test_pearson_does_not_depend_on_scale(scale):
    x, y = np.array([1.0, 2, 4, 3, 6]), np.array([2.0, 1, 5, 3, 5.5])
    assert value(c.pearson(rows({"value": x * scale}, {"value": y}))) == pytest.approx(0.8918918918918919, abs=1e-12)


def test_huge_numbers_of_both_signs_do_not_overflow():
    x = np.array([1.7e308, -1.7e308, 0.0, 1e308])
    assert value(c.pearson(rows({"value": x}, {"value": x}))) == 1.0


class TestPerFeature:
    X = np.array([[1.0, 5, 2], [2, 3, 2], [4, 4, 1], [3, 1, 0]])
    Y = np.array([[1.5, 4, 3], [2.5, 4, 1], [3, 4, 2], [3.5, 4, 1.5]])

    @pytest.mark.parametrize(("metric", "reference"), METRICS)
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_each_feature_then_the_mean(self, metric, reference, dtype):
        rng = np.random.default_rng(3)
        x, y = rng.standard_normal((2, 30, 5)).astype(dtype)
        result = outcome(metric(rows({"value": x}, {"value": y}), per="feature"))
        each = [reference(x[:, j].astype(float), y[:, j].astype(float)) for j in range(5)]
        assert result.value == pytest.approx(np.mean(each), abs=1e-13)
        assert list(result.per_unit.values()) == pytest.approx(each, abs=1e-13)

    def test_one_pass_and_one_column_at_a_time_agree_to_the_bit(self):
        rng = np.random.default_rng(4)
        x, y = rng.standard_normal((2, 50, 4))
        together = outcome(c.pearson(rows({"value": x}, {"value": y}), per="feature")).per_unit
        apart = [value(c.pearson(rows({"value": x[:, j]}, {"value": y[:, j]}))) for j in range(4)]
        assert list(together.values()) == apart

    def test_pooled_is_another_number(self):
        state = rows({"value": self.X}, {"value": self.Y})
        assert value(c.pearson(state)) == pytest.approx(np.corrcoef(self.X.ravel(), self.Y.ravel())[0, 1])

    def test_an_undefined_feature_under_each_policy(self):
        state = rows({"value": self.X}, {"value": self.Y}, genes=("A", "B", "C"))
        strict = outcome(c.pearson(state, per="feature"))
        assert (strict.value, strict.reason, strict.n_undefined) == (None, "component_undefined", 1)
        assert strict.mean_over_defined == pytest.approx(0.5431727181695564)
        assert strict.per_unit["B"] is None
        assert strict.values["undefined_reasons"] == {"constant_truth": 1}
        for policy in ("defined_only", "penalise_constant_prediction"):  # a constant truth is nobody's fault
            lenient = outcome(c.pearson(state, per="feature", policy=policy))
            assert lenient.value == pytest.approx(0.5431727181695564)
            assert lenient.coverage == pytest.approx(2 / 3)

    def test_a_constant_prediction_is_penalised(self):
        state = rows({"value": self.Y}, {"value": self.X})
        lenient = outcome(c.pearson(state, per="feature", policy="penalise_constant_prediction"))
        assert lenient.value == pytest.approx(0.5431727181695564 * 2 / 3)
        assert lenient.per_unit["1"] is None

    def test_a_vector_is_one_feature(self):
        state = rows({"value": self.X[:, 0]}, {"value": self.Y[:, 0]})
        assert value(c.pearson(state, per="feature")) == value(c.pearson(state))


@laws
@given(st.lists(st.floats(-1e300, 1e300) | st.sampled_from([0.0, -0.0, 1.0, 5e-324]), max_size=30))
def test_ranks_are_those_of_scipy(numbers):
    x = np.asarray(numbers, float)
    assert centred_ranks(x).tolist() == (2 * scipy.stats.rankdata(x) - len(x) - 1).tolist()
    narrow = x[np.abs(x) < 1e38].astype(np.float32)
    assert centred_ranks(narrow).tolist() == (2 * scipy.stats.rankdata(narrow) - len(narrow) - 1).tolist()


@laws
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=40))
def test_pairs_by_brute_force(pairs):
    x, y = np.asarray(pairs, float).reshape(-1, 2).T
    a, b = (np.sign(np.subtract.outer(v, v))[np.triu_indices(len(v), 1)] for v in (x, y))
    found = pair_counts(x, y)
    assert found.concordant == (a * b > 0).sum()
    assert found.discordant == (a * b < 0).sum()
    assert found.tied_x == ((a == 0) & (b != 0)).sum()
    assert found.tied_y == ((a != 0) & (b == 0)).sum()
    assert found.tied_both == ((a == 0) & (b == 0)).sum()
