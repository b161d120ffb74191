"""Made perturbations, and the cells of one donor with and without interferon."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the helper is a plain module; import it under importlib mode
from perturbed_cells import made


@pytest.fixture
def cells() -> dict[str, Any]:
    return made()


@pytest.fixture(scope="session")
def kang() -> Any:
    """The 954 cells of donor101 as AnnData, log(1 + counts per 10,000) in ``X``."""
    anndata = pytest.importorskip("anndata", reason="the fixture is an h5ad file")
    root = os.environ.get("PRIMABENCH_TEST_DATA")
    if not root:
        pytest.skip("PRIMABENCH_TEST_DATA names no folder of real data")
    from primabench_task_perturbation.preparers.cells import log_normalised

    found = anndata.read_h5ad(Path(root) / "single_cell/kang_ifnb_pbmc_donor101/kang_ifnb_donor101.h5ad")
    found.X = log_normalised(found.X)
    return found
