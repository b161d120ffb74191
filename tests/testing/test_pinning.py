"""``primabench check --pin``: new hashes in the place of old ones, in the plugin's own files and nowhere else."""

from __future__ import annotations

import tomllib
from hashlib import sha256

import pytest

from primabench_core.cli.main import main
from primabench_core.errors import UsageError
from primabench_core.testing import pinning
from primabench_core.testing.pinning import Pin, stale_pins, write_pins

PACKAGE = "primabench_task_pin_sample"


def test_what_is_pinned_rightly_is_left_alone():
    assert stale_pins("primabench-task-singlecell") == []


def test_a_changed_list_and_a_changed_recipe_are_found_and_written(fake_distribution, monkeypatch, tmp_path):
    folder = tmp_path / "checkout"
    assert main(["new", "task", "pin_sample", "--output", str(folder)]) == 0
    source = folder / "src" / PACKAGE
    modules = {f"{PACKAGE}.{p.stem}": p.read_text() for p in source.glob("*.py") if p.stem != "__init__"}
    declared = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["entry-points"]
    groups = {group.removeprefix("primabench."): points for group, points in declared.items()}
    root = fake_distribution("primabench-task-pin-sample", groups, modules)
    (root / PACKAGE / "__init__.py").write_text("")
    splits = (source / "splits.tsv").read_bytes()
    (root / PACKAGE / "splits.tsv").write_bytes(splits.replace(b"train", b"test", 1))
    recipe = root / PACKAGE / "recipe.py"
    recipe.write_text(recipe.read_text().replace("key=20", "key=21"))

    stale = stale_pins("primabench-task-pin-sample")
    assert sorted(p.name for p in stale) == ["content_hash", "id_list_sha256"]
    listed = next(p for p in stale if p.name == "id_list_sha256")
    assert listed.new == sha256(splits.replace(b"train", b"test", 1)).hexdigest()

    with pytest.raises(UsageError, match="not installed from a folder"):
        write_pins("primabench-task-pin-sample", stale)
    monkeypatch.setattr("primabench_core.testing.pinning.checkout_of", lambda name: folder)
    written = write_pins("primabench-task-pin-sample", stale)
    assert {p.file for p in written} == {f"src/{PACKAGE}/specs.py"}
    specs = (source / "specs.py").read_text()
    assert all(p.new in specs and p.old not in specs for p in stale)


def test_a_hash_that_stands_nowhere_is_named_and_nothing_is_written(monkeypatch, tmp_path):
    (tmp_path / "specs.py").write_text("old = '" + "a" * 64 + "'\n")
    monkeypatch.setattr("primabench_core.testing.pinning.checkout_of", lambda name: tmp_path)
    pins = [Pin("known", "content_hash", "a" * 64, "b" * 64), Pin("lost", "content_hash", "c" * 64, "d" * 64)]
    with pytest.raises(UsageError, match='lost: content_hash="' + "d" * 64):
        pinning.write_pins("primabench-anything", pins)
    assert "b" * 64 not in (tmp_path / "specs.py").read_text()
