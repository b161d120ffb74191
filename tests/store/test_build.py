"""Building: staged, complete or absent, never written over, the solution apart."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

import pytest
from attrs import evolve

from primabench_core.discovery import names
from primabench_core.errors import (
    CorruptDataError,
    MissingDataError,
    MissingPluginError,
    PluginError,
    StoreError,
    UnknownNameError,
    VersionExistsError,
)
from primabench_core.spec import Source
from primabench_core.store import zarr_io
from primabench_core.store.access import dataset_manifest, solution_salt, verify_dataset
from primabench_core.store.writing import Layout


def files_of(folder: Path) -> dict[str, str]:
    files = (p for p in folder.rglob("*") if p.is_file())
    return {p.relative_to(folder).as_posix(): sha256(p.read_bytes()).hexdigest() for p in files}


def test_a_build_is_complete_and_verifies(toy):
    steps = []
    manifest = toy.build(progress=lambda *step: steps.append(step))
    assert manifest == dataset_manifest(toy.key, toy.store)
    assert verify_dataset(toy.key, toy.store).passed
    assert [(e.view, e.n) for e in manifest.artifacts] == [("censored", 10)]
    assert {p.name for p in toy.version.iterdir()} == {
        "manifest.json", "censored", "private", "toy-p1", "toy_groups-p1", "toy_test_only-p1",
    }  # fmt: skip
    assert {p.name for p in toy.version.parent.iterdir()} == {"v1.0.0", ".v1.0.0.lock"}
    assert steps
    assert all(done <= total for _, done, total in steps)


def test_the_same_build_writes_the_same_bytes_elsewhere(toy, tmp_path):
    first = toy.build()
    toy.store = tmp_path / "other"
    second = toy.build()
    assert first == second
    assert files_of(tmp_path / "store" / "doe_2020_journal") == files_of(toy.store / "doe_2020_journal")


@pytest.mark.parametrize(("chunk", "shard", "threads"), [(8, 8, 1), (16, 64, 2), (1 << 20, 1 << 20, 3)])
def test_chunks_shards_and_threads_leave_the_content_hash_alone(toy, tmp_path, chunk, shard, threads):
    expected = toy.build().content_hash
    toy.store = tmp_path / "other"
    found = toy.build(layout=Layout(chunk_bytes=chunk, shard_bytes=shard, threads=threads))
    assert found.content_hash == expected
    assert verify_dataset(toy.key, toy.store, threads=threads).passed


def test_a_version_is_never_written_over(toy):
    toy.build()
    before = files_of(toy.version)
    with pytest.raises(VersionExistsError, match="never written over"):
        toy.build()
    assert files_of(toy.version) == before
    assert toy.build(exist_ok=True) == dataset_manifest(toy.key, toy.store)


def test_a_folder_without_manifest_is_no_dataset_and_is_not_touched(toy):
    toy.version.mkdir(parents=True)
    with pytest.raises(MissingDataError):
        dataset_manifest(toy.key, toy.store)
    for options in ({}, {"exist_ok": True}):
        with pytest.raises(VersionExistsError, match=r"has no manifest\.json"):
            toy.build(**options)


@pytest.mark.parametrize("fault", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_build_leaves_nothing(toy, monkeypatch, fault):
    real, calls = zarr_io.write, []

    def write(*args, **options):
        calls.append(args)
        if len(calls) == 2:
            raise fault
        real(*args, **options)

    monkeypatch.setattr("primabench_core.store.writing.write", write)
    with pytest.raises(fault):
        toy.build()
    assert [p.name for p in toy.version.parent.iterdir()] == [".v1.0.0.lock"]
    monkeypatch.undo()


def _run(toy, code: str, **environment) -> subprocess.Popen:
    env = {**os.environ, "PYTHONPATH": str(toy.site), "PRIMABENCH_STORE": str(toy.store), **environment}
    return subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


BUILD = "from primabench_core.store.build import build_dataset; build_dataset('doe_2020_journal/toy@1.0.0')"


def test_a_killed_build_is_no_dataset_and_the_next_one_cleans_up(toy):
    process = _run(toy, BUILD, TOY_WAIT="60")
    try:
        for _ in range(600):
            if list(toy.version.parent.glob(".staging-*/work/begun")):
                break
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert list(toy.version.parent.glob(".staging-*"))
    with pytest.raises(MissingDataError):
        dataset_manifest(toy.key, toy.store)
    toy.build()
    assert not list(toy.version.parent.glob(".staging-*"))
    assert verify_dataset(toy.key, toy.store).passed


def test_two_processes_that_build_at_once_take_turns(toy):
    both = [_run(toy, BUILD, TOY_WAIT="0.5") for _ in range(2)]
    errors = [process.communicate(timeout=120)[1].decode() for process in both]
    assert sorted(process.returncode for process in both) == [0, 1]
    assert "VersionExistsError" in "".join(errors)
    assert verify_dataset(toy.key, toy.store).passed


def test_a_pinned_hash_must_be_reached(toy):
    reached = toy.build().content_hash
    toy.store = toy.store.with_name("pinned")
    toy.change("DATASET", content_hash="0" * 64)
    with pytest.raises(CorruptDataError) as caught:
        toy.build()
    assert "0" * 64 in str(caught.value)
    assert reached in str(caught.value)
    assert not toy.version.exists()


def test_a_changed_source_is_refused_with_both_checksums(toy):
    source = toy.module.RECIPE.sources[0]
    toy.change("RECIPE", sources=(evolve(source, sha256="1" * 64),))
    with pytest.raises(CorruptDataError) as caught:
        toy.build()
    assert "1" * 64 in str(caught.value)
    assert sha256((toy.site / "toy_data" / "table.txt").read_bytes()).hexdigest() in str(caught.value)


def test_a_source_of_a_package_that_is_absent_names_the_install_line(toy):
    toy.change("RECIPE", sources=(Source(name="table", package="no-such-dist:no/such"),), requires=())
    with pytest.raises(MissingPluginError, match="pip install no-such-dist"):
        toy.build()


def test_a_missing_requirement_names_the_install_line(toy):
    toy.change("RECIPE", requires=("no-such-dist",))
    with pytest.raises(MissingPluginError, match="pip install no-such-dist"):
        toy.build()


def test_a_source_that_the_package_lost_is_named(toy):
    (toy.site / "toy_data" / "table.txt").unlink()
    with pytest.raises(StoreError, match=r"has no file toy_data/table\.txt"):
        toy.build()


def test_a_url_source_is_read_checked_and_recorded(toy, tmp_path):
    file = tmp_path / "remote.txt"
    file.write_text("p q r p q r p q r p")
    digest = sha256(file.read_bytes()).hexdigest()
    toy.change("RECIPE", sources=(Source(name="table", url=file.as_uri(), sha256=digest),))
    manifest = toy.build()
    assert [(s.sha256, s.url, s.size) for s in manifest.sources] == [(digest, file.as_uri(), 19)]


def test_an_unreachable_source_names_the_checksum_and_the_way_round_it(toy, tmp_path, monkeypatch):
    url = (tmp_path / "absent.txt").as_uri()
    toy.change("RECIPE", sources=(Source(name="table", url=url, sha256="2" * 64),))
    with pytest.raises(StoreError, match="cannot be had") as caught:
        toy.build()
    assert "2" * 64 in str(caught.value)
    assert "sources={'table': FILE}" in str(caught.value)
    monkeypatch.setenv("PRIMABENCH_OFFLINE", "1")
    with pytest.raises(StoreError, match="PRIMABENCH_OFFLINE forbids"):
        toy.build()
    here = tmp_path / "copy.txt"
    here.write_text("p q r p q r p q r p")
    with pytest.raises(CorruptDataError):
        toy.build(sources={"table": here})
    with pytest.raises(StoreError, match="no file"):
        toy.build(sources={"table": tmp_path / "nowhere"})


def test_the_salt_follows_from_public_sources_and_else_is_drawn(toy, tmp_path):
    toy.build()
    digest = sha256((toy.site / "toy_data" / "table.txt").read_bytes()).digest()
    assert solution_salt(toy.key, toy.store) == sha256(digest).digest()
    toy.change("RECIPE", sources=(evolve(toy.module.RECIPE.sources[0], public=False),))
    salts, hashes = set(), set()
    for name in ("a", "b"):
        toy.store = tmp_path / name
        hashes.add(toy.build().content_hash)
        salts.add(solution_salt(toy.key, toy.store))
    assert len(salts) == len(hashes) == 2
    assert all(len(salt) == 32 for salt in salts)


@pytest.mark.skipif(os.name == "nt", reason="modes of folders are POSIX")
def test_private_folders_are_for_their_owner_alone(toy):
    old = os.umask(0o000)
    try:
        toy.build()
    finally:
        os.umask(old)
    for folder in (toy.version / "private", toy.version / "private" / "toy-p1"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_nothing_public_names_or_measures_what_is_private(toy):
    toy.build()
    private = toy.version / "private"
    secrets = {"labelled", "private", toy.module.CANARY, (private / "salt").read_bytes().hex()}
    for entry in json.loads((private / "manifest.json").read_text())["artifacts"]:
        secrets.add(entry["root"])
        secrets |= {stored["sha256"] for stored in entry["objects"] if "zarr.json" not in stored["path"]}
    public = [p for p in toy.version.rglob("*") if p.is_file() and private not in p.parents and "train" not in p.parts]
    shared = {sha256(p.read_bytes()).hexdigest() for p in public}  # ids and expression are public and private alike
    secrets -= shared
    for path in public:
        text = path.read_bytes().decode("utf-8", "replace")
        assert not {secret for secret in secrets if secret in text}, path


@pytest.mark.parametrize(
    ("returned", "complaint"),
    [([], "returned nothing"), (["x"], "returned str"), (None, "TypeError")],
)
def test_a_recipe_that_returns_nonsense_is_named(toy, returned, complaint):
    toy.module.build = lambda context: returned
    with pytest.raises(PluginError, match=complaint) as caught:
        toy.build()
    assert "toy-plugin" in str(caught.value)
    assert not toy.version.exists()


def test_a_recipe_that_returns_one_artifact_twice_is_refused(toy):
    real = toy.module.build
    toy.module.build = lambda context: [*real(context), real(context)[0]]
    with pytest.raises(PluginError, match="twice"):
        toy.build()


def test_ids_that_repeat_are_refused(toy):
    real = toy.module.build

    def build(context):
        parts = real(context)
        return [evolve(part, data=part.data.select([0, 1, 1])) for part in parts]

    toy.module.build = build
    with pytest.raises(PluginError, match="u1"):
        toy.build()


def test_a_raising_recipe_names_its_line(toy):
    def build(context):
        raise ZeroDivisionError("why")

    toy.module.build = build
    with pytest.raises(PluginError, match=r"ZeroDivisionError at test_build\.py:\d+ in build: why"):
        toy.build()


def test_a_broken_preparer_harms_neither_the_dataset_nor_the_others(toy, caplog):
    def prepare(data):
        raise ValueError(toy.module.CANARY)

    toy.module.prepare_groups = prepare
    toy.build()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "toy_groups" in caplog.text
    assert toy.module.CANARY not in caplog.text
    assert (toy.version / "toy-p1").is_dir()


def test_an_unknown_key_is_a_usage_error_with_a_suggestion(toy):
    from primabench_core.store.build import build_dataset

    with pytest.raises(UnknownNameError, match=r"Did you mean 'doe_2020_journal/toy@1\.0\.0'"):
        build_dataset("doe_2020_journal/toi@1.0.0", toy.store)
    with pytest.raises(UnknownNameError):
        build_dataset("../../etc/passwd@1.0.0", toy.store)


def test_a_full_disk_is_named_and_leaves_nothing(toy, monkeypatch):
    def write(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("primabench_core.store.writing.write", write)
    with pytest.raises(StoreError, match="No space left on device") as caught:
        toy.build()
    assert "larger disk" in str(caught.value)
    assert [p.name for p in toy.version.parent.iterdir()] == [".v1.0.0.lock"]


def test_a_store_that_is_a_file_is_named(toy, tmp_path):
    toy.store = tmp_path / "file"
    toy.store.write_text("x")
    with pytest.raises(StoreError, match="is a file"):
        toy.build()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_store_is_named(toy):
    toy.store.mkdir(mode=0o500)
    with pytest.raises(StoreError, match="folder that you may write to"):
        toy.build()


def test_a_read_only_disk_is_named(toy, monkeypatch):
    def mkdir(self, *args, **options):
        raise OSError(30, "Read-only file system", str(self))

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with pytest.raises(StoreError, match="the disk is read-only"):
        toy.build()


def test_a_remote_store_says_that_it_cannot_be_reached(toy):
    toy.store = "gs://bucket/path"
    with pytest.raises(StoreError, match="PRIMABENCH_STORE"):
        toy.build()


def test_two_owners_of_one_key_are_told_apart_by_their_distribution(toy):
    info = toy.site / "toy_fork-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-fork\nVersion: 1.0\n")
    groups = ("datasets", "recipes")
    lines = [f"[primabench.{g}]\n{toy.key} = toy_plugin:{g[:-1].upper()}\n" for g in groups]
    (info / "entry_points.txt").write_text("".join(lines))
    names.refresh()
    with pytest.raises(PluginError, match="toy-fork"):
        toy.build()
    toy.key = "toy-plugin:" + toy.key
    assert toy.build().recipe.distribution == "toy-plugin"
