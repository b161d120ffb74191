"""``primabench check DISTRIBUTION``: the conformance checks of a plugin; exit code 1 if one finds a fault."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from primabench_core.cli.output import console, write_json

if TYPE_CHECKING:
    from primabench_core.testing.report import CheckReport

STYLES = {"passed": "green", "failed": "bold red", "expected_failure": "yellow", "not_applicable": "dim"}


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Check everything that an installed plugin declares: entry points, laws of metrics, contracts, splits, "
        "baselines, recipes. Data are built in a temporary store."
    )
    parser.add_argument("distribution", help="name of an installed distribution; see `primabench list plugins`")
    parser.add_argument(
        "--expected-failures",
        metavar="FILE",
        help="JSON object: check id (kind.check:subject) to the written reason why it must fail",
    )
    parser.add_argument(
        "--pin",
        action="store_true",
        help="first write the hashes of changed id lists and data over the pinned ones in the plugin's own files; only "
        "for what is not published: a published version never changes",
    )
    parser.add_argument("--all", action="store_true", help="print every check, not only those that found something")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    """Check and return 0 if nothing was found, else 1."""
    if args.pin and _pin(args.distribution, quiet=args.json):
        # the specs are loaded already, with the old hashes in them: check what now stands in the files
        command = [sys.executable, "-m", "primabench_core.cli.main", "check", args.distribution]
        command += [f"--expected-failures={args.expected_failures}"] if args.expected_failures else []
        command += [f"--{name}" for name in ("all", "json") if getattr(args, name)]
        return subprocess.run(command, check=False).returncode
    return _check(args)


def _pin(distribution: str, *, quiet: bool) -> bool:
    """Bring pinned hashes up to date; whether any file was written."""
    from primabench_core.testing.pinning import stale_pins, write_pins

    written = write_pins(distribution, stale_pins(distribution))
    for pin in () if quiet else written:
        console(stderr=True).print(f"pinned {pin.name} of {pin.subject} in {pin.file}", markup=False, soft_wrap=True)
    return bool(written)


def _check(args: Namespace) -> int:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from primabench_core.testing.runner import check_distribution

    out = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True, disable=args.json or not out.is_terminal) as bar:
        job = bar.add_task("checking", total=None)

        def progress(check: str, done: int, total: int) -> None:
            bar.update(job, description=check, completed=done, total=total or None)

        report = check_distribution(args.distribution, _expected(args.expected_failures), progress=progress)
    if args.json:
        write_json(report.to_dict())
    else:
        _print(report, everything=args.all)
    return 0 if report.is_sound else 1


def _expected(path: str | None) -> dict[str, str]:
    from primabench_core.errors import UsageError

    if path is None:
        return {}
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"Expected failures cannot be read from {path}: {error}") from error
    if not isinstance(found, dict) or not all(isinstance(reason, str) for reason in found.values()):
        raise UsageError(f"{path} must hold one JSON object of check ids and reasons.")
    return found


def _print(report: CheckReport, *, everything: bool) -> None:
    """One line a subject, then what was found."""
    from rich.table import Table
    from rich.text import Text

    out = console()
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("kind", "subject"):
        table.add_column(name, overflow="fold")
    for name in ("passed", "failed", "n/a"):
        table.add_column(name, justify="right", no_wrap=True)
    subjects = list(dict.fromkeys((r.kind, r.subject) for r in report.records))
    for kind, subject in subjects:
        own = [r.status for r in report.records if (r.kind, r.subject) == (kind, subject)]
        failed = own.count("failed")
        passed = own.count("passed") + own.count("expected_failure")
        style = "bold red" if failed else "green"
        table.add_row(
            kind, subject, Text(str(passed), style=style), str(failed or ""), str(own.count("not_applicable"))
        )
    out.print(table)
    for record in report.records:
        if record.status in ("failed", "expected_failure") or everything:
            out.print(Text(f"{record.status}: {record.id}", style=STYLES[record.status]), soft_wrap=True)
            if record.reason:
                out.print(Text(f"  {record.reason}"), soft_wrap=True)
            if record.next:
                out.print(Text(f"  Next: {record.next}"), soft_wrap=True)  # whole, so that it can be copied
    expected = report.count("expected_failure")
    out.print(
        Text(
            f"{report.distribution} {report.version}: {report.count('passed')} passed, {len(report.findings)} failed, "
            f"{report.count('not_applicable')} do not apply" + (f", {expected} fail as expected" if expected else "")
        )
    )
