"""What may leave the house: only what is built, licensed and committed, and only once."""

from __future__ import annotations

import subprocess

import pytest
from attrs import evolve

from primabench_core.cli.main import main
from primabench_core.errors import MissingDataError, UsageError, VersionExistsError
from primabench_core.store import release
from primabench_core.store.access import verify_dataset
from primabench_core.store.build import build_dataset
from primabench_core.store.location import MANIFEST
from primabench_core.store.manifest import Manifest, read_manifest

KEY = "primabench_synthetic/cell_type_annotation@1.0.0"
FOLDER = "primabench_synthetic/output/cell_type_annotation/v1.0.0"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = tmp_path_factory.mktemp("store")
    build_dataset(KEY, root)
    return root


@pytest.fixture
def manifest(store):
    return read_manifest(Manifest, store / FOLDER / MANIFEST)


@pytest.fixture
def clean(monkeypatch, manifest):
    """As if it was built from a commit without changes."""
    fixed = evolve(manifest, recipe=evolve(manifest.recipe, commit="a" * 40))
    monkeypatch.setattr(release, "read_manifest", lambda *_: fixed)
    monkeypatch.setattr(release, "checkout_of", lambda _: None)


def test_a_version_arrives_whole_and_is_never_pushed_twice(store, clean, tmp_path):
    release.push(KEY, tmp_path / "other", store)
    assert verify_dataset(KEY, tmp_path / "other").passed
    with pytest.raises(VersionExistsError, match="never written over"):
        release.push(KEY, tmp_path / "other", store)


def test_what_is_not_built_is_named(tmp_path):
    with pytest.raises(MissingDataError, match="primabench build"):
        release.push(KEY, tmp_path / "to", tmp_path / "empty")


def test_a_missing_licence_is_refused(manifest):
    with pytest.raises(UsageError, match="its card"):
        release.check_licence(evolve(manifest, licence=" "))
    from primabench_core.store.manifest import SourceRecord

    bare = SourceRecord(name="table", url="", package="", sha256="0" * 64, size=1, licence="", public=True)
    with pytest.raises(UsageError, match="source 'table'"):
        release.check_licence(evolve(manifest, sources=(bare,)))


def test_a_licence_that_forbids_it_is_heeded(manifest, monkeypatch):
    from primabench_core.spec import RecipeSpec, Source

    source = Source(name="raw", url="https://x.invalid", files=("*",), licence="CC-BY-NC-ND-4.0", redistribute=False)
    monkeypatch.setattr(release, "_recipe", lambda key: RecipeSpec(dataset=key, build="m:f", sources=(source,)))
    with pytest.raises(UsageError, match="CC-BY-NC-ND"):
        release.check_licence(manifest)


def test_a_build_from_changed_files_is_refused(manifest):
    dirty = evolve(manifest, recipe=evolve(manifest.recipe, commit="a" * 40 + "-dirty"))
    with pytest.raises(UsageError, match="not committed"):
        release.check_code(dirty)


def test_a_working_copy_that_changed_since_is_refused(manifest, monkeypatch, tmp_path):
    def git(*words):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True, capture_output=True)

    git("init")
    (tmp_path / "recipe.py").write_text("1\n")
    git("add", "recipe.py")
    git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-m", "first")
    monkeypatch.setattr(release, "checkout_of", lambda _: tmp_path)
    built = evolve(manifest, recipe=evolve(manifest.recipe, commit="a" * 40))
    release.check_code(built)
    (tmp_path / "new.py").write_text("2\n")
    with pytest.raises(UsageError, match=r"new\.py"):
        release.check_code(built)


def test_the_command_pushes_and_refuses(store, clean, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PRIMABENCH_STORE", str(store))
    assert main(["push", KEY, "--to", str(tmp_path / "there")]) == 0
    assert "published" in capsys.readouterr().out
    assert main(["push", KEY, "--to", str(tmp_path / "there")]) == 2
    assert "never written over" in capsys.readouterr().err
    assert main(["push", KEY]) == 2
