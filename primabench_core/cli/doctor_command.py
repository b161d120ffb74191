"""``primabench doctor``: the state of the installation; exit code 1 if something is wrong."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from primabench_core.cli.output import console, write_json

if TYPE_CHECKING:
    from primabench_core.discovery.names import Record


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = "Load every plugin in isolation and say what is broken, why, and what to type next."
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    """Diagnose and return 0 if all is well, else 1."""
    from primabench_core.cli.show_command import plain
    from primabench_core.discovery.doctor import diagnose
    from primabench_core.store.location import ENVIRONMENT, default_root

    report = diagnose(store=os.environ.get(ENVIRONMENT, "").strip() or str(default_root()))
    bad = [r for r in report.records if r.status not in ("ok", "disabled")]
    if args.json:
        write_json(plain(report))
        return 1 if bad else 0
    from rich.table import Table
    from rich.text import Text

    out = console()
    facts = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for name, value in report.facts.items():
        facts.add_row(name, Text(str(value)))
    out.print(facts)
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("distribution", "brings", "status"):
        table.add_column(column, overflow="fold")
    for distribution, entries in _by_distribution(report.records).items():
        broken = sum(r in bad for r in entries)
        status = Text(f"{broken} of {len(entries)} need attention", style="bold red") if broken else Text("ok", "green")
        table.add_row(distribution, _brings(entries), status)
    out.print(table)
    for r in bad:
        out.print(Text(f"{r.status}: {r.kind} {r.name} of {r.distribution} {r.version}: {r.detail}", style="red"))
        if r.remedy:
            out.print(Text(f"  Next: {r.remedy}"))
    for note in report.notes:
        out.print(Text(f"note: {note}", style="yellow"))
    out.print(Text(f"{len(bad)} of {len(report.records)} plugin entries need attention." if bad else "All is well."))
    return 1 if bad else 0


def _by_distribution(records: Iterable[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(f"{record.distribution} {record.version}", []).append(record)
    return dict(sorted(found.items()))


def _brings(records: list[Record]) -> str:
    counts = Counter(r.kind for r in records)
    return ", ".join(f"{n} {kind}{'s' if n > 1 else ''}" for kind, n in counts.items())
