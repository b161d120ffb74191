from __future__ import annotations

import math

import numpy as np
import pytest
import sklearn.metrics as sk
from metric_views import outcome, reason, rows, value
from primabench_metrics import embedding as e


def cosine(x, y):
    return sk.silhouette_score(x, y, metric="cosine")


METRICS = [
    (e.silhouette, {}, sk.silhouette_score),
    (e.silhouette, {"distance": "cosine"}, cosine),
    (e.calinski_harabasz, {}, sk.calinski_harabasz_score),
    (e.davies_bouldin, {}, sk.davies_bouldin_score),
]


def make(seed, n=50, k=4, width=5):
    rng = np.random.default_rng(seed)
    y = np.append(rng.integers(0, k - 1, n - 1), k - 1)  # the last class has a single row
    return rng.standard_normal((n, width)) + y[:, None], y


@pytest.mark.parametrize(("metric", "params", "reference"), METRICS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_agrees_with_scikit_learn(metric, params, reference, dtype):
    for seed in range(10):
        x, y = make(seed)
        x = x.astype(dtype)
        state = rows({"embedding": x}, {"label": y})
        # scikit-learn expands squares, so the distance of a single row to its own centre is about 1e-8, not 0
        assert value(metric(state, **params)) == pytest.approx(reference(x.astype(float), y), rel=1e-7)


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_blocks_do_not_matter(monkeypatch, distance):
    x, y = make(1)
    state = rows({"embedding": x}, {"label": y})
    whole = value(e.silhouette(state, distance=distance))
    monkeypatch.setattr(e, "BLOCK_BYTES", 8 * 50 * 7)
    assert value(e.silhouette(state, distance=distance)) == pytest.approx(whole, abs=1e-12)


@pytest.mark.parametrize("metric", [e.silhouette, e.calinski_harabasz, e.davies_bouldin])
def test_an_offset_in_float32_changes_little(metric):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 60)
    x = (rng.integers(-20, 20, (60, 4)) + 30 * y[:, None]).astype(np.float32) * 8
    moved = rows({"embedding": x + np.float32(1e8)}, {"label": y})
    assert value(metric(moved)) == pytest.approx(value(metric(rows({"embedding": x}, {"label": y}))), rel=1e-9)


@pytest.mark.parametrize("metric", [e.calinski_harabasz, e.davies_bouldin])
def test_order_of_rows_and_names_change_no_bit_of_the_exact_ones(metric):
    x, y = make(3)
    state = rows({"embedding": x}, {"label": y})
    shuffled = state.take(np.random.default_rng(0).permutation(50))
    renamed = rows({"embedding": x}, {"label": np.array(list("dcba"))[y]})
    assert value(metric(state)) == value(metric(shuffled)) == value(metric(renamed))


def test_order_of_rows_changes_the_silhouette_within_its_tolerance():
    x, y = make(4)
    state = rows({"embedding": x}, {"label": y})
    shuffled = state.take(np.random.default_rng(0).permutation(50))
    assert value(e.silhouette(shuffled)) == pytest.approx(value(e.silhouette(state)), abs=1e-12)


@pytest.mark.parametrize("metric", [e.silhouette, e.calinski_harabasz, e.davies_bouldin])
def test_what_has_no_separation(metric):
    x = np.arange(6.0).reshape(3, 2)
    assert reason(metric(rows({"embedding": x}, {"label": [1, 1, 1]}))) == "single_label"
    assert reason(metric(rows({"embedding": x}, {"label": [1, 2, 3]}))) == "too_few_items"
    assert reason(metric(rows({"embedding": np.empty((0, 2))}, {"label": []}))) == "too_few_items"


def test_duplicates_have_distance_zero():
    x = np.array([[1e6, 1.0], [1e6, 1.0], [5.0, 2.0], [5.0, 2.0]])
    assert value(e.silhouette(rows({"embedding": x}, {"label": [0, 0, 1, 1]}))) == 1.0


def test_all_rows_alike():
    state = rows({"embedding": np.ones((4, 2))}, {"label": [0, 0, 1, 1]})
    assert value(e.silhouette(state)) == 0.0
    assert reason(e.calinski_harabasz(state)) == "zero_denominator"
    assert reason(e.davies_bouldin(state)) == "zero_denominator"


def test_a_single_row_of_a_class_contributes_zero():
    x = np.array([[0.0], [1.0], [10.0]])
    result = outcome(e.silhouette(rows({"embedding": x}, {"label": ["a", "a", "b"]})))
    assert result.per_unit["b"] == 0.0
    assert result.value == pytest.approx((0.9 + 8 / 9) / 3)


