"""A small plugin that is really found through a dist-info, and a store of its own for each test."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from attrs import define, evolve

from primabench_core.discovery import names

HERE = Path(__file__).parent
SETTINGS = (
    "PRIMABENCH_STORE", "PRIMABENCH_DISABLE", "PRIMABENCH_STRICT", "PRIMABENCH_OFFLINE", "TOY_WAIT",
    "PRIMABENCH_CACHE_LIMIT", "PRIMABENCH_S3_KEY_ID", "PRIMABENCH_S3_SECRET", "PRIMABENCH_S3_REGION",
    "PRIMABENCH_S3_ENDPOINT", "PRIMABENCH_GCS_TOKEN", "PRIMABENCH_GCS_ENDPOINT", "STORAGE_EMULATOR_HOST",
    "HMAC_BOTO_PRIMA_MENTE_BENCHMARK_KEY_ID", "HMAC_BOTO_PRIMA_MENTE_BENCHMARK_SECRET",
    "HMAC_BOTO_PRIMA_MENTE_BENCHMARK_REGION",
)  # fmt: skip

ENTRY_POINTS = """
[primabench.tasks]
toy = toy_plugin:SUPERVISED
toy_groups = toy_plugin:UNSUPERVISED
toy_test_only = toy_plugin:TEST_ONLY
[primabench.datasets]
doe_2020_journal/toy@1.0.0 = toy_plugin:DATASET
[primabench.recipes]
doe_2020_journal/toy@1.0.0 = toy_plugin:RECIPE
[primabench.preparers]
toy|doe_2020_journal/toy@1.0.0 = toy_plugin:PREPARE
toy_groups|doe_2020_journal/toy@1.0.0 = toy_plugin:PREPARE_GROUPS
toy_test_only|doe_2020_journal/toy@1.0.0 = toy_plugin:PREPARE_TEST_ONLY
"""


@define
class Toy:
    """The plugin, where it is installed, and a store."""

    module: ModuleType
    site: Path
    store: Path
    key: str

    @property
    def version(self) -> Path:
        return self.store / "doe_2020_journal" / "output" / "toy" / "v1.0.0"

    def build(self, **options):
        from primabench_core.store.build import build_dataset

        return build_dataset(self.key, self.store, **options)

    def change(self, name: str, **changes) -> None:
        """Put a changed spec in place of one of the plugin's."""
        setattr(self.module, name, evolve(getattr(self.module, name), **changes))
        names.refresh()


@pytest.fixture(scope="session")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the store of the first build of a run is kept; a build takes a second or two, a copy nothing."""
    return tmp_path_factory.mktemp("built") / "store"


@pytest.fixture
def built(toy: Toy, built_once: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    """The plugin with its dataset built, in the store that the environment names."""
    if not built_once.exists():
        toy.build()
        shutil.copytree(toy.store, built_once)
    else:
        shutil.copytree(built_once, toy.store)
    monkeypatch.setenv("PRIMABENCH_STORE", str(toy.store))
    return toy


@pytest.fixture
def cached(built: Toy, monkeypatch: pytest.MonkeyPatch) -> Iterator[Toy]:
    """The built plugin for a test that fetches: waits are short, and what the test held open is let go at its end."""
    from primabench_core.store import attempts, cache

    monkeypatch.delenv("PRIMABENCH_STORE")
    monkeypatch.setattr(attempts, "FIRST_WAIT", 0.01)
    yield built
    for path in list(cache._held):
        os.close(cache._held.pop(path))


@pytest.fixture
def web(cached: Toy) -> Iterator[Any]:
    """The store of the built plugin behind an HTTP server that answers ranges."""
    server = import_module_beside("servers").FileServer(cached.store)
    yield server
    server.stop()


def import_module_beside(name: str) -> ModuleType:
    """A helper module of this folder (tests are no package)."""
    spec = spec_from_file_location(f"store_tests_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Toy]:
    for variable in SETTINGS:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PRIMABENCH_CACHE", str(tmp_path / "cache"))
    site = tmp_path / "site"
    info = site / "toy_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (site / "toy_data").mkdir()
    (site / "toy_data" / "table.txt").write_text("p q r p q r p q r p")
    shutil.copy(HERE / "toy_plugin.py", site)
    monkeypatch.syspath_prepend(str(site))
    names.refresh()
    import toy_plugin

    yield Toy(toy_plugin, site, tmp_path / "store", toy_plugin.KEY)
    for name in ("toy_plugin", "toy_data"):
        sys.modules.pop(name, None)
    monkeypatch.undo()
    names.refresh()
