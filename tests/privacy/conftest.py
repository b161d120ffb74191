"""A plugin with a vault, its store, and a net for everything that is logged."""

from __future__ import annotations

import logging
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from attrs import frozen

HERE = Path(__file__).parent
ENTRY_POINTS = """
[primabench.tasks]
vault_types = vault_plugin:TYPES
vault_values = vault_plugin:VALUES
[primabench.datasets]
doe_2020_journal/vault@1.0.0 = vault_plugin:DATASET
[primabench.recipes]
doe_2020_journal/vault@1.0.0 = vault_plugin:RECIPE
[primabench.preparers]
vault_types|doe_2020_journal/vault@1.0.0 = vault_plugin:PREPARE_TYPES
vault_values|doe_2020_journal/vault@1.0.0 = vault_plugin:PREPARE_VALUES
[primabench.metrics]
vault_raises = vault_plugin:VAULT_RAISES
vault_refuses = vault_plugin:VAULT_REFUSES
vault_misuses = vault_plugin:VAULT_MISUSES
vault_checks = vault_plugin:VAULT_CHECKS
vault_talks = vault_plugin:VAULT_TALKS
vault_counts = vault_plugin:VAULT_COUNTS
[primabench.baselines]
vault_types|perfect = vault_plugin:ORACLE
vault_types|leaky = vault_plugin:LEAKY
vault_types|majority = vault_plugin:MAJORITY
vault_values|perfect = vault_plugin:ORACLE_VALUES
vault_values|mean = vault_plugin:MEAN
"""
LOGGERS = ("", "primabench", "zarr", "fsspec", "fsspec.http", "fsspec.local", "distributed", "asyncio", "aiohttp")


@frozen
class Vault:
    """The plugin's module, its store, what must not be found, and the tools that look for it."""

    module: ModuleType
    store: Path
    needles: Any
    search: ModuleType

    @property
    def private(self) -> Path:
        return self.store / "doe_2020_journal" / "output" / "vault" / "v1.0.0" / "private"

    @property
    def ids(self) -> list[str]:
        return self.module.TEST_IDS

    def labels(self) -> dict[str, Any]:
        """Predictions of a model that knows the public classes alone."""
        return {"ids": self.ids, "label": [("plain", "simple", "made up")[i % 3] for i in range(len(self.ids))]}

    @staticmethod
    def load_beside(path: str) -> ModuleType:
        """A module of another folder of tests."""
        return load_beside(HERE.parent / path)

    def values(self) -> dict[str, Any]:
        return {"ids": self.ids, "value": [i / 64 for i in range(len(self.ids))]}


def load_beside(path: Path) -> ModuleType:
    """A module of a test folder (tests are no package)."""
    spec = spec_from_file_location(f"beside_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def built_vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    """The plugin, found as any other, with its dataset built and prepared."""
    from primabench_core.discovery import names
    from primabench_core.store.build import build_dataset

    search = load_beside(HERE / "search.py")
    site, store = Path(tmp_path_factory.mktemp("vault-site")), Path(tmp_path_factory.mktemp("vault-store"))
    shutil.copy(HERE / "vault_plugin.py", site)
    (site / "vault_data").mkdir()
    (site / "vault_data" / "table.txt").write_text("bytes of a source that is not public")
    info = site / "vault_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vault-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        names.refresh()
        module = import_module("vault_plugin")
        build_dataset(module.KEY, store)
        vault = Vault(module, store, None, search)
        yield Vault(module, store, search.Needles(_words(vault), tuple(module.SECRET_VALUES)), search)
    sys.modules.pop("vault_plugin", None)
    names.refresh()


def _words(vault: Vault) -> tuple[str, ...]:
    """Names of answers, the private path, the salt, and every digest that stands in a private manifest alone."""
    import json

    salt = (vault.private / "salt").read_bytes()
    private, public = set(), set()
    for manifest in vault.store.rglob("manifest.json"):
        held = json.loads(manifest.read_text())
        digests = private if vault.private in manifest.parents else public
        digests.add(held.get("root", held.get("content_hash")))
        for entry in held["artifacts"]:
            digests |= {entry["root"], *(o["sha256"] for o in entry["objects"] if "/c/" in f"/{o['path']}")}
    return (
        vault.module.SECRET_CLASS,
        vault.module.SECRET_GROUP,
        "v1.0.0/private",
        "solution.zarr",
        salt.hex(),
        *sorted(private - public),  # ids and inputs have the same bytes on both sides
    )


@pytest.fixture
def vault(built_vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog) -> Iterator[Vault]:
    """The built plugin; whatever the test logs, at any level, is searched at its end."""
    monkeypatch.setenv("PRIMABENCH_STORE", str(built_vault.store))
    monkeypatch.setenv("PRIMABENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for name in LOGGERS:
        caplog.set_level(logging.DEBUG, logger=name)
    yield built_vault
    for phase in ("setup", "call"):
        for record in caplog.get_records(phase):
            built_vault.needles.clean(record.getMessage(), record.args, record.exc_text)
