"""What is public is a short list; it grows on purpose."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import primabench_core as pb

PUBLIC = [
    "ContractError", "CorruptDataError", "CoverageError", "DistributedError", "EvalData", "EvalFailure",
    "EvalResult", "Evaluation", "MetricError", "MetricResult", "MissingDataError", "MissingPluginError",
    "ParameterError", "PluginError", "PrimaBenchError", "ResultError", "StoreError", "UnknownNameError",
    "UsageError", "VersionExistsError", "compare", "evaluate", "evaluate_many", "fetch_data", "fetch_test",
    "fetch_train", "foreign", "get_sequences", "list_baselines", "list_benchmarks", "list_datasets", "list_metrics",
    "list_tasks", "load", "score", "statistics", "stream",
]  # fmt: skip


def test_the_public_names_are_these() -> None:
    assert sorted(pb.__all__) == sorted(PUBLIC)


def test_each_public_name_is_there_and_documented() -> None:
    for name in PUBLIC:
        assert getattr(pb, name).__doc__, name
        assert name in dir(pb)


def modules_after(code: str) -> set[str]:
    """Top-level modules loaded by a fresh interpreter that runs this code."""
    program = (
        f"{code}\nimport sys, json\nsys.stderr.write(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    )
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    return set(json.loads(ran.stderr.splitlines()[-1]))


HEAVY = {"torch", "xarray", "zarr", "pandas", "sklearn", "scanpy", "numpy", "scipy", "anndata", "dask"}


def test_import_is_a_lazy_facade() -> None:
    loaded = modules_after("import primabench_core")
    assert not loaded & (HEAVY | {"attrs", "attr", "cattrs", "rich", "pluggy", "importlib_metadata"})


def test_list_tasks_loads_no_array_library_and_no_plugin() -> None:
    loaded = modules_after("from primabench_core.cli.main import main\nmain(['list', 'tasks'])")
    assert not loaded & HEAVY
    assert not {m for m in loaded if m.startswith("primabench_") and m != "primabench_core"}


def test_scoring_on_a_cpu_needs_no_model_framework() -> None:
    code = "import primabench_core as pb\npb.score('accuracy', {'label': [0, 1]}, {'label': [0, 1]})"
    assert not modules_after(code) & {"torch", "sklearn", "tensorflow", "jax", "transformers"}
