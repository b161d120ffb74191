"""Two models on the terminal: what carries the verdict is whole at every width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from primabench_core.result.compare import Comparison, Difference, p_text
from primabench_core.result.numeral import numeral, span

if TYPE_CHECKING:
    from rich.console import Group

_NAME = 24
"""Letters of a metric's name that are kept on one line."""
_LEAST = 8
"""Letters of a metric's name on a line, where more leaves no room for the numbers."""
_GAP = 2
"""Letters between two columns: the padding, and where the box has its line."""
_OPTIONAL = ("p", "a", "b", "difference")
"""Columns in the order in which they give way on a narrow terminal; metric, corrected p and verdict stay."""
_CORRECTIONS = {"holm": "Holm", "benjamini_hochberg": "Benjamini-Hochberg"}


def comparison_table(found: Comparison, width: int) -> Group:
    """A rich table of a comparison.

    Models stand in it by name where all fits, else as a and b, which the title explains.

    Args:
        found: Of two models.
        width: Letters on a line.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from primabench_core.result.table import titled

    columns, named, gone = _fitting(found, width)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for i, column in enumerate(columns):
        if i == 0:
            table.add_column(column[0], overflow="fold")
        else:  # numbers and verdicts stay whole
            last = i == len(columns) - 1
            table.add_column(Text(column[0]), justify="left" if last else "right", no_wrap=True)
    for row in zip(*(column[1:] for column in columns), strict=True):
        table.add_row(*(Text(cell) for cell in row))
    title = f"{found.a} against {found.b}" if named else f"a: {found.a} against b: {found.b}"
    return titled(title, table, "\n".join(_notes(found, gone)))


def _notes(found: Comparison, gone: Sequence[str]) -> list[str]:
    units = f"{found.n_units:,} {found.unit}{'' if found.n_units == 1 else 's'}"
    notes = [f"{units} · paired tests, corrected by {_CORRECTIONS[found.correction]} over the table"]
    untested: dict[str, list[str]] = {}
    for d in found.differences:
        if d.p is None:
            untested.setdefault(d.reason, []).append(d.metric)
    notes += [f"not tested: {', '.join(names)}: {reason}" for reason, names in untested.items()]
    return notes + ([f"no room for: {', '.join(gone)}"] if gone else [])


def _fitting(found: Comparison, width: int) -> tuple[list[list[str]], bool, tuple[str, ...]]:
    """Columns with their heads, whether models are named in them, and which columns were left out."""
    columns = _columns(found, found.a, found.b)
    longest = _wide(columns["metric"])
    if _others(columns) + min(longest, _NAME) <= width:
        return list(columns.values()), True, ()
    columns = _columns(found, "a", "b")
    for count in range(len(_OPTIONAL) + 1):
        gone = _OPTIONAL[:count]
        kept = {name: column for name, column in columns.items() if name not in gone}
        if _others(kept) + min(longest, _LEAST) <= width:
            break
    return list(kept.values()), False, gone


def _others(columns: dict[str, list[str]]) -> int:
    """Letters that all columns but the first need, with what stands between two columns."""
    return sum(_wide(column) + _GAP for name, column in columns.items() if name != "metric")


def _wide(column: Sequence[str]) -> int:
    from rich.cells import cell_len

    return max(cell_len(line) for cell in column for line in cell.split("\n"))


def _columns(found: Comparison, one: str, two: str) -> dict[str, list[str]]:
    verdicts = {"a": one, "b": two, "differs": "differs", "": "neither"}
    columns = {
        "metric": ["metric"], "a": [one], "b": [two], "difference": ["difference"], "p": ["p"], "p corr.": ["p corr."],
        "better": ["better"],
    }  # fmt: skip
    for d in found.differences:
        verdict = "" if d.p is None else verdicts[d.better(found.level)]
        cells = (d.metric, numeral(d.a, digits=3), numeral(d.b, digits=3), _difference(d), p_text(d.p))
        for column, cell in zip(columns.values(), (*cells, p_text(d.adjusted), verdict), strict=True):
            column.append(cell)
    return columns


def _difference(d: Difference) -> str:
    shown = numeral(d.difference, digits=3)
    return shown if d.low is None or d.high is None else f"{shown}\n{span(d.low, d.high, digits=3)}"
