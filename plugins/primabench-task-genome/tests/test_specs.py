"""Specs are light, and what the issue names is declared."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from importlib import import_module, resources
from importlib.metadata import distribution
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from primabench_task_genome.specs import sequences

from primabench_core.discovery import names

POINTS = [p for p in distribution("primabench-task-genome").entry_points if p.group.startswith("primabench.")]
DENIED = ("numpy", "torch", "xarray", "zarr", "pandas", "sklearn", "scipy", "pysam", "pyfaidx", "fsspec")


def test_loading_every_spec_imports_no_array_library() -> None:
    modules = sorted({p.module for p in POINTS if p.group != "primabench.extensions"})
    code = (
        f"import sys, importlib\nfor m in {modules!r}: importlib.import_module(m)\n"
        f"print(sorted(set({DENIED!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_dataset_that_a_preparer_names_has_a_recipe() -> None:
    keys = {p.name.partition("|")[2] for p in POINTS if p.group == "primabench.preparers"}
    if "dalla_torre_2025_nature_methods/h2afz@1.0.0" not in names.names("recipe"):
        pytest.skip("primabench-recipes is not installed")
    assert keys <= set(names.names("recipe"))
    assert keys <= set(names.names("dataset"))


def test_all_sets_of_the_issue_have_a_preparer() -> None:
    assert (len(sequences.NT_SETS), len(sequences.GENOMIC_SETS), len(sequences.GUE_SETS)) == (18, 9, 28)
    declared = {p.name for p in POINTS if p.group == "primabench.preparers"}
    for publication, sets in (
        (sequences.NT, sequences.NT_SETS),
        (sequences.GENOMIC, sequences.GENOMIC_SETS),
        (sequences.GUE, sequences.GUE_SETS),
    ):
        assert {f"sequence_classification|{publication}/{name}@1.0.0" for name in sets} <= declared


@pytest.mark.parametrize("point", [p for p in POINTS if p.group == "primabench.preparers"], ids=lambda p: p.name)
def test_frozen_lists_have_their_hash_and_functions_resolve(point) -> None:
    spec = point.load()
    module, _, function = spec.prepare.partition(":")
    assert callable(getattr(import_module(module), function))
    if spec.id_list:
        package, _, path = spec.id_list.partition(":")
        content = resources.files(package).joinpath(path).read_bytes()
        assert hashlib.sha256(content).hexdigest() == spec.id_list_sha256


def test_lists_are_what_the_script_makes() -> None:
    path = Path(__file__).parents[1] / "scripts" / "make_splits.py"
    if not path.is_file():
        pytest.skip("the script is not part of the wheel")
    spec = spec_from_file_location("make_splits", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.main(["--check"]) == 0
