"""``primabench list KIND``: names, without running any plugin code."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from primabench_core.cli.output import write, write_columns, write_json

if TYPE_CHECKING:
    from primabench_core.discovery.names import Record

KINDS = {
    "tasks": "task",
    "datasets": "dataset",
    "metrics": "metric",
    "baselines": "baseline",
    "benchmarks": "benchmark",
    "recipes": "recipe",
}
_SHORT = 36
"""Letters of a name that a line keeps together beside a summary."""


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "List names. Only metadata of installed distributions is read and no plugin code runs, unless --long asks for "
        "a line about each."
    )
    parser.add_argument("kind", choices=[*KINDS, "plugins"], help="what to list")
    parser.add_argument("--task", help="only datasets, metrics or baselines of this task")
    parser.add_argument("--long", action="store_true", help="with a line about each; loads what plugins declare")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    """List and return the exit code."""
    from primabench_core.discovery import listing, names

    listing.refuse_unsound()
    if args.kind == "plugins":
        return _list_plugins(args.json)
    records = [r for r in names.records(KINDS[args.kind]) if r.status != "disabled"]
    if args.task is not None:
        allowed = set(_of_task(args.kind, args.task))
        records = [r for r in records if r.name in allowed]
    summaries = [_summary(r) for r in records] if args.long else []
    if args.json:
        more = [{"summary": text} for text in summaries] or [{} for _ in records]
        write_json([_plain(r) | extra for r, extra in zip(records, more, strict=True)])
        return 0
    if not records:
        write(f"No {args.kind} {'of this task' if args.task else 'installed'}.")
        return 0
    if args.long:
        _write_long(args.kind[:-1], records, summaries)
        return 0
    rows = [(r.name, r.distribution, r.version, "" if r.status == "ok" else r.status) for r in records]
    write_columns(rows, (args.kind[:-1], "distribution", "version", "status"))
    return 0


def _summary(record: Record) -> str:
    """The line about a thing in its own words; of a broken one, why it has none."""
    from primabench_core.discovery import registry
    from primabench_core.errors import PrimaBenchError

    if record.status != "ok":
        return record.detail
    try:
        spec = registry.load(record.kind, record.qualified)
    except PrimaBenchError as error:
        return error.message
    if record.kind == "recipe":
        return "from files of installed packages" if spec.is_bundled else "from files that are downloaded"
    return str(getattr(spec, "summary", ""))


def _write_long(kind: str, records: list[Record], summaries: list[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    from primabench_core.cli.output import console

    table = Table(box=None, padding=(0, 2, 0, 0))
    longest = max(len(r.name) for r in records)
    table.add_column(kind, overflow="fold", no_wrap=longest <= _SHORT)
    table.add_column("summary", overflow="fold")
    for record, summary in zip(records, summaries, strict=True):
        style = "" if record.status == "ok" else "red"
        table.add_row(Text(record.name, style=style), Text(summary, style=style))
    console().print(table)


def _of_task(kind: str, task: str) -> tuple[str, ...]:
    from primabench_core.discovery import listing
    from primabench_core.errors import UsageError

    if kind == "datasets":
        return listing.list_datasets(task=task)
    if kind == "metrics":
        return listing.list_metrics(task=task)
    if kind == "baselines":
        return tuple(f"{task}|{name}" for name in listing.list_baselines(task=task))
    raise UsageError(f"--task does not apply to {kind}.", remedy=f"primabench list {kind}")


def _list_plugins(as_json: bool) -> int:
    from primabench_core.discovery import names

    records = names.records()
    if as_json:
        write_json([_plain(r) for r in records])
        return 0
    found: dict[tuple[str, str], dict[str, int]] = {}
    for record in records:
        counts = found.setdefault((record.distribution, record.version), {})
        counts[record.kind] = counts.get(record.kind, 0) + 1
    rows = [
        (distribution, version, ", ".join(f"{n} {kind}{'s' if n > 1 else ''}" for kind, n in sorted(counts.items())))
        for (distribution, version), counts in sorted(found.items())
    ]
    write_columns(rows, ("distribution", "version", "brings"))
    bad = [r for r in records if r.status != "ok"]
    for record in bad:
        write(f"{record.status}: {record.kind} {record.name} of {record.distribution}: {record.detail}")
    return 0


def _plain(record: object) -> dict[str, str]:
    fields = ("kind", "name", "distribution", "version", "status", "detail")
    return {name: str(getattr(record, name)) for name in fields}
