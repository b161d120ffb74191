"""Fetching from a remote store: what comes, what is kept, what is not asked for again."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

import primabench_core as pb
from primabench_core.errors import CorruptDataError, MissingDataError, StoreError, UsageError
from primabench_core.spec import MetricUse
from primabench_core.store import cache
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
