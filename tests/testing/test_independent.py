"""A plugin of somebody else, really installed: it extends other people's tasks and brings one of its own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

INDEPENDENT = Path(__file__).parents[1] / "plugins" / "independent"
CELLS, MELTING = "primabench_synthetic/independent_cells@1.0.0", "primabench_synthetic/melting_points@1.0.0"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    if importlib.util.find_spec("hatchling"):  # then no index is needed
        command += ["--no-build-isolation", "--no-index"]
    done = subprocess.run(
        [*command, "--target", str(target), str(INDEPENDENT)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


def run(installed: Path, store: Path, code: str) -> list[str]:
    program = f"import sys; sys.path.insert(0, {str(installed)!r})\nimport primabench_core as pb\n{code}"
    environment = {k: v for k, v in os.environ.items() if k not in ("PRIMABENCH_DISABLE", "PRIMABENCH_STRICT")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**environment, "PRIMABENCH_STORE": str(store)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()


def test_it_passes_every_check(installed, store):
    code = """
from primabench_core.testing import check_distribution
report = check_distribution("primabench-independent")
print([(r.id, r.reason) for r in report.findings])
"""
    assert run(installed, store, code) == ["[]"]


def test_everything_shows_where_it_belongs_before_any_code_runs(installed, store):
    code = f"""
assert "melting_point_prediction" in pb.list_tasks()
assert {CELLS!r} in pb.list_datasets(task="cell_type_annotation")
assert pb.list_datasets(task="melting_point_prediction") == ({MELTING!r},)
assert "first_gene" in pb.list_baselines(task="cell_type_annotation")
assert "rarest_class_recall" in pb.list_metrics()
print([m for m in sys.modules if m.startswith("primabench_") and not m.startswith("primabench_core")])
"""
    assert run(installed, store, code) == ["[]"]


def test_its_metric_and_its_dataset_serve_somebody_elses_task(installed, store):
    code = f"""
from primabench_core.evaluation.baselines import predict_baseline
from primabench_core.evaluation.oracle import evaluate_oracle
from primabench_core.store.build import build_dataset
key, task = {CELLS!r}, "cell_type_annotation"
build_dataset(key, exist_ok=True)
scores = {{}}
for name in ("majority", "first_gene"):  # theirs and ours
    found = predict_baseline(task, name, dataset=key)
    result = pb.evaluate(task, found, dataset=key, metrics=["macro_f1", "rarest_class_recall"], ci=None)
    scores[name] = result.scores["rarest_class_recall"]
perfect = evaluate_oracle(task, "perfect", dataset=key, metrics=["rarest_class_recall"], ci=None)
print(scores["first_gene"] > 0.5, perfect.scores["rarest_class_recall"])
print(result["rarest_class_recall"].distribution, result["macro_f1"].distribution)
"""
    assert run(installed, store, code) == ["True 1.0", "primabench-independent primabench-metrics"]


def test_its_own_task_scores_units_by_laboratory_and_counts_missing_answers(installed, store):
    code = f"""
from primabench_core.evaluation.baselines import predict_baseline
from primabench_core.store.build import build_dataset
build_dataset({MELTING!r}, exist_ok=True)
task = "melting_point_prediction"
flat = pb.evaluate(task, predict_baseline(task, "mean"))
fitted = pb.evaluate(task, predict_baseline(task, "least_squares"))
print(flat["pearson"].value, flat["pearson"].reason, fitted["pearson"].value > 0.9)
print(fitted["pearson"].n + fitted["pearson"].n_excluded["no_truth"], fitted["mse"].value < flat["mse"].value)
print(fitted["pearson"].interval.method)
"""
    out = run(installed, store, code)
    assert out[0] == "None constant_prediction True"
    assert out[1] == "40 True"
