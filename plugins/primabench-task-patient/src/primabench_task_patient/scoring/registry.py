"""``tasks.yaml``: which data sets there are, and what is asked of each; checked when it is read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from primabench_core import PrimaBenchError
from primabench_task_patient.submission.faults import some

METRICS = {"auroc": 0.5, "auroc_ovr_macro": 0.5, "pearson": 0.0}
"""Metrics of tasks, and the score of chance."""
FILE = "tasks.yaml"


class RegistryError(PrimaBenchError, ValueError):
    """The tasks, or the truth behind them, are not sound: a fault of the curator, never of a submission."""


@frozen
class TaskEntry:
    """One hidden task."""

    id: str
    dataset: str
    category: str
    area: str
    metric: str
    title: str = ""
    minimum_n: int = 30
    """Independent units below which a score is not resolvable."""
    allow_unstratified: bool = False

    @property
    def chance(self) -> float:
        """Score of a prediction without information."""
        return METRICS[self.metric]

    @property
    def is_classes(self) -> bool:
        """Whether truth is a class, not a number."""
        return self.metric != "pearson"


@frozen
class Registry:
    """What ``tasks.yaml`` says."""

    name: str
    synthetic: bool
    datasets: Mapping[str, Mapping[str, Any]]
    """Entries by id; at least ``id`` and ``modality``."""
    tasks: Mapping[str, TaskEntry]
    sha256: str
    """Of the canonical JSON of the whole file."""


def read_registry(path: str | Path) -> Registry:
    """Read ``tasks.yaml``, or the one inside a folder.

    Raises:
        RegistryError: no such file, no YAML, or what is unsound in it, all at once: entries that lack something, ids
            that occur twice, a metric that is not known, a category with two metrics, a ``minimum_n`` below 1.
    """
    import yaml  # type: ignore[import-untyped]

    path = Path(path)
    path = path / FILE if path.is_dir() else path
    try:
        found = yaml.load(path.read_text(encoding="utf-8-sig"), Loader=_loader())
    except OSError as error:
        raise RegistryError(f"{path} cannot be read: {error.strerror}", remedy=f"name the folder of {FILE}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RegistryError(f"{path} is no YAML: {error}") from None
    return registry_of(found, str(path))


def _loader() -> Any:
    """YAML as it is safe, with no key twice: plain YAML would keep the last and say nothing."""
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            keys = [key.value for key, _ in node.value]
            twice = sorted({str(key) for key in keys if keys.count(key) > 1})
            if twice:
                problem = f"the key {some(twice)} stands twice"
                raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
            made: dict[Any, Any] = super().construct_mapping(node, deep)
            return made

    return Loader


def registry_of(found: Any, path: str = FILE) -> Registry:
    """The registry that a document describes; see :func:`read_registry`.

    Args:
        found: A mapping with ``datasets`` and ``tasks``.
        path: For messages.
    """
    if not isinstance(found, dict):
        raise RegistryError(f"{path}: expected a mapping with the lists 'datasets' and 'tasks'")
    faults: list[str] = []
    synthetic = found.get("synthetic", False)
    if not isinstance(synthetic, bool):
        faults.append(f"synthetic is true or false, got {synthetic!r}")
    datasets = _by_id(found.get("datasets"), "datasets", ("modality",), faults)
    entries = _by_id(found.get("tasks"), "tasks", ("dataset", "category", "area", "metric"), faults)
    tasks = {name: _task(entry, faults) for name, entry in entries.items()}
    lost = sorted(name for name, task in tasks.items() if task.dataset not in datasets)
    if lost:
        faults.append(f"tasks of data sets that are not listed: {some(lost)}")
    metrics_of: dict[str, set[str]] = {}
    for task in tasks.values():
        metrics_of.setdefault(task.category, set()).add(task.metric)
    for category, metrics in metrics_of.items():
        if len(metrics) > 1:
            faults.append(f"category {category!r} has several metrics, {some(sorted(metrics))}; a column has one")
    if faults:
        raise _unsound(path, faults)
    text = json.dumps(found, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return Registry(
        name=str(found.get("name", "")),
        synthetic=synthetic,
        datasets=datasets,
        tasks=tasks,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )


def _unsound(path: str, faults: list[str]) -> RegistryError:
    """Every fault at once: a curator mends a file, not a line at a time."""
    if len(faults) == 1:
        return RegistryError(f"{path}: {faults[0]}")
    return RegistryError("\n".join([f"{path} has {len(faults)} faults:", *(f"  - {fault}" for fault in faults)]))


def _by_id(entries: Any, what: str, needed: tuple[str, ...], faults: list[str]) -> dict[str, dict[str, Any]]:
    """Sound entries by id; what is wrong with the others is added to the faults."""
    if not isinstance(entries, list) or not entries:
        faults.append(f"{what!r} must be a list with at least one entry")
        return {}
    found: dict[str, dict[str, Any]] = {}
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("id"), str) or not is_plain(entry["id"]):
            faults.append(f"{what}[{number}]: every entry needs an 'id' of letters, digits, '_', '-' and '.'")
            continue
        absent = [name for name in needed if not isinstance(entry.get(name), str) or not entry[name].strip()]
        if absent:
            faults.append(f"{entry['id']}: needs {some(absent)} as text")
        elif entry["id"] in found:
            faults.append(f"{what}: the id {entry['id']!r} occurs twice")
        else:
            found[entry["id"]] = entry
    return dict(sorted(found.items()))


def is_plain(name: str) -> bool:
    """Ids name folders: nothing in them leads elsewhere."""
    return bool(name) and name.strip(".") != "" and all(c.isascii() and (c.isalnum() or c in "_-.") for c in name)


def _task(entry: dict[str, Any], faults: list[str]) -> TaskEntry:
    metric, least = entry["metric"], entry.get("minimum_n", 30)
    allowed = entry.get("allow_unstratified", False)
    if metric not in METRICS:
        faults.append(f"{entry['id']}: metric {metric!r}; known: {', '.join(METRICS)}")
    if not isinstance(least, int) or isinstance(least, bool) or least < 1:
        faults.append(f"{entry['id']}: minimum_n is a whole number from 1, got {least!r}")
    if not isinstance(allowed, bool):
        faults.append(f"{entry['id']}: allow_unstratified is true or false, got {allowed!r}")
    return TaskEntry(
        id=entry["id"],
        dataset=entry["dataset"],
        category=entry["category"],
        area=entry["area"],
        metric=metric,
        title=str(entry.get("title", "")),
        minimum_n=least,
        allow_unstratified=allowed is True,
    )
