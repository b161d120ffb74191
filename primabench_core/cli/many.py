"""``primabench evaluate`` with several files, or on a cluster: arguments, running, and a table of all."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from primabench_core.cli.output import console, write, write_json

if TYPE_CHECKING:
    from primabench_core.result.eval_result import EvalResult
    from primabench_core.result.failure import EvalFailure

    Found = Mapping[str, EvalResult | EvalFailure]


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    group = parser.add_argument_group("many files, or a cluster")
    group.add_argument("--results", metavar="FOLDER", help="keep each result here; what is there is not done again")
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="Dask scheduler (tcp://host:8786, tls://…), or `local`, `local:4` workers here, or `gpu`",
    )
    group.add_argument("--resources", metavar="NAME=N", action="append", default=[], help="what a worker must have")
    group.add_argument("--tls-ca", metavar="FILE", default="", help="authority of the scheduler's certificate")
    group.add_argument("--tls-cert", metavar="FILE", default="", help="certificate of this client")
    group.add_argument("--tls-key", metavar="FILE", default="", help="key of this client")


def is_asked(args: Namespace) -> bool:
    """Whether the arguments need more than one evaluation in this process."""
    several = args.predictions is not None and len(args.predictions) > 1
    return bool(several or args.scheduler or args.results)


def run(
    args: Namespace,
    *,
    mapping: Mapping[str, str],
    metrics: list[str] | None,
    ci: float | None,
    labels: Mapping[str, str],
    unmet: Callable[[EvalResult], list[str]],
) -> int:
    """Evaluate all, print them, and return 0, or 1 if one failed or does not meet a requirement."""
    from primabench_core.errors import UsageError
    from primabench_core.evaluation.many import evaluate_many
    from primabench_core.result.eval_result import EvalResult

    if args.predictions is None:
        raise UsageError("--scheduler and --results are for --predictions.", remedy="leave them out with --baseline")
    if args.output or args.export:
        raise UsageError("--output and --export write one result.", remedy="keep several with --results FOLDER")
    if args.resources and not args.scheduler:
        raise UsageError("--resources are those of workers.", remedy="name their --scheduler")
    resources = dict(_amount(text) for text in args.resources)
    with _client(args) as client:
        found = evaluate_many(
            _named(args.predictions),
            args.task,
            client=client,
            dataset=args.dataset,
            metrics=metrics,
            ci=ci,
            partial=args.partial,
            duplicates=args.duplicates or "drop_identical",
            seed=args.seed,
            labels=labels,
            mapping=mapping,
            ignore=args.ignore,
            resources=resources or None,
            results=args.results,
            progress=not args.json,
            store=args.store,
        )
    results = [r for r in found.values() if isinstance(r, EvalResult)]
    if args.json:
        write_json({name: _plain(r) for name, r in found.items()})
    else:
        _print(found)
    wrong = [text for r in results for text in unmet(r)]
    for text in wrong:
        console(stderr=True).print(text, style="bold red", markup=False)
    broken = len(results) < len(found) or any(m.status == "failed" for r in results for m in r)
    return 1 if wrong or broken else 0


@contextmanager
def _client(args: Namespace) -> Iterator[Any]:
    if not args.scheduler:
        yield None
        return
    from primabench_core.evaluation.launch import connect

    with connect(args.scheduler, tls_ca=args.tls_ca, tls_cert=args.tls_cert, tls_key=args.tls_key) as client:
        yield client


def _named(paths: list[str]) -> dict[str, str]:
    """Short names where they tell the files apart."""
    from primabench_core.errors import UsageError

    if len(set(paths)) < len(paths):
        raise UsageError("a file of predictions is named twice.", remedy="name each once")
    short = Counter(Path(path).stem for path in paths)
    return {Path(path).stem if short[Path(path).stem] == 1 else path: path for path in paths}


def _amount(text: str) -> tuple[str, float]:
    from primabench_core.errors import UsageError

    name, _, amount = text.partition("=")
    try:
        return name.strip(), float(amount)
    except ValueError:
        raise UsageError(f"--resources {text!r} is not of the form NAME=NUMBER.") from None


def _plain(result: EvalResult | EvalFailure) -> dict[str, Any]:
    from primabench_core.result.eval_result import EvalResult

    kind = "EvalResult" if isinstance(result, EvalResult) else "EvalFailure"
    return {"kind": kind, **result.to_dict()}


def _print(found: Found) -> None:
    """A row for each file, a column for each metric; then what failed."""
    from rich.table import Table

    from primabench_core.advice import for_command
    from primabench_core.result.eval_result import EvalResult

    results = {name: r for name, r in found.items() if isinstance(r, EvalResult)}
    if results:
        table = Table("predictions")
        columns = list(dict.fromkeys(metric for r in results.values() for metric in r.scores))
        for column in columns:
            table.add_column(column, justify="right")
        for name, r in results.items():
            values = [r.scores.get(column) for column in columns]
            table.add_row(name, *("-" if v is None else f"{v:.4f}" for v in values))
        console().print(table)
    for failure in (f for name, f in found.items() if name not in results):
        console(stderr=True).print(for_command(str(failure)), style="bold red", markup=False)
    write(f"{len(results)} of {len(found)} evaluated")
