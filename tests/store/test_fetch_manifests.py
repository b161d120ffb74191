"""Manifests and zips of a remote store that are not to be believed."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest

from primabench_core.errors import CorruptDataError, MissingDataError
from primabench_core.store import cache
from primabench_core.store.access import fetch_data, fetch_test, load, open_solution

VERSION = "doe_2020_journal/output/toy/v1.0.0"


def _forget() -> None:
    """Let go of what this process holds open, as a new process would."""
    for path in list(cache._held):
        os.close(cache._held.pop(path))


def _chunk(toy, split: str = "test") -> str:
    """Address below the store of one chunk of a split."""
    folder = toy.version / "toy-p1" / split / "data.zarr" / "depth" / "c"
    return next(p for p in folder.rglob("*") if p.is_file()).relative_to(toy.store).as_posix()


def test_a_version_that_was_changed_is_an_error(cached, web):
    fetch_test("toy", store=web.url)
    unit = cache.units()[0]
    _forget()
    cache.remove(unit)
    manifest = cached.version / "manifest.json"
    changed = json.loads(manifest.read_text())
    changed["artifacts"][0]["root"] = "0" * 64
    manifest.write_text(json.dumps(changed))
    with pytest.raises(CorruptDataError, match="does not follow from its manifest"):
        fetch_test("toy", store=web.url)
    from primabench_core.store.hashing import dataset_hash

    entries = [(e["view"], e["split"], e["name"], bytes.fromhex(e["root"])) for e in changed["artifacts"]]
    changed["content_hash"] = dataset_hash(entries, bytes.fromhex(changed["solution_root"]))
    manifest.write_text(json.dumps(changed))
    with pytest.raises(CorruptDataError, match="a published version never changes"):
        fetch_test("toy", store=web.url)
    cache.clear()


def test_another_dataset_under_this_name_is_an_error(cached, web):
    manifest = cached.version / "manifest.json"
    manifest.write_text(manifest.read_text().replace("toy@1.0.0", "other@1.0.0"))
    with pytest.raises(CorruptDataError, match="is that of doe_2020_journal/other"):
        fetch_test("toy", store=web.url)


@pytest.mark.parametrize("path", ["../../../../../escape", "/etc/escape", "a/../../b", "c:\\x", ""])
def test_a_path_that_climbs_out_is_refused_before_anything_is_written(cached, web, path):
    manifest = cached.version / "toy-p1" / "manifest.json"
    value = json.loads(manifest.read_text())
    value["artifacts"][0]["objects"][0]["path"] = path
    manifest.write_text(json.dumps(value))
    with pytest.raises(CorruptDataError, match="leads out"):
        fetch_data("toy", store=web.url)
    assert not list(Path(os.environ["PRIMABENCH_CACHE"]).rglob("*escape*"))


def test_a_link_that_leads_out_is_refused(cached, tmp_path):
    file = cached.store / _chunk(cached)
    (tmp_path / "outside").write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(tmp_path / "outside")
    with pytest.raises(CorruptDataError, match="leads out"):
        fetch_data("toy", store=cached.store)


def test_a_manifest_of_1e5_entries_is_read_and_a_missing_one_of_them_named(cached, web):
    manifest = cached.version / "toy-p1" / "manifest.json"
    value = json.loads(manifest.read_text())
    entry = value["artifacts"][1]
    entry["objects"] += [{"path": f"x/c/{i}", "sha256": "0" * 64, "size": 1} for i in range(100_000)]
    manifest.write_text(json.dumps(value))
    with pytest.raises(MissingDataError, match="x/c/"):
        fetch_test("toy", store=web.url)


@pytest.mark.parametrize("inner", ["", "v1.0.0/", f"{VERSION}/"])
def test_a_zip_of_a_version_is_a_store(cached, tmp_path, inner):
    path = tmp_path / "toy.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(cached.version.rglob("*")):
            if file.is_file():
                archive.write(file, f"{inner}{file.relative_to(cached.version).as_posix()}")
    for name in (str(path), f"zip::{path}"):
        _, test = fetch_data("toy", store=name)
        assert load(test) == load(fetch_test("toy", store=cached.store))
    assert open_solution("toy", cached.key, store=str(path)).n == 4
    with pytest.raises(MissingDataError, match="is not there"):
        fetch_test("toy", store=str(tmp_path / "absent.zip"))


def test_a_zip_bomb_is_refused_before_it_is_unpacked(cached, tmp_path):
    path = tmp_path / "bomb.zip"
    victim = _chunk(cached)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(cached.store.rglob("*")):
            name = file.relative_to(cached.store).as_posix()
            if file.is_file() and name != victim:
                archive.write(file, name)
        archive.writestr(victim, b"\0" * (64 << 20))
    with pytest.raises(CorruptDataError, match="depth/c/0"):
        fetch_test("toy", store=str(path))
    huge = tmp_path / "manifest.zip"
    with (
        zipfile.ZipFile(huge, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("manifest.json", "w", force_zip64=True) as out,
    ):
        for _ in range(257):
            out.write(b" " * (1 << 20))
    with pytest.raises(CorruptDataError, match="more than"):
        fetch_test("toy", store=str(huge))
    assert sum(p.stat().st_size for p in Path(os.environ["PRIMABENCH_CACHE"]).rglob("*") if p.is_file()) < 1 << 20


def test_a_damaged_zip(cached, tmp_path):
    path = tmp_path / "toy.zip"
    path.write_bytes(b"PK no zip")
    with pytest.raises(CorruptDataError, match=r"toy\.zip"):
        fetch_test("toy", store=str(path))
