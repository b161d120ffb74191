"""Cells that are handed in on a device are scanned there: neighbours and sums come to the host, and no coordinates.

The device is pretended (that of core's tests), so that this runs without one; the last tests need a real one.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from integration_cells import cells
from primabench_task_singlecell.integration import pairs
from primabench_task_singlecell.integration.pairs import scan

import primabench_core as pb

torch = pytest.importorskip("torch", reason="the scan runs on torch")
NEAR = ("ilisi", "clisi", "entropy_per_cell", "kbet_fixed_k", "graph_connectivity")
SCANNED = (*NEAR, "silhouette_label", "silhouette_batch")
COLUMN = 8
"""Bytes of a number of each cell that the host may look at, as masks and row numbers."""


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A device that is none, and writes down what the host looks at."""
    path = Path(__file__).parents[3] / "tests" / "evaluation" / "device" / "conftest.py"
    if not path.exists():
        pytest.skip("the pretended device is in the repository")
    spec = spec_from_file_location("pretended_device", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with module.Pretend() as there:
        yield there


def panel(made: dict[str, Any], metrics: tuple[str, ...], embedding: Any, **options: Any) -> Any:
    """The evaluation, with the embedding given."""
    truth = {"label": made["label"], "batch": made["batch"]}
    if "pcr_comparison" in metrics:
        truth["embedding"] = made["before"]
    run = pb.Evaluation(metrics=list(metrics), truth=truth, **options)
    run.update(embedding=embedding)
    return run


def crossed(gpu: Any, n: int) -> list[int]:
    """Sizes of what the host was given, beyond a number or two of each cell."""
    return sorted(size for _, size in gpu.looks if size > 2 * COLUMN * n)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("only", [None, np.asarray([70, 3, 249])])
def test_a_scan_brings_home_its_results_and_no_points(gpu: Any, dtype: Any, only: Any) -> None:
    made = cells(250, width=40)
    points, groups = made["embedding"].astype(dtype), np.arange(250) % 4
    ranks = np.random.default_rng(0).permutation(250)
    there = gpu.put(points)
    for screen in ("float32", "float64"):
        gpu.looks.clear()
        found = scan(there, 30, groups=groups, ranks=ranks, screen=screen, only=only)
        results = [250 * 30 * 4, 250 * 30 * 8, 250 * 4 * 8]  # neighbours, their distances, sums
        assert sorted(size for name, size in gpu.looks if name == "cpu") == sorted(results)
        assert max(size for name, size in gpu.looks if name != "cpu") <= 9 * 250  # row numbers and a mask over them
        assert points.nbytes not in {size for _, size in gpu.looks}
        expected = scan(points.astype(np.float64), 30, groups=groups, ranks=ranks, screen=screen, only=only)
        assert found.neighbours.index.tobytes() == expected.neighbours.index.tobytes()
        assert found.neighbours.distance.tobytes() == expected.neighbours.distance.tobytes()
        np.testing.assert_allclose(found.sums, expected.sums, rtol=3e-6)


def test_cells_that_are_taken_anew_stay_there_too(gpu: Any) -> None:
    points = np.zeros((300, 40))
    points[::3] = 1.0  # more twins than candidates: by differences
    found = scan(gpu.put(points), 5, groups=np.arange(300) % 3, screen="float32")
    assert found.retaken == (300, 300)
    expected = scan(points, 5, groups=np.arange(300) % 3, screen="float32")
    assert found.neighbours.index.tobytes() == expected.neighbours.index.tobytes()
    assert max(size for name, size in gpu.looks if name != "cpu") <= 9 * 300
    assert points.nbytes not in {size for _, size in gpu.looks}


@pytest.mark.parametrize("cut", [False, True])
def test_an_embedding_on_a_device_is_scored_without_a_copy_of_its_rows(gpu: Any, cut: bool) -> None:
    made = cells(260, width=48)
    points = made["embedding"].astype(np.float32)
    expected = panel(made, SCANNED, points, hash_predictions=False).compute()
    run = pb.Evaluation(
        metrics=list(SCANNED), truth={"label": made["label"], "batch": made["batch"]}, hash_predictions=False
    )
    gpu.looks.clear()
    for rows in np.array_split(np.random.default_rng(0).permutation(260), 3) if cut else [np.arange(260)]:
        run.update(positions=rows, embedding=gpu.put(points[rows]))
    assert gpu.looks == []
    found = run.compute()
    results = sorted([260 * 200 * 4, 260 * 90 * 8, 260 * len(set(zip(made["label"], made["batch"], strict=True))) * 8])
    assert sorted(size for name, size in gpu.looks if name == "cpu") == results  # one scan for seven metrics
    assert points.nbytes not in {size for _, size in gpu.looks}
    assert (found.device, found.coverage) == ("cuda:0", 1.0)
    for name in SCANNED:
        assert found[name].value == pytest.approx(expected[name].value, abs=1e-6 if "silhouette" in name else 1e-15)
    assert run.compute().scores_hash == found.scores_hash


def test_metrics_that_need_coordinates_share_one_copy_made_when_the_first_asks(gpu: Any) -> None:
    made = cells(260, width=48)
    made["batch"][made["label"] == 2] = 0
    metrics = ("aggregate_unscaled", "bras", "nmi_kmeans", "pcr_comparison", "silhouette_label")
    points = made["embedding"]
    expected = panel(made, metrics, points, hash_predictions=False).compute()
    run = panel(made, metrics, gpu.put(points), hash_predictions=False)
    assert gpu.looks == []
    found = run.compute()
    assert [size for name, size in gpu.looks if name == "cpu"].count(points.nbytes) == 1
    for name in metrics:
        assert found[name].value == pytest.approx(expected[name].value, abs=1e-6)


def test_a_fingerprint_needs_the_rows_and_the_scan_still_does_not(gpu: Any) -> None:
    made = cells(260, width=48)
    points = made["embedding"]
    expected = panel(made, SCANNED, points).compute()
    run = panel(made, SCANNED, gpu.put(points))
    found = run.compute()
    assert found.predictions_sha256 == expected.predictions_sha256
    assert [size for name, size in gpu.looks if name == "cpu"].count(points.nbytes) == 1
    gpu.looks.clear()
    again = run.compute()  # the rows are placed now, and go to the device for the scan
    assert points.nbytes not in {size for _, size in gpu.looks}
    assert again.scores_hash == found.scores_hash


def test_device_brings_an_array_there(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from primabench_core.evaluation import request

    monkeypatch.setattr(request, "_check_device", lambda _: None)
    made = cells(260)
    seen: list[str] = []
    real = pairs._Work.screened

    def screened(self: Any, rows: Any, *rest: Any) -> Any:
        seen.append(rows.device.type)
        return real(self, rows, *rest)

    monkeypatch.setattr(pairs._Work, "screened", screened)
    truth = {"label": made["label"], "batch": made["batch"]}
    fields = {"embedding": made["embedding"]}
    here = pb.score("silhouette_batch", fields, truth)
    there = pb.score("silhouette_batch", fields, truth, device="cuda")
    assert seen == ["cpu", "cuda"]
    assert there.value == pytest.approx(here.value, abs=1e-6)


def test_what_is_wrong_with_rows_on_a_device_is_said_as_on_the_host(gpu: Any) -> None:
    made = cells(260)
    points = made["embedding"].copy()
    points[7, 2] = np.nan
    said = []
    for value in (points, gpu.put(points)):
        with pytest.raises(pb.ContractError) as caught:
            panel(made, ("ilisi",), value, hash_predictions=False).compute()
        said.append([(v.field, v.expected, v.found, v.ids) for v in caught.value.violations])
    assert said[0] == said[1]
    run = pb.Evaluation(metrics=["ilisi"], truth={"batch": made["batch"]}, hash_predictions=False)
    run.update(positions=np.arange(259), embedding=gpu.put(made["embedding"][:259]))
    with pytest.raises(pb.CoverageError):
        run.compute()
    run.update(positions=np.asarray([259, 0]), embedding=gpu.put(made["embedding"][[259, 0]]))  # one comes twice
    expected = pb.score("ilisi", {"embedding": made["embedding"]}, {"batch": made["batch"]}).value
    assert run.compute()["ilisi"].value == expected


def test_neighbours_of_velocities_are_looked_for_there(gpu: Any) -> None:
    rng = np.random.default_rng(0)
    place = np.cumsum(np.abs(rng.standard_normal((90, 6))), axis=0)
    truth = {"stage": np.arange(90) // 30, "expression": place, "genes": tuple("abcdef")}
    velocity = rng.standard_normal((90, 6)) + 1.0
    host = pb.score("cbdir", {"velocity": velocity, "genes": tuple("abcdef")}, truth)
    there = pb.score("cbdir", {"velocity": gpu.put(velocity), "genes": tuple("abcdef")}, truth)
    assert there.value == host.value is not None
    assert 90 * 30 * 4 in {size for name, size in gpu.looks if name == "cpu"}


def test_products_of_less_than_single_precision_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    points, groups = np.random.default_rng(0).standard_normal((600, 20)), np.arange(600) % 4
    expected = scan(points, 15, groups=groups, screen="float64")
    real = torch.Tensor.__matmul__

    def rounded(a: Any, b: Any) -> Any:  # as TF32 does: ten bits of the numbers that are multiplied
        if a.dtype != torch.float32:
            return real(a, b)
        return real(*(t.half().float() if t.abs().max() < 6e4 else t.bfloat16().float() for t in (a, b)))

    with monkeypatch.context() as patch:
        patch.setattr(torch.Tensor, "__matmul__", rounded)
        found = scan(points, 15, groups=groups, screen="float32")
    assert found.retaken[0] == 600  # none was trusted
    assert found.neighbours.index.tobytes() == expected.neighbours.index.tobytes()
    np.testing.assert_allclose(found.sums, expected.sums, rtol=1e-12)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_the_panel_on_a_real_device() -> None:
    made = cells(3_000, width=50)
    host = panel(made, SCANNED, made["embedding"], hash_predictions=False).compute()
    there = panel(made, SCANNED, torch.as_tensor(made["embedding"], device="cuda"), hash_predictions=False).compute()
    for name in SCANNED:
        assert there[name].value == pytest.approx(host[name].value, abs=1e-6)
    for name in NEAR:
        assert there[name].value == pytest.approx(host[name].value, abs=1e-12)
