"""A real plugin, really built and installed: what packaging does to entry points, and one thing of every kind."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[1] / "plugins" / "sample"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, built as a wheel and installed into a folder of its own."""
    target = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    if importlib.util.find_spec("hatchling"):  # then no index is needed
        command += ["--no-build-isolation", "--no-index"]
    done = subprocess.run(
        [*command, "--target", str(target), str(SAMPLE)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return target


def _run(installed: Path, code: str, **env: str) -> str:
    program = f"import sys; sys.path.insert(0, {str(installed)!r})\nimport primabench_core as pb\n{code}"
    environment = {k: v for k, v in os.environ.items() if k not in ("PRIMABENCH_DISABLE", "PRIMABENCH_STRICT")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env=environment | env,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_it_is_listed_without_running(installed):
    code = """
key = "primabench_synthetic/sample@1.0.0"
assert "sample_task" in pb.list_tasks()
assert key in pb.list_datasets() and pb.list_datasets(task="sample_task") == (key,)
assert {"sample_recall", "macro_sample_recall"} <= set(pb.list_metrics())
assert pb.list_baselines(task="sample_task") == ("dream", "zero")
assert "sample_board" in pb.list_benchmarks()
print([m for m in sys.modules if m.startswith("primabench_") and not m.startswith("primabench_core")])
"""
    assert _run(installed, code) == "[]"


def test_everything_it_declares_loads_and_is_sound(installed):
    code = """
from primabench_core.discovery import registry
found = [r for r in registry.check_all() if r.distribution == "primabench-sample"]
print(len(found), {r.status for r in found}, {r.version for r in found}, sorted({r.kind for r in found}))
"""
    kinds = ["baseline", "benchmark", "dataset", "extension", "hook", "metric", "preparer", "recipe", "task"]
    assert _run(installed, code) == f"11 {{'ok'}} {{'3.2.1'}} {kinds}"


def test_the_panel_is_listed_with_canonical_names_and_what_cannot_be_resolved(installed):
    code = "print(pb.list_metrics(task='sample_task'))"
    assert _run(installed, code) == "('macro_sample_recall', 'sample_recall{positive: b}', 'never_installed')"


def test_its_functions_resolve_and_a_missing_library_names_the_install_line(installed):
    code = """
from primabench_core.discovery import registry
for name in ("zero", "dream"):
    spec = registry.load("baseline", f"sample_task|{name}")
    try:
        print(registry.resolve(spec.predict, owner="primabench-sample", requires=spec.requires)(None, None))
    except pb.MissingPluginError as error:
        print(error.remedy)
try:
    registry.resolve("primabench_sample.dream:predict", owner="primabench-sample")
except ImportError as error:
    print(error.remedy)
"""
    assert _run(installed, code).splitlines() == [
        "0",
        'pip install "primabench-absent-library>=1"',
        'pip install "primabench-sample[dream]"',
    ]


def test_its_hooks_and_extension_are_called(installed):
    code = """
from primabench_core.discovery import extensions, hooks
hooks.evaluation_started("sample_task", "", ("accuracy",))
import primabench_sample.hooks
print(primabench_sample.hooks.seen, hooks.cli_commands()["sample"](["a", "b"]), list(hooks.exporters()))
print(extensions.forward("sample_function", "primabench-sample")(4))
"""
    assert _run(installed, code).splitlines() == ["[('sample_task', ('accuracy',))] 2 ['sample']", "5"]


def test_it_can_be_left_out(installed):
    code = "print('sample_task' in pb.list_tasks(), 'macro_sample_recall' in pb.list_metrics())"
    assert _run(installed, code, PRIMABENCH_DISABLE="Primabench_Sample") == "False False"
    assert _run(installed, code, PRIMABENCH_DISABLE="sample_task") == "False True"
