"""The scan over all pairs against brute force: ties, duplicates, scales, precision of the screen, order of cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from primabench_task_singlecell.integration import pairs
from primabench_task_singlecell.integration.pairs import scan


def brute(points: np.ndarray, k: int, ranks: np.ndarray | None = None) -> np.ndarray:
    """Neighbours by exact integer or float differences, ties by rank, itself left out."""
    n = len(points)
    ranks = np.arange(n) if ranks is None else ranks
    gaps = ((points[:, None, :] - points[None]) ** 2).sum(2)
    rows = []
    for i in range(n):
        order = np.lexsort((ranks, gaps[i]))
        rows.append(order[order != i][:k])
    return np.asarray(rows)


def sums_of(points: np.ndarray, groups: np.ndarray) -> np.ndarray:
    distances = np.sqrt(((points[:, None, :] - points[None]) ** 2).sum(2))
    return np.stack([distances[:, groups == g].sum(1) for g in range(groups.max() + 1)], axis=1)


@pytest.mark.parametrize("screen", ["float32", "float64"])
@pytest.mark.parametrize(("n", "k"), [(40, 39), (600, 7), (900, 30)])
def test_neighbours_and_sums_are_those_of_brute_force(n: int, k: int, screen: str) -> None:
    rng = np.random.default_rng(n)
    points, groups = rng.standard_normal((n, 6)) + 3.0, np.arange(n) % 4
    found = scan(points, k, groups=groups, screen=screen)
    np.testing.assert_array_equal(found.neighbours.index, brute(points, k))
    np.testing.assert_allclose(found.sums, sums_of(points, groups), rtol=3e-6 if screen == "float32" else 1e-12)
    distance = np.linalg.norm(points[found.neighbours.index] - points[:, None], axis=2)
    np.testing.assert_allclose(found.neighbours.distance, distance, rtol=1e-12)


@pytest.mark.parametrize("screen", ["float32", "float64"])
def test_both_screens_and_any_block_give_the_same_bits(screen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(0).standard_normal((700, 12))
    whole = scan(points, 20).neighbours
    monkeypatch.setitem(pairs.BLOCK_BYTES, "cpu", 100_000)
    cut = scan(points, 20, screen=screen).neighbours
    assert whole.index.tobytes() == cut.index.tobytes()
    assert whole.distance is not None
    assert cut.distance is not None
    assert whole.distance.tobytes() == cut.distance.tobytes()


@pytest.mark.parametrize("twins", [False, True])
def test_no_block_of_distances_is_larger_than_said(twins: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, limit = np.random.default_rng(0), 60_000
    points = np.zeros((900, 8)) if twins else rng.standard_normal((900, 8))  # twins: by differences to all cells
    monkeypatch.setitem(pairs.BLOCK_BYTES, "cpu", limit)
    sizes: list[int] = []
    product, exact = pairs._Screen.block, pairs._Work.exact

    def noted(function: Any) -> Any:
        def wrapped(*given: Any) -> Any:
            found = function(*given)
            sizes.append(found.numel() * found.element_size())
            return found

        return wrapped

    monkeypatch.setattr(pairs._Screen, "block", noted(product))
    monkeypatch.setattr(pairs._Work, "exact", noted(exact))
    scan(points, 20, groups=np.arange(900) % 3, screen="float32")
    assert max(sizes) <= limit
    assert len(sizes) >= 900 * 900 * 4 // limit  # nor is it all at once


def test_distances_of_the_nearest_alone_are_those_of_all() -> None:
    points = np.random.default_rng(0).standard_normal((300, 4))
    points[100:] = 0.0  # twins: by differences
    whole, some = scan(points, 30).neighbours, scan(points, 30, lengths=12).neighbours
    assert whole.index.tobytes() == some.index.tobytes()
    np.testing.assert_array_equal(whole.distance[:, :12], some.distance)  # type: ignore[index]
    assert some.first(13).distance is None
    np.testing.assert_array_equal(whole.first(12).distance, some.first(12).distance)


def test_threads_change_no_bit_and_are_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="the scan runs on torch")
    monkeypatch.setitem(pairs.BLOCK_BYTES, "cpu", 200_000)
    points, groups = np.random.default_rng(8).standard_normal((900, 9)), np.arange(900) % 5
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            found.append(scan(points, 12, groups=groups, screen="float32"))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    one, three = found
    assert one.neighbours.index.tobytes() == three.neighbours.index.tobytes()
    assert one.sums.tobytes() == three.sums.tobytes()


@given(
    arrays(np.int8, st.tuples(st.integers(2, 30), st.integers(1, 3)), elements=st.integers(-2, 2)), st.integers(1, 8)
)
@settings(max_examples=60, deadline=None)
def test_equal_distances_go_by_rank(points: np.ndarray, k: int) -> None:
    points = points.astype(np.float64)  # many duplicates and many equal distances
    ranks = np.random.default_rng(len(points)).permutation(len(points))
    for screen in ("float32", "float64"):
        found = scan(points, k, ranks=ranks, screen=screen).neighbours.index
        np.testing.assert_array_equal(found, brute(points, min(k, len(points) - 1), ranks))


def test_a_cell_is_left_out_by_its_number_and_not_by_a_distance_of_zero() -> None:
    points = np.repeat(np.random.default_rng(1).standard_normal((30, 3)), 10, axis=0)
    found = scan(points, 9, screen="float32").neighbours
    assert not (found.index == np.arange(300)[:, None]).any()
    assert (found.index // 10 == np.arange(300)[:, None] // 10).all()  # its nine twins
    assert not found.distance.any()  # type: ignore[union-attr]


def test_more_twins_than_candidates_are_still_taken_in_order() -> None:
    points = np.zeros((300, 4))
    points[::3] = 1.0
    found = scan(points, 5, groups=np.arange(300) % 3, screen="float32")
    np.testing.assert_array_equal(found.neighbours.index, brute(points, 5))
    np.testing.assert_allclose(found.sums, sums_of(points, np.arange(300) % 3), rtol=1e-12)
    assert found.retaken[1] == 300


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1e6, 1e300])
def test_units_do_not_matter(scale: float) -> None:
    points = np.random.default_rng(3).standard_normal((200, 4))
    groups = np.arange(200) % 3
    one, other = scan(points, 10, groups=groups), scan(points * scale, 10, groups=groups)
    np.testing.assert_array_equal(one.neighbours.index, other.neighbours.index)
    np.testing.assert_allclose(other.sums / scale, one.sums, rtol=1e-9)


def test_an_outlier_does_not_blur_the_others() -> None:
    rng = np.random.default_rng(4)
    points = np.vstack([rng.standard_normal((400, 5)), [[1e7] * 5]])
    found = scan(points, 12, groups=np.zeros(401, np.int64), screen="float32")
    np.testing.assert_array_equal(found.neighbours.index, brute(points, 12))
    np.testing.assert_allclose(found.sums, sums_of(points, np.zeros(401, np.int64)), rtol=1e-9)


def test_tight_groups_far_apart_are_taken_in_double_precision() -> None:
    rng = np.random.default_rng(5)
    groups = np.arange(600) % 2
    points = rng.standard_normal((600, 5)) + 3000.0 * groups[:, None]
    found = scan(points, 12, groups=groups, screen="float32")
    assert found.retaken[0] == 600
    np.testing.assert_array_equal(found.neighbours.index, brute(points, 12))
    np.testing.assert_allclose(found.sums, sums_of(points, groups), rtol=1e-9)


def test_some_rows_alone_are_those_of_all() -> None:
    points = np.random.default_rng(6).standard_normal((150, 3))
    only = np.asarray([70, 3, 149])
    whole, some = scan(points, 6, groups=np.arange(150) % 2), scan(points, 6, groups=np.arange(150) % 2, only=only)
    np.testing.assert_array_equal(whole.neighbours.index[only], some.neighbours.index)
    np.testing.assert_array_equal(whole.sums[only], some.sums)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_any_cells(n: int) -> None:
    found = scan(np.arange(float(n))[:, None], 5, groups=np.zeros(n, np.int64))
    assert found.neighbours.index.shape == (n, max(n - 1, 0))
    assert found.sums.sum() == (2.0 if n == 2 else 0.0)


def test_the_scan_does_not_depend_on_a_gpu() -> None:
    torch = pytest.importorskip("torch", reason="the scan runs on torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    points, groups = np.random.default_rng(7).standard_normal((3000, 20)), np.arange(3000) % 6
    host, there = scan(points, 50, groups=groups), scan(points, 50, groups=groups, device="cuda")
    assert host.neighbours.index.tobytes() == there.neighbours.index.tobytes()
    assert host.neighbours.distance.tobytes() == there.neighbours.distance.tobytes()  # type: ignore[union-attr]
    np.testing.assert_allclose(there.sums, host.sums, rtol=1e-6)
