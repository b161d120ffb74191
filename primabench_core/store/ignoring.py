"""Columns of a prediction file that its reader is told to leave out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from primabench_core.contract.contract import Contract
from primabench_core.contract.convert import field_of
from primabench_core.contract.evaldata import COORDS
from primabench_core.errors import UsageError

ALL = "*"
"""Stands for every column that is neither ids nor a field."""
_SHOWN = 20


def leave_out(
    columns: Mapping[str, Any], ignore: Sequence[str], mapping: Mapping[str, str], path: Path
) -> dict[str, Any]:
    """The columns without those that were named; :data:`ALL` is left to :func:`keep_fields`.

    Raises:
        UsageError: a name that the file does not have, or that the mapping reads.
    """
    for name in ignore:
        if name in mapping.values():
            raise UsageError(f"the column {name!r} is to be read and to be ignored", remedy="give it one role")
        if name not in columns and name != ALL:
            raise no_column(name, "ignore", columns, path)
    return {name: column for name, column in columns.items() if name not in ignore}


def keep_fields(columns: Mapping[str, Any], ignore: Sequence[str], contract: Contract) -> dict[str, Any]:
    """The columns that are fields, or parts of one, where all others are ignored; called after they are renamed."""
    if ALL not in ignore:
        return dict(columns)
    known = {*COORDS, *contract.ignored}
    return {name: c for name, c in columns.items() if name in known or field_of(name, contract) is not None}


def no_column(column: str, purpose: str, columns: Mapping[str, Any], path: Path) -> UsageError:
    """The error of a column that is not there, with those that are."""
    names = [str(name) for name in columns]
    close = get_close_matches(column, names, n=1, cutoff=0.6) if len(column) > 2 else []
    held = ", ".join(map(repr, names[:_SHOWN])) + (f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else "")
    remedy = f"is {close[0]!r} meant?" if close else "name one of these columns" if names else ""
    return UsageError(f"{path.name} has no column {column!r} to {purpose}; it has {held or 'none'}", remedy=remedy)
