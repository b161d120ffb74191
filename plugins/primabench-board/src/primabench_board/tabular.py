"""CSV that a spreadsheet shows and does not run."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_BEGINNINGS = frozenset("=+-@|%\t\r\n")
"""What spreadsheets take for the beginning of a formula, or skip before one."""

_AWKWARD = re.compile(r'[",\r\n]')


def disarmed(text: str) -> str:
    """The text, with an apostrophe before it where a spreadsheet would take it for a formula.

    Full-width letters and leading blanks are seen through: spreadsheets do so too.

    Example:
        >>> disarmed("=HYPERLINK(1)"), disarmed("my-model"), disarmed(" ＝1")
        ("'=HYPERLINK(1)", 'my-model', "' ＝1")
    """
    bare = unicodedata.normalize("NFKC", text).lstrip(" ")
    return f"'{text}" if text[:1] in _BEGINNINGS or bare[:1] in _BEGINNINGS else text


def to_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""A table as CSV (RFC 4180 with line feeds); texts are disarmed, numbers are written so that they read back.

    Args:
        header: Names of the columns.
        rows: Texts, numbers, booleans, or None for a blank cell.

    Example:
        >>> to_csv(["model", "score"], [["=x", -0.5], ["y", None]])
        "model,score\n'=x,-0.5\ny,\n"
    """
    return "".join(f"{_line(cells)}\n" for cells in (header, *rows))


def _line(cells: Sequence[object]) -> str:
    line = ",".join([_cell(value) for value in cells])
    return line or '""'  # a line of one blank cell is no blank line


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return _quoted(disarmed(str(value)))


def _quoted(text: str) -> str:
    """Quoted where it must be; the csv module of Python 3.11 leaves a lone carriage return bare."""
    if not _AWKWARD.search(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
