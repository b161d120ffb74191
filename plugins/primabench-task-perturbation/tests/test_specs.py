"""Specs are light, picklable, agree with their functions, and cover what the specification names."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from importlib import import_module
from importlib.metadata import distribution

import pytest

from primabench_core.spec import MetricSpec

POINTS = list(distribution("primabench-task-perturbation").entry_points)
METRICS = {p.name: p.load() for p in POINTS if p.group == "primabench.metrics"}
SECTION = [
    "l2_pseudobulk",
    "l2_pseudobulk_top_1000_control_genes",
    "mse_pseudobulk",
    "mae_pseudobulk",
    "pearson_delta",
    "spearman_delta",
    "cosine_delta",
    "pearson_delta_top_20_de_genes",
    "pearson_delta_top_50_de_genes",
    "pearson_delta_top_100_de_genes",
    "pearson_delta_top_200_de_genes",
    "mse_top_20_de_genes",
    "pearson_delta_centred",
    "pearson_delta_leave_one_out",
    "weighted_mse",
    "weighted_r2_delta",
    "perturbation_discrimination_l1",
    "perturbation_discrimination_l2",
    "perturbation_discrimination_cosine",
    "perturbation_discrimination_l1_rescaled",
    "de_overlap_at_n",
    "de_precision_at_n",
    "de_direction_match",
    "de_spearman_lfc",
    "de_recall",
    "de_count_spearman",
    "de_auroc",
    "de_average_precision",
    "energy_distance",
    "energy_distance_squared",
    "pearson_edistance",
    "mmd_rbf",
    "wasserstein",
    "mean_rowwise_rmse",
    "mean_rowwise_pearson",
    "mean_rowwise_cosine",
    "perturbation_rank",
]


def resolve(reference):
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def test_every_metric_of_the_section_is_declared():
    assert set(SECTION) <= set(METRICS)
    assert all(isinstance(spec, MetricSpec) for spec in METRICS.values())


@pytest.mark.parametrize("name", sorted(METRICS))
def test_a_spec_agrees_with_its_function(name):
    spec = METRICS[name]
    function = resolve(spec.compute)
    signature = inspect.signature(function)
    keywords = {p.name: p.default for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}
    assert keywords == {p.name: p.default for p in spec.parameters}
    assert function.__doc__
    assert spec.references
    assert not spec.weighted or callable(resolve(spec.weighted))
    assert pickle.loads(pickle.dumps(spec)) == spec
    for variant, fixed in spec.canonical.items():
        assert dict(METRICS[variant].fixed) == dict(fixed)


def test_specs_load_no_array_library():
    modules = sorted({p.module for p in POINTS})
    denied = {"numpy", "torch", "xarray", "zarr", "pandas", "sklearn", "scipy", "anndata"}
    code = f"import sys, importlib\nfor m in {modules!r}: importlib.import_module(m)\n"
    code += f"print(sorted({denied!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_panel_holds_the_trivial_baselines_by_default():
    task = next(p.load() for p in POINTS if p.group == "primabench.tasks")
    panel = {use.name for use in task.metrics}
    assert task.primary in panel
    assert panel <= set(METRICS)
    baselines = {p.name.partition("|")[2] for p in POINTS if p.group == "primabench.baselines"}
    assert {"perfect", "random", "no_change", "mean_of_train", "additive"} <= baselines
