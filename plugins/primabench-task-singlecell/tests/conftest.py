"""Made cells as EvalData, and a store of its own for each test module that builds."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from primabench_task_singlecell.synthetic.cells import draw
from primabench_task_singlecell.synthetic.recipes import artifacts_of

from primabench_core import EvalData

sys.path.insert(0, str(Path(__file__).parent))  # helpers are plain modules; importlib mode does not find them


@pytest.fixture(scope="session")
def views() -> dict[str, EvalData]:
    """The views that the recipe of the synthetic annotation cells makes."""
    return {artifact.view: artifact.data for artifact in artifacts_of(draw(1, fold=3))}


@pytest.fixture(scope="session")
def cells(views: dict[str, EvalData]) -> EvalData:
    """The synthetic annotation cells with their types."""
    return views["labelled"]


@pytest.fixture(scope="session")
def make_split() -> ModuleType:
    """The script that made the frozen id lists; skipped where only the wheel is installed."""
    path = Path(__file__).parents[1] / "scripts" / "make_split.py"
    spec = spec_from_file_location("make_split", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
