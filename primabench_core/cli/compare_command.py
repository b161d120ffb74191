"""``primabench compare A.json B.json``: which differences of two models are real."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from primabench_core.cli.evaluate_command import configure_columns, read_for_task
from primabench_core.cli.output import console, write, write_json
from primabench_core.result.corrections import CORRECTIONS

if TYPE_CHECKING:
    from primabench_core.result.compare import Comparison
    from primabench_core.result.eval_result import EvalResult


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Compare two results on the same data. With the predictions of both, every metric is tested as it declares "
        "(paired bootstrap, DeLong, McNemar or Wilcoxon) and p is corrected over the table; without, there are "
        "differences only."
    )
    parser.add_argument("results", nargs=2, metavar="RESULT", help="two result files of the same task and dataset")
    parser.add_argument(
        "--predictions", nargs=2, metavar="FILE", help="the predictions of both, in the order of the results"
    )
    configure_columns(parser)
    parser.add_argument("--metrics", help="names, separated by commas; default: all that both hold")
    parser.add_argument(
        "--correction", choices=list(CORRECTIONS), default="holm",
        help="for many tests (default holm); bh is short for benjamini_hochberg",
    )  # fmt: skip
    parser.add_argument("--level", type=float, default=0.95, help="level of intervals and verdicts (default 0.95)")
    parser.add_argument("--draws", type=int, default=2000, help="resamples of the paired bootstrap (default 2000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the resamples (default 0)")
    parser.add_argument("--store", help="store to read; overrides PRIMABENCH_STORE")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    """Compare and return 0."""
    from pathlib import Path

    from primabench_core.evaluation.compare import compare
    from primabench_core.result.eval_result import EvalResult
    from primabench_core.result.naming import names_of

    a, b = (EvalResult.load(Path(path)) for path in args.results)
    one, two = names_of((a, b), args.results)
    found = compare(
        a,
        b,
        predictions=_predictions(args, a, b),
        metrics=[m.strip() for m in args.metrics.split(",")] if args.metrics else None,
        names=(one, two),
        correction=args.correction,
        level=args.level,
        draws=args.draws,
        seed=args.seed,
        store=args.store,
    )
    if args.json:
        write_json(_plain(found))
        return 0
    console().print(found)
    if args.predictions is None:
        write("No test without predictions: add --predictions A.csv B.csv")
    return 0


def _predictions(args: Namespace, a: EvalResult, b: EvalResult) -> tuple[Any, Any] | None:
    if args.predictions is None:
        return None
    from primabench_core.errors import UsageError

    for result in (a, b):
        if not result.task:
            raise UsageError(
                "The results were computed on a truth of the caller, which a command cannot read.",
                remedy="compare them in Python: pb.compare(a, b, predictions=(…, …), truth=…)",
            )
    one, two = (read_for_task(r.task, p, args.map, args.ignore) for r, p in zip((a, b), args.predictions, strict=True))
    return one, two


def _plain(found: Comparison) -> dict[str, Any]:
    from attrs import asdict

    plain: dict[str, Any] = asdict(found)
    for row, difference in zip(plain["differences"], found.differences, strict=True):
        row["verdict"] = found.verdict(difference)
        row["better"] = difference.better(found.level)
    return plain
