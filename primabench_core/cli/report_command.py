"""``primabench report RESULT.json … -o report.html``: one page from results, with curves if predictions are given."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from primabench_core.cli.evaluate_command import configure_columns, read_for_task
from primabench_core.cli.output import console, write

if TYPE_CHECKING:
    from primabench_core.evaluation.paired import Placed
    from primabench_core.result.compare import Comparison
    from primabench_core.result.eval_result import EvalResult

MOST_COMPARISONS = 6


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Write a self-contained HTML page: scores with intervals, parts, provenance. With the predictions of some "
        "results also confusion, ROC, precision-recall and reliability, and paired tests against the best baseline "
        "(predictions of baselines are made again). Which file belongs to which result is found by its fingerprint."
    )
    parser.add_argument("results", nargs="+", metavar="RESULT", help="result files")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the page to write")
    parser.add_argument("--predictions", nargs="+", default=[], metavar="FILE", help="predictions that were scored")
    configure_columns(parser)
    parser.add_argument("--title", default="", help="heading of the page")
    parser.add_argument("--force", action="store_true", help="replace an existing page")
    parser.add_argument("--store", help="store to read; overrides PRIMABENCH_STORE")


def run(args: Namespace) -> int:
    """Write the report and return 0."""
    from primabench_core.errors import UsageError
    from primabench_core.result.eval_result import EvalResult
    from primabench_core.result.report import write_report

    output = Path(args.output)
    if output.exists() and not args.force:
        raise UsageError(f"{output} exists.", remedy="choose another --output, or add --force")
    results = [EvalResult.load(Path(path)) for path in args.results]
    curves: dict[str, Any] = {}
    comparisons: list[Comparison] = []
    if args.predictions:
        given = _matched(results, args)
        given |= _baselines(results, given, args.store)
        curves = curves_for(results, given, args.store)
        comparisons = comparisons_for(results, given, args.store, files=args.results)
    write_report(
        results, output, title=args.title, curves=curves, comparisons=comparisons, files=args.results,
        overwrite=args.force,
    )  # fmt: skip
    write(f"written to {output.resolve().as_uri()}")
    return 0


def _placed(result: EvalResult, predictions: Any, store: str | None) -> Placed:
    from primabench_core.evaluation.compare import place

    return place(result, predictions, store=store)


def _matched(results: list[EvalResult], args: Namespace) -> dict[str, Any]:
    """Predictions by the record hash of the result that was computed from them."""
    from primabench_core.errors import ContractError, UsageError

    given: dict[str, Any] = {}
    groups = {(r.task, r.dataset): r for r in results if r.task}
    if not groups:
        raise UsageError("--predictions are read for results of a task; these are over a truth of the caller.")
    for path in args.predictions:
        belongs: list[EvalResult] = []
        problem = ""
        for (task, dataset), first in groups.items():
            try:
                predictions = read_for_task(task, path, args.map, args.ignore)
                fingerprint = _placed(first, predictions, args.store).fingerprint
            except ContractError as error:  # predictions of another task, perhaps
                problem = str(error)
                continue
            own = [r for r in results if (r.task, r.dataset) == (task, dataset) and r.predictions_sha256 == fingerprint]
            given.update({r.record_hash: predictions for r in own})
            belongs += own
        if not belongs:
            raise UsageError(
                f"{path} holds the predictions of none of these results." + (f"\n{problem}" if problem else ""),
                remedy="give the files that were scored, or leave --predictions out",
            )
    return given


def _baselines(results: list[EvalResult], given: dict[str, Any], store: str | None) -> dict[str, Any]:
    """Predictions of the baselines among the results, made again; those that come out differently are left out."""
    from primabench_core.errors import PrimaBenchError
    from primabench_core.evaluation.baselines import predict_baseline

    groups = {(r.task, r.dataset) for r in results if r.record_hash in given}
    found: dict[str, Any] = {}
    for result in results:
        if not result.is_baseline or result.is_oracle or (result.task, result.dataset) not in groups:
            continue
        seed = result.seeds.get("bootstrap", 0)
        try:
            predictions = predict_baseline(
                result.task, result.labels["baseline"], dataset=result.dataset, seed=seed, store=store
            )
            agrees = _placed(result, predictions, store).fingerprint == result.predictions_sha256
        except PrimaBenchError as error:
            console(stderr=True).print(f"{result.model}: not compared: {error}", style="yellow", markup=False)
            continue
        if agrees:
            found[result.record_hash] = predictions
        else:
            text = f"{result.model}: not compared: it predicts something else now"
            console(stderr=True).print(text, style="yellow", markup=False)
    return found


def curves_for(results: list[EvalResult], given: dict[str, Any], store: str | None) -> dict[str, Any]:
    """Curves and confusion of the models; where there are none, of the baselines.

    Args:
        results: All that stand on the page.
        given: Predictions by the record hash of their result.
        store: Store to read; by default ``PRIMABENCH_STORE``.
    """
    from primabench_core.evaluation.curves import curves_of

    models = [r for r in results if r.record_hash in given and not r.is_baseline]
    chosen = models or [r for r in results if r.record_hash in given]
    return {r.record_hash: curves_of(_placed(r, given[r.record_hash], store)) for r in chosen}


def comparisons_for(
    results: list[EvalResult],
    given: dict[str, Any],
    store: str | None,
    most: int = MOST_COMPARISONS,
    files: Sequence[str] = (),
) -> list[Comparison]:
    """Every model against the best baseline; where all are of one kind, the best against the others, best first.

    Args:
        results: All that stand on the page.
        given: Predictions by the record hash of their result.
        store: Store to read; by default ``PRIMABENCH_STORE``.
        most: Tables for each dataset.
        files: Where each result was read from, or none.
    """
    from primabench_core.evaluation.compare import compare
    from primabench_core.result.naming import names_by_data

    called = {id(r): name for r, name in zip(results, names_by_data(results, files), strict=True)}
    found = []
    for key in dict.fromkeys((r.task, r.dataset) for r in results):
        members = _ordered([r for r in results if (r.task, r.dataset) == key and r.record_hash in given])
        models = [r for r in members if not r.is_baseline]
        baselines = [r for r in members if r.is_baseline]
        if models and baselines:
            pairs = [(model, baselines[0]) for model in models]
        else:
            pairs = [(members[0], other) for other in members[1:]]
        for a, b in pairs[:most]:
            predictions = given[a.record_hash], given[b.record_hash]
            names = called[id(a)], called[id(b)]
            found.append(compare(a, b, predictions=predictions, names=names, store=store))
    return found


def _ordered(results: list[EvalResult]) -> list[EvalResult]:
    """Best first by the primary metric; those without a value last."""

    def key(result: EvalResult) -> tuple[bool, float]:
        value = result.scores.get(result.primary) if result.primary else None
        if value is None:
            return True, 0.0
        return False, value if result[result.primary].direction == "lower" else -value

    return sorted(results, key=key)
