"""Checks of a registry: every fault is collected, with the path inside the file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import attrs

from primabench_board.derive import board_ids, open_id
from primabench_board.metrics import METRICS
from primabench_board.registry import Dataset, Entry, OpenBoard, Organisation, Registry, Rules, Task
from primabench_core.errors import close_names

T = TypeVar("T")

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_SLUG = re.compile(r"[a-z0-9]+([_-][a-z0-9]+)*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LEAST = {"decimals": 0}
"""Least whole number of a key; 1 for all others: a count of nothing, or a minimum below one, says nothing."""
_TOP = {
    "name", "title", "synthetic", "organisation", "rules", "modalities", "areas", "categories", "datasets", "tasks",
    "open",
}  # fmt: skip


def checked(document: Mapping[str, Any], faults: list[str]) -> Registry | None:
    """The registry of a document, or None after faults were added."""
    for key in document.keys() - _TOP:
        faults.append(f"{key}: unknown key{_meant(key, _TOP)}")
    for key in ("datasets", "tasks"):
        if not document.get(key):
            faults.append(f"{key}: at least one is needed")
    datasets = _listed(document, "datasets", Dataset, faults, open_keys=True)
    tasks = _listed(document, "tasks", Task, faults, open_keys=True)
    words = {
        "modality": _words(document, "modalities", [d.modality for d in datasets], faults),
        "area": _words(document, "areas", [t.area for t in tasks], faults),
        "category": _words(document, "categories", [t.category for t in tasks], faults),
    }
    opened = _listed(document, "open", OpenBoard, faults)
    _check_datasets(datasets, words["modality"], faults)
    _check_tasks(tasks, {d.id: d for d in datasets}, words, faults)
    categories = _with_metrics(words["category"], tasks, faults)
    _check_open(opened, words, "areas" in document, faults)
    organisation = _single(document, "organisation", Organisation, faults) or Organisation()
    rules = _single(document, "rules", Rules, faults) or Rules()
    _check_rules(rules, faults)
    url = organisation.url
    if url and not url.startswith(("https://", "http://")):
        faults.append(f"organisation.url: expected an address that begins with https://, found {url!r}")
    name = _text(document, "name", faults)
    title = _text(document, "title", faults) or name
    synthetic = document.get("synthetic", False)
    if not isinstance(synthetic, bool):
        faults.append(f"synthetic: expected true or false, found {synthetic!r}")
    if faults:
        return None
    registry = Registry(
        name=name or "boards",
        title=title or "Boards",
        synthetic=synthetic,
        organisation=organisation,
        rules=rules,
        modalities=_areas_of_open(words["modality"], [o.modality for o in opened]),
        areas=_areas_of_open(words["area"], [o.area for o in opened if o.area]),
        categories=categories,
        datasets={d.id: d for d in datasets},
        tasks={t.id: t for t in tasks},
        open_boards=tuple(opened),
    )
    _check_board_ids(registry, faults)
    return None if faults else registry


def _meant(name: str, known: Any) -> str:
    close = close_names(name, sorted(known))
    return f"; did you mean {' or '.join(close[:2])}?" if close else ""


def _text(document: Mapping[str, Any], key: str, faults: list[str]) -> str:
    value = document.get(key, "")
    if not isinstance(value, str):
        faults.append(f"{key}: expected text, found {value!r}")
        return ""
    return value.strip()


def _single(document: Mapping[str, Any], key: str, kind: type[T], faults: list[str]) -> T | None:
    value = document.get(key)
    if value is None:
        return None
    return _made(value, key, kind, faults)


def _listed(
    document: Mapping[str, Any], key: str, kind: type[T], faults: list[str], *, open_keys: bool = False
) -> list[T]:
    values = document.get(key) or []
    if not isinstance(values, list):
        faults.append(f"{key}: expected a list, found {type(values).__name__}")
        return []
    found = [_made(v, f"{key}[{i}]", kind, faults, open_keys=open_keys) for i, v in enumerate(values)]
    made = [item for item in found if item is not None]
    seen: set[str] = set()
    for item in made:
        identity = getattr(item, "id", None)
        if identity is not None and identity in seen:
            faults.append(f"{key}: {identity} stands twice")
        seen.add(identity or "")
    return made


def _made(value: Any, path: str, kind: type[T], faults: list[str], *, open_keys: bool = False) -> T | None:
    """One value of a kind from a mapping; its fields must have exactly their type."""
    if not isinstance(value, dict):
        faults.append(f"{path}: expected a mapping, found {type(value).__name__}")
        return None
    fields = {f.name: f for f in attrs.fields(kind)}  # type: ignore[arg-type]
    label = f"{path} ({value['id']})" if isinstance(value.get("id"), str) else path
    given: dict[str, Any] = {}
    sound = True
    for key, content in value.items():
        if key not in fields:
            if not open_keys:
                faults.append(f"{label}.{key}: unknown key{_meant(key, fields)}")
            elif close := [k for k in close_names(key, sorted(fields)) if k not in value]:
                faults.append(f"{label}.{key}: unknown key; did you mean {close[0]}?")
            continue
        kind_of = str(fields[key].type)
        problem = _misfit(content, kind_of, _LEAST.get(key, 1))
        if problem:
            faults.append(f"{label}.{key}: {problem}")
            sound = sound and _is_count(content, kind_of)  # what is only too small hides no other fault
        given[key] = content.strip() if isinstance(content, str) else content
    for name, one in fields.items():
        if one.default is attrs.NOTHING and name not in value and not (kind is Entry and name == "title"):
            faults.append(f"{label}.{name}: missing")
            sound = False
    if not sound:
        return None
    if kind is Entry:
        given.setdefault("title", _titled(given["id"]))
    return kind(**given)


def _misfit(content: Any, kind: str, least: int) -> str:
    """What is wrong with the type of a value, empty if nothing; a whole number is ``least`` or more."""
    if content is None and "None" in kind:
        return ""
    if kind.startswith("bool"):
        return "" if isinstance(content, bool) else f"expected true or false, found {content!r}"
    if kind.startswith("int"):
        sound = _is_count(content, kind) and content >= least
        return "" if sound else f"expected a whole number from {least}, found {content!r}"
    if isinstance(content, str):
        return ""
    return f"expected text, found {content!r}; put it in quotes"


def _is_count(content: Any, kind: str) -> bool:
    return kind.startswith("int") and isinstance(content, int) and not isinstance(content, bool)


_ACRONYMS = ("rna", "dna", "mrna", "atac", "ms")


def _titled(identity: str) -> str:
    parts = identity.replace("-", " ").replace("_", " ").split()
    text = " ".join(part.upper() if part in _ACRONYMS else part for part in parts)
    return text[:1].upper() + text[1:]


def _words(document: Mapping[str, Any], key: str, used: list[str], faults: list[str]) -> dict[str, Entry]:
    """Entries as declared; where the file declares none, those that are used."""
    if key in document:
        entries = _listed(document, key, Entry, faults)
        for entry in entries:
            if entry.metric and key != "categories":
                faults.append(f"{key} ({entry.id}).metric: only a category has a metric")
    else:
        entries = [Entry(id=identity, title=_titled(identity)) for identity in dict.fromkeys(used)]
    for entry in entries:
        if not _SLUG.fullmatch(entry.id):
            faults.append(f"{key} ({entry.id!r}): an id has lower-case letters, digits, single hyphens and underscores")
    return {entry.id: entry for entry in entries}


def _areas_of_open(words: dict[str, Entry], used: list[str]) -> dict[str, Entry]:
    more = {identity: Entry(id=identity, title=_titled(identity)) for identity in used if identity not in words}
    return {**words, **more}


def _check_datasets(datasets: list[Dataset], modalities: Mapping[str, Entry], faults: list[str]) -> None:
    for item in datasets:
        if not _ID.fullmatch(item.id):
            faults.append(f"datasets ({item.id!r}): an id has letters, digits and _ . - (at most 64)")
        if item.modality not in modalities:
            faults.append(
                f"datasets ({item.id}).modality: unknown {item.modality!r}{_meant(item.modality, modalities)}"
            )


def _check_tasks(
    tasks: list[Task], datasets: Mapping[str, Dataset], words: Mapping[str, Mapping[str, Entry]], faults: list[str]
) -> None:
    for item in tasks:
        where = f"tasks ({item.id})"
        if not _ID.fullmatch(item.id):
            faults.append(f"tasks ({item.id!r}): an id has letters, digits and _ . - (at most 64)")
        if item.dataset not in datasets:
            faults.append(f"{where}.dataset: unknown {item.dataset!r}{_meant(item.dataset, datasets)}")
        for key in ("area", "category"):
            value = getattr(item, key)
            if value not in words[key]:
                faults.append(f"{where}.{key}: unknown {value!r}{_meant(value, words[key])}")
        if item.metric not in METRICS:
            faults.append(f"{where}.metric: unknown {item.metric!r}; boards know {', '.join(sorted(METRICS))}")
        if item.labels_sha256 and not _SHA256.fullmatch(item.labels_sha256):
            faults.append(f"{where}.labels_sha256: expected 64 hexadecimal digits")
    twins: dict[str, str] = {}
    for identity in (t.id for t in tasks):  # file names of the export must differ on any disk
        other = twins.setdefault(identity.lower(), identity)
        if other != identity:
            faults.append(f"tasks ({identity}): differs from {other} by case alone")


def _with_metrics(categories: Mapping[str, Entry], tasks: list[Task], faults: list[str]) -> dict[str, Entry]:
    """Categories with their one metric."""
    found = {}
    for identity, entry in categories.items():
        metrics = sorted({t.metric for t in tasks if t.category == identity})
        if entry.metric and entry.metric not in METRICS:
            faults.append(f"categories ({identity}).metric: unknown {entry.metric!r}")
        wrong = [t for t in tasks if t.category == identity and entry.metric and t.metric != entry.metric]
        for item in wrong:
            faults.append(
                f"tasks ({item.id}).metric: {item.metric}, but the category {identity} has the metric {entry.metric}"
            )
        if not entry.metric and len(metrics) > 1:
            faults.append(f"categories ({identity}): a category has exactly one metric, found {', '.join(metrics)}")
        if not entry.metric and not metrics:
            faults.append(f"categories ({identity}): no task and no metric; name its metric")
        found[identity] = attrs.evolve(entry, metric=entry.metric or (metrics or [""])[0])
    return found


def _check_open(
    opened: list[OpenBoard], words: Mapping[str, Mapping[str, Entry]], areas_declared: bool, faults: list[str]
) -> None:
    for number, item in enumerate(opened):
        for key, value in (("modality", item.modality), ("area", item.area)):
            if value and not _SLUG.fullmatch(value):
                faults.append(
                    f"open[{number}].{key}: an id has lower-case letters, digits, single hyphens and underscores"
                )
        if item.area and areas_declared and item.area not in words["area"]:
            faults.append(f"open[{number}].area: unknown {item.area!r}{_meant(item.area, words['area'])}")
        if opened.index(item) != number:
            faults.append(f"open[{number}]: {open_id(item)} stands twice")


def _check_rules(rules: Rules, faults: list[str]) -> None:
    if rules.decimals is not None and rules.decimals > 12:
        faults.append(f"rules.decimals: at most 12, found {rules.decimals}")
    if not rules.probe:
        faults.append("rules.probe: empty")


def _check_board_ids(registry: Registry, faults: list[str]) -> None:
    seen: dict[str, str] = {}
    for identity, what in board_ids(registry):
        if identity in seen:
            faults.append(f"{what} and {seen[identity]} would both be the board {identity}; rename one")
        seen.setdefault(identity, what)
