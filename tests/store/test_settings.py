"""Settings, addresses of stores, and what the cache does with its size."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from primabench_core.errors import CorruptDataError, StoreError, UsageError
from primabench_core.store import cache
from primabench_core.store.access import fetch_data, fetch_test, load, open_solution
from primabench_core.store.address import Address
from primabench_core.store.location import Store
from primabench_core.store.settings import offline, parse_env, setting


def test_a_project_file_is_read_and_the_environment_wins(toy, tmp_path, monkeypatch):
    project = tmp_path / "project"
    (project / "deep" / "deeper").mkdir(parents=True)
    (project / ".git").mkdir()
    (project / ".env").write_text(f"PRIMABENCH_STORE='{tmp_path}/from file'\nPATH=/evil\nPRIMABENCH_OFFLINE=1 # note\n")
    monkeypatch.chdir(project / "deep" / "deeper")
    assert Store.at().root == tmp_path / "from file"
    assert offline()
    assert setting("PATH") == os.environ["PATH"]
    assert "PRIMABENCH_STORE" not in os.environ
    monkeypatch.setenv("PRIMABENCH_STORE", str(tmp_path / "named"))
    assert Store.at().root == tmp_path / "named"
    (project / ".env").write_text("PRIMABENCH_OFFLINE=0\n")
    assert not offline()


def test_a_file_beyond_the_project_is_not_read(toy, tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("PRIMABENCH_OFFLINE=1\n")
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    monkeypatch.chdir(project)
    assert not offline()


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("PRIMABENCH_X=a b", "a b"),
        ("export PRIMABENCH_X = a", "a"),
        ('PRIMABENCH_X="a # b" # c', "a # b"),
        ("PRIMABENCH_X=a#b", "a#b"),
        ("PRIMABENCH_X=", ""),
        ("PRIMABENCH_X=# nothing", ""),
        ("PRIMABENCH_X=a=b+/c==", "a=b+/c=="),
        ("PRIMABENCH_X='unclosed", "'unclosed"),
        ("PRIMABENCH_X=$HOME", "$HOME"),
    ],
)
def test_lines_of_a_project_file(line, value):
    assert parse_env(line) == {"PRIMABENCH_X": value}


def test_other_names_and_nonsense_are_left_alone():
    assert parse_env("A=1\n# PRIMABENCH_X=1\nPRIMABENCH X=1\n=\n\n") == {}


def test_an_unreadable_project_file_is_named(toy, tmp_path, monkeypatch):
    (tmp_path / ".env").write_bytes(b"PRIMABENCH_X=\xff\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match=r"\.env"):
        setting("PRIMABENCH_X")


@pytest.mark.parametrize(
    ("text", "kind", "url"),
    [
        ("gs://b/p/", "gs", "gs://b/p"),
        ("gcs://b", "gs", "gs://b"),
        ("s3://b//p", "s3", "s3://b/p"),
        ("https://h:8/p", "http", "https://h:8/p"),
        ("zip::/a/b.zip", "zip", "zip::/a/b.zip"),
        ("/a/b.ZIP", "zip", "zip::/a/b.ZIP"),
        ("zip::file:///a/b.zip", "zip", "zip::/a/b.zip"),
        ("/a/b", "file", "/a/b"),
        ("file:///a/b", "file", "/a/b"),
    ],
)
def test_addresses(text, kind, url):
    assert Address.of(text) == Address(kind, url)


def test_a_folder_that_is_called_like_a_zip_is_a_folder(tmp_path):
    (tmp_path / "x.zip").mkdir()
    assert Address.of(tmp_path / "x.zip").is_local


@pytest.mark.parametrize("text", ["https://user:canary@h/p", "https://canary@h/p", "s3://key:canary@b"])
def test_an_address_with_a_password_is_refused_without_showing_it(text):
    with pytest.raises(UsageError) as caught:
        Address.of(text)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("text", ["gs://", "https://h/p?sig=canary", "gs://b/../c", "https://h/#canary"])
def test_addresses_that_cannot_be(text):
    with pytest.raises(UsageError) as caught:
        Address.of(text)
    assert "canary" not in str(caught.value)


def test_an_unknown_scheme_and_a_build_into_a_bucket(toy):
    with pytest.raises(StoreError, match="ftp"):
        Address.of("ftp://h/p")
    with pytest.raises(StoreError, match="works in a folder"):
        Store.at("gs://bucket/x")


@pytest.mark.parametrize(
    ("text", "size"), [("10", 10), ("1.5kB", 1500), ("2 GiB", 2 << 30), ("3T", 3 * 10**12), ("", None)]
)
def test_sizes(text, size, monkeypatch):
    monkeypatch.setenv("PRIMABENCH_CACHE_LIMIT", text)
    assert cache.size_limit() == size


@pytest.mark.parametrize("text", ["-1", "big", "1 XB", "1e3"])
def test_sizes_that_are_none(text, monkeypatch):
    monkeypatch.setenv("PRIMABENCH_CACHE_LIMIT", text)
    with pytest.raises(UsageError, match="expected a size"):
        cache.size_limit()


@pytest.fixture
def zips(cached, tmp_path):
    """Three stores with the same version, each of which becomes a unit of the cache."""
    from primabench_core.store.publish import publish

    paths = [tmp_path / f"{i}.zip" for i in range(3)]
    for path in paths:
        publish(cached.version, path)
    return paths


def _forget() -> None:
    for path in list(cache._held):
        os.close(cache._held.pop(path))


def test_the_least_recently_used_unit_goes_first(zips, monkeypatch):
    for age, path in ((300, zips[0]), (100, zips[1])):
        fetch_data("toy", store=path)
        unit = next(u for u in cache.units() if u.origin.store.endswith(path.name))
        now = unit.root.with_name(f"{unit.root.name}.use").stat().st_mtime - age
        os.utime(unit.root.with_name(f"{unit.root.name}.use"), (now, now))
    assert [u.origin.store[-5:] for u in cache.units()] == ["0.zip", "1.zip"]
    _forget()
    monkeypatch.setenv("PRIMABENCH_CACHE_LIMIT", str(int(cache.units()[0].size * 2.3)))
    test = fetch_data("toy", store=zips[2])[1]
    assert [u.origin.store[-5:] for u in cache.units()] == ["1.zip", "2.zip"]
    assert load(test).load().n == 4
    fetch_data("toy", store=zips[0])  # and it comes back when it is asked for
    assert len(cache.units()) >= 2


def test_what_a_process_reads_is_never_evicted(zips, monkeypatch, caplog, toy):
    code = f"""
