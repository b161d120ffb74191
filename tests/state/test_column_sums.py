"""Sums of many columns: mergeable, compact, exact for sums and products."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from primabench_core.state.column_sums import ColumnSums

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
matrices = st.lists(hnp.arrays(np.float64, st.tuples(st.integers(0, 5), st.just(3)), elements=finite), max_size=4)


def exact(state):
    return [Fraction(v) * Fraction(2) ** state.low for v in state.integers()]


def parts(state):
    meta, arrays = state.to_buffers()
    return meta, arrays["limbs"].tolist()


@given(matrices)
def test_laws(shards):
    whole = np.concatenate([*shards, np.zeros((0, 3))])
    expected = [sum((Fraction(v) for v in c), Fraction(0)) for c in whole.T.tolist()]
    states = [ColumnSums(3).add(s) for s in shards]
    forward, backward = ColumnSums(3), ColumnSums(3)
    for s in states:
        forward = forward.merge(s)
    for s in reversed(states):
        backward = s.merge(backward)
    assert exact(forward) == exact(backward) == expected
    assert parts(forward) == parts(backward) == parts(ColumnSums(3).add(whole))
    again = pickle.loads(pickle.dumps(forward))
    assert exact(again) == expected
    assert exact(again.merge(forward)) == [2 * e for e in expected]


@given(st.integers(0, 8).flatmap(lambda n: st.tuples(*[hnp.arrays(np.float64, (n, 2), elements=finite)] * 2)))
def test_products(pair):
    x, y = pair
    expected = [
        sum((Fraction(a) * Fraction(b) for a, b in zip(p, q, strict=True)), Fraction(0))
        for p, q in zip(x.T.tolist(), y.T.tolist(), strict=True)
    ]
    assert exact(ColumnSums(2).add_product(x, y)) == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", [1, 50, 5000])
def test_long_products(dtype, m):
    rng = np.random.default_rng(0)
    n = 20_000 // m
    x, y = rng.normal(size=(2, n, m)).astype(dtype)
    state = ColumnSums(m).add_product(x, y)
    for j in (0, m // 2, m - 1):
        pairs = zip(x[:, j].tolist(), y[:, j].tolist(), strict=True)
        assert exact(state)[j] == sum(Fraction(a) * Fraction(b) for a, b in pairs)


def test_columns_of_very_different_scale_share_a_block():
    scales = np.ldexp(1.0, np.array([-1074, -1000, -300, 0, 300, 1000]))
    x = np.random.default_rng(0).integers(-9, 9, (500, 6)) * scales
    state = ColumnSums(6).add(x)
    assert exact(state) == [sum(map(Fraction, c)) for c in x.T.tolist()]


def test_size_at_rest():
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(999, 7))
    float32 = np.ldexp(normal, rng.integers(-140, 125, normal.shape)).astype(np.float32)
    float64 = np.ldexp(normal, rng.integers(-1070, 1020, normal.shape))
    for values, limit in ((normal[:9].astype(np.float32), 20), (float32, 52), (float64, 280)):
        state = ColumnSums(7).add(values)
        assert state.to_buffers()[1]["limbs"].nbytes / 7 <= limit


def test_merging_changes_no_operand_and_other_widths_are_refused():
    a, b = ColumnSums(2).add(np.array([[1.0, 1e200]])), ColumnSums(2).add(np.array([[1e-200, 1.0]]))
    before = parts(a), parts(b)
    a.merge(b)
    assert (parts(a), parts(b)) == before
    with pytest.raises(ValueError, match="merge"):
        a.merge(ColumnSums(3))
    with pytest.raises(ValueError, match="rows of 2"):
        a.add(np.zeros((1, 3)))


def test_no_rows_and_no_columns():
    assert ColumnSums(2).add(np.zeros((0, 2))).values().tolist() == [0.0, 0.0]
    assert ColumnSums(0).add(np.zeros((4, 0))).values().shape == (0,)
    assert ColumnSums(2).add(np.ones((4, 2), bool)).values(8).tolist() == [0.5, 0.5]
