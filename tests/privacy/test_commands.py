"""What the command line prints and writes holds neither the solution's path nor its values."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from primabench_core.cli.main import main


@pytest.fixture
def run(vault, capfd):
    """Runs a command and searches what it prints."""

    def do(*words: object, code: int = 0) -> str:
        found = main([str(word) for word in words])
        printed = capfd.readouterr()
        vault.needles.clean(printed.out, printed.err)
        assert found == code, printed.out + printed.err
        return printed.out

    return do


def written(vault, folder: Path) -> int:
    """Search every file below a folder; how many there were."""
    count = 0
    for path, data in vault.search.held_by(folder):
        assert not vault.needles.in_bytes(data), path
        count += path.is_file()
    return count


def predictions(vault, folder: Path) -> tuple[Path, Path]:
    """Two files of predictions."""
    paths = folder / "a.csv", folder / "b.csv"
    for path, labels in zip(paths, (vault.labels()["label"], ["simple"] * 60), strict=True):
        with path.open("w", newline="") as stream:
            csv.writer(stream).writerows([("id", "label"), *zip(vault.ids, labels, strict=True)])
    return paths


def test_a_working_day(vault, run, tmp_path):
    """Evaluate, compare, report, verify, and look at everything."""
    work = tmp_path / "work"
    work.mkdir()
    a, b = predictions(vault, work)
    for file in (a, b):
        run("evaluate", "--task", "vault_types", "--predictions", file, "--output", file.with_suffix(".json"))
    run("evaluate", "--task", "vault_types", "--predictions", a, "--json", "--ci", "none")
    run("evaluate", "--task", "vault_types", "--baseline", "perfect", "--output", work / "oracle.json")
    run("evaluate", "--task", "vault_types", "--predictions", a, "--metrics", "vault_raises,vault_talks", code=1)
    run("evaluate", "--task", "vault_types", "--predictions", a, "--metrics", "vault_refuses", code=2)
    run("evaluate", "--task", "vault_types", "--predictions", a, "--metrics", "vault_checks", code=2)
    run("evaluate", "--task", "vault_types", "--baseline", "leaky", code=1)
    pair = [work / "a.json", work / "b.json"]
    run("compare", *pair)
    run("compare", *pair, "--predictions", a, b, "--draws", 50)
    run("compare", *pair, "--predictions", a, b, "--draws", 50, "--json")
    run("report", *pair, work / "oracle.json", "--predictions", a, b, "-o", work / "report.html")
    run("verify", work / "a.json")
    run("verify", work / "a.json", "--predictions", a)
    run("verify", work / "oracle.json")
    run("verify", "--dataset", vault.module.KEY)
    run("verify", "--dataset", vault.module.KEY, "--json")
    assert written(vault, work) >= 6
    assert "classes that only the solution names" in (work / "report.html").read_text()


def test_looking_around(vault, run, tmp_path):
    for kind in ("tasks", "datasets", "metrics", "baselines", "benchmarks", "recipes", "plugins"):
        run("list", kind)
    for name in (vault.module.KEY, "vault_types", "vault_values", "vault_talks", "vault_types|perfect"):
        run("show", name)
        run("show", name, "--json")
    run("show", "recipe", vault.module.KEY)
    run("fetch", "--task", "vault_types")
    run("fetch", "--task", "vault_types", "--json")
    for what in ("info", "verify", "clear"):
        run("cache", what)
    run("doctor")
    run("docs", "build", "--output", tmp_path / "docs")
    assert written(vault, tmp_path) > 20


@pytest.mark.parametrize("task", ["vault_types", "vault_values"])
def test_the_demo(vault, run, tmp_path, task, monkeypatch):
    from primabench_core.discovery import names

    if task == "vault_types":  # one baseline raises on purpose
        monkeypatch.setenv("PRIMABENCH_DISABLE", "vault_types|leaky")
        names.refresh()
    run("demo", "--task", task, "--output", tmp_path / "demo")
    assert written(vault, tmp_path) >= 4
    kept = {path.name for path in (tmp_path / "demo").iterdir()}
    assert "perfect.json" in kept
    assert not [name for name in kept if name.startswith("perfect") and name != "perfect.json"]
    names.refresh()


def test_a_build_writes_answers_into_the_private_folder_alone(vault, run, tmp_path):
    store = tmp_path / "store"
    run("build", vault.module.KEY, "--store", store)
    private = store / vault.private.relative_to(vault.store)
    assert private.stat().st_mode & 0o777 == 0o700
    for path, data in vault.search.held_by(store, skip=(private,)):
        assert not vault.needles.in_bytes(data), path


def test_a_remote_store_is_read_without_a_word_about_answers(vault, run, tmp_path, caplog):
    """Libraries below log addresses; those of the private part are not among them."""
    from primabench_core.store import cache

    servers = load_servers(vault)
    server = servers.FileServer(vault.store)
    try:
        run("fetch", "--task", "vault_types", "--store", server.url)
        file, _ = predictions(vault, tmp_path)
        run("evaluate", "--task", "vault_types", "--predictions", file, "--store", server.url, "--ci", "none")
        run("cache", "info")
        run("verify", "--dataset", vault.module.KEY, "--store", server.url)
    finally:
        server.stop()
        for path in list(cache._held):
            import os

            os.close(cache._held.pop(path))
    assert any("private" in path for path, _ in server.asked)  # the answers were fetched, silently
    hidden = tuple((tmp_path / "cache").rglob("private"))
    assert hidden
    for path, data in vault.search.held_by(tmp_path / "cache", skip=hidden):
        assert not vault.needles.in_bytes(data), path
    run("cache", "clear")


def load_servers(vault):
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("privacy_servers", Path(__file__).parents[1] / "store" / "servers.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
