"""Moments of many columns are those of each column alone, in any order and any shards."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primabench_core.state.column_moments import ColumnMoments
from primabench_core.state.exact import exact_moments, pearson_from_moments


def sides(n, m, dtype, seed=0):
    rng = np.random.default_rng(seed)
    scale = np.ldexp(1.0, rng.integers(-60, 60, m))
    x = rng.normal(size=(n, m)) * scale + rng.choice([0.0, 1e8], m)
    y = 0.3 * x + rng.normal(size=(n, m))
    y[:, 0] = 0.1
    return x.astype(dtype), y.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 40), (400, 5), (3, 4100)])
def test_each_column_alone(dtype, n, m):
    x, y = sides(n, m, dtype)
    state = ColumnMoments(m).add(x, y)
    alone = [exact_moments(x[:, j], y[:, j]) for j in range(m)]
    assert state.moments() == alone
    expected = [pearson_from_moments(a) for a in alone]
    found = state.pearson()
    np.testing.assert_array_equal(found, np.array(expected, np.float64))  # None becomes NaN
    assert np.isnan(found[0])


@given(st.permutations(range(12)), st.lists(st.integers(0, 12), max_size=3))
def test_laws(order, cuts):
    x, y = sides(12, 3, np.float64)
    cuts = sorted(cuts)
    shards = [order[a:b] for a, b in zip([0, *cuts], [*cuts, 12], strict=True)]
    states = [ColumnMoments(3).add(x[s], y[s]) for s in shards]
    left, right = ColumnMoments(3), ColumnMoments(3)
    for s in states:
        left = left.merge(s)
    for s in reversed(states):
        right = s.merge(right)
    whole = ColumnMoments(3).add(x, y)
    assert left.moments() == right.moments() == whole.moments() == pickle.loads(pickle.dumps(whole)).moments()


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="2 columns"):
        ColumnMoments(2).add(np.zeros((3, 2)), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="finite"):
        ColumnMoments(1).add(np.array([[np.inf]]), np.zeros((1, 1)))
