"""``primabench list KIND``: names, without running any plugin code."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from primabench_core.cli.output import write, write_columns, write_json

KINDS = {
    "tasks": "task",
    "datasets": "dataset",
    "metrics": "metric",
    "baselines": "baseline",
    "benchmarks": "benchmark",
    "recipes": "recipe",
}


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = "List names. Only metadata of installed distributions is read; no plugin code runs."
    parser.add_argument("kind", choices=[*KINDS, "plugins"], help="what to list")
    parser.add_argument("--task", help="only datasets, metrics or baselines of this task")
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
    if args.json:
        write_json([_plain(r) for r in records])
        return 0
    if not records:
        write(f"No {args.kind} {'of this task' if args.task else 'installed'}.")
        return 0
    rows = [(r.name, r.distribution, r.version, "" if r.status == "ok" else r.status) for r in records]
    write_columns(rows, (args.kind[:-1], "distribution", "version", "status"))
    return 0


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
