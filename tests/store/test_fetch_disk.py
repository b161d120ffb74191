"""Faults of the disk of the cache, several processes, a killed one."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from primabench_core.errors import StoreError
from primabench_core.store import cache
from primabench_core.store.access import fetch_data, fetch_test, fetch_train, load


def _forget() -> None:
    """Let go of what this process holds open, as a new process would."""
    for path in list(cache._held):
        os.close(cache._held.pop(path))


def _chunk(toy, split: str = "test") -> str:
    """Address below the store of one chunk of a split."""
    folder = toy.version / "toy-p1" / split / "data.zarr" / "depth" / "c"
    return next(p for p in folder.rglob("*") if p.is_file()).relative_to(toy.store).as_posix()


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
