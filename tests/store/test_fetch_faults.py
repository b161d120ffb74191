"""Faults of a remote store and on the way from it: each is named with its remedy, and nothing half stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from primabench_core.errors import CorruptDataError, MissingDataError, StoreError
from primabench_core.store import attempts, fetching, remote
from primabench_core.store.access import fetch_test, fetch_train, load, open_solution


def _chunk(toy, split: str = "test") -> str:
    """Address below the store of one chunk of a split."""
    folder = toy.version / "toy-p1" / split / "data.zarr" / "depth" / "c"
    return next(p for p in folder.rglob("*") if p.is_file()).relative_to(toy.store).as_posix()


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
