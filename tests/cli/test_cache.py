"""``primabench cache``, ``fetch`` and ``verify --dataset`` on a store that is a zip file."""

from __future__ import annotations

import json

import pytest

from primabench_core.cli.main import main
from primabench_core.store import cache
from primabench_core.store.location import Store
from primabench_core.store.publish import publish

KEY = "primabench_synthetic/cell_type_annotation@1.0.0"


@pytest.fixture(scope="module")
def zipped(tmp_path_factory):
    pytest.importorskip("primabench_task_singlecell", reason="the single-cell plugin is not installed")
    from primabench_core.store.build import build_dataset

    folder = tmp_path_factory.mktemp("zipped")
    build_dataset(KEY, folder / "store")
    publish(Store.at(folder / "store").version(KEY), folder / "data.zip")
    return str(folder / "data.zip")


@pytest.fixture
def fetched(zipped, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PRIMABENCH_CACHE", str(tmp_path / "cache"))
    assert main(["fetch", "--task", "cell_type_annotation", "--dataset", KEY, "--store", zipped, "--json"]) == 0
    paths = json.loads(capsys.readouterr().out)
    yield paths
    for unit in cache.units():
        cache.release(unit.root)


def _out(capsys, *arguments: str, code: int = 0) -> str:
    assert main(list(arguments)) == code
    return capsys.readouterr().out


def test_info_clear_and_verify(fetched, capsys, zipped):
    assert fetched["train"] != fetched["test"]
    text = _out(capsys, "cache", "info")
    assert KEY in text
    assert "open" in text
    found = json.loads(_out(capsys, "cache", "info", "--json"))
    assert found["bytes"] == sum(unit["bytes"] for unit in found["units"]) > 0
    assert json.loads(_out(capsys, "cache", "verify", "--json")) == {"damaged": {}, "passed": True, "verified": 1}
    assert "a process is reading it" in _out(capsys, "cache", "clear", code=1)
    cache.release(cache.units()[0].root)
    assert "removed 1 of 1" in _out(capsys, "cache", "clear", "--dataset", KEY)
    assert json.loads(_out(capsys, "cache", "info", "--json"))["units"] == []


def test_damage_in_the_cache_is_named(fetched, capsys):
    unit = cache.units()[0]
    file = next(p for p in unit.root.rglob("test/data.zarr/**/c/**/*") if p.is_file())
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    text = _out(capsys, "cache", "verify", code=1)
    assert file.relative_to(unit.root).as_posix() in text
    assert "primabench cache clear" in text


def test_parts_of_verify(fetched, zipped, capsys):
    def kinds(*flags: str) -> set[str]:
        out = json.loads(_out(capsys, "verify", "--dataset", KEY, "--store", zipped, "--json", *flags))
        return {check["name"].partition(" ")[0] for check in out["checks"]}

    assert {"objects", "content"} <= kinds()
    assert "content" not in kinds("--objects")
    assert "objects" not in kinds("--content", "--threads", "2")
    assert {"objects", "content"} <= kinds("--content", "--objects")


def test_wrong_use(capsys):
    assert main(["cache"]) == 2
    assert main(["cache", "shrink"]) == 2
    assert main(["verify", "result.json", "--objects"]) == 2
