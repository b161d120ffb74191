"""Canonical JSON of results, and its strict reading.

Writing sorts keys, indents by two and ends with a line feed; floats are written so that they read back bit for bit
(-0.0 included) and NaN has no place. Reading refuses what is not exactly a result, and says where.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, NoReturn, cast, get_origin

import attrs

from primabench_core.errors import ResultError
from primabench_core.result.plain import plain

if TYPE_CHECKING:
    from cattrs import Converter

SCHEMA_VERSION = 1
"""Version of the file layout; a file of an older one is brought up to date by :data:`UPGRADES`."""

Step = Callable[[dict[str, Any]], dict[str, Any]]
UPGRADES: dict[int, Step] = {}
"""Schema version to the function that turns a document of that version into one of the next."""

_KINDS = ("EvalResult", "MetricResult", "Interval")


def to_dict(value: Any) -> dict[str, Any]:
    """The fields of a result as plain dicts and lists."""
    return {f.name: _plain(getattr(value, f.name), f.name) for f in attrs.fields(type(value)) if f.init}


def _plain(value: Any, where: str) -> Any:
    if attrs.has(type(value)):
        return to_dict(value)
    if isinstance(value, tuple | list):
        return [_plain(item, where) for item in value]
    return plain(value, where)


def to_json(value: Any) -> str:
    r"""Canonical JSON of a result or of a plain value.

    Args:
        value: An :class:`~primabench_core.result.eval_result.EvalResult`, a
            :class:`~primabench_core.result.metric_result.MetricResult`, or None, bool, int, float, text, lists and
            mappings with text keys.

    Returns:
        Text that ends with a line feed; equal values give equal text.

    Raises:
        ResultError: A number is not finite, or a value would not survive the way through JSON.

    Example:
        >>> to_json({"b": 0.1, "a": None})
        '{\n  "a": null,\n  "b": 0.1\n}\n'
    """
    try:
        if type(value).__name__ in _KINDS and attrs.has(type(value)):
            document: Any = {"kind": type(value).__name__, "schema_version": SCHEMA_VERSION, **to_dict(value)}
        else:
            document = plain(value)
    except (ValueError, TypeError) as error:
        raise ResultError(f"cannot be written as JSON: {error}") from error
    return json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def from_json(text: str | bytes, *, source: str = "the text") -> Any:
    """What :func:`to_json` wrote.

    Args:
        text: JSON, as text or UTF-8.
        source: Where the text comes from, for the message.

    Returns:
        An EvalResult or a MetricResult where the document says so, else the plain value.

    Raises:
        ResultError: Not JSON, cut off, NaN or an infinity, a key twice, an unknown or absent field, a value of the
            wrong type, a schema version from the future. The message names the path inside the document.
    """
    document = _parse(text, source)
    if not isinstance(document, dict) or "kind" not in document or "schema_version" not in document:
        return document
    kind = document.pop("kind")
    if kind not in _KINDS:
        raise ResultError(f"{source}: kind: expected one of {', '.join(_KINDS)}, found {kind!r}")
    return structure(upgrade(document, source=source), kind, source=source)


def upgrade(
    document: dict[str, Any], *, steps: Mapping[int, Step] | None = None, target: int = SCHEMA_VERSION, source: str = ""
) -> dict[str, Any]:
    """A document of the current schema version, from one of an older version; the input does not change.

    Args:
        document: As it was read, with ``schema_version``.
        steps: Version to the function that leads to the next; by default :data:`UPGRADES`.
        target: Version to arrive at.
        source: Where the document comes from.

    Returns:
        The document without ``schema_version``.

    Raises:
        ResultError: The version is from the future, or no step leads on from it.
    """
    steps = UPGRADES if steps is None else steps
    current = dict(document)
    version = current.pop("schema_version")
    if isinstance(version, bool) or not isinstance(version, int):
        raise ResultError(f"{source}: schema_version: expected an integer, found {version!r}")
    if version > target:
        raise ResultError(
            f"{source}: schema_version {version} is newer than {target}, the newest that this version reads",
            remedy="pip install --upgrade primabench-core",
        )
    while version < target:
        if version not in steps:
            raise ResultError(f"{source}: schema_version {version} is not one that this version can read")
        current, version = steps[version](current), version + 1
    return current


def structure(document: Any, kind: str, *, source: str) -> Any:
    """A result value from plain dicts, read strictly."""
    from cattrs.errors import BaseValidationError, StructureHandlerNotFoundError

    try:
        return _converter().structure(document, _classes()[kind])
    except (BaseValidationError, StructureHandlerNotFoundError, ValueError, TypeError, KeyError) as error:
        lines = _reasons(error, "")
        head = f"{source} is not a {kind}:" if len(lines) > 1 else f"{source}:"
        raise ResultError("\n  - ".join([head, *lines]) if len(lines) > 1 else f"{head} {lines[0]}") from error


def results_wanted(source: str, text: str) -> str:
    """Advice where a file that looks like a table of predictions was given for a result; empty for other text."""
    if text.lstrip()[:1] in ("{", "["):
        return ""
    stem = source.rpartition(".")[0] or source
    return f"give results, not predictions: primabench evaluate --task TASK --predictions {source} --output {stem}.json"


def _parse(text: str | bytes, source: str) -> Any:
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        found = json.loads(
            text, object_pairs_hook=_distinct, parse_constant=_no_constant, parse_float=_finite, parse_int=int
        )
        json.dumps(found, ensure_ascii=False).encode()
        return found
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}"
        cut = ". The file seems to be cut off" if error.pos >= len(text.rstrip()) else ""
        remedy = "" if cut else results_wanted(source, error.doc)
        raise ResultError(f"{source} is not JSON: {error.msg} at {at}{cut}", remedy=remedy) from error
    except UnicodeEncodeError as error:
        said = f"half a surrogate pair (\\u{ord(error.object[error.start]):04x}), which no UTF-8 text can hold"
        raise ResultError(f"{source} holds {said}") from error
    except UnicodeDecodeError as error:
        remedy = results_wanted(source, "")
        raise ResultError(f"{source} is not UTF-8 text: byte {error.start} cannot be read", remedy=remedy) from error
    except RecursionError as error:
        raise ResultError(f"{source} is nested too deeply to be a result") from error
    except ValueError as error:
        raise ResultError(f"{source}: {error}") from error


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(n for n in names if names.count(n) > 1)!r} occurs twice in one object")
    return found


def _no_constant(token: str) -> NoReturn:
    raise ValueError(f"{token} is not a JSON number; a missing value is null")


def _finite(token: str) -> float:
    number = float(token)
    if not isfinite(number):
        raise ValueError(f"the number {token} is too large for float64")
    return number


@cache
def _classes() -> dict[str, type]:
    from primabench_core.result.eval_result import EvalResult
    from primabench_core.result.interval import Interval
    from primabench_core.result.metric_result import MetricResult

    return {"EvalResult": EvalResult, "MetricResult": MetricResult, "Interval": Interval}


@cache
def _converter() -> Converter:
    """A converter that never turns one type into another; an integer where a float is named is the one exception."""
    from cattrs import Converter
    from cattrs.cols import is_mapping
    from cattrs.gen import make_dict_structure_fn

    converter = Converter(forbid_extra_keys=True, detailed_validation=True)
    for kind, accepted in ((str, (str,)), (int, (int,)), (bool, (bool,)), (float, (float, int))):
        converter.register_structure_hook(kind, _strict(kind, accepted))
    converter.register_structure_hook_func(lambda kind: kind is Any, lambda value, _: value)

    def strict_class(kind: type) -> Callable[[Any, type], Any]:
        structured: Callable[[Any, type], Any] = make_dict_structure_fn(kind, converter)
        names = {f.name for f in attrs.fields(kind) if f.init}

        def hook(value: Any, target: type) -> Any:
            if not isinstance(value, Mapping):
                raise TypeError(f"expected an object, found {_shown(value)}")
            absent = sorted(names - set(value))
            if absent:
                raise ValueError(f"absent: {', '.join(absent)}")
            return structured(value, target)

        return hook

    def strict_container(kind: Any, base: Converter) -> Callable[[Any, type], Any]:
        mapping = is_mapping(kind)
        structured = base.get_structure_hook(kind)

        def hook(value: Any, target: type) -> Any:
            if not isinstance(value, dict if mapping else list):
                raise TypeError(f"expected {'an object' if mapping else 'a list'}, found {_shown(value)}")
            return structured(value, target)

        return hook

    converter.register_structure_hook_factory(attrs.has, strict_class)
    plain_converter = converter.copy()
    # without this a text would be read as a list of its letters, and an object as the list of its keys
    converter.register_structure_hook_factory(
        lambda kind: is_mapping(kind) or _is_tuple(kind), lambda kind: strict_container(kind, plain_converter)
    )
    return converter


def _is_tuple(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _strict(kind: type, accepted: tuple[type, ...]) -> Callable[[Any, type], Any]:
    names = {str: "text", int: "an integer", bool: "true or false", float: "a number"}

    def hook(value: Any, _: type) -> Any:
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
            raise TypeError(f"expected {names[kind]}, found {_shown(value)}")
        if kind is float and float(cast(float, value)) != value:
            raise ValueError(f"the integer {value} has no float64")
        return kind(value)

    return hook


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:37]}…"


def _reasons(error: BaseException, path: str) -> list[str]:
    """The leaves of a tree of validation errors, each with its path such as ``results[2].value``."""
    from cattrs.errors import (
        AttributeValidationNote,
        ClassValidationError,
        ForbiddenExtraKeysError,
        IterableValidationError,
        IterableValidationNote,
    )

    if isinstance(error, ClassValidationError | IterableValidationError):
        found = []
        for inner in error.exceptions:
            step = ""
            for note in getattr(inner, "__notes__", ()):
                if isinstance(note, AttributeValidationNote):
                    step = f".{note.name}"
                elif isinstance(note, IterableValidationNote):
                    step = f"[{note.index!r}]"
            found += _reasons(inner, path + step)
        return found
    at = path.lstrip(".")
    if isinstance(error, ForbiddenExtraKeysError):
        said = f"unknown: {', '.join(sorted(error.extra_fields))}"
    else:
        said = str(error)
    return [f"{at}: {said}" if at else said]
