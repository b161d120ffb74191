"""A store with the synthetic data of one task, built once, and a way to run the command in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import frozen

from primabench_core.cli.main import main
from primabench_core.store.build import build_dataset

SYNTHETIC = "primabench_synthetic/cell_type_annotation@1.0.0"


@frozen
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    build_dataset(SYNTHETIC, store=str(folder))
    return folder


@pytest.fixture
def primabench(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """Run the command in an empty folder against the store; returns its exit code and what it printed."""
    monkeypatch.setenv("PRIMABENCH_STORE", str(store))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ran:
        capsys.readouterr()
        code = main(list(arguments))
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return run
