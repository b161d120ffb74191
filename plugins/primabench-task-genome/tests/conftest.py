"""Real files, and small genomes with an oracle that cuts windows in the slowest possible way."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the oracle is a plain module; importlib mode does not find it


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder of small real files."""
    folder = os.environ.get("PRIMABENCH_TEST_DATA", "")
    if not folder:
        pytest.skip("set PRIMABENCH_TEST_DATA to the folder of small real files")
    return Path(folder)


@pytest.fixture(scope="session")
def mitochondrion(real: Path) -> Path:
    """The reference of the mitochondrial genome, 16,569 bases."""
    return real / "variant_effect/clinvar_mt_missense/NC_012920.1_MT.fa"


@pytest.fixture(scope="session")
def rcrs(mitochondrion: Path) -> str:
    """Its letters."""
    return "".join(mitochondrion.read_text().split("\n")[1:]).upper()
