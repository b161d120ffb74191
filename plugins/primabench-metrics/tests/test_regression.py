from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given
from hypothesis import strategies as st
from metric_views import laws, outcome, reason, rows, value
from primabench_metrics import regression as g

from primabench_core.errors import ContractError

REFERENCE = [
    (g.mse, sk.mean_squared_error),
    (g.rmse, sk.root_mean_squared_error),
    (g.mae, sk.mean_absolute_error),
    (g.r2, sk.r2_score),
    (g.explained_variance, sk.explained_variance_score),
]
numbers = st.floats(-1e6, 1e6)
vectors = st.lists(st.tuples(numbers, numbers), min_size=3, max_size=30)


@pytest.mark.parametrize(("metric", "reference"), REFERENCE)
@pytest.mark.parametrize("shape", [(40,), (40, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_agrees_with_scikit_learn(metric, reference, shape, dtype):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, *shape)).astype(dtype)
    if metric is g.rmse and len(shape) == 2:  # scikit-learn averages roots of columns; ours is the root of the mean
        expected = np.sqrt(sk.mean_squared_error(y.astype(float), x.astype(float)))
    else:
        expected = reference(y.astype(float), x.astype(float))
    assert value(metric(rows({"value": x}, {"value": y}))) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("metric", "_"), REFERENCE)
@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_an_offset_in_float32_changes_no_bit(metric, _, offset):
    rng = np.random.default_rng(1)
    x, y = (rng.integers(-8, 8, (2, 60)) * 8).astype(np.float32)
    moved = rows({"value": x + np.float32(offset)}, {"value": y + np.float32(offset)})
    assert value(metric(moved)) == value(metric(rows({"value": x}, {"value": y})))


@pytest.mark.parametrize(("metric", "_"), REFERENCE)
@laws
@given(pairs=vectors, seed=st.integers(0, 2**32 - 1))
def test_order_of_rows_changes_no_bit(metric, _, pairs, seed):
    x, y = np.asarray(pairs).T
    state = rows({"value": x}, {"value": y})
    shuffled = state.take(np.random.default_rng(seed).permutation(len(x)))
    assert outcome(metric(state)) == outcome(metric(shuffled))


@pytest.mark.parametrize(("metric", "_"), REFERENCE)
@pytest.mark.parametrize("shape", [(20,), (20, 2)])
def test_a_perfect_prediction_reaches_the_best(metric, _, shape):
    y = np.random.default_rng(2).standard_normal(shape)
    best = 1.0 if metric in (g.r2, g.explained_variance) else 0.0
    assert value(metric(rows({"value": y}, {"value": y}))) == best


def test_the_mean_squared_error_is_summed_exactly():
    x = np.array([1e8, 1e-8, 3.0, -1e8])
    state = rows({"value": x}, {"value": np.zeros(4)})
    total = sum((Fraction(float(v * v)) for v in x), Fraction(0))
    assert value(g.mse(state)) == float(total) / 4


def test_rows_are_summed_before_they_are_added():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((7, 5)) * 10.0 ** rng.integers(-8, 8, (7, 5))
    inside = [float(sum(Fraction(float(v * v)) for v in row)) for row in x]
    expected = float(sum(map(Fraction, inside))) / 35
    assert value(g.mse(rows({"value": x}, {"value": np.zeros((7, 5))}))) == expected


class TestUndefined:
    @pytest.mark.parametrize("metric", [g.mse, g.rmse, g.mae, g.aafe])
    def test_without_numbers(self, metric):
        assert reason(metric(rows({"value": []}, {"value": []}))) == "too_few_items"
        empty = np.empty((0, 3))
        assert reason(metric(rows({"value": empty}, {"value": empty}))) == "too_few_items"

    @pytest.mark.parametrize("metric", [g.r2, g.explained_variance])
    def test_one_row_has_no_spread(self, metric):
        assert reason(metric(rows({"value": [1.0]}, {"value": [1.0]}))) == "too_few_items"
        two = rows({"value": [[1.0, 2.0]]}, {"value": [[1.0, 2.0]]})
        assert reason(metric(two)) == "component_undefined"

    @pytest.mark.parametrize("metric", [g.r2, g.explained_variance])
    def test_constant_truth_even_for_an_exact_prediction(self, metric):
        state = rows({"value": [4.0] * 3}, {"value": [4.0] * 3})
        assert reason(metric(state)) == "constant_truth"

    def test_one_row_has_an_error(self):
        assert value(g.mae(rows({"value": [1.0]}, {"value": [2.5]}))) == 1.5

    def test_squares_beyond_float64(self):
        state = rows({"value": [1e200, 0]}, {"value": [-1e200, 0]})
        assert reason(g.mse(state)) == "numerical_failure"
        assert value(g.rmse(state)) == pytest.approx(2e200 / np.sqrt(2))
        state = rows({"value": [1e308]}, {"value": [-1e308]})
        assert reason(g.mae(state)) == "numerical_failure"


