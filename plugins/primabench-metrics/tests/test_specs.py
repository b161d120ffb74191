"""What the metrics declare agrees with what their functions do, and loads without any array library."""

from __future__ import annotations

import importlib
import inspect
import pickle
import subprocess
import sys
from importlib.metadata import entry_points

import pytest
from metric_views import DECLARED, PREFIX

ENTRIES = {e.name: e for e in entry_points(group="primabench.metrics") if e.value.startswith("primabench_metrics.")}


def resolve(reference: str):
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


def test_every_declared_metric_is_an_entry_point_of_its_name():
    assert {n: f"{PREFIX}{module}:{n}" for n, (module, _) in DECLARED.items()} == {
        n: e.value for n, e in ENTRIES.items()
    }


def test_every_canonical_name_is_declared():
    for _, spec in DECLARED.values():
        for name, fixed in spec.canonical.items():
            assert DECLARED[name][1].base == (spec.base or spec.name)
            assert dict(DECLARED[name][1].fixed) == dict(fixed)


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_a_spec_agrees_with_its_function(name):
    _, spec = DECLARED[name]
    function = resolve(spec.compute)
    signature = inspect.signature(function)
    keywords = {p.name: p.default for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}
    assert keywords == {p.name: p.default for p in spec.parameters}
    assert function.__doc__
    assert spec.references or spec.direction == "info"
    if spec.check:
        assert callable(resolve(spec.check))
    assert spec.low is None or spec.high is None or spec.low < spec.high


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_a_spec_survives_a_pickle(name):
    spec = DECLARED[name][1]
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_specs_load_no_array_library():
    modules = sorted({module for module, _ in DECLARED.values()})
    code = "import sys\n" + "".join(f"import {PREFIX}{m}\n" for m in modules)
    heavy = {"numpy", "torch", "xarray", "zarr", "pandas", "sklearn", "scipy"}
    code += f"print(sorted({heavy} & {{m.partition('.')[0] for m in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
