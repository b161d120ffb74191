"""Specs of installed plugins, loaded when they are asked for, each in isolation.

A broken plugin is a record with a reason until somebody asks for that very thing; then it is an error that names the
distribution and the next command. Failures are not remembered: the next call tries again.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from functools import reduce
from importlib import import_module
from typing import Any, Literal, overload

from primabench_core import spec as specs
from primabench_core.discovery import names
from primabench_core.discovery.faults import as_plugin_error, describe, missing_library
from primabench_core.discovery.names import Record
from primabench_core.discovery.origin import correction, renewal
from primabench_core.discovery.parameters import full_parameters
from primabench_core.errors import MissingPluginError, ParameterError, PluginError, UnknownNameError

_TYPES: dict[str, type] = {
    "task": specs.TaskSpec,
    "dataset": specs.DatasetSpec,
    "preparer": specs.PreparerSpec,
    "metric": specs.MetricSpec,
    "baseline": specs.BaselineSpec,
    "benchmark": specs.BenchmarkSpec,
    "recipe": specs.RecipeSpec,
}
_NAME_OF: dict[str, Callable[[Any], str]] = {
    "task": lambda s: s.name,
    "dataset": lambda s: s.key,
    "preparer": lambda s: f"{s.task}|{s.dataset}",
    "metric": lambda s: s.name,
    "baseline": lambda s: f"{s.task}|{s.name}",
    "benchmark": lambda s: s.name,
    "recipe": lambda s: s.dataset,
}
"""The entry-point name that a spec must stand under."""

_lock = threading.RLock()  # re-entrant: loading one spec may ask for another
_loaded: dict[tuple[int, Record], Any] = {}


class _SpecFault(Exception):
    """What was loaded is not what the entry point promises."""

    def __init__(self, reason: str, status: names.Status = "broken", remedy: str = "") -> None:
        super().__init__(reason)
        self.status, self.remedy = status, remedy


@overload
def load(kind: Literal["task"], name: str) -> specs.TaskSpec: ...
@overload
def load(kind: Literal["dataset"], name: str) -> specs.DatasetSpec: ...
@overload
def load(kind: Literal["preparer"], name: str) -> specs.PreparerSpec: ...
@overload
def load(kind: Literal["metric"], name: str) -> specs.MetricSpec: ...
@overload
def load(kind: Literal["baseline"], name: str) -> specs.BaselineSpec: ...
@overload
def load(kind: Literal["benchmark"], name: str) -> specs.BenchmarkSpec: ...
@overload
def load(kind: Literal["recipe"], name: str) -> specs.RecipeSpec: ...
@overload
def load(kind: str, name: str) -> Any: ...


def load(kind: str, name: str) -> Any:
    """The spec of this kind and name; loaded once.

    Args:
        kind: A key of :data:`primabench_core.discovery.names.GROUPS`.
        name: Entry-point name, or ``distribution:name``, which works even if two distributions claim the name.

    Returns:
        The frozen value that the plugin declares (for ``extension`` a callable, for ``hook`` the plugin object).

    Raises:
        UnknownNameError: nothing has this name; close names are suggested.
        MissingPluginError: the spec needs a library that is not installed.
        PluginError: the plugin is broken, incompatible, disabled or in conflict; with ``PRIMABENCH_STRICT=1`` any
            broken plugin raises.

    Example:
        >>> load("task", "cell_type_annotation").primary  # doctest: +SKIP
        'macro_f1'
    """
    enforce_strict()
    return load_record(record_of(kind, name))


def record_of(kind: str, name: str) -> Record:
    """The record that this name means, without loading anything.

    Raises:
        UnknownNameError: nothing has this name.
        PluginError: what has it is disabled, or broken by its metadata, or several distributions claim it.
    """
    matches = _matches(kind, name)
    if not matches:  # installed since the last look, perhaps
        names.refresh()
        matches = _matches(kind, name)
    if not matches:
        raise UnknownNameError(kind, name, names.names(kind), remedy=_where_to_look(kind, name))
    is_qualified = ":" in name
    usable = [r for r in matches if r.status == "ok" or (is_qualified and r.status == "conflict")]
    if usable:
        return usable[0]
    raise PluginError(_sentence(matches), remedy=_remedy(matches))


def as_meant_by(distribution: str, kind: str, name: str) -> str:
    """What a plugin means by a bare name: its own, or that of a distribution it requires, where several claim it.

    A stranger who takes the name of a metric must not switch off the tasks whose panel has it.

    Args:
        distribution: The plugin that uses the name.
        kind: Kind of thing.
        name: The name; left as it is where it is qualified already, or claimed once.
    """
    claims = [] if ":" in name else [r for r in _matches(kind, name) if r.status == "conflict"]
    if not claims:
        return name
    required = (re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0] for text in names.requirements_of(distribution))
    for trusted in map(names.normalise, (distribution, *required)):
        found = [r for r in claims if names.normalise(r.distribution) == trusted]
        if found:
            return f"{found[0].distribution}:{name}"
    return name


def _matches(kind: str, name: str) -> list[Record]:
    distribution, colon, rest = str(name).partition(":")
    if not colon:
        return [r for r in names.records(kind) if r.name == name]
    owner = names.normalise(distribution)
    return [r for r in names.records(kind) if r.name == rest and names.normalise(r.distribution) == owner]


def _where_to_look(kind: str, name: str) -> str:
    if kind == "preparer":
        return f"primabench list datasets --task {name.partition('|')[0]}"
    if kind == "baseline" and "|" in name:
        return f"primabench list baselines --task {name.partition('|')[0]}"
    return "primabench doctor" if kind in ("extension", "hook") else f"primabench list {kind}s"


def _sentence(matches: list[Record]) -> str:
    rivals = [r for r in matches if r.status == "conflict"]
    if rivals:
        owners = " and ".join(sorted(f"{r.distribution} {r.version}".strip() for r in rivals))
        return f"The {matches[0].kind} {matches[0].name!r} is claimed by {owners}; neither wins."
    return " ".join(f"{_subject(r)} is {r.status}: {r.detail}." for r in matches)


def _remedy(matches: list[Record]) -> str:
    rivals = [r for r in matches if r.status == "conflict"]
    if rivals:
        return f"ask for {' or '.join(repr(r.qualified) for r in rivals)}, or pip uninstall one of them"
    return next((r.remedy for r in matches if r.remedy), "")


def _subject(record: Record) -> str:
    owner = f"{record.distribution} {record.version}".strip()
    return f"The {record.kind} {record.name!r} of {owner} ({record.target})"


def load_record(record: Record) -> Any:
    """What a record names, checked; loaded once, under a lock.

    Raises:
        PluginError: it cannot be loaded, or is not what its group asks for.
    """
    key = (names.generation(), record)
    with _lock:
        if key not in _loaded:
            for stale in [k for k in _loaded if k[0] != key[0]]:
                del _loaded[stale]
            try:
                _loaded[key] = _load_checked(record)
            except _SpecFault as fault:
                raise PluginError(f"{_subject(record)} is {fault.status}: {fault}.", remedy=fault.remedy) from fault
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # plugin code may even call sys.exit
                module, _ = names.split_target(record.target)
                raise as_plugin_error(error, _subject(record), module, owner=record.distribution) from error
        return _loaded[key]


def _import(target: str) -> Any:
    module, attribute = names.split_target(target)
    return reduce(getattr, filter(None, attribute.split(".")), import_module(module))


def _load_checked(record: Record) -> Any:
    module, attribute = names.split_target(record.target)
    holder = import_module(module)
    try:
        value = _import(record.target)
    except AttributeError as error:
        remedy = correction(record.distribution, names.GROUPS[record.kind], record.name, record.target)
        raise _SpecFault(f"module {holder.__name__!r} has no {attribute!r}", remedy=remedy) from error
    if record.kind == "hook":
        from primabench_core.discovery.hooks import check_plugin

        check_plugin(value)
    elif record.kind == "extension":
        if not callable(value):
            raise _SpecFault(f"expected a callable, found {type(value).__name__}", remedy=renewal(record.distribution))
    else:
        _check_spec(record, value)
    return value


def _check_spec(record: Record, value: Any) -> None:
    api = getattr(value, "api", None)
    if isinstance(api, int) and not isinstance(api, bool) and api != specs.API_VERSION:
        is_older = api < specs.API_VERSION
        raise _SpecFault(
            f"it is made for plugin API {api}, this core has {specs.API_VERSION}",
            "incompatible",
            renewal(record.distribution) if is_older else "pip install --upgrade primabench-core",
        )
    expected = _TYPES[record.kind]
    if not isinstance(value, expected):
        found = f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"
        raise _SpecFault(f"expected a {expected.__name__}, found {found}", remedy=renewal(record.distribution))
    if api != specs.API_VERSION or isinstance(api, bool):
        raise _SpecFault(
            f"its plugin API version must be an integer, found {api!r}", remedy=renewal(record.distribution)
        )
    own = _NAME_OF[record.kind](value)
    if own != record.name:
        raise _SpecFault(
            f"it calls itself {own!r}, the entry point {record.name!r}", remedy=renewal(record.distribution)
        )
    try:
        if record.kind in ("dataset", "recipe", "preparer"):
            specs.DatasetKey.parse(record.name.rpartition("|")[2])
        if isinstance(value, specs.MetricSpec):
            _check_metric(value, record)
    except (ValueError, ParameterError) as error:
        raise _SpecFault(
            str(error).partition("\n  Next:")[0].rstrip("."), remedy=renewal(record.distribution)
        ) from error


def _check_metric(metric: specs.MetricSpec, record: Record) -> None:
    """A metric's canonical names and its defaults must follow its own declarations.

    A canonical name without an entry point would stand in results, and could not be asked for again.
    """
    own = {r.name for r in names.records("metric") if r.distribution == record.distribution}
    absent = [name for name in metric.canonical if name not in own]
    if absent:
        raise ValueError(f"its canonical name {absent[0]!r} has no entry point in primabench.metrics")
    full_parameters(metric, {parameter.name: parameter.default for parameter in metric.parameters})
    for fixed in metric.canonical.values():
        full_parameters(metric, fixed)
    if metric.base and dict(metric.canonical.get(metric.name, {})) != dict(metric.fixed):
        raise ValueError(f"it fixes {dict(metric.fixed)!r}, which is not what {metric.base!r} declares for that name")


def check_all(kind: str | None = None) -> tuple[Record, ...]:
    """Load everything (of one kind), each in isolation, and say how it went.

    Raises:
        UsageError: there is no such kind.
    """
    return tuple(map(_check, names.records(kind)))


def _check(record: Record) -> Record:
    if record.status not in ("ok", "conflict"):
        return record
    try:
        load_record(record)
    except PluginError as error:
        cause = error.__cause__
        status: names.Status = "broken"
        detail = error.message
        if isinstance(cause, _SpecFault):
            status, detail = cause.status, str(cause)
        elif cause is not None and not isinstance(error, MissingPluginError):
            detail = describe(cause)
        elif cause is not None:
            library = missing_library(cause, names.split_target(record.target)[0])
            detail = f"{library!r} is not installed" if library else error.message
        return record._replace(status=status, detail=detail, remedy=error.remedy)
    return record


def enforce_strict() -> None:
    """With ``PRIMABENCH_STRICT=1``, load every plugin once and raise if one is not sound.

    Raises:
        PluginError: naming all that are broken, incompatible or in conflict.
    """
    if not names.is_strict() or _strict.get("sound") == names.generation():
        return
    with _lock:
        if "busy" in _strict:  # a plugin that loads a spec while it is checked must not start the check again
            return
        _strict["busy"] = 1
        try:
            bad = [r for r in check_all() if r.status not in ("ok", "disabled")]
        finally:
            del _strict["busy"]
    if bad:
        lines = "\n".join(f"  - {_subject(r)} is {r.status}: {r.detail}" for r in bad)
        raise PluginError(
            f"PRIMABENCH_STRICT is set and {len(bad)} plugin entries are not sound:\n{lines}",
            remedy="primabench doctor",
        )
    _strict["sound"] = names.generation()


_strict: dict[str, int] = {}


def resolve(reference: str, *, owner: str = "", requires: Iterable[str] = ()) -> Callable[..., Any]:
    """The function that a spec names.

    Args:
        reference: ``package.module:function``.
        owner: Distribution that the reference comes from, for the message.
        requires: Distributions that the spec declares as needed; those absent stand in the install line.

    Raises:
        MissingPluginError: a library that the function's module imports is not installed.
        PluginError: the function cannot be had for another reason.

    Example:
        >>> resolve("primabench_core.discovery.names:names").__name__
        'names'
    """
    by = f" of {owner}" if owner else ""
    what = f"{reference}{by}"
    try:
        module, attribute = names.split_target(reference)
    except ValueError as error:
        raise PluginError(f"The reference {what} cannot be used: {error}.") from error
    try:
        value = _import(reference)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # plugin code may even call sys.exit
        raise as_plugin_error(error, what, module, owner=owner, requires=requires) from error
    if not attribute or not callable(value):
        raise PluginError(f"{what} cannot be used: expected a function, found a {type(value).__name__}.")
    function: Callable[..., Any] = value
    return function


def distribution_of(kind: str, name: str) -> tuple[str, str]:
    """``(distribution, version)`` that brings this name.

    Raises:
        UnknownNameError, PluginError: as :func:`record_of`.
    """
    record = record_of(kind, name)
    return record.distribution, record.version


def packages_of(distributions: Iterable[str]) -> dict[str, str]:
    """Installed version of each distribution, for what a result records.

    Raises:
        MissingPluginError: one of them is not installed.

    Example:
        >>> list(packages_of(["attrs"]))
        ['attrs']
    """
    found = {name: names.version_of(name) for name in sorted(set(distributions))}
    absent = [name for name, version in found.items() if not version]
    if absent:
        raise MissingPluginError(f"Not installed: {', '.join(absent)}.", remedy=f"pip install {' '.join(absent)}")
    return found