def test_r2_is_not_clipped():
    assert value(g.r2(rows({"value": [4.0, 1, 0]}, {"value": [1.0, 2, 3]}))) == -8.5


def test_a_constant_feature_leaves_the_mean_undefined():
    x = np.array([[1.0, 2], [2, 2], [4, 2]])
    result = outcome(g.r2(rows({"value": x}, {"value": x})))
    assert (result.value, result.reason, result.mean_over_defined) == (None, "component_undefined", 1.0)
    assert outcome(g.r2(rows({"value": x}, {"value": x}), policy="defined_only")).value == 1.0


class TestRm2:
    @pytest.mark.parametrize("form", ["roy", "deepdta"])
    def test_by_the_formulas_of_the_papers(self, form):
        rng = np.random.default_rng(4)
        x = rng.random(50) * 4 + 5
        y = x + rng.standard_normal(50)
        r2 = np.corrcoef(x, y)[0, 1] ** 2
        k = (x * y).sum() / (x * x).sum()
        r02 = 1 - ((y - k * x) ** 2).sum() / ((y - y.mean()) ** 2).sum()
        gap = r2 - r02 if form == "roy" else r2 * r2 - r02 * r02
        expected = r2 * (1 - np.sqrt(abs(gap)))
        assert value(g.rm2(rows({"value": x}, {"value": y}), form=form)) == pytest.approx(expected, rel=1e-9)

    @pytest.mark.parametrize("form", ["roy", "deepdta"])
    def test_perfect_is_one_and_order_is_nothing(self, form):
        rng = np.random.default_rng(5)
        y = rng.standard_normal(30)
        assert value(g.rm2(rows({"value": y}, {"value": y}), form=form)) == 1.0
        state = rows({"value": y + rng.standard_normal(30)}, {"value": y})
        shuffled = state.take(rng.permutation(30))
        assert outcome(g.rm2(state, form=form)) == outcome(g.rm2(shuffled, form=form))

    def test_undefined_as_the_correlation(self):
        assert reason(g.rm2(rows({"value": [1.0] * 4}, {"value": [1.0, 2, 3, 4]}))) == "constant_prediction"
        assert reason(g.rm2(rows({"value": [1.0]}, {"value": [1.0]}))) == "too_few_items"


class TestAafe:
    def test_is_the_geometric_mean_of_folds(self):
        state = rows({"value": [2.0, 1.0, 5.0]}, {"value": [1.0, 2.0, 5.0]})
        assert value(g.aafe(state)) == pytest.approx(4 ** (1 / 3))
        assert value(g.aafe(rows({"value": [3.0, 0.1]}, {"value": [3.0, 0.1]}))) == 1.0

    @pytest.mark.parametrize("bad", [0.0, -1.0])
    def test_needs_positive_numbers(self, bad):
        with pytest.raises(ContractError, match=r"truth[\s\S]*value"):
            g.aafe(rows({"value": [1.0]}, {"value": [bad]}))
        with pytest.raises(ContractError, match=r"prediction[\s\S]*value"):
            g.aafe(rows({"value": [bad]}, {"value": [1.0]}))

    def test_folds_beyond_float64_are_a_failure(self):
        assert reason(g.aafe(rows({"value": [1e300]}, {"value": [1e-300]}))) == "numerical_failure"
        assert value(g.aafe(rows({"value": [1e300, 1.0]}, {"value": [1e-300, 1.0]}))) == pytest.approx(1e300)


class TestRmseOutOfReachOfSquares:
    @pytest.mark.parametrize("exponent", [-1020, -700, -480, 480, 600, 1000])
    def test_a_power_of_two_is_a_power_of_two(self, exponent):
        rng = np.random.default_rng(6)
        x, y = rng.standard_normal((2, 50))
        scaled = rows({"value": np.ldexp(x, exponent)}, {"value": np.ldexp(y, exponent)})
        plain = value(g.rmse(rows({"value": x}, {"value": y})))
        assert value(g.rmse(scaled)) == pytest.approx(np.ldexp(plain, exponent), rel=1e-14)

    def test_no_error_is_zero_and_an_infinite_one_a_failure(self):
        assert value(g.rmse(rows({"value": [1.0, 2.0]}, {"value": [1.0, 2.0]}))) == 0.0
        assert reason(g.rmse(rows({"value": [1.7e308]}, {"value": [-1.7e308]}))) == "numerical_failure"
        assert reason(g.rmse(rows({"value": []}, {"value": []}))) == "too_few_items"
