"""Values of metric parameters: checked against what the metric declares, and brought to one form.

Two spellings of one value must be one identity, so ``1`` becomes ``1.0`` where a float is declared, a numpy scalar
becomes the Python number, and a list becomes a tuple.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

from primabench_core.errors import ParameterError
from primabench_core.spec.frozen import FrozenMapping
from primabench_core.spec.metric import RESERVED_PARAMETERS, MetricSpec, Parameter

_SCALARS = (str, int, float, bool)


class Bare:
    """An unquoted word of a text form: ``1`` may mean the number or, where only text is allowed, the word."""

    def __init__(self, word: str, value: Any) -> None:
        self.word, self.value = word, value


def full_parameters(spec: MetricSpec, given: Mapping[str, Any]) -> FrozenMapping[Any]:
    """Every parameter of a metric: those given, checked, and the defaults of the others, in declared order.

    Args:
        spec: The metric.
        given: Name to value.

    Raises:
        ParameterError: names that the metric has not, or values that it does not allow; all of them at once.
    """
    known = {parameter.name: parameter for parameter in spec.parameters}
    problems = [_unknown(name, known) for name in given if name not in known]
    full: dict[str, Any] = {}
    for name, parameter in known.items():
        try:
            full[name] = checked(parameter, given[name]) if name in given else parameter.default
        except ValueError as error:
            problems.append(str(error))
    if problems:
        head = f"Metric {spec.name!r}: "
        text = problems[0] if len(problems) == 1 else "\n".join(["", *(f"  - {problem}" for problem in problems)])
        raise ParameterError(head.rstrip() + text if text.startswith("\n") else head + text, remedy=_remedy(spec))
    return FrozenMapping(full)


def _remedy(spec: MetricSpec) -> str:
    return f"primabench show metric {spec.name}"


def _unknown(name: str, known: Mapping[str, Parameter]) -> str:
    if name in RESERVED_PARAMETERS:
        return f"{name!r} is an argument of the evaluation, not a parameter of a metric"
    close = get_close_matches(str(name), known, n=1, cutoff=0.6)
    if close:
        hint = f"did you mean {close[0]!r}?"
    else:
        hint = f"it has {', '.join(map(repr, known))}" if known else "it has no parameters"
    return f"unknown parameter {name!r}; {hint}"


def checked(parameter: Parameter, value: Any) -> Any:
    """The value in its one form.

    Raises:
        ValueError: the parameter does not allow it; the message says what it allows.
    """
    if isinstance(value, Bare):
        try:
            return checked(parameter, value.value)
        except ValueError:
            if isinstance(value.value, str):
                raise
            return checked(parameter, value.word)
    value = plain(value)
    if is_same(value, parameter.default):
        return parameter.default
    if parameter.choices:
        for choice in parameter.choices:
            if is_same(value, choice):
                return choice
        raise ValueError(
            f"{parameter.name!r} must be one of {', '.join(map(repr, parameter.choices))}, got {_shown(value)}"
            + _close(value, parameter.choices)
        )
    value = _of_kind(parameter, value)
    _check_range(parameter, value)
    return value


def plain(value: Any) -> Any:
    """Python's own type of a numpy scalar; a list as a tuple; anything else as it is."""
    if type(value).__module__.partition(".")[0] == "numpy" and getattr(value, "ndim", None) == 0:
        return value.item()  # duck-typed, so that naming a metric needs no numpy
    for kind in (str, int, float):  # an enumeration member or another subclass would print in its own way
        if isinstance(value, kind) and type(value) not in _SCALARS:
            return kind.__str__(value) if kind is str else kind(value)
    if isinstance(value, list | tuple):
        return tuple(plain(item) for item in value)
    return value


def is_same(left: Any, right: Any) -> bool:
    """Equality in which ``True`` is not ``1``, while ``1`` is ``1.0``."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(is_same, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left == right
    return type(left) is type(right) and bool(left == right)


def _of_kind(parameter: Parameter, value: Any) -> Any:
    kinds = parameter.kinds
    if not kinds:  # nothing declared: what the default is, else any scalar
        kinds = _SCALARS if parameter.default is None else (type(parameter.default),)
    if isinstance(value, bool):
        if bool in kinds:
            return value
    elif isinstance(value, int) and int not in kinds and float in kinds:
        with suppress(OverflowError):
            return float(value)
    elif isinstance(value, kinds) and (not isinstance(value, tuple) or _is_plain(value)):
        return value
    expected = " or ".join(kind.__name__ for kind in kinds)
    raise ValueError(f"{parameter.name!r} must be {expected}, got {_shown(value)}")


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, _SCALARS)


def _check_range(parameter: Parameter, value: Any) -> None:
    if isinstance(value, tuple):
        for item in value:
            _check_range(parameter, item)
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    low, high = parameter.low, parameter.high
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{parameter.name!r} must be finite, got {value!r}")
    if (low is not None and value < low) or (high is not None and value > high):
        if low is None or high is None:
            allowed = f"at least {low!r}" if high is None else f"at most {high!r}"
        else:
            allowed = f"from {low!r} to {high!r}"
        raise ValueError(f"{parameter.name!r} must be {allowed}, got {value!r}")


def _shown(value: Any) -> str:
    """A value in a message; the content of a foreign object may be large or private, so only its type."""
    if value is None or isinstance(value, _SCALARS):
        text = repr(value)
        return text if len(text) <= 60 else text[:60] + "…"
    return f"a {type(value).__name__}"


def _close(value: Any, choices: tuple[Any, ...]) -> str:
    close = get_close_matches(str(value), [c for c in choices if isinstance(c, str)], n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close and isinstance(value, str) else ""
