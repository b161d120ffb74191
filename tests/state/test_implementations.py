"""Compiled loops, numpy and torch give the same bits, and those are the exact ones."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from primabench_core.contract.sparse_rows import SparseRows
from primabench_core.state import compiled
from primabench_core.state.check_digests import check_digests
from primabench_core.state.column_moments import ColumnMoments
from primabench_core.state.column_sums import ColumnSums
from primabench_core.state.exact import exact_dot, exact_sum
from primabench_core.state.fingerprint import RowDigests, fingerprint, row_digests
from primabench_core.state.grouped_sums import GroupedSums
from primabench_core.state.row_errors import row_errors

torch = pytest.importorskip("torch")
finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
WAYS = ["compiled", "numpy", "torch"]


@pytest.fixture
def way(request, monkeypatch):
    if request.param == "compiled" and compiled.kernels() is None:
        pytest.skip("numba (extra 'fast') is not installed")
    if request.param == "numpy":
        for module in ("partial_sums", "row_errors", "check_digests", "grouped_sums"):
            monkeypatch.setattr(f"primabench_core.state.{module}.kernels", lambda *_: None)
    return torch.from_numpy if request.param == "torch" else np.asarray


def hard(kind, shape, dtype):
    rng = np.random.default_rng(3)
    normal = rng.normal(size=shape)
    half = len(normal) // 2
    with np.errstate(over="ignore"):
        x = {
            "normal": normal,
            "offset": 1e8 + normal,
            "tiny": 1e-30 * normal,
            "denormal": rng.integers(-50, 50, shape) * (1.4e-45 if dtype == np.float32 else 5e-324),
            "cancels": np.concatenate([1e15 * normal[:half], -1e15 * normal[:half], normal[2 * half :]]) + 1e-3,
            "decades": normal * 10.0 ** rng.integers(-40, 38, shape),
            "sparse": np.where(rng.random(shape) < 0.9, 0.0, normal),
            "counts": rng.poisson(3.0, shape).astype(float),
            "zeros": np.zeros(shape),
            "huge": np.clip(normal * np.finfo(dtype).max / 4e4, -np.finfo(dtype).max / 2e3, np.finfo(dtype).max / 2e3),
        }[kind]
    return x.astype(dtype)


KINDS = ["normal", "offset", "tiny", "denormal", "cancels", "decades", "sparse", "counts", "zeros", "huge"]


def exact(sums):
    return [Fraction(v) * Fraction(2) ** sums.low for v in sums.integers()]


@pytest.mark.parametrize("way", WAYS, indirect=True)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "m"), [(16, 3), (257, 5), (600, 300)])
def test_columns(way, kind, dtype, n, m):
    x, y = hard(kind, (n, m), dtype), hard("normal", (n, m), dtype)[::-1].copy()
    order = np.random.default_rng(0).permutation(n)
    sums = ColumnSums(m).add(way(x[order]))
    products = ColumnSums(m).add_product(way(x), way(y))
    for j in (0, m // 2, m - 1):
        column = x[:, j].tolist()
        assert exact(sums)[j] == sum(map(Fraction, column))
        assert sums.values()[j] == math.fsum(column)
        pairs = zip(column, y[:, j].tolist(), strict=True)
        assert exact(products)[j] == sum(Fraction(a) * Fraction(b) for a, b in pairs)
    parts = [ColumnSums(m).add(way(p)) for p in np.array_split(x, 5)]
    merged = ColumnSums(m)
    for part in parts:
        merged = part.merge(merged)
    assert exact(merged) == exact(sums)


@pytest.mark.parametrize("way", WAYS, indirect=True)
@pytest.mark.parametrize("kind", KINDS)
def test_moments_and_ranges(way, kind):
    x, y = hard(kind, (300, 40), np.float32), hard("offset", (300, 40), np.float32)
    state = ColumnMoments(40).add(way(x), way(y))
    wide = ColumnMoments(40).add(way(x.astype(np.float64)), way(y.astype(np.float64)))
    assert state.moments() == wide.moments()
    for found in (state, wide, pickle.loads(pickle.dumps(state)), ColumnMoments(40).merge(state)):
        np.testing.assert_array_equal(found.ranges, [x.min(0), x.max(0), y.min(0), y.max(0)])
    pooled = state.pooled()
    assert pooled.x.value == exact_sum(x)
    assert pooled.xy.value == exact_dot(x.ravel(), y.ravel())
    assert pooled.n == x.size


@pytest.mark.parametrize("way", WAYS, indirect=True)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_not_finite_is_refused(way, bad, dtype):
    ones, x = np.ones((300, 40), dtype), np.ones((300, 40), dtype)
    x[299, 39] = bad
    with pytest.raises(ValueError, match="finite"):
        ColumnSums(40).add(way(x))
    for pair in ((x, ones), (ones, x), (x, x)):
        with pytest.raises(ValueError, match="finite"):
            ColumnSums(40).add_product(*map(way, pair))
    with pytest.raises(ValueError, match="finite"):
        GroupedSums(2, 40).add(way(x), np.arange(300) % 2)
    if way is np.asarray:
        with pytest.raises(ValueError, match="finite"):
            ColumnMoments(40).add(ones, x)


@settings(deadline=None, max_examples=40)
@given(hnp.arrays(np.float64, st.tuples(st.integers(16, 20), st.just(2)), elements=finite))
def test_any_numbers_in_all_three_ways(x):
    expected = [sum(map(Fraction, c)) for c in x.T.tolist()]
    assert exact(ColumnSums(2).add(x)) == exact(ColumnSums(2).add(torch.from_numpy(x))) == expected
    squares = [sum(Fraction(v) ** 2 for v in c) for c in x.T.tolist()]
    assert exact(ColumnSums(2).add_product(x, x)) == squares
    assert exact(ColumnSums(2).add_product(torch.from_numpy(x), torch.from_numpy(x))) == squares


@pytest.mark.parametrize("way", WAYS, indirect=True)
@pytest.mark.parametrize("kind", ["normal", "decades", "cancels"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_groups(way, kind, dtype):
    x = hard(kind, (700, 6), dtype)
    codes = np.random.default_rng(0).integers(0, 5, 700) * 2  # odd groups are empty
    codes[:300] = 4
    state = GroupedSums(10, 6).add(way(x), codes)
    expected = [[math.fsum(x[codes == g, j].tolist()) for j in range(6)] for g in range(10)]
    assert state.values().tolist() == expected
    assert state.counts.tolist() == np.bincount(codes, minlength=10).tolist()
    means = state.means()
    assert np.isnan(means[1]).all()
    assert means[4, 0] == float(sum(map(Fraction, x[codes == 4, 0].tolist())) / state.counts[4])
    parts = [GroupedSums(10, 6).add(way(x[p]), codes[p]) for p in np.array_split(np.arange(700)[::-1], 4)]
    merged = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3]))
    assert merged.values().tolist() == expected
    assert pickle.loads(pickle.dumps(merged)).means()[4].tolist() == means[4].tolist()
    with pytest.raises(ValueError, match="range"):
        state.add(way(x), codes + 9)


@pytest.mark.parametrize("way", WAYS[:2], indirect=True)
@pytest.mark.parametrize("kind", ["normal", "decades", "cancels"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_groups_of_sparse_rows(way, kind, dtype):
    x = hard(kind, (700, 6), dtype) * (np.random.default_rng(1).random((700, 6)) < 0.2)
    x[:, 5] = 0
    codes = np.random.default_rng(0).integers(-1, 5, 700)
    codes[:300] = 4  # a run of more than 256 rows
    state = GroupedSums(6, 6).add(SparseRows.compressed(x), codes)
    assert state.values().tolist() == [[math.fsum(x[codes == g, j].tolist()) for j in range(6)] for g in range(6)]
    assert state.counts.tolist() == np.bincount(codes[codes >= 0], minlength=6).tolist()
    x[3, 2] = np.inf
    with pytest.raises(ValueError, match="finite"):
        state.add(SparseRows.compressed(x), codes)
    with pytest.raises(ValueError, match="range"):
        state.add(SparseRows.compressed(x), codes + 9)


def test_weights_and_layouts_of_groups():
    x, w = hard("normal", (200, 3), np.float32), hard("decades", (200,), np.float64)
    codes = np.arange(200) % 3
    state = GroupedSums(3, 3).add(np.asfortranarray(x), codes, w)
    pairs = zip(x[codes == 1, 2].tolist(), w[codes == 1].tolist(), strict=True)
    assert state.values()[1, 2] == float(sum(Fraction(a) * Fraction(b) for a, b in pairs))
    plain = GroupedSums(3, 3).add(x, codes).values()
    assert GroupedSums(3, 3).add(np.asfortranarray(x), codes).values().tolist() == plain.tolist()
    assert GroupedSums(3, 3).add(np.ones((200, 3), np.int8), codes).values().tolist() == [[67.0] * 3] * 2 + [[66.0] * 3]


@pytest.mark.parametrize("way", WAYS[:2], indirect=True)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", [1, 7, 700])
def test_errors_of_rows(way, kind, dtype, m):
    x, y = hard(kind, (20, m), dtype), hard("normal", (20, m), dtype)
    y[3] = x[3]
    with np.errstate(over="ignore"):
        difference = x.astype(np.float64) - y.astype(np.float64)
        for name, terms in (("squared_error", difference * difference), ("absolute_error", abs(difference))):
            expected = [math.fsum(t) if np.isfinite(t).all() else math.inf for t in terms.tolist()]
            assert row_errors(x, y, name).tolist() == expected


@pytest.mark.parametrize("way", WAYS[:2], indirect=True)
def test_digests(way):
    x = hard("normal", (50, 70), np.float32)
    x[4, 5] = -0.0
    zero = x.astype(np.float64)
    zero[4, 5] = 0.0
    found = check_digests(x)
    np.testing.assert_array_equal(found, check_digests(zero))
    assert len({tuple(row) for row in found.tolist()}) == 50
    for j in range(70):
        other = x.copy()
        other[0, j] = np.nextafter(other[0, j], np.float32(9))
        assert check_digests(other)[0].tolist() != found[0].tolist()
    kept = {"x": RowDigests(row_digests(x), 70)}
    seen = np.array([1, 4])
    assert fingerprint(None, kept, n=50) == fingerprint(None, {"x": x}, n=50)
    assert fingerprint(None, kept, n=50, seen=seen) == fingerprint(None, {"x": x}, n=50, seen=seen)


def test_one_answer_with_and_without_the_extra(monkeypatch):
    x = hard("decades", (40, 33), np.float32)
    with_numba = check_digests(x)
    monkeypatch.setattr("primabench_core.state.check_digests.kernels", lambda *_: None)
    np.testing.assert_array_equal(check_digests(x), with_numba)


def test_long_vectors():
    for dtype in (np.float32, np.float64):
        x = hard("decades", (100_003,), dtype)
        assert exact_sum(x) == exact_sum(x[::-1].copy()) == math.fsum(x.tolist())


def test_size_at_rest():
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(999, 7))
    for dtype, low, high, limit in ((np.float32, -140, 125, 100), (np.float64, -1070, 1000, 600)):
        x = np.ldexp(normal, rng.integers(low, high, normal.shape)).astype(dtype)
        for sums in ColumnMoments(7).add(x, x).sums.values():
            assert sums.to_buffers()[1]["limbs"].nbytes / 7 <= limit
