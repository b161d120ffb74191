"""Plain values: what JSON can hold and give back bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from numbers import Real
from typing import Any

from primabench_core.errors import UsageError
from primabench_core.spec.frozen import FrozenMapping


def plain(value: object, where: str = "value") -> Any:
    """The same value made of None, bool, int, float, text, lists and dicts with text keys.

    Scalars and arrays of numpy are converted; nothing is rounded and no key is turned into text on the way.

    Args:
        value: What is to be written.
        where: Its name, for the message.

    Raises:
        ValueError: A number is not finite.
        TypeError: A value or a key is of a kind that JSON would change.

    Example:
        >>> plain({"support": (1, 2.5, None)})
        {'support': [1, 2.5, None]}
    """
    if value is None or isinstance(value, bool | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not isfinite(value):
            raise ValueError(f"{where}: {value!r} is not a finite number; a missing value is None")
        return float(value)
    if isinstance(value, Mapping):
        return {_key(key, where): plain(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):  # without importing numpy
        return plain(value.tolist(), where)
    raise TypeError(f"{where}: a {type(value).__name__} cannot be written to a result")


def _key(key: object, where: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{where}: the key {key!r} is not text")
    return str(key)


def frozen_plain(value: Any) -> Any:
    """The same plain value with tuples for lists, so that nobody can change it."""
    if isinstance(value, list | tuple):
        return tuple(frozen_plain(item) for item in value)
    if isinstance(value, Mapping):
        from primabench_core.spec.frozen import FrozenMapping

        return FrozenMapping({key: frozen_plain(item) for key, item in value.items()})
    return value


def text_labels(labels: Mapping[str, str | float]) -> FrozenMapping[str]:
    """Labels as a result keeps them: pairs of text, numbers as their text.

    Raises:
        UsageError: a key is no text, or a value is neither text nor a number.

    Example:
        >>> dict(text_labels({"model_name": "linear", "step": 100}))
        {'model_name': 'linear', 'step': '100'}
    """
    found = {}
    if not isinstance(labels, Mapping):
        raise UsageError(f"labels are pairs of text, got {labels!r}.", remedy='labels={"model_name": "mine"}')
    for key, value in labels.items():
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not isinstance(key, str) or not (isinstance(value, str) or number):
            raise UsageError(
                f"labels are pairs of text, got {key!r}: {value!r}.", remedy=f"labels={{{str(key)!r}: {str(value)!r}}}"
            )
        if not _encodes(key + str(value)):
            raise UsageError(f"labels are text that UTF-8 can encode, got {key!r}: {value!r}.")
        found[key] = str(value)
    return FrozenMapping(found)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
