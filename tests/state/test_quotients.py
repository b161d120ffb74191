"""Means of groups by pairs of floats: the bits of division of integers, for numbers of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from primabench_core.state.grouped_sums import GroupedSums
from primabench_core.state.quotients import quotients
from primabench_core.state.windows import round_ratio

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=(900, 60))
CASES = {
    "single": NORMAL.astype(np.float32),
    "double": NORMAL,
    "positive": np.abs(NORMAL),
    "decades": NORMAL * 10.0 ** RNG.integers(-40, 40, NORMAL.shape),
    "integers": np.round(3 * NORMAL),
    "cancelled": np.concatenate([NORMAL * 1e8, 1e-9 - NORMAL * 1e8]),
    "denormal": NORMAL * 1e-310,
    "huge": NORMAL * 1e299,
    "halves": RNG.integers(0, 4, NORMAL.shape) / 2 + 2.0**52,
    "zeros": np.zeros((900, 60)),
}


def by_integers(state: GroupedSums):
    totals, low = state.sums.integers(), state.sums.low
    found = np.full((state.groups, state.m), np.nan)
    for g in np.flatnonzero(state.counts).tolist():
        up, down = 1 << max(0, low), int(state.counts[g]) << max(0, -low)
        found[g] = [round_ratio(t * up, down) for t in totals[g * state.m : (g + 1) * state.m]]
    return found


@pytest.mark.parametrize("name", CASES)
def test_bits_of_division_of_integers(name):
    x = CASES[name]
    state = GroupedSums(23, x.shape[1]).add(x, np.random.default_rng(1).integers(0, 22, len(x)))
    assert np.array_equal(state.means(), by_integers(state), equal_nan=True)


@pytest.mark.parametrize("name", ["single", "double", "positive", "zeros"])
def test_hardly_any_sum_is_divided_as_integers(name):
    x = CASES[name]
    state = GroupedSums(23, x.shape[1]).add(x, np.random.default_rng(1).integers(0, 23, len(x)))
    _, certain = quotients(state.sums.limbs(), state.sums.low, np.repeat(state.counts, state.m))
    assert certain.mean() > 0.97


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8), st.integers(1, 3))
def test_any_numbers(values, repeats):
    x = np.tile(np.array(values)[:, None] / 4, (repeats, 1))
    state = GroupedSums(1, 1).add(x, np.zeros(len(x), np.int64))
    assert np.array_equal(state.means(), by_integers(state))
