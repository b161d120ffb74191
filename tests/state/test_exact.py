"""Exact sums against ``math.fsum`` and fractions: to the bit, in every order, at every scale."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from primabench_core.state.exact import (
    ExactSum,
    Moments,
    exact_column_sums,
    exact_dot,
    exact_mean,
    exact_moments,
    exact_row_sums,
    exact_sum,
    pearson_from_moments,
    r2_from_moments,
)

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
moderate = st.floats(-1e150, 1e150)
vectors = hnp.arrays(np.float64, st.integers(0, 40), elements=finite)


def nearest(total):
    """Fraction to float64, correctly rounded."""
    try:
        return total.numerator / total.denominator
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def fraction_sum(values):
    return sum((Fraction(float(v)) for v in values), Fraction(0))


def hard(kind, n, seed=0):
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=n)
    return {
        "normal": normal,
        "float32": normal.astype(np.float32),
        "offset": 1e8 + normal,
        "tiny": 1e-30 * normal,
        "denormal": rng.integers(-50, 50, n) * 5e-324,
        "float32 denormal": (rng.integers(-50, 50, n) * 1.4e-45).astype(np.float32),
        "cancels": np.concatenate([1e15 * normal[: n // 2], -1e15 * normal[: n // 2], normal[: n - 2 * (n // 2)]])
        + 1e-3,
        "decades": normal * 10.0 ** rng.integers(-40, 41, n),
        "all exponents": np.ldexp(normal, rng.integers(-1070, 1000, n)),
        "huge": normal * 1e307,
        "zeros": np.zeros(n),
        "one outlier": np.where(np.arange(n) == n // 3, 1e300, normal),
    }[kind]


KINDS = ["normal", "float32", "offset", "tiny", "denormal", "float32 denormal", "cancels", "decades", "all exponents",
         "huge", "zeros", "one outlier"]  # fmt: skip


@given(vectors)
def test_sum_against_fractions(x):
    assert exact_sum(x) == nearest(fraction_sum(x))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 255, 1000, 100_003])
def test_long_sums_against_fsum_in_every_order(kind, n):
    x = hard(kind, n)
    try:
        expected = math.fsum(x.tolist())
    except OverflowError:  # fsum gives up where a partial sum is too large
        expected = nearest(fraction_sum(x))
    assert exact_sum(x) == expected
    shuffled = np.random.default_rng(1).permutation(x)
    assert exact_sum(shuffled) == expected
    parts = [ExactSum.of(p) for p in np.array_split(shuffled, 7)]
    total = ExactSum()
    for part in parts:
        total = part.merge(total)
    assert total == ExactSum.of(x)
    assert total.value == expected


@given(st.lists(vectors, max_size=4))
def test_merge_laws(shards):
    values = [ExactSum.of(s) for s in shards]
    forward, backward = ExactSum(), ExactSum()
    for v in values:
        forward = forward.merge(v)
    for v in reversed(values):
        backward = v.merge(backward)
    assert forward == backward == pickle.loads(pickle.dumps(forward))
    assert forward == ExactSum.of(np.concatenate([*shards, np.zeros(0)]))


@given(hnp.arrays(st.sampled_from([np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64]), st.integers(0, 30)))
def test_integers_of_any_size(x):
    assert exact_sum(x) == nearest(Fraction(sum(x.tolist())))
    assert exact_column_sums(x[:, None]).tolist() == [exact_sum(x)]
    assert exact_row_sums(x[None]).tolist() == [exact_sum(x)]


def test_booleans_and_shapes():
    assert exact_sum(np.array([[True, False], [True, True]])) == 3.0
    assert exact_sum(np.zeros((0, 3))) == 0.0
    assert exact_sum(np.arange(12.0)[::-3]) == 11 + 8 + 5 + 2


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 70_000])
def test_what_is_not_finite_is_refused(bad, dtype, n):
    x = np.ones(n, dtype)
    x[n // 2] = bad
    ones = np.ones(n, dtype)
    for call in (
        lambda: exact_sum(x),
        lambda: exact_mean(x),
        lambda: exact_column_sums(x[:, None]),
        lambda: exact_row_sums(x[None]),
        lambda: exact_dot(x, ones),
        lambda: exact_moments(ones, x),
    ):
        with pytest.raises(ValueError, match="finite"):
            call()


def test_beyond_the_largest_number():
    assert exact_sum(np.full(3, 1.7e308)) == math.inf
    assert exact_sum(np.array([1.7e308, 1.7e308, -1.7e308])) == 1.7e308
    assert exact_mean(np.full(3, 1.7e308)) == 1.7e308
    with pytest.raises(ValueError, match="no numbers"):
        exact_mean(np.zeros(0))


@given(vectors.filter(len))
def test_mean_is_rounded_once(x):
    assert exact_mean(x) == nearest(fraction_sum(x) / len(x))


@given(hnp.arrays(np.float64, st.tuples(st.integers(0, 12), st.integers(0, 5)), elements=finite))
def test_rows_and_columns_against_fractions(x):
    assert exact_column_sums(x).tolist() == [nearest(fraction_sum(c)) for c in x.T]
    assert exact_row_sums(x).tolist() == [nearest(fraction_sum(r)) for r in x]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [3, 700])
def test_large_matrices(kind, width):
    x = hard(kind, 9000 if width == 3 else 42_000).reshape(-1, width)
    assert exact_column_sums(x).tolist() == [exact_sum(c) for c in x.T]
    assert exact_row_sums(x).tolist() == [exact_sum(r) for r in x]
    assert exact_column_sums(x[::-1]).tolist() == exact_column_sums(np.asfortranarray(x)).tolist()


@given(st.integers(0, 25).flatmap(lambda n: st.tuples(*[hnp.arrays(np.float64, n, elements=finite)] * 2)))
def test_products_against_fractions(pair):
    x, y = pair
    exact = sum((Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), y.tolist(), strict=True)), Fraction(0))
    assert exact_dot(x, y) == nearest(exact)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [100, 3000])
def test_moments_against_fractions(kind, n):
    x, y = hard(kind, n, 0), hard(kind, n, 1)
    m = exact_moments(x, y)
    fx, fy = [Fraction(float(v)) for v in x], [Fraction(float(v)) for v in y]
    sums = {"x": sum(fx), "y": sum(fy), "xx": sum(a * a for a in fx), "yy": sum(b * b for b in fy),
            "xy": sum(a * b for a, b in zip(fx, fy, strict=True))}  # fmt: skip
    for name, value in sums.items():
        got = getattr(m, name)
        assert Fraction(got.numerator) * Fraction(2) ** got.exponent == value
    order, cut = np.random.default_rng(2).permutation(n), n // 4
    halves = exact_moments(x[order[:cut]], y[order[:cut]]).merge(exact_moments(x[order[cut:]], y[order[cut:]]))
    assert halves == m == m.merge(Moments())


def test_pearson_at_offset_and_scale():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=500), rng.normal(size=500)
    expected = np.corrcoef(x, y)[0, 1]
    assert pearson_from_moments(exact_moments(x, y)) == pytest.approx(expected, abs=1e-14)
    for scale in (2.0**-600, 2.0**-30, 2.0**400):  # beyond what a plain product of spreads could hold
        assert pearson_from_moments(exact_moments(x * scale, y)) == pearson_from_moments(exact_moments(x, y))
    far = np.round(x * 2**20) / 2**20
    assert pearson_from_moments(exact_moments(far + 1e8, y)) == pytest.approx(np.corrcoef(far, y)[0, 1], abs=1e-9)
    assert pearson_from_moments(exact_moments(x, x)) == 1.0
    assert pearson_from_moments(exact_moments(x, -4 * x)) == -1.0


@pytest.mark.parametrize("n", [50, 5000])
def test_moments_of_integers_and_of_mixed_types(n):
    rng = np.random.default_rng(0)
    x, y = rng.integers(-(2**50), 2**50, n), rng.normal(size=n).astype(np.float32)
    assert exact_moments(x, y) == exact_moments(x.astype(np.float64), y.astype(np.float64))
    pairs = zip((x % 7).tolist(), y.tolist(), strict=True)
    assert exact_dot(x % 7, y) == nearest(sum(Fraction(a) * Fraction(b) for a, b in pairs))


def test_undefined_correlation():
    x = np.arange(4.0)
    assert pearson_from_moments(exact_moments(x, np.full(4, 0.1))) is None
    assert pearson_from_moments(exact_moments(np.full(4, 0.1, np.float32), x)) is None
    assert pearson_from_moments(Moments()) is None
    assert r2_from_moments(exact_moments(x, np.full(4, 0.1))) is None
    with pytest.raises(ValueError, match="one length"):
        exact_moments(x, x[:3])


@given(st.integers(2, 20).flatmap(lambda n: st.tuples(*[hnp.arrays(np.float64, n, elements=moderate)] * 2)))
def test_r2_against_fractions(pair):
    x, y = pair
    fx, fy = [Fraction(v) for v in x.tolist()], [Fraction(v) for v in y.tolist()]
    mean = sum(fy) / len(fy)
    total = sum((b - mean) ** 2 for b in fy)
    got = r2_from_moments(exact_moments(x, y))
    if total == 0:
        assert got is None
    else:
        assert got == 1.0 - nearest(sum((a - b) ** 2 for a, b in zip(fx, fy, strict=True)) / total)


def test_values_that_the_caller_holds_do_not_change():
    x = hard("decades", 5000)
    before = x.copy()
    exact_sum(x), exact_column_sums(x[:, None]), exact_row_sums(x[None]), exact_moments(x, x)
    assert (x == before).all()
