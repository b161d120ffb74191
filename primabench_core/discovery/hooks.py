"""Moments at which a plugin may take part: the hook specifications, and how they are called.

A plugin declares a module or an object in the entry-point group ``primabench.hooks`` and marks its functions with
:data:`hookimpl`. It may take fewer arguments than specified here. Things (tasks, metrics …) are entry points of their
own groups, not hooks.

Plugins are loaded when the first moment comes, in isolation. At each moment they are called in the order of
distribution and entry-point name (``tryfirst`` and ``trylast`` of pluggy move one). One that raises is logged with its
distribution and harms neither the others nor the score; with ``PRIMABENCH_STRICT=1`` it is an error. Wrappers are
refused, because they could change what others answer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pluggy

from primabench_core.discovery import names
from primabench_core.discovery.faults import describe
from primabench_core.errors import PluginError

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = "primabench"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function of a plugin as the implementation of the hook of the same name."""

_log = logging.getLogger("primabench")


class Hooks:
    """The specifications. Each says when it is called, with what, and since which version of core."""

    @hookspec
    def evaluation_started(self, task: str, dataset: str, metrics: tuple[str, ...]) -> None:
        """Called once for an evaluation, after its plan is checked and before the first row is placed.

        Since 0.1. What is returned is ignored.

        Args:
            task: Name of the task, empty for a truth of the caller.
            dataset: Key of the dataset, empty for a truth of the caller.
            metrics: Canonical names in the order of the result.
        """

    @hookspec
    def evaluation_finished(self, result: Any) -> None:
        """Called once for a result, after it is complete and before the caller gets it.

        Since 0.1. What is returned is ignored.

        Args:
            result: The :class:`~primabench_core.result.eval_result.EvalResult`; frozen, without any truth.
        """

    @hookspec
    def cli_commands(self) -> Mapping[str, str]:  # type: ignore[empty-body]
        """Called when a command is asked for that core has not, and for the list of commands.

        Since 0.1.

        Returns:
            Name of a command to ``package.module:function``. The function is imported when its command runs, is called
            with the list of arguments after the name, and returns an exit code.
        """

    @hookspec
    def exporters(self) -> Mapping[str, str]:  # type: ignore[empty-body]
        """Called when a result is written in a format that core has not.

        Since 0.1.

        Returns:
            Name of a format to ``package.module:function``. The function is imported when it is used and is called as
            ``write(result, path)``.
        """


class _Implementation(NamedTuple):
    record: names.Record
    call: Callable[..., Any]
    arguments: tuple[str, ...]


def check_plugin(plugin: object) -> None:
    """Refuse a plugin whose functions do not fit the specifications.

    Raises:
        PluginError: it implements an unknown hook, takes an unknown argument, wraps a hook, or implements none.
    """
    manager = _manager()
    try:
        manager.register(plugin)
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        raise PluginError(f"The hook plugin does not fit: {error}") from error
    implementations = [i for c in manager.get_hookcallers(plugin) or () for i in c.get_hookimpls()]
    if not implementations:
        raise PluginError("The hook plugin implements no hook.", remedy="mark its functions with hookimpl")
    if any(i.wrapper or i.hookwrapper for i in implementations):
        raise PluginError("The hook plugin wraps a hook, which is not supported.")


def _manager() -> pluggy.PluginManager:
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(Hooks)
    return manager


def _implementations(moment: str) -> list[_Implementation]:
    """Implementations of one hook in the order of calling; plugins that cannot be loaded are logged once."""
    records = names.records("hook")
    key = (names.generation(), records)
    if _cache.get("key") != key:
        _cache["loaded"] = _load(records)
        _cache["key"] = key
    loaded: dict[str, list[_Implementation]] = _cache["loaded"]
    return loaded.get(moment, [])


_cache: dict[str, Any] = {}


