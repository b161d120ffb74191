"""Checks of a distribution as a whole: its entry points, and the specs behind them."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from primabench_core.discovery import names, registry
from primabench_core.discovery.names import Record
from primabench_core.errors import MissingPluginError, PluginError
from primabench_core.spec import API_VERSION
from primabench_core.testing.report import CheckFailure
from primabench_core.testing.subjects import PluginSubject

HEAVY = ("torch", "xarray", "zarr", "pandas", "sklearn", "scanpy", "anndata")
"""Modules that a spec must not load."""

_REFERENCES = ("compute", "weighted", "check", "example", "prepare", "build", "predict")
"""Fields of specs that name a function."""

_LOOK = """
import importlib, json, sys
found = {}
for module in json.loads(sys.argv[1]):
    before = set(sys.modules)
    try:
        importlib.import_module(module)
    except BaseException as error:
        found[module] = [f"{type(error).__name__}: {error}"]
    heavy = sorted(set(json.loads(sys.argv[2])) & (set(sys.modules) - before))
    if heavy:
        found[module] = heavy
print(json.dumps(found))
"""


def _specs(subject: PluginSubject) -> Iterator[tuple[Record, Any]]:
    """Every spec that loads; those that do not are the finding of another check."""
    for record in subject.records:
        if record.kind in ("extension", "hook") or record.status not in ("ok", "conflict"):
            continue
        try:
            yield record, registry.load_record(record)
        except PluginError:
            continue


def check_entry_points_resolve(subject: PluginSubject) -> None:
    """Every entry point loads as what its group asks for, and every function that a spec names can be imported."""
    own = {(r.kind, r.name) for r in subject.records}
    normal = names.normalise(subject.distribution)
    bad = [
        f"{r.kind} {r.name!r} is {r.status}: {r.detail}"
        for r in registry.check_all()
        if (r.kind, r.name) in own and names.normalise(r.distribution) == normal and r.status in ("broken", "conflict")
    ]
    for record, spec in _specs(subject):
        for attribute in _REFERENCES:
            reference = getattr(spec, attribute, "")
            if reference:
                try:
                    registry.resolve(reference, owner=record.distribution, requires=getattr(spec, "requires", ()))
                except MissingPluginError as error:
                    if not getattr(spec, "requires", ()):  # what it declares as optional may be absent
                        bad.append(f"{record.kind} {record.name!r}: {error.message} and the spec does not require it")
                except PluginError as error:
                    bad.append(f"{record.kind} {record.name!r}: {error.message}")
    if bad:
        raise CheckFailure("; ".join(bad), remedy="primabench doctor")


def check_specs_are_light(subject: PluginSubject) -> None:
    """Importing what declares things loads none of the heavy libraries (looked at in a process of its own)."""
    modules = sorted({names.split_target(r.target)[0] for r in subject.records if r.kind not in ("extension", "hook")})
    found = in_a_process(_LOOK, json.dumps(modules), json.dumps(HEAVY))
    heavy = {module: loaded for module, loaded in json.loads(found).items() if set(loaded) & set(HEAVY)}
    if heavy:
        what = "; ".join(f"{module} loads {', '.join(loaded)}" for module, loaded in heavy.items())
        raise CheckFailure(
            what, remedy="keep specs in a module of their own, and import libraries in the functions they name"
        )


def in_a_process(code: str, *arguments: str, **environment: str) -> str:
    """Standard output of Python code run in a fresh interpreter that finds the same modules.

    Raises:
        CheckFailure: it failed; with its last line of error.
    """
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **environment}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, env=env
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise CheckFailure(f"a fresh interpreter failed: {last[0]}")
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""


def check_api_version(subject: PluginSubject) -> None:
    """Everything is made for the plugin API of this core."""
    own = {(r.kind, r.name) for r in subject.records}
    normal = names.normalise(subject.distribution)
    bad = [
        f"{r.kind} {r.name!r}: {r.detail}"
        for r in registry.check_all()
        if (r.kind, r.name) in own and names.normalise(r.distribution) == normal and r.status == "incompatible"
    ]
    bad += [f"{r.kind} {r.name!r}: {r.detail}" for r in subject.records if r.status == "incompatible"]
    if bad:
        raise CheckFailure("; ".join(dict.fromkeys(bad)), remedy=f"this core has plugin API {API_VERSION}")


def check_specs_pickle(subject: PluginSubject) -> None:
    """Every spec is the same value after pickling: specs travel to workers."""
    bad = []
    for record, spec in _specs(subject):
        try:
            same = pickle.loads(pickle.dumps(spec)) == spec
            hash(spec)
        except Exception as error:  # noqa: BLE001  (foreign values fail in any way)
            bad.append(f"{record.kind} {record.name!r}: {type(error).__name__}: {error}")
            continue
        if not same:
            bad.append(f"{record.kind} {record.name!r} is another value after pickling")
    if bad:
        raise CheckFailure("; ".join(bad), remedy="use plain values: text, numbers, tuples, mappings of these")


def check_requires_core(subject: PluginSubject) -> None:
    """Its metadata require primabench-core, so that installing it alone is enough."""
    needed = names.requirements_of(subject.distribution)
    found = {names.normalise(match[0]) for text in needed if (match := re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", text))}
    if "primabench-core" not in found:
        raise CheckFailure(
            "its metadata do not require primabench-core", remedy='dependencies = ["primabench-core>=0.1,<0.2"]'
        )
