"""Fetching from a remote store: what arrives is whole and verified, is asked for once, and faults name their object."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

import primabench_core as pb
from primabench_core.errors import CorruptDataError, MissingDataError, StoreError, UsageError
from primabench_core.spec import MetricUse
from primabench_core.store import attempts, cache, fetching, remote
from primabench_core.store.access import (
    dataset_content_hash,
    fetch_data,
    fetch_test,
    fetch_train,
    load,
    open_solution,
    solution_salt,
    verify_dataset,
)
from primabench_core.store.prepare import prepare
from primabench_core.store.writing import Layout

VERSION = "doe_2020_journal/output/toy/v1.0.0"


def _forget() -> None:
    """Let go of what this process holds open, as a new process would."""
    for path in list(cache._held):
        os.close(cache._held.pop(path))


def _chunk(toy, split: str = "test") -> str:
    """Address below the store of one chunk of a split."""
    folder = toy.version / "toy-p1" / split / "data.zarr" / "depth" / "c"
    return next(p for p in folder.rglob("*") if p.is_file()).relative_to(toy.store).as_posix()


def test_splits_equal_those_of_the_local_store(cached, web):
    train, test = fetch_data("toy", store=web.url)
    assert Path(os.environ["PRIMABENCH_CACHE"]) in train.parents
    local_train, local_test = fetch_data("toy", store=cached.store)
    assert load(train, task="toy", split="train") == load(local_train)
    assert load(test, task="toy", split="test") == load(local_test)
    assert dataset_content_hash(cached.key, store=web.url) == dataset_content_hash(cached.key, store=cached.store)
    assert not any("private" in path for path, _ in web.asked)


def test_the_environment_names_the_store(cached, web, monkeypatch):
    monkeypatch.setenv("PRIMABENCH_STORE", f"{web.url}/")
    assert pb.load(pb.fetch_test("toy"), task="toy").n == 4


def test_what_is_here_is_not_asked_for_again_not_even_for_being_current(cached, web):
    first = fetch_data("toy", store=web.url)
    before = len(web.asked)
    assert fetch_data("toy", store=web.url) == first
    assert load(first[1]).load().n == 4
    assert len(web.asked) == before
    web.stop()
    assert fetch_data("toy", store=web.url) == first


def test_only_the_split_that_is_asked_for_comes(cached, web):
    fetch_test("toy", store=web.url)
    assert not any("/train/" in path for path, _ in web.asked)
    fetch_train("toy", store=web.url)
    assert any("/train/" in path for path, _ in web.asked)


def test_progress_counts_bytes_up_to_the_total(cached, web):
    seen = []
    fetch_data("toy", store=web.url, progress=lambda *step: seen.append(step))
    assert seen[0][1] == 0
    assert seen[-1][1] == seen[-1][2] > 0
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)


def test_offline_uses_the_cache_and_dials_nobody(cached, web, monkeypatch):
    monkeypatch.setenv("PRIMABENCH_OFFLINE", "1")
    with pytest.raises(StoreError, match="PRIMABENCH_OFFLINE forbids"):
        fetch_data("toy", store=web.url)
    monkeypatch.delenv("PRIMABENCH_OFFLINE")
    test = fetch_test("toy", store=web.url)
    asked = len(web.asked)
    monkeypatch.setenv("PRIMABENCH_OFFLINE", "1")
    assert fetch_test("toy", store=web.url) == test
    with pytest.raises(StoreError, match="PRIMABENCH_OFFLINE forbids"):
        fetch_train("toy", store=web.url)
    assert len(web.asked) == asked


def test_lazy_brings_metadata_then_the_chunks_that_are_read_and_keeps_them(cached, web):
    test = fetch_test("toy", store=web.url, lazy=True)
    assert all(path.endswith(".json") for path, _ in web.asked)
    data = load(test, task="toy", split="test")
    assert data.n == 4
    assert not any("/c/" in path for path, _ in web.asked)
    depth = data.fields["depth"][1:3]
    assert {path.split("data.zarr/")[1].split("/")[0] for path, _ in web.asked if "/c/" in path} == {"depth"}
    asked = len(web.asked)
    assert (load(test).fields["depth"][1:3] == depth).all()
    assert len(web.asked) == asked
    assert load(test) == load(fetch_test("toy", store=cached.store))


def test_lazy_ranges_of_large_objects_are_kept_apart_and_checked(cached, web, monkeypatch):
    from primabench_core.store import chunks

    monkeypatch.setattr(chunks, "WHOLE_BYTES", 0)
    shutil.rmtree(cached.version / "toy-p1")
    prepare("toy", cached.key, cached.store, layout=Layout(chunk_bytes=16, shard_bytes=1 << 20))  # two rows a chunk
    local = load(fetch_test("toy", store=cached.store))
    test = fetch_test("toy", store=web.url, lazy=True)
    assert load(test).fields["depth"][1] == local.fields["depth"][1]
    spans = [span for path, span in web.asked if "/c/" in path]
    assert spans
    assert all(spans)
    asked = len(web.asked)
    assert load(test).fields["depth"][0] == local.fields["depth"][0]  # the same chunk
    assert len(web.asked) == asked
    kept = [p for p in (cache.units()[0].root / ".chunks").rglob("*") if p.is_file()]
    assert kept
    for path in kept:  # a damaged copy is found by the checksum of the chunk
        path.write_bytes(bytes(b ^ 0xFF for b in path.read_bytes()))
    with pytest.raises(CorruptDataError):
        load(test).fields["depth"][1]
    assert load(fetch_test("toy", store=web.url)) == local


def test_lazy_then_whole_completes_what_is_missing(cached, web):
    fetch_test("toy", store=web.url, lazy=True)
    test = fetch_test("toy", store=web.url)
    web.stop()
    assert load(test).load().n == 4


def test_the_solution_comes_only_for_the_runner_into_a_private_folder(cached, web):
    fetch_data("toy", store=web.url)
    solution = open_solution("toy", cached.key, store=web.url)
    assert solution == open_solution("toy", cached.key, store=cached.store)
    assert solution_salt(cached.key, store=web.url) == solution_salt(cached.key, store=cached.store)
    folders = [p for p in Path(os.environ["PRIMABENCH_CACHE"]).rglob("private") if p.is_dir()]
    assert len(folders) == 1
    assert stat.S_IMODE(folders[0].stat().st_mode) == 0o700
    with pytest.raises((UsageError, MissingDataError)):
        load(next(folders[0].rglob("solution.zarr")), task="toy", split="test")


def test_splits_that_the_store_has_not_are_prepared_here_from_all_views(cached, web):
    shutil.rmtree(cached.version / "toy-p1")
    _, test = fetch_data("toy", store=web.url)
    assert load(test).n == 4
    assert open_solution("toy", cached.key, store=web.url).n == 4
    asked = len(web.asked)
    fetch_data("toy", store=web.url)
    assert len(web.asked) == asked + 0


def test_an_evaluation_runs_on_a_remote_store(cached, web):
    solution = open_solution("toy", cached.key, store=web.url)
    cached.change("SUPERVISED", metrics=(MetricUse("accuracy"),))
    pytest.importorskip("primabench_metrics", reason="the metrics plugin is not installed")
    run = pb.Evaluation("toy", store=web.url)
    run.update(ids=list(solution.ids), label=solution["label"])
    result = run.compute()
    assert result["accuracy"].value == 1.0


@pytest.mark.parametrize("damage", ["truncated", "flipped", "missing"])
def test_a_damaged_object_is_named_and_nothing_of_it_stays(cached, web, damage):
    path = _chunk(cached)
    file = cached.store / path
    if damage == "truncated":
        file.write_bytes(file.read_bytes()[:-3])
    elif damage == "flipped":
        file.write_bytes(bytes([file.read_bytes()[0] ^ 1]) + file.read_bytes()[1:])
    else:
        file.unlink()
    kind = MissingDataError if damage == "missing" else CorruptDataError
    with pytest.raises(kind, match="depth/c/0") as caught:
        fetch_test("toy", store=web.url)
    assert caught.value.remedy
    _no_unfinished(path)


def _no_unfinished(path: str) -> None:
    root = Path(os.environ["PRIMABENCH_CACHE"])
    assert not list(root.rglob("*.part"))
    assert not [p for p in root.rglob("*") if p.is_file() and p.as_posix().endswith(path)]


def test_a_fault_at_a_private_object_shows_no_place(cached, web):
    file = next(p for p in (cached.version / "private" / "toy-p1").rglob("label/**/c/*") if p.is_file())
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(CorruptDataError) as caught:
        open_solution("toy", cached.key, store=web.url)
    for secret in ("private/", "solution.zarr", cached.module.CANARY):
        assert secret not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("status", "kind", "text"),
    [(403, StoreError, "access is refused"), (404, MissingDataError, "not there"), (400, StoreError, "status 400")],
)
def test_a_lasting_refusal_is_not_tried_again(cached, web, status, kind, text):
    path = _chunk(cached)
    web.faults = lambda asked, count: (status, 0, 0) if asked == path else None
    with pytest.raises(kind, match=text) as caught:
        fetch_test("toy", store=web.url)
    assert path in str(caught.value)
    assert web.counts[path] == 1


def test_a_passing_fault_is_tried_again(cached, web):
    web.faults = lambda path, count: (500 + 3 * (count % 2), 0, 0) if count < 3 else None
    assert load(fetch_test("toy", store=web.url)).load().n == 4


def test_a_connection_that_breaks_is_tried_again_and_a_store_that_stays_down_is_named(cached, web):
    path = _chunk(cached)
    web.faults = lambda asked, count: (200, 0, 5) if asked == path and count < 3 else None
    test = fetch_test("toy", store=web.url)
    assert load(test).load().n == 4
    web.faults = lambda asked, count: (503, 0, 0)
    with pytest.raises(StoreError, match=rf"the store failed {attempts.ATTEMPTS} times .status 503."):
        fetch_train("toy", store=web.url)


def test_a_slow_store_is_waited_for_and_a_silent_one_is_not(cached, web, monkeypatch):
    web.faults = lambda path, count: (200, 0.05, 0)
    assert fetch_test("toy", store=web.url).is_dir()
    monkeypatch.setattr(remote, "TIMEOUT", 0.1)
    monkeypatch.setattr(attempts, "ATTEMPTS", 2)
    web.faults = lambda path, count: (200, 1.0, 0)
    with pytest.raises(StoreError, match="no answer in time, 2 times"):
        fetch_train("toy", store=web.url)


def test_nobody_there(cached, monkeypatch):
    monkeypatch.setattr(attempts, "ATTEMPTS", 2)
    with pytest.raises(StoreError, match="the store failed 2 times"):
        fetch_test("toy", store="http://127.0.0.1:9")


def test_a_server_that_ignores_ranges_is_refused_where_it_matters(cached, web, monkeypatch):
    server = type(web)(cached.store, ranges=False)
    try:
        assert load(fetch_test("toy", store=server.url)).load().n == 4
        monkeypatch.setattr(fetching, "RANGE_BYTES", 10)
        with pytest.raises(StoreError, match="ignores Range requests"):
            fetch_train("toy", store=server.url)
    finally:
        server.stop()


def test_objects_come_in_ranges_of_bounded_size(cached, web, monkeypatch):
    monkeypatch.setattr(fetching, "RANGE_BYTES", 100)
    assert load(fetch_test("toy", store=web.url)).load().n == 4
    spans = [span.removeprefix("bytes=").split("-") for path, span in web.asked if "data.zarr" in path]
    assert max(int(last) - int(first) for first, last in spans) == 99


def test_a_store_that_moved_is_followed_or_named(cached, web):
    web.moved = "new/place"
    assert load(fetch_test("toy", store=web.url)).load().n == 4
    with pytest.raises(MissingDataError, match="if the store has moved"):
        fetch_test("toy", store=f"{web.url}/new/place/elsewhere")


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


def test_a_full_disk_is_named_before_and_while_writing(cached, web, monkeypatch):
    usage = shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(path)._replace(free=10))
    with pytest.raises(StoreError, match="its disk has 10 left") as caught:
        fetch_test("toy", store=web.url)
    assert "PRIMABENCH_CACHE" in caught.value.remedy
    monkeypatch.setattr(shutil, "disk_usage", usage)
    real = Path.open

    class Full:
        def __init__(self, stream):
            self.stream = stream

        def __enter__(self):
            return self

        def __exit__(self, *what):
            self.stream.close()

        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(
        Path, "open", lambda self, *a, **k: Full(real(self, *a, **k)) if self.suffix == ".part" else real(self, *a, **k)
    )
    with pytest.raises(StoreError, match="No space left") as caught:
        fetch_test("toy", store=web.url)
    assert "PRIMABENCH_CACHE" in caught.value.remedy
    monkeypatch.setattr(Path, "open", real)
    assert load(fetch_test("toy", store=web.url)).load().n == 4


def test_a_read_only_cache_serves_what_it_has_and_names_itself_otherwise(cached, web, monkeypatch):
    test = fetch_test("toy", store=web.url)
    _forget()
    root, real_open, real_mkdir = os.environ["PRIMABENCH_CACHE"], os.open, Path.mkdir

    def refuse(path):
        if str(path).startswith(root):
            raise OSError(errno.EROFS, "Read-only file system", str(path))

    def fake_open(path, flags, *rest, **more):
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            refuse(path)
        return real_open(path, flags, *rest, **more)

    def fake_mkdir(self, *a, **k):
        refuse(self)
        return real_mkdir(self, *a, **k)

    monkeypatch.setattr(os, "open", fake_open)
    monkeypatch.setattr(os, "utime", lambda path, *a: refuse(path))
    monkeypatch.setattr(Path, "mkdir", fake_mkdir)
    assert fetch_test("toy", store=web.url) == test
    assert load(test).load().n == 4
    with pytest.raises(StoreError, match="Read-only") as caught:
        fetch_train("toy", store=web.url)
    assert "PRIMABENCH_CACHE" in caught.value.remedy


FETCH = """
import sys
sys.path.insert(0, {site!r})
from primabench_core.store import fetching
fetching.RANGE_BYTES = 200
from primabench_core.store.access import fetch_data, load
for path in fetch_data("toy", store={url!r}):
    print(load(path).load().n)