import sys
sys.path.insert(0, {str(toy.site)!r})
from primabench_core.store.access import fetch_data
fetch_data("toy", store={str(zips[0])!r})
print("open", flush=True)
sys.stdin.read()
"""
    reader = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert reader.stdout.readline() == "open\n"
    monkeypatch.setenv("PRIMABENCH_CACHE_LIMIT", "1")
    fetch_data("toy", store=zips[1])
    assert len(cache.units()) == 2
    assert "in use" in caplog.text
    _forget()
    removed, left = cache.clear()
    assert [u.origin.store[-5:] for u in removed] == ["1.zip"]
    assert [u.origin.store[-5:] for u in left] == ["0.zip"]
    reader.communicate("")
    assert not cache.units()[0].is_open
    assert cache.clear()[1] == []
    assert cache.units() == []


def test_clear_takes_one_dataset_or_store(zips):
    for path in zips[:2]:
        fetch_test("toy", store=path)
    _forget()
    assert cache.clear(dataset="a/b@1.0.0") == ([], [])
    assert len(cache.clear(store=str(zips[0]))[0]) == 1
    assert [u.origin.store[-5:] for u in cache.units()] == ["1.zip"]


def test_verify_finds_damage_in_the_cache(zips):
    fetch_data("toy", store=zips[0])
    open_solution("toy", cache.units()[0].origin.dataset, store=zips[0])
    unit = cache.units()[0]
    assert cache.verify(unit) == ""
    hidden = next(p for p in unit.root.rglob("private/**/c/*") if p.is_file())
    whole = hidden.read_bytes()
    hidden.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert cache.verify(unit) == "an object of the private part"
    hidden.write_bytes(whole)
    file = next(p for p in unit.root.rglob("test/data.zarr/depth/c/*") if p.is_file())
    file.write_bytes(file.read_bytes()[::-1])
    assert "test/data.zarr/depth/c/0" in cache.verify(unit)


def test_a_unit_whose_mark_is_damaged_is_named(zips):
    fetch_test("toy", store=zips[0])
    mark = next(Path(os.environ["PRIMABENCH_CACHE"]).rglob(".origin.json"))
    mark.write_text("{")
    with pytest.raises(CorruptDataError, match="fetch again"):
        cache.units()
