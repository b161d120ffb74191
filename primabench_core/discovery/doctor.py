"""The state of an installation, as a value: what is installed, what is broken, why, and what to type next."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Mapping

from attrs import field, frozen

from primabench_core import __version__
from primabench_core.discovery import names, registry
from primabench_core.spec import API_VERSION
from primabench_core.spec.frozen import FrozenMapping

LIBRARIES = {
    "torch": ("arrays on GPUs, process groups", "pip install torch"),
    "pandas": ("data frames, CSV files", 'pip install "primabench-core[files]"'),
    "pyarrow": ("Parquet files", 'pip install "primabench-core[files]"'),
    "anndata": ("AnnData objects, .h5ad files", 'pip install "primabench-core[files]"'),
    "jinja2": ("reports", 'pip install "primabench-core[report]"'),
    "vl-convert-python": ("pictures in reports", 'pip install "primabench-core[report]"'),
}
"""Libraries that a part of core uses when they are there: what for, and what installs them."""

SWITCHES = ("PRIMABENCH_STORE", "PRIMABENCH_DISABLE", "PRIMABENCH_STRICT", "PRIMABENCH_TEST_DATA")
"""Environment variables whose value may be shown; of any other only that it is set."""


def _frozen(mapping: Mapping[str, str]) -> Mapping[str, str]:
    return FrozenMapping(mapping)


@frozen
class Library:
    """An optional library."""

    name: str
    """Name of the distribution."""
    version: str
    """Installed version, empty if absent."""
    used_for: str
    install: str
    """The command that installs it."""


@frozen
class Report:
    """What :func:`diagnose` finds."""

    facts: Mapping[str, str] = field(converter=_frozen)
    """Versions, places, libraries and switches, each as one line for a person."""
    records: tuple[names.Record, ...]
    """Every entry point with its status after loading."""
    libraries: tuple[Library, ...]
    environment: Mapping[str, str] = field(converter=_frozen)
    """Switches that are set; secrets only as ``set``."""
    notes: tuple[str, ...] = ()
    """What looks like a mistake but breaks nothing."""

    @property
    def is_sound(self) -> bool:
        """Whether no plugin is broken, incompatible or in conflict."""
        return all(record.status in ("ok", "disabled") for record in self.records)


def diagnose(*, store: str = "") -> Report:
    """Load every plugin in isolation and look at the installation.

    Args:
        store: Where data lie, as the caller knows it; by default what ``PRIMABENCH_STORE`` says.

    Returns:
        The report. A broken plugin is a record in it, never an error, also with ``PRIMABENCH_STRICT=1``.

    Example:
        >>> diagnose().facts["primabench-core"] == __version__
        True
    """
    names.refresh()
    records = registry.check_all()
    libraries = tuple(
        Library(name, names.version_of(name), used_for, install) for name, (used_for, install) in LIBRARIES.items()
    )
    environment = _environment()
    facts = {
        "primabench-core": __version__,
        "plugin API": str(API_VERSION),
        "python": f"{platform.python_version()} ({sys.executable})",
        "platform": platform.platform(),
        "store": _without_password(store) or environment.get("PRIMABENCH_STORE", "the default"),
    }
    for library in libraries:
        facts[library.name] = library.version or f"not installed ({library.used_for}): {library.install}"
    facts |= environment
    return Report(facts, records, libraries, environment, _notes(records))


def _environment() -> dict[str, str]:
    return {
        name: _without_password(value) if name in SWITCHES else "set"
        for name, value in sorted(os.environ.items())
        if name.startswith("PRIMABENCH_") and value
    }


def _without_password(text: str) -> str:
    """An address without the user and password that it may carry, and without a query."""
    return re.sub(r"://[^/@\s]*@", "://", text).partition("?")[0]


def _notes(records: tuple[names.Record, ...]) -> tuple[str, ...]:
    notes = []
    known = {names.normalise(r.distribution) for r in records} | {r.name for r in records}
    known |= {f"{names.normalise(r.distribution)}:{r.name}" for r in records}
    for item in os.environ.get("PRIMABENCH_DISABLE", "").split(","):
        distribution, colon, name = item.strip().partition(":")
        spelled = {item.strip(), f"{names.normalise(distribution)}{colon}{name}"}
        if item.strip() and not spelled & known:
            notes.append(f"PRIMABENCH_DISABLE names {item.strip()!r}, which is not installed")
    datasets = set(names.names("dataset"))
    for preparer in names.names("preparer"):
        task, _, key = preparer.partition("|")
        if key not in datasets:
            notes.append(f"the task {task!r} is prepared for {key!r}, but no installed plugin describes that dataset")
    return tuple(notes)
