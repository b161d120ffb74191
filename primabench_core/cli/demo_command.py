"""``primabench demo``: from install to scores of real cells, a table and a report, without any network."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from primabench_core.cli.output import console, write, write_json

if TYPE_CHECKING:
    from primabench_core.contract.evaldata import EvalData
    from primabench_core.result.eval_result import EvalResult

SHARD = 64
"""Rows of a batch; small, so that even this small data set arrives in several."""


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Build the bundled data set, let every baseline predict, stream the predictions in shuffled shards as a "
        "training loop would, and write results, predictions and a report."
    )
    parser.add_argument("--task", default="cell_type_annotation", help="task to show (default: cell_type_annotation)")
    parser.add_argument("--dataset", help="publication/slug@version; default: the task's own")
    parser.add_argument("--output", default="primabench-demo", metavar="FOLDER", help="where results are written")
    parser.add_argument("--store", help="store to use; overrides PRIMABENCH_STORE")
    parser.add_argument("--seed", type=int, default=0, help="seed of the baselines (default 0)")
    parser.add_argument("--json", action="store_true", help="print paths and scores as JSON")


def run(args: Namespace) -> int:
    """Run the demo and return 0, or 1 if a metric failed."""
    from primabench_core.cli.evaluate_command import build_if_missing
    from primabench_core.cli.report_command import comparisons_for, curves_for
    from primabench_core.discovery import listing, registry
    from primabench_core.result.report import write_report

    task = registry.load("task", args.task)
    dataset = args.dataset or task.default_dataset
    say = (lambda text: None) if args.json else write
    say(f"1. data      {dataset}")
    build_if_missing(dataset, args.store, quiet=True)
    folder = Path(args.output)
    folder.mkdir(parents=True, exist_ok=True)
    names = listing.list_baselines(task=args.task)
    say(f"2. baselines {', '.join(names)}")
    results: dict[str, EvalResult] = {}
    given: dict[str, Any] = {}
    scores = _scores(args.task, dataset, names, args.seed, args.store)
    for name, result, predictions in _progress(scores, len(names), args.json):
        results[name] = result
        result.save(folder / f"{name}.json", overwrite=True)
        if predictions is not None:
            given[result.record_hash] = predictions
            _save_predictions(predictions, folder / f"{name}.csv")
    ordered = _ordered(results, task.primary)
    report = folder / "report.html"
    write_report(
        ordered,
        report,
        title=f"{task.title}: baselines on {dataset}",
        curves=curves_for(ordered, given, args.store),
        comparisons=comparisons_for(ordered, given, args.store, most=1),
    )
    if args.json:
        write_json({"report": str(report.resolve()), "scores": {n: dict(r.scores) for n, r in results.items()}})
    else:
        say("3. scores")
        console().print(_table(ordered, task.primary))
        say(f"4. report    {report.resolve().as_uri()}")
        say(f"   results   {len(results)} JSON files in {folder.resolve()}, {len(given)} with predictions (CSV)")
    return 1 if any(m.status == "failed" for r in results.values() for m in r) else 0


def _scores(
    task: str, dataset: str, names: tuple[str, ...], seed: int, store: str | None
) -> Iterator[tuple[str, EvalResult, EvalData | None]]:
    """Name, result and predictions; an oracle's predictions are the solution and never leave the runner."""
    from primabench_core.discovery import registry
    from primabench_core.evaluation.baselines import predict_baseline
    from primabench_core.evaluation.oracle import evaluate_oracle

    for name in names:
        if registry.load("baseline", f"{task}|{name}").oracle:
            yield name, evaluate_oracle(task, name, dataset=dataset, ci=0.95, seed=seed, store=store), None
            continue
        labels = {"model_name": f"{name} (baseline)", "baseline": name}
        predictions = predict_baseline(task, name, dataset=dataset, seed=seed, store=store)
        yield name, _stream(task, dataset, predictions, seed, labels, store), predictions


def _save_predictions(predictions: EvalData, path: Path) -> None:
    """Ids and fields of one column as a table, which ``evaluate``, ``verify`` and ``report`` read."""
    import csv

    columns = {name: predictions[name] for name in predictions}
    columns = {name: column.tolist() for name, column in columns.items() if getattr(column, "ndim", 0) == 1}
    if predictions.ids is not None:
        columns = {"ids": predictions.ids, **columns}
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])


def _stream(
    task: str, dataset: str, predictions: Any, seed: int, labels: dict[str, str], store: str | None
) -> EvalResult:
    """Feed predictions in shuffled shards, as the loop of a user's model would."""
    import numpy as np

    from primabench_core.evaluation.evaluation import Evaluation

    run = Evaluation(task=task, dataset=dataset, seed=seed, labels=labels, store=store)
    order = np.random.default_rng(seed).permutation(predictions.n)
    for start in range(0, predictions.n, SHARD):
        run.update(predictions=predictions.select(order[start : start + SHARD]))
    return run.compute(ci=0.95)


def _progress(
    items: Iterator[tuple[str, EvalResult, EvalData | None]], total: int, quiet: bool
) -> Iterator[tuple[str, EvalResult, EvalData | None]]:
    from rich.progress import Progress

    out = console(stderr=True)
    with Progress(console=out, transient=True, disable=quiet or not out.is_terminal) as bar:
        job = bar.add_task("baselines predict and are scored", total=total)
        for item in items:
            bar.advance(job)
            yield item


def _ordered(results: dict[str, EvalResult], primary: str) -> list[EvalResult]:
    def key(result: EvalResult) -> tuple[bool, float]:
        value = result.scores[primary]
        sign = -1.0 if result[primary].direction == "higher" else 1.0
        return (value is None, 0.0 if value is None else sign * value)

    return sorted(results.values(), key=key)


def _table(results: list[EvalResult], primary: str) -> Any:
    from rich.table import Table

    columns = _columns(results, primary)
    oracles = ", ".join(_short(r) for r in results if r.is_oracle)
    caption = f"{oracles} knows the solution: the ceiling, no competitor" if oracles else None
    table = Table(box=None, padding=(0, 2, 0, 0), caption=caption, caption_justify="left")
    table.add_column("baseline", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", overflow="fold")
    for result in results:
        cells = [_cell(result[c]) for c in columns]
        table.add_row(_short(result), *cells)
    return table


def _short(result: EvalResult) -> str:
    return result.model.removesuffix(" (baseline)").removesuffix(" (oracle)")


def _columns(results: list[EvalResult], primary: str) -> list[str]:
    """The primary metric and two more that say something else: three fit a terminal of 80 columns."""
    chosen = [primary]
    for name in results[0].scores:
        columns = [[r.scores[c] for r in results] for c in (*chosen, name)]
        if name not in chosen and columns[-1] not in columns[:-1]:
            chosen.append(name)
    return chosen[:3]


def _cell(metric: Any) -> str:
    if metric.value is None:
        return str(metric.reason)
    interval = metric.interval
    if interval is None or interval.low is None or interval.high is None:
        return f"{metric.value:.3f}"
    return f"{metric.value:.3f} [{interval.low:.2f}, {interval.high:.2f}]".replace(" ", "\N{NO-BREAK SPACE}")
