from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primabench_core.result.curves import reliability_curve
from primabench_core.state.bins import bin_of


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.integers(1, 40))
def test_bins_hold_their_upper_edge_and_either_precision_agrees(values, bins):
    place = bin_of(values, bins)
    assert (place == bin_of(np.array(values, np.float32), bins)).all()
    narrow = np.array(values, np.float32).astype(float)
    assert ((place == 0) | (narrow > place / bins - 1e-7)).all()
    assert (narrow <= (place + 1) / bins + 1e-7).all()


@pytest.mark.parametrize("bins", [3, 5, 10, 15])
def test_every_edge_closes_its_bin(bins):
    edges = np.arange(1, bins + 1) / bins
    for dtype in (np.float32, np.float64):
        assert bin_of(edges.astype(dtype), bins).tolist() == list(range(bins))
    assert bin_of([0.0], bins).tolist() == [0]


def test_a_curve_has_the_bins_of_the_metric():
    p = np.array([0.1, 0.3, 0.6, 0.7, 0.9], np.float32)
    curve = reliability_curve(p, [True] * 5, bins=10)
    assert curve.weight == (1.0,) * 5
    assert [round(x, 5) for x in curve.x] == [0.1, 0.3, 0.6, 0.7, 0.9]
