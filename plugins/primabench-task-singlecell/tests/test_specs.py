"""Specs are light, frozen, picklable, and point at things that exist."""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import sys
from importlib import import_module, resources
from importlib.metadata import EntryPoint, distribution

import pytest

from primabench_core.spec import BaselineSpec, BenchmarkSpec, DatasetSpec, PreparerSpec, RecipeSpec, TaskSpec

KINDS = {
    "primabench.tasks": TaskSpec,
    "primabench.datasets": DatasetSpec,
    "primabench.recipes": RecipeSpec,
    "primabench.preparers": PreparerSpec,
    "primabench.baselines": BaselineSpec,
    "primabench.benchmarks": BenchmarkSpec,
}
POINTS = [p for p in distribution("primabench-task-singlecell").entry_points if p.group in KINDS]
EXTRAS = {"harmonypy", "scanorama"}
DENIED = ("numpy", "torch", "xarray", "zarr", "pandas", "sklearn", "scanpy", "anndata", "scipy")


def _name(spec: object) -> str:
    if isinstance(spec, TaskSpec | BenchmarkSpec):
        return spec.name
    if isinstance(spec, DatasetSpec):
        return spec.key
    if isinstance(spec, RecipeSpec):
        return spec.dataset
    if isinstance(spec, PreparerSpec):
        return f"{spec.task}|{spec.dataset}"
    assert isinstance(spec, BaselineSpec)
    return f"{spec.task}|{spec.name}"


@pytest.mark.parametrize("point", POINTS, ids=lambda p: f"{p.group}:{p.name}")
def test_entry_point_gives_the_declared_kind_under_its_own_name(point: EntryPoint) -> None:
    spec = point.load()
    assert type(spec) is KINDS[point.group]
    assert _name(spec) == point.name
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert hash(spec) == hash(pickle.loads(pickle.dumps(spec)))


@pytest.mark.parametrize("point", POINTS, ids=lambda p: f"{p.group}:{p.name}")
def test_references_resolve(point: EntryPoint) -> None:
    spec = point.load()
    for attribute in ("prepare", "build", "predict"):
        reference = getattr(spec, attribute, "")
        if reference:
            for extra in EXTRAS & set(getattr(spec, "requires", ())):
                pytest.importorskip(extra, reason=f"{extra} is an extra")
            module, _, function = reference.partition(":")
            assert callable(getattr(import_module(module), function))


def test_all_that_the_issue_names_is_declared() -> None:
    names = {(p.group.removeprefix("primabench."), p.name) for p in POINTS}
    assert {n for g, n in names if g == "tasks"} == {
        "cell_type_annotation", "clustering", "batch_integration", "embedding_quality", "trajectory_inference",
        "grn_inference",
    }  # fmt: skip
    assert {n for g, n in names if g == "baselines"} >= {
        "cell_type_annotation|perfect", "cell_type_annotation|majority", "cell_type_annotation|random",
        "cell_type_annotation|knn", "cell_type_annotation|logistic", "clustering|perfect", "clustering|random",
        "clustering|single_cluster", "clustering|kmeans", "clustering|kmeans_k_not_given",
        "grn_inference|perfect", "grn_inference|random", "grn_inference|correlation", "grn_inference|forest",
        "trajectory_inference|perfect", "trajectory_inference|random", "trajectory_inference|root_distance",
        "trajectory_inference|correlation", "trajectory_inference|geodesic",
    }  # fmt: skip
    assert sum(g == "preparers" for g, _ in names) >= 9
    assert ("benchmarks", "single_cell_core") in names


def test_loading_every_spec_imports_no_array_library() -> None:
    modules = sorted({p.module for p in POINTS})
    code = (
        f"import sys, importlib\nfor m in {modules!r}: importlib.import_module(m)\n"
        f"print(sorted(set({DENIED!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("point", [p for p in POINTS if p.group == "primabench.preparers"], ids=lambda p: p.name)
def test_frozen_id_list_has_the_pinned_hash(point: EntryPoint) -> None:
    spec: PreparerSpec = point.load()
    if not spec.id_list:
        assert spec.task != "cell_type_annotation"  # the others take every cell
        return
    package, _, path = spec.id_list.partition(":")
    content = resources.files(package).joinpath(path).read_bytes()
    assert hashlib.sha256(content).hexdigest() == spec.id_list_sha256


def test_primary_metric_is_of_the_panel_and_benchmark_rows_use_default_datasets() -> None:
    tasks = {p.name: p.load() for p in POINTS if p.group == "primabench.tasks"}
    for task in tasks.values():
        assert task.primary in {use.name for use in task.metrics}
    for point in POINTS:
        if point.group == "primabench.benchmarks":
            for row in point.load().rows:
                assert row.dataset == tasks[row.task].default_dataset


def test_a_prediction_of_an_unknown_type_counts_as_an_error() -> None:
    task = next(p for p in POINTS if p.name == "cell_type_annotation" and p.group == "primabench.tasks").load()
    assert task.contract.unknown_labels == "count"
    assert task.contract.find("label").vocabulary == "truth"
    assert task.contract.missing == "error"
