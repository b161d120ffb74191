"""Baselines of batch integration that other libraries make: they are run where these are installed."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from primabench_task_singlecell.baselines import integration

import primabench_core as pb

EXTERNAL = {"harmony": ("harmonypy", "pandas"), "scanorama": ("scanorama",)}


@pytest.fixture(scope="module")
def made() -> tuple[pb.EvalData, np.ndarray]:
    """Cells of three types in two batches that differ by a shift in every gene, and their types."""
    rng = np.random.default_rng(0)
    types, batch = np.arange(240) % 3, np.arange(240) // 120
    profile, shift = rng.gamma(2.0, 1.0, (3, 60)), np.exp(0.3 * rng.standard_normal(60))
    expression = np.log1p(rng.poisson(3 * profile[types] * np.where(batch[:, None], shift, 1.0)).astype(np.float64))
    fields = {"expression": expression, "batch": np.asarray(["b1", "b2"], object)[batch]}
    ids = [f"c{i:03d}" for i in range(240)]
    return pb.EvalData(fields, ids=ids, coords={"genes": tuple(f"g{i}" for i in range(60))}), types


def baseline(name: str) -> Any:
    """The function, skipped where its library is not there."""
    for library in EXTERNAL[name]:
        pytest.importorskip(library, reason=f"{library} is an extra")
    return getattr(import_module(f"primabench_task_singlecell.baselines.integration_{name}"), name)


def scored(cells: pb.EvalData, types: np.ndarray, embedding: Any) -> tuple[float, float]:
    """Mixing of batches, and how well types stay apart."""
    batch = np.asarray(cells["batch"], object)
    mixed = pb.score("ilisi", {"embedding": embedding}, {"batch": batch}, k=30)
    apart = pb.score("silhouette_label", {"embedding": embedding}, {"label": types})
    return float(mixed.value or 0.0), float(apart.value or 0.0)


@pytest.mark.filterwarnings("default")  # libraries of others warn on their own account
@pytest.mark.parametrize("name", sorted(EXTERNAL))
def test_others_mix_batches_and_keep_types(name: str, made: tuple[pb.EvalData, np.ndarray]) -> None:
    cells, types = made
    found = baseline(name)(None, cells, seed=1)
    embedding = np.asarray(found["embedding"])
    assert list(found.ids or ()) == list(cells.ids or ())
    assert np.isfinite(embedding).all()
    before = scored(cells, types, integration.unintegrated(None, cells)["embedding"])
    after = scored(cells, types, embedding)
    assert after[0] > before[0] + 0.1
    assert after[1] > before[1] - 0.05
    again = baseline(name)(None, cells, seed=1)
    np.testing.assert_allclose(np.asarray(again["embedding"]), embedding, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", sorted(EXTERNAL))
def test_a_library_that_is_not_there_is_named_with_its_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from primabench_core.discovery import registry

    monkeypatch.setitem(sys.modules, EXTERNAL[name][0], None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, f"primabench_task_singlecell.baselines.integration_{name}", raising=False)
    spec = registry.load("baseline", f"batch_integration|{name}")
    assert EXTERNAL[name][0] in spec.requires
    with pytest.raises(pb.PrimaBenchError, match=EXTERNAL[name][0]):
        registry.resolve(spec.predict, owner="primabench-task-singlecell", requires=spec.requires)
