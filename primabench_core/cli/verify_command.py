"""``primabench verify``: does a result say the truth; are the bytes of a dataset those of its manifest."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from primabench_core.cli.evaluate_command import configure_columns, read_for_task
from primabench_core.cli.output import console, write_json


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = "Recompute what a result file claims, or the hashes of a dataset in the store."
    parser.add_argument("result", nargs="?", help="result file written by `primabench evaluate`")
    parser.add_argument("--predictions", help="the predictions that were scored: recompute every metric from them")
    configure_columns(parser)
    parser.add_argument("--dataset", help="publication/slug@version: verify the stored bytes instead")
    parser.add_argument("--objects", action="store_true", help="with --dataset: only the SHA-256 of stored objects")
    parser.add_argument("--content", action="store_true", help="with --dataset: only the content hash of the values")
    parser.add_argument("--threads", type=int, help="with --dataset: threads that hash; default: one a processor")
    parser.add_argument("--store", help="store to read; overrides PRIMABENCH_STORE")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    """Verify and return 0 if everything agrees, else 1."""
    from primabench_core.errors import UsageError

    if bool(args.result) == bool(args.dataset):
        raise UsageError(
            "Give a result file or --dataset, one of them.", remedy="primabench verify RESULT.json --predictions FILE"
        )
    if args.result and (args.objects or args.content or args.threads):
        raise UsageError("--objects, --content and --threads belong to --dataset.", remedy="primabench verify --help")
    report = _verify_dataset(args) if args.dataset else _verify_result(args)
    checks = report.checks
    ok = all(c.status != "failed" for c in checks)
    if args.json:
        write_json({"passed": ok, "checks": [{"name": c.name, "status": c.status, "detail": c.detail} for c in checks]})
        return 0 if ok else 1
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("check", "status", "detail"):
        table.add_column(column, overflow="fold")
    style = {"passed": "green", "failed": "bold red"}
    for c in checks:
        table.add_row(Text(c.name), Text(c.status, style=style.get(c.status, "dim")), Text(c.detail))
    out = console()
    out.print(table)
    out.print(Text("Everything that could be checked agrees." if ok else "Not everything agrees."))
    return 0 if ok else 1


def _verify_dataset(args: Namespace) -> Any:
    from primabench_core.cli.output import bytes_bar
    from primabench_core.store.access import verify_dataset

    both = args.content == args.objects  # neither flag asks for both
    with bytes_bar(f"verifying {args.dataset}", quiet=args.json) as progress:
        return verify_dataset(
            args.dataset,
            store=args.store,
            progress=progress,
            objects=both or args.objects,
            content=both or args.content,
            threads=args.threads or os.cpu_count() or 1,
        )


def _verify_result(args: Namespace) -> Any:
    from primabench_core.evaluation.oneshot import evaluate
    from primabench_core.result.eval_result import EvalResult
    from primabench_core.result.verify import verify

    result = EvalResult.load(Path(args.result))
    if args.predictions is None:
        return verify(result)
    if not result.task:
        from primabench_core.errors import UsageError

        raise UsageError(
            "The result was scored against a truth of the caller, which a command cannot read.",
            remedy="verify it in Python: primabench_core.result.verify.verify(result, predictions, evaluate=…)",
        )
    predictions = read_for_task(result.task, args.predictions, args.map, args.ignore)
    return verify(result, predictions, evaluate=evaluate)
