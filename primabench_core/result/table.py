"""A result on the terminal: one row a metric, in 80 columns."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from primabench_core.result.numeral import numeral

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

    from primabench_core.result.eval_result import EvalResult
    from primabench_core.result.metric_result import MetricResult

ARROWS = {"higher": "↑", "lower": "↓", "info": "·"}
"""Which way is better."""

_NAME = 28
"""Letters of a metric's name that are kept on one line."""


def result_table(result: EvalResult) -> Group:
    """A rich table of a result: metric, value, interval, n, and why a value is missing."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    level = next((r.interval.level for r in result if r.interval), None)
    # a name is broken only where it would leave no room for the numbers
    table.add_column("metric", overflow="fold", no_wrap=all(len(key) <= _NAME for key in result.keys()))  # noqa: SIM118
    table.add_column("value", justify="right", no_wrap=True)
    if level is not None:
        table.add_column(f"{level * 100:g} % interval", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    remarks = [_remark(r) for r in result]
    if any(remarks):
        table.add_column("remark", overflow="fold", style="dim")
    for key, found, remark in zip(result.keys(), result, remarks, strict=True):
        name = Text.assemble(Text(key), (f" {ARROWS[found.direction]}", "dim"))
        row = [name, Text(numeral(found.value), style="bold" if found.value is not None else "dim")]
        if level is not None:
            row.append(Text(_ends(found)))
        row.append(Text("" if found.n is None else f"{found.n:,}"))
        table.add_row(*row, *([Text(remark)] if any(remarks) else []))
    return titled(_title(result), table, _caption(result))


def titled(title: str, table: Table, notes: str) -> Group:
    """A table between its title and its notes, which may be wider than it."""
    from rich.console import Group
    from rich.text import Text

    return Group(Text(title, style="bold"), table, Text(notes, style="dim"))


def as_text(result: EvalResult, width: int = 80) -> str:
    """The table as plain text."""
    return rendered(result_table(result), width)


def rendered(table: RenderableType, width: int = 80) -> str:
    """What rich would print as plain text, whatever the terminal is."""
    from rich.console import Console

    out = StringIO()
    console = Console(file=out, width=width, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().strip("\n").splitlines())


def _title(result: EvalResult) -> str:
    where = " on ".join(part for part in (result.task, result.dataset) if part)
    made = "SYNTHETIC DATA · " if result.synthetic else ""
    return f"{made}{result.model}: {where}" if where else f"{made}{result.model}"


def _caption(result: EvalResult) -> str:
    """Units and hash, and why some metrics have no interval: once for all that share the reason."""
    absent: dict[str, list[str]] = {}
    for key, found in zip(result.keys(), result, strict=True):
        reason = _no_interval(found)
        if reason:
            absent.setdefault(reason, []).append(key)
    notes = [f"no interval: {', '.join(names)}: {reason}" for reason, names in absent.items()]
    return "\n".join([_about(result), *notes])


def _about(result: EvalResult) -> str:
    covered = "" if result.coverage == 1 else f" · {result.coverage:.1%} of them predicted"
    units = f"{result.n_units:,} {result.unit}{'' if result.n_units == 1 else 's'}"
    return f"{units}{covered} · scores {result.scores_hash[:12]}"


def _ends(result: MetricResult) -> str:
    if result.interval is None or result.interval.low is None:
        return ""
    return str(result.interval)


def _remark(result: MetricResult) -> str:
    status = [f"{result.status}: {result.reason}"] if result.value is None else []
    return "; ".join(status + [part for part in remarks(result) if not part.startswith("no interval")])


def _no_interval(result: MetricResult) -> str:
    """Why a value has no interval though one was asked for; empty where it has, or has no value."""
    absent = result.value is not None and result.interval is not None and result.interval.low is None
    return result.interval.reason if absent and result.interval is not None else ""


def remarks(result: MetricResult, *, digits: int = 4) -> list[str]:
    """What must be known beside a value, in words.

    Args:
        result: Of one metric.
        digits: Of numbers.
    """
    reason = _no_interval(result)
    parts = [f"no interval: {reason}"] if reason else []
    if result.n_undefined:
        parts.append(f"{result.n_undefined} undefined")
    if result.value is None and result.mean_over_defined is not None:
        parts.append(f"mean over defined {numeral(result.mean_over_defined, digits=digits)}")
    parts += [f"{count:,} left out: {why}" for why, count in result.n_excluded.items() if count]
    unknown = result.values.get("n_unknown_labels")
    if unknown:
        parts.append(f"{unknown:,} unknown label{'' if unknown == 1 else 's'}")
    return parts + [flag for flag in result.flags if flag != "unknown_labels" or not unknown]
