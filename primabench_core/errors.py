"""Every error that PrimaBench raises on purpose.

The tree (a builtin stands in brackets where callers expect to catch it)::

    PrimaBenchError
    ├── UsageError [ValueError]             an argument cannot be what was given
    │   ├── UnknownNameError [KeyError]     no task, dataset, metric, baseline … of that name
    │   └── ParameterError                  a metric parameter is unknown or out of range
    ├── ContractError [ValueError]          predictions (or a truth) break the contract; all violations at once
    │   └── CoverageError                   units were never predicted
    ├── PluginError                         a plugin that was asked for is broken, incompatible or in conflict
    │   └── MissingPluginError [ImportError]  a plugin or an optional library is not installed
    ├── StoreError [OSError]                data cannot be found, read or written
    │   ├── MissingDataError [KeyError]     a dataset, split or file is not in the store
    │   ├── CorruptDataError                stored bytes are not what the manifest says
    │   └── VersionExistsError              a published version would be overwritten
    ├── MetricError                         a metric raised, or returned what it must not
    ├── DistributedError [RuntimeError]     ranks or workers did not come together, or one of them failed
    └── ResultError [ValueError]            a result file cannot be read, or does not verify

``str(error)`` is one message for a person: what is wrong, where, what was expected, and what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from primabench_core.contract.violations import Violation


class PrimaBenchError(Exception):
    """Base of all errors raised on purpose.

    Args:
        message: What is wrong, where, and what was expected.
        remedy: The next thing to do, best a command to type; printed on a line of its own.
    """

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:  # KeyError would print the repr of its argument
        return f"{self.message}\n  Next: {self.remedy}" if self.remedy else self.message

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.__dict__.copy())


def _rebuild(kind: type[PrimaBenchError], state: dict[str, object]) -> PrimaBenchError:
    """Unpickle an error without calling its constructor (constructors differ)."""
    error = kind.__new__(kind)
    error.__dict__.update(state)
    error.args = (state.get("message", ""), state.get("remedy", ""))
    return error


class UsageError(PrimaBenchError, ValueError):
    """An argument cannot be what was given."""


class UnknownNameError(UsageError, KeyError):
    """Nothing of this kind has this name; close names are suggested.

    Args:
        kind: What was looked for, such as ``"task"``.
        name: The name that was asked for.
        known: Every name there is.
        remedy: Overrides the default next command.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], *, remedy: str = "") -> None:
        names = sorted(known)
        close = close_names(str(name), names)
        if close:
            hint = f"Did you mean {' or '.join(repr(c) for c in close)}?"
        elif names:
            shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
            hint = f"Known: {shown}."
        else:
            hint = f"No {kind} is installed."
        super().__init__(f"Unknown {kind} {name!r}. {hint}", remedy=remedy or f"primabench list {kind}s")
        self.kind, self.name, self.known = kind, str(name), tuple(names)


def close_names(name: str, known: Sequence[str]) -> list[str]:
    """Known names that may be meant: alike in writing, then those that contain the text or are contained in it.

    Example:
        >>> close_names("f1", ["accuracy", "macro_f1", "micro_f1"])
        ['macro_f1', 'micro_f1']
    """
    alike = get_close_matches(name, known, n=3, cutoff=0.6)
    text = name.lower()
    containing = [k for k in known if len(text) > 1 and text in k.lower()]
    contained = [k for k in known if len(k) > 2 and k.lower() in text]
    return list(dict.fromkeys([*alike, *containing, *contained]))[:5]


class ParameterError(UsageError):
    """A metric parameter is unknown, or its value is not allowed."""


class ContractError(PrimaBenchError, ValueError):
    """Data break a contract. ``violations`` holds every one that was found."""

    def __init__(self, violations: Sequence[Violation], *, what: str = "The prediction", remedy: str = "") -> None:
        count = len(violations)
        head = f"{what} breaks the contract in {count} {'place' if count == 1 else 'places'}:"
        super().__init__("\n".join([head, *(f"  - {v}" for v in violations)]), remedy=remedy)
        self.violations = tuple(violations)


class CoverageError(ContractError):
    """Units were never predicted and the contract does not allow that."""


class PluginError(PrimaBenchError):
    """A plugin that was asked for is broken, incompatible, disabled or in conflict."""


class MissingPluginError(PluginError, ImportError):
    """A plugin or an optional library is not installed; the remedy is the install line."""


class StoreError(PrimaBenchError, OSError):
    """Data cannot be found, read or written."""


class MissingDataError(StoreError, KeyError):
    """A dataset, split or file is not in the store."""


class CorruptDataError(StoreError):
    """Stored bytes are not what the manifest says."""


class VersionExistsError(StoreError):
    """A published version is never overwritten."""


class MetricError(PrimaBenchError):
    """A metric raised, or returned something that is not a result."""


class DistributedError(PrimaBenchError, RuntimeError):
    """Ranks or workers did not come together, or one of them failed."""


class ResultError(PrimaBenchError, ValueError):
    """A result file cannot be read, or what it claims does not verify."""
