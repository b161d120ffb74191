"""Made cells as EvalData, and a store of its own for each test module that builds."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from primabench_task_singlecell.synthetic.cells import draw

from primabench_core import EvalData


@pytest.fixture(scope="session")
def cells() -> EvalData:
    """The synthetic annotation cells with their types."""
    drawn = draw(1, fold=3)
    return EvalData(
        {
            "expression": drawn.expression,
            "label": np.asarray(drawn.types, object),
            "donor": np.asarray(drawn.donors, object),
        },
        ids=drawn.ids,
        coords={"genes": drawn.genes, "classes": tuple(sorted(set(drawn.types)))},
    )


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
