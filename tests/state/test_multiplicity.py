"""Resamples as multiplicities: rows, tables and exact sums agree with the rows put together."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from primabench_core.state.counts import Counts
from primabench_core.state.multiplicity import Groups, Multiplicities, Selection
from primabench_core.state.tables import Cells, Tables
from primabench_core.state.weighed import WeighedSums, product_parts

laws = settings(deadline=None, max_examples=60, derandomize=True)
numbers = st.floats(allow_nan=False, allow_infinity=False)


def test_rows_of_groups_come_in_the_order_of_drawing():
    groups = Groups(np.array([1, 0, 1, 2]), 3)
    assert groups.rows_of(np.array([1, 1, 0])).tolist() == [0, 2, 0, 2, 1]
    assert groups.rows_of(np.array([], int)).tolist() == []


@pytest.mark.parametrize("grouped", [False, True])
def test_a_row_occurs_as_often_as_its_unit(grouped):
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.arange(12) % 5) if grouped else np.arange(12)
    groups = Groups(codes, 5) if grouped else None
    times = rng.integers(0, 4, (3, codes.max() + 1))
    drawn = Multiplicities(times, groups)
    at = rng.permutation(12)[:7]
    assert (drawn.of_rows() == times[:, codes]).all()
    assert (drawn.of_rows(at) == times[:, codes[at]]).all()
    assert (drawn.n == times[:, codes].sum(axis=1)).all()
    chosen = Selection(at)
    for _ in range(2):
        assert (chosen.times(drawn) == times[:, codes[at]]).all()
    other = Multiplicities(rng.integers(0, 4, (2, 12)))
    assert (chosen.times(other) == other.units[:, at]).all()  # groups of before are forgotten


@laws
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=30),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_tables_are_those_of_repeated_rows(pairs, random, is_open):
    truth_classes, predicted_classes = ("a", "b", "c", "d"), ("b", "x", "a", "z", "q") if is_open else tuple("abcde")
    truth, predicted = (np.array([p[i] for p in pairs], np.int64) for i in (0, 1))
    times = np.array([[random.randrange(3) for _ in pairs] for _ in range(3)], np.int64).reshape(3, len(pairs))
    places, codes = np.unique(truth * 5 + predicted, return_inverse=True)
    counts = np.array([np.bincount(codes, weights=row, minlength=len(places)) for row in times]).astype(np.int64)
    tables = Tables(Cells(places, truth_classes, predicted_classes), counts.reshape(3, len(places)))
    for i, row in enumerate(times):
        whole = Counts.of(np.repeat(truth, row), np.repeat(predicted, row), truth_classes, predicted_classes)
        assert (tables.table(i).table == whole.table).all()
        square, classes = whole.square()
        at = [tables.cells.classes.index(c) for c in classes]
        assert tables.hits[i, at].tolist() == square.diagonal().tolist()
        assert tables.true[i, at].tolist() == square.sum(axis=1).tolist()
        assert tables.called[i, at].tolist() == square.sum(axis=0).tolist()
        assert tables.n[i] == whole.n == tables.true[i].sum() == tables.called[i].sum()


@laws
@given(st.lists(st.tuples(numbers, st.integers(0, 50)), min_size=1, max_size=40), st.integers(1, 6))
def test_weighed_sums_are_exact_whatever_the_decades(pairs, n_groups):
    values = np.array([p[0] for p in pairs])
    times = np.array([p[1] for p in pairs])
    codes = np.unique(np.arange(len(pairs)) % n_groups, return_inverse=True)[1]
    groups = Groups(codes, int(codes.max()) + 1)
    by_group = np.array([[2] + [1] * (groups.n - 1), [0] * groups.n])
    sums = WeighedSums([(values,), (np.ones(len(values)),)])
    for drawn in (Multiplicities(np.array([times, times * 0 + 1])), Multiplicities(by_group, groups)):
        found = sums.over(drawn)
        if found is None:
            assert np.ptp(np.frexp(values[values != 0])[1]) > 1000
            continue
        for row, (total, count) in zip(drawn.of_rows(), found, strict=True):
            exact = sum((Fraction(v) * int(t) for v, t in zip(values.tolist(), row.tolist(), strict=True)), Fraction())
            assert Fraction(total.numerator) * Fraction(2) ** total.exponent == exact
            assert count.value == row.sum()


@laws
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20), st.sampled_from([np.float32, np.float64]))
def test_products_keep_their_errors(pairs, dtype):
    with np.errstate(over="ignore"):
        x, y = (np.array([p[i] for p in pairs]).astype(dtype) for i in (0, 1))
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return
    parts = product_parts(x, y)
    if parts is None:
        assert dtype is np.float64
        return
    for i, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        assert sum(Fraction(float(p[i])) for p in parts) == Fraction(a) * Fraction(b)


def test_a_later_chunk_of_more_rows_is_exact_too():
    values = np.array([0.1, 2.0**30, math.pi])
    sums = WeighedSums([(values,)])
    for times in ([[1, 0, 0]], [[2**40, 1, 3]], [[1, 1, 1]]):
        (row,) = sums.over(Multiplicities(np.array(times)))
        exact = sum(Fraction(v) * t for v, t in zip(values.tolist(), times[0], strict=True))
        assert row[0].value == float(exact)


def test_too_many_rows_or_decades_are_declined():
    assert WeighedSums([(np.array([1.0]),)]).over(Multiplicities(np.array([[2**50]]))) is None
    far = np.ldexp(1.0, np.arange(-1000, 1000, 20))
    assert WeighedSums([(far,)]).over(Multiplicities(np.full((1, 100), 2**20))) is None
