"""Names of what is installed, read from entry-point metadata alone: no plugin code runs here.

This is the only module that imports ``importlib_metadata``: the backport replaces the standard finder of the process
when it is imported, and nothing else should have to know.

Environment:
    PRIMABENCH_DISABLE: distributions, names or ``distribution:name`` to leave out, separated by commas.
    PRIMABENCH_STRICT: ``1`` makes any broken plugin an error at listing and evaluation.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import importlib_metadata

from primabench_core.errors import UsageError

Status = Literal["ok", "broken", "incompatible", "conflict", "disabled"]

GROUPS = {
    "task": "primabench.tasks",
    "dataset": "primabench.datasets",
    "preparer": "primabench.preparers",
    "metric": "primabench.metrics",
    "baseline": "primabench.baselines",
    "benchmark": "primabench.benchmarks",
    "recipe": "primabench.recipes",
    "extension": "primabench.extensions",
    "hook": "primabench.hooks",
}
"""Entry-point group of each kind of thing."""

UNREADABLE = "distribution"
"""Kind of the record that stands for a whole distribution whose entry points could not be read."""

_KINDS = {group: kind for kind, group in GROUPS.items()}
_ORDER = {kind: position for position, kind in enumerate([*GROUPS, UNREADABLE])}

# ':' splits distribution from name, '|' task from the rest; braces, commas and '=' belong to the text form of metrics
_WORD = r"[A-Za-z0-9][A-Za-z0-9_.+/-]*"
_KEY = r"[a-z0-9_]+/[a-z0-9_]+@[0-9.]+"  # the exact form is checked when the spec is loaded
_FORMS = {
    "dataset": (re.compile(_KEY), "publication/slug@version"),
    "recipe": (re.compile(_KEY), "publication/slug@version"),
    "preparer": (re.compile(rf"{_WORD}\|{_KEY}"), "task|publication/slug@version"),
    "baseline": (re.compile(rf"{_WORD}\|{_WORD}"), "task|name"),
}
_PLAIN = (re.compile(_WORD), "letters, digits and any of _ . + / -, without ':' or '|'")
_TARGET = re.compile(
    r"(?P<module>[^\W\d]\w*(\.[^\W\d]\w*)*)\s*(:\s*(?P<attribute>[^\W\d]\w*(\.[^\W\d]\w*)*))?\s*(\[.*\])?"
)


class Record(NamedTuple):
    """One entry point, and what is known about it.

    A named tuple, because importing attrs would cost a fifth of the time that listing names takes.
    """

    kind: str
    """A key of :data:`GROUPS`, or ``distribution`` if its entry points could not be read at all."""
    name: str
    """Entry-point name."""
    distribution: str
    """Name of the distribution that declares it, as in its metadata."""
    version: str
    """Version of that distribution."""
    target: str
    """``package.module:attribute`` that the entry point names."""
    status: Status = "ok"
    detail: str = ""
    """Why the status is not ``ok``."""
    remedy: str = ""
    """The next thing to type."""

    @property
    def qualified(self) -> str:
        """``distribution:name``, which works even if two distributions claim the name."""
        return f"{self.distribution}:{self.name}"


def names(kind: str) -> tuple[str, ...]:
    """Names of one kind, sorted; broken, conflicting and disabled ones are left out.

    Raises:
        UsageError: there is no such kind.

    Example:
        >>> isinstance(names("task"), tuple)
        True
    """
    return tuple(sorted({record.name for record in records(kind) if record.status == "ok"}))


def records(kind: str | None = None) -> tuple[Record, ...]:
    """Every entry point (of one kind), with the faults that metadata show: conflicts, bad names, disabled ones.

    What only loading can tell (a raising import, a wrong type) is in
    :func:`primabench_core.discovery.registry.check_all`. Sorted by kind, name, distribution.

    Raises:
        UsageError: there is no such kind.
    """
    if kind is not None and kind not in _ORDER:
        raise UsageError(f"{kind!r} is not a kind of plugin; expected one of {', '.join(GROUPS)}.")
    found = _judged()
    return found if kind is None else tuple(record for record in found if record.kind == kind)


def refresh() -> None:
    """Forget what was found, also inside the import system: call it after installing a plugin in a running process."""
    import importlib

    importlib.invalidate_caches()
    _cache["generation"] = generation() + 1
    _cache.pop("scanned", None)
    _cache.pop("judged", None)


def generation() -> int:
    """Number of refreshes so far; caches that stand on this module compare it."""
    count = _cache.get("generation", 0)
    assert isinstance(count, int)
    return count


def is_strict() -> bool:
    """Whether ``PRIMABENCH_STRICT`` asks for an error at any broken plugin."""
    return os.environ.get("PRIMABENCH_STRICT", "").strip().lower() not in ("", "0", "false", "no", "off")


def normalise(distribution: str) -> str:
    """Name of a distribution as package indexes compare it: lower case, runs of ``-_.`` as one ``-``."""
    return re.sub(r"[-_.]+", "-", distribution.strip()).lower()


def split_target(target: str) -> tuple[str, str]:
    """``(module, attribute)`` of ``package.module:attribute``; the attribute may be empty.

    Raises:
        ValueError: the text has another form.
    """
    match = _TARGET.fullmatch(target.strip())
    if match is None:
        raise ValueError(f"{target!r} is not of the form package.module:attribute")
    return match["module"], match["attribute"] or ""


def version_of(distribution: str) -> str:
    """Installed version of a distribution, empty if it is not installed."""
    headers = _headers_of(distribution)
    return next((value for key, value in headers if key == "version"), "")


def bare(name: str) -> str:
    """The name without the distribution that may qualify it.

    Example:
        >>> bare("primabench-metrics:mcc"), bare("mcc")
        ('mcc', 'mcc')
    """
    return name.partition(":")[2] or name


def requirements_of(distribution: str) -> tuple[str, ...]:
    """Requirements of an installed distribution as it declares them (``Requires-Dist``)."""
    return tuple(value for key, value in _headers_of(distribution) if key == "requires-dist")


_cache: dict[str, object] = {}
"""The last scan with what it depends on, and the number of refreshes. Replaced whole, so that threads need no lock."""


def _judged() -> tuple[Record, ...]:
    disable = os.environ.get("PRIMABENCH_DISABLE", "")
    path = tuple(map(str, sys.path))
    cached = _cache.get("judged")
    if isinstance(cached, tuple) and cached[0] == (path, disable):
        judged: tuple[Record, ...] = cached[1]
        return judged
    scanned = _cache.get("scanned")
    if isinstance(scanned, tuple) and scanned[0] == path:
        found: tuple[Record, ...] = scanned[1]
    else:
        found = tuple(_scan())
        _cache["scanned"] = (path, found)
    judged = _judge(found, disable)
    _cache["judged"] = ((path, disable), judged)
    return judged


def _scan() -> Iterator[Record]:
    """Entry points of every distribution that has a group of ours, as they are declared."""
    seen: set[str] = set()
    for candidate in _distributions():
        if isinstance(candidate, Record):
            yield candidate
            continue
        # most distributions have no group of ours, and parsing their metadata would cost ten times this look
        text = _read(candidate, "entry_points.txt")
        if text is not None and "[primabench." not in text:
            continue
        name, _ = _identify(candidate)
        if text is None or not name:
            yield _unreadable(name or "unknown", candidate, "METADATA" if text else "entry_points.txt")
            continue
        if normalise(name) in seen:
            continue
        seen.add(normalise(name))
        # the first on sys.path owns the name, even if what it declares differs from what lies behind it
        yield from _declared(_first(name) or candidate)


def _distributions() -> Iterator[importlib_metadata.Distribution | Record]:
    """Installed distributions; a record in the place of those that a failing finder of somebody else hides."""
    try:
        yield from importlib_metadata.distributions()
    except Exception as error:  # noqa: BLE001  (any package may add a finder, and it may fail in any way)
        detail = (
            f"a finder on sys.meta_path raised {type(error).__name__}: {error}; what it would have found is unknown"
        )
        yield Record(UNREADABLE, "unknown", "unknown", "", "", "broken", detail, "python -m pip check")


def _first(name: str) -> importlib_metadata.Distribution | None:
    """The distribution that owns a name. ``importlib_metadata.distribution`` would parse whole descriptions to tell."""
    try:
        return next(iter(importlib_metadata.distributions(name=name)), None)
    except Exception:  # noqa: BLE001  (as above; the scan reports it)
        return None


def _declared(distribution: importlib_metadata.Distribution) -> Iterator[Record]:
    name, version = _identify(distribution)
    try:
        entry_points = tuple(distribution.entry_points)
    except Exception as error:  # noqa: BLE001  (one damaged file must not hide the other plugins)
        yield _unreadable(name, distribution, "entry_points.txt", f"{type(error).__name__}: {error}")
        return
    unknown = set()
    for entry in entry_points:
        if entry.group in _KINDS:
            yield Record(_KINDS[entry.group], entry.name, name, version, entry.value)
        elif entry.group.startswith("primabench."):
            unknown.add(entry.group)
    for group in sorted(unknown):
        yield Record(
            UNREADABLE, group, name, version, "", "incompatible",
            f"declares the unknown entry-point group {group!r}; known: {', '.join(_KINDS)}",
            f"pip install --upgrade primabench-core {name}",
        )  # fmt: skip


def _read(distribution: importlib_metadata.Distribution, file: str) -> str | None:
    """Text of a metadata file, empty if there is none, None if it cannot be read."""
    try:
        return distribution.read_text(file) or ""
    except Exception:  # noqa: BLE001  (a foreign distribution or finder may fail in any way; the caller reports it)
        return None


def _identify(distribution: importlib_metadata.Distribution) -> tuple[str, str]:
    """Name and version. ``Distribution.name`` would parse the whole long description on each access."""
    headers = _headers(distribution)
    return (
        next((value for key, value in headers if key == "name"), ""),
        next((value for key, value in headers if key == "version"), ""),
    )


def _headers(distribution: importlib_metadata.Distribution) -> tuple[tuple[str, str], ...]:
    text = _read(distribution, "METADATA") or _read(distribution, "PKG-INFO") or ""
    found = []
    for line in text.splitlines():
        if not line.strip():
            break  # the long description follows
        key, colon, value = line.partition(":")
        if colon and not line[0].isspace():
            found.append((key.lower(), value.strip()))
    return tuple(found)


def _headers_of(distribution: str) -> tuple[tuple[str, str], ...]:
    first = _first(distribution) if distribution else None
    return _headers(first) if first else ()


def _unreadable(name: str, distribution: importlib_metadata.Distribution, file: str, reason: str = "") -> Record:
    try:
        place = str(distribution.locate_file(""))
    except Exception:  # noqa: BLE001  (optional for foreign finders; the place is only a hint)
        place = "an unknown place"
    detail = f"{file} of a distribution in {place} cannot be read" + (f" ({reason})" if reason else "")
    remedy = f"pip install --force-reinstall --no-deps {name}" if name != "unknown" else f"look into {place}"
    return Record(UNREADABLE, name, name, "", "", "broken", detail, remedy)


def _judge(found: Iterable[Record], disable: str) -> tuple[Record, ...]:
    """Statuses that follow from metadata and environment, sorted."""
    left_out = {part.strip() for part in disable.split(",") if part.strip()}
    judged = [_check_form(record) if not _is_disabled(record, left_out) else _disabled(record) for record in found]
    judged = list(dict.fromkeys(judged))  # the same line twice in one file says nothing new
    own = Counter((r.kind, r.name, normalise(r.distribution)) for r in judged if r.status == "ok")
    judged = [_twice(r) if own[r.kind, r.name, normalise(r.distribution)] > 1 else r for r in judged]
    owners: dict[tuple[str, str], list[Record]] = {}
    for record in judged:
        if record.status == "ok" and record.kind != "hook":  # hooks are not asked for by name
            owners.setdefault((record.kind, record.name), []).append(record)
    judged = [
        _in_conflict(r, rivals) if r.status == "ok" and len(rivals := owners.get((r.kind, r.name), [])) > 1 else r
        for r in judged
    ]
    return tuple(sorted(judged, key=lambda r: (_ORDER[r.kind], r.name, normalise(r.distribution), r.target)))


def _is_disabled(record: Record, left_out: set[str]) -> bool:
    own = normalise(record.distribution)
    for item in left_out:
        distribution, colon, name = item.partition(":")
        if colon:
            if normalise(distribution) == own and name == record.name:
                return True
        elif item == record.name or normalise(item) == own:
            return True
    return False


def _disabled(record: Record) -> Record:
    return record._replace(
        status="disabled", detail="left out by PRIMABENCH_DISABLE", remedy="unset PRIMABENCH_DISABLE"
    )


def _check_form(record: Record) -> Record:
    if record.status != "ok":
        return record
    pattern, form = _FORMS.get(record.kind, _PLAIN)
    if pattern.fullmatch(record.name) is None:
        detail = f"the entry-point name {record.name!r} is not of the form {form}"
        return record._replace(status="broken", detail=detail, remedy=_renewal(record))
    try:
        _, attribute = split_target(record.target)
    except ValueError as error:
        return record._replace(status="broken", detail=str(error), remedy=_renewal(record))
    if not attribute and record.kind != "hook":  # hook implementations may be a whole module
        detail = f"{record.target!r} names a module; expected package.module:attribute"
        return record._replace(status="broken", detail=detail, remedy=_renewal(record))
    return record


def _renewal(record: Record) -> str:
    from primabench_core.discovery.origin import renewal  # only where something is wrong: it reads files

    return renewal(record.distribution)


def _twice(record: Record) -> Record:
    if record.status != "ok":
        return record
    detail = f"{record.distribution} declares the {record.kind} {record.name!r} more than once, with different targets"
    return record._replace(status="broken", detail=detail, remedy=_renewal(record))


def _in_conflict(record: Record, rivals: list[Record]) -> Record:
    others = " and ".join(f"{r.distribution} {r.version}".strip() for r in rivals if r is not record)
    detail = f"{others} claims the {record.kind} {record.name!r} too; neither wins"
    remedy = f"ask for {record.qualified!r}, or pip uninstall one of the two"
    return record._replace(status="conflict", detail=detail, remedy=remedy)
