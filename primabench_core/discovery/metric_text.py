"""The text form of a metric with parameters: ``recall{average: macro}``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from primabench_core.discovery.parameters import Bare
from primabench_core.errors import UsageError

_FORM = re.compile(r"\s*(?P<name>[^{}\s]+)\s*(\{(?P<inside>.*)\})?\s*", re.DOTALL)
_QUOTED = r'"(?:[^"\\]|\\.)*"' + r"|'[^']*'"
_BARE = r"[^\s,:{}\[\]\"'](?:[^,:{}\[\]\"']*[^\s,:{}\[\]\"'])?"
_SCALAR = rf"{_QUOTED}|{_BARE}"
_PAIR = re.compile(
    rf"\s*(?P<key>[^\W\d]\w*)\s*:\s*(?P<value>{_SCALAR}|\[\s*(?:(?:{_SCALAR})\s*(?:,\s*(?:{_SCALAR})\s*)*)?\])\s*(?:,|$)"
)
_ITEM = re.compile(_SCALAR)
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_EXAMPLE = "write it like recall{average: macro}"


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """Name and parameters of a text form; unquoted words stay :class:`Bare` until their parameter is known.

    Args:
        text: ``name`` or ``name{key: value, …}``; a value is a number, true, false, null, a word, quoted text, or a
            list of these in brackets.

    Raises:
        UsageError: the text has another form.

    Example:
        >>> parse("recall")
        ('recall', {})
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} is not a metric name.", remedy=_EXAMPLE)
    inside = (match["inside"] or "").strip()
    params: dict[str, Any] = {}
    position = 0
    while position < len(inside):
        pair = _PAIR.match(inside, position)
        if pair is None:
            raise UsageError(f"The parameters of {text!r} cannot be read at {inside[position:]!r}.", remedy=_EXAMPLE)
        if pair["key"] in params:
            raise UsageError(f"{text!r} gives {pair['key']!r} twice.", remedy=_EXAMPLE)
        params[pair["key"]] = _value(pair["value"])
        position = pair.end()
    return match["name"], params


def _value(text: str) -> Any:
    if text.startswith("["):
        # the parts of a list have no declared kind of their own, so their words are read at once
        return tuple(item.value if isinstance(item, Bare) else item for item in map(_value, _ITEM.findall(text[1:-1])))
    if text.startswith('"'):
        try:
            return json.loads(text)
        except ValueError:
            raise UsageError(f"{text} is not quoted text.", remedy=_EXAMPLE) from None
    if text.startswith("'"):
        return text[1:-1]
    return Bare(text, _meaning(text))


def _meaning(word: str) -> Any:
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    for number in (int, float):
        try:
            return number(word)
        except ValueError:
            continue
    return word


def write(name: str, params: Mapping[str, Any]) -> str:
    """The text form; :func:`parse` reads it back.

    Example:
        >>> write("recall", {"average": "macro"})
        'recall{average: macro}'
    """
    if not params:
        return name
    return f"{name}{{{', '.join(f'{key}: {_written(value)}' for key, value in params.items())}}}"


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, str):
        is_plain = re.fullmatch(_BARE, value) is not None and isinstance(_meaning(value), str)
        return value if is_plain else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)
