"""Strict reading of plain JSON into frozen values: an unknown, absent or mistyped key is an error with its path."""

from __future__ import annotations

import json
import types
from collections.abc import Hashable, Mapping
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from attrs import NOTHING, fields, has

T = TypeVar("T")


class Misread(ValueError):
    """What does not fit; the message begins with the path inside the document."""


def parse(text: str) -> Any:
    """JSON without repeated keys and without NaN.

    Raises:
        Misread: it is not that.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise Misread("a key occurs twice")
        return found

    def refuse(literal: str) -> Any:
        raise Misread(f"{literal} is not JSON")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except (json.JSONDecodeError, RecursionError) as error:
        raise Misread(str(error)) from None


def read(kind: type[T], value: Any, path: str = "$") -> T:
    """Build a value of attrs class ``kind`` from plain JSON.

    A key may be absent where its field has a default: it was added after the first documents were written.
    Fields may be text, int, bool, attrs classes, ``tuple[…, ...]`` of these, ``Mapping[str, str]`` and ``X | None``.

    Raises:
        Misread: something does not fit.
    """
    if not isinstance(value, dict):
        raise Misread(f"{path}: expected an object, found {type(value).__name__}")
    hints = _hints(cast(Hashable, kind))
    names = list(hints)
    unknown, absent = sorted(set(value) - set(names)), [n for n in _required(cast(Hashable, kind)) if n not in value]
    if unknown:
        raise Misread(f"{path}: unknown key {unknown[0]!r}")
    if absent:
        raise Misread(f"{path}: key {absent[0]!r} is missing")
    return kind(**{name: _read_field(hints[name], value[name], f"{path}.{name}") for name in names if name in value})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """Types of the fields, in their order; to find them takes longer than to read a small object."""
    hints = get_type_hints(kind)
    return {f.name: hints[f.name] for f in fields(kind)}


@cache
def _required(kind: Any) -> tuple[str, ...]:
    """Fields without a default."""
    return tuple(f.name for f in fields(kind) if f.default is NOTHING)


def _read_field(hint: Any, value: Any, path: str) -> Any:
    if type(value) is hint:  # most values; also keeps a manifest of 1e5 objects quick
        return value
    origin = get_origin(hint)
    if origin is tuple:
        if not isinstance(value, list):
            raise Misread(f"{path}: expected a list, found {type(value).__name__}")
        return tuple(_read_field(get_args(hint)[0], item, f"{path}[{i}]") for i, item in enumerate(value))
    if origin is types.UnionType:
        if value is None:
            return None
        return _read_field(get_args(hint)[0], value, path)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
            raise Misread(f"{path}: expected an object of texts")
        return dict(value)
    if has(hint):
        return read(hint, value, path)
    if type(value) is not hint:  # bool is no int here
        raise Misread(f"{path}: expected {hint.__name__}, found {type(value).__name__}")
    return value


def write(value: Any) -> Any:
    """The plain form of an attrs value: dicts, lists, text, int, bool, None."""
    if has(type(value)):
        return {f.name: write(getattr(value, f.name)) for f in fields(type(value))}
    if isinstance(value, Mapping):
        return {key: write(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [write(item) for item in value]
    return value