def _load(records: tuple[names.Record, ...]) -> dict[str, list[_Implementation]]:
    from primabench_core.discovery.registry import load_record

    manager = _manager()
    owners: dict[str, names.Record] = {}
    # pluggy calls the last registered first
    for record in sorted(records, key=lambda r: (names.normalise(r.distribution), r.name), reverse=True):
        if record.status == "disabled":
            continue
        try:
            if record.status != "ok":
                raise PluginError(record.detail, remedy=record.remedy)
            plugin = load_record(record)
        except PluginError as error:
            _report(record, f"cannot be loaded: {error.message}", error)
            continue
        if not manager.is_registered(plugin):  # two entry points may name one object
            manager.register(plugin, name=record.qualified)
            owners[record.qualified] = record
    return {
        moment: [
            _Implementation(owners[i.plugin_name], i.function, tuple(i.argnames))
            for i in reversed(getattr(manager.hook, moment).get_hookimpls())
        ]
        for moment in ("evaluation_started", "evaluation_finished", "cli_commands", "exporters")
    }


def _report(record: names.Record, what: str, error: BaseException) -> None:
    text = f"The hook {record.name!r} of {record.distribution} {record.version} ({record.target}) {what}"
    if names.is_strict():
        raise PluginError(text, remedy="primabench doctor") from error
    _log.warning("%s; see primabench doctor", text)


def _call(moment: str, **arguments: Any) -> list[tuple[names.Record, Any]]:
    answers = []
    for implementation in _implementations(moment):
        chosen = {name: arguments[name] for name in implementation.arguments}
        try:
            answers.append((implementation.record, implementation.call(**chosen)))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  (plugin code may even call sys.exit)
            _report(implementation.record, f"raised at {moment}: {describe(error)}", error)
    return answers


def evaluation_started(task: str, dataset: str, metrics: tuple[str, ...]) -> None:
    """Tell every plugin that an evaluation begins; see :meth:`Hooks.evaluation_started`."""
    _call("evaluation_started", task=task, dataset=dataset, metrics=metrics)


def evaluation_finished(result: Any) -> None:
    """Tell every plugin that a result is complete; see :meth:`Hooks.evaluation_finished`."""
    _call("evaluation_finished", result=result)


def cli_commands() -> dict[str, Callable[[list[str]], int]]:
    """Commands that plugins add, by name, sorted; a function is imported when it is called.

    A command that two plugins claim belongs to neither.
    """
    return {name: partial(_run, record, reference) for name, (record, reference) in _collected("cli_commands").items()}


def command_owners() -> dict[str, str]:
    """Distribution that adds each command of :func:`cli_commands`."""
    return {name: record.distribution for name, (record, _) in _collected("cli_commands").items()}


def exporters() -> dict[str, Callable[[Any, Path], None]]:
    """Formats that plugins add, by name, sorted; a function is imported when it is called.

    A format that two plugins claim belongs to neither.
    """
    return {name: partial(_run, record, reference) for name, (record, reference) in _collected("exporters").items()}


def _run(record: names.Record, reference: str, *arguments: Any) -> Any:
    from primabench_core.discovery.registry import resolve

    return resolve(reference, owner=record.distribution)(*arguments)


def _collected(moment: str) -> dict[str, tuple[names.Record, str]]:
    found: dict[str, list[tuple[names.Record, str]]] = {}
    for record, answer in _call(moment):
        is_sound = isinstance(answer, Mapping) and all(
            isinstance(text, str) for pair in answer.items() for text in pair
        )
        if not is_sound:
            fault = TypeError(f"expected a mapping of text to text, got a {type(answer).__name__}")
            _report(record, f"answered wrongly at {moment}: {fault}", fault)
            continue
        for name, reference in answer.items():
            found.setdefault(name, []).append((record, reference))
    for name, owners in sorted(found.items()):
        if len(owners) > 1:
            others = " and ".join(record.distribution for record, _ in owners[1:])
            fault = TypeError("two plugins claim one name")
            _report(owners[0][0], f"claims {name!r} at {moment}, and so does {others}; neither wins", fault)
    return {name: owners[0] for name, owners in sorted(found.items()) if len(owners) == 1}