def by_brute_force(x, y):
    """Mean silhouette from one distance at a time."""
    apart = np.array([[math.dist(a, b) for b in x] for a in x])
    found = []
    for i, own in enumerate(y):
        near = [apart[i][y == c].sum() / max((y == c).sum() - (c == own), 1) for c in np.unique(y)]
        a, b = near[own], min(d for c, d in enumerate(near) if c != own)
        found.append((b - a) / max(a, b) if (y == own).sum() > 1 and max(a, b) else 0.0)
    return sum(found) / len(found)


def tight(far, *, n=20, seed=0, scale=1.0):
    """Two tight classes next to each other, and a far pair in classes of its own."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((2 * n + 2, 5)) * 1e-3
    x[n : 2 * n] += 0.01
    x[-2:] += far
    return x * scale, np.repeat([0, 1, 2], [n, n, 2])


@pytest.mark.parametrize("far", [1.0, 1e3, 1e5, 1e8, 1e12])
@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e-200, 1e200, 1e290])
def test_far_rows_and_scales_do_not_blur_near_ones(far, scale):
    x, y = tight(far, scale=scale)
    assert value(e.silhouette(rows({"embedding": x}, {"label": y}))) == pytest.approx(by_brute_force(x, y), rel=1e-9)


def test_near_rows_at_many_scales_are_told_apart():
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.standard_normal((6, 3)) * s for s in (1.0, 1e-5, 1e-12, 1e-90, 1e-180, 1e-250)])
    x = np.concatenate([x, x[:4], x[-4:]])  # and some rows twice
    y = np.append(np.repeat(np.arange(12), 3), np.repeat(12, 8))
    assert value(e.silhouette(rows({"embedding": x}, {"label": y}))) == pytest.approx(by_brute_force(x, y), rel=1e-9)


def test_nearly_parallel_rows_have_a_cosine_distance():
    angle = np.repeat([0.0, 1e-5], 10) + np.random.default_rng(0).standard_normal(20) * 1e-6
    x = np.column_stack([np.cos(angle), np.sin(angle)]) * np.logspace(-150, 150, 20)[:, None]
    apart = 2 * np.sin((angle[:, None] - angle) / 2) ** 2
    y = np.repeat([0, 1], 10)
    expected = sk.silhouette_score(apart, y, metric="precomputed")
    assert value(e.silhouette(rows({"embedding": x}, {"label": y}), distance="cosine")) == pytest.approx(
        expected, rel=1e-7
    )


@pytest.mark.parametrize("metric", [e.silhouette, e.calinski_harabasz, e.davies_bouldin])
@pytest.mark.parametrize("exponent", [-1000, -600, 600, 1019])
def test_a_power_of_two_changes_no_bit(metric, exponent):
    x, y = make(5)
    plain = value(metric(rows({"embedding": x}, {"label": y})))
    assert value(metric(rows({"embedding": np.ldexp(x, exponent)}, {"label": y}))) == pytest.approx(plain, rel=1e-14)


@pytest.mark.parametrize(
    ("metric", "x"),
    [
        (e.calinski_harabasz, [[0.0], [1e-200], [1.0], [1.0]]),
        (e.davies_bouldin, [[-1e100, 0.0], [1e100, 0.0], [-1e100, 1e-250], [1e100, 1e-250]]),
    ],
)
def test_a_ratio_beyond_float64_is_a_failure(metric, x):
    assert reason(metric(rows({"embedding": x}, {"label": [0, 0, 1, 1]}))) == "numerical_failure"


@pytest.mark.parametrize("metric", [e.silhouette, e.calinski_harabasz, e.davies_bouldin])
def test_no_message_names_a_class(metric):
    x = np.arange(6.0).reshape(3, 2)
    assert "secret" not in outcome(metric(rows({"embedding": x}, {"label": ["secret"] * 3}))).detail
    alike = rows({"embedding": np.ones((4, 2))}, {"label": ["secret", "secret", "b", "b"]})
    assert "secret" not in outcome(metric(alike)).detail


def test_equal_rows_of_a_class_have_no_spread():
    x = np.repeat([[0.1, 0.7], [0.3, 0.2]], 7, axis=0)
    assert reason(e.calinski_harabasz(rows({"embedding": x}, {"label": np.repeat([0, 1], 7)}))) == "zero_denominator"
    assert value(e.davies_bouldin(rows({"embedding": x}, {"label": np.repeat([0, 1], 7)}))) == 0.0