"""


def _fetching(toy, web) -> subprocess.Popen[str]:
    code = FETCH.format(site=str(toy.site), url=web.url)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_fetch_each_object_once(cached, web):
    web.faults = lambda path, count: (200, 0.002, 0)
    running = [_fetching(cached, web) for _ in range(2)]
    for process in running:
        out, err = process.communicate(timeout=120)
        assert out.split() == ["6", "4"], err
    fetched = [(path, span) for path, span in web.asked if "data.zarr" in path]
    assert len(fetched) == len(set(fetched))


def test_a_process_killed_while_fetching_harms_nobody_and_finished_objects_are_kept(cached, web):
    def slow_at_the_end(path, count):
        return (200, 30, 0) if path == slow[0] else None

    slow = [_chunk(cached, "train")]
    web.faults = slow_at_the_end
    process = _fetching(cached, web)
    end = time.monotonic() + 60
    while time.monotonic() < end and web.counts[slow[0]] == 0:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    web.faults = lambda path, count: None
    before = {path for path, _ in web.asked if "data.zarr" in path}
    kept = {
        p.as_posix().split("output/")[1]
        for p in Path(os.environ["PRIMABENCH_CACHE"]).rglob("data.zarr/**/*")
        if p.is_file()
    }
    assert kept
    web.asked.clear()
    train, test = fetch_data("toy", store=web.url)
    assert (load(train).load().n, load(test).load().n) == (6, 4)
    again = {path.split("output/")[1] for path, _ in web.asked if "data.zarr" in path}
    assert not again & kept
    assert before


def test_verify_reads_everything_and_names_a_damaged_object(cached, web):
    report = verify_dataset(cached.key, store=web.url, threads=2)
    assert report.passed, report.first_bad
    assert len([c for c in report.checks if c.name.startswith("content")]) > 4
    seen = []
    only = verify_dataset(cached.key, store=cached.store, objects=False, progress=lambda *step: seen.append(step))
    assert only.passed
    assert not [c for c in only.checks if c.name.startswith("objects")]
    assert seen[-1][1] == seen[-1][2]


def test_verify_without_the_right_to_read_the_private_part_checks_the_rest(cached, web):
    web.faults = lambda path, count: (403, 0, 0) if "/private/" in path else None
    report = verify_dataset(cached.key, store=web.url)
    assert report.passed
    assert [c.status for c in report.checks if c.name == "private part"] == ["skipped"]
    with pytest.raises(StoreError, match="the private part of the dataset: access is refused"):
        open_solution("toy", cached.key, store=web.url)


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
