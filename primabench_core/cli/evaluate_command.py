"""``primabench evaluate``: score a file of predictions, or a baseline."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from primabench_core.cli import many
from primabench_core.cli.output import console, write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from primabench_core.result.eval_result import EvalResult

_NAMED = 3
"""Unknown classes that are named."""
REQUIREMENT = re.compile(r"^(?P<metric>[^<>=]+?)\s*(?P<sign>>=|<=)\s*(?P<bound>[-+0-9.eE]+)$")


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Score predictions of a task. Files: .zarr .h5ad .parquet .csv .tsv .npz, one row a unit. Ids stand in a "
        "column `ids`, `id`, `index` or one without a name, in the index of a data frame, or else in the first column "
        "if the task does not name it; --map ids=COLUMN says which column it is. A field of several numbers a row is "
        "written as columns embedding_0, embedding_1, … or probability_CLASS. The result is printed and, with "
        "--output, written as JSON."
    )
    parser.add_argument("--task", help="name of the task; may be left out where --baseline names it")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--predictions", metavar="FILE", action="append", help="file with one row a unit; may be given several times"
    )
    what.add_argument(
        "--baseline",
        metavar="NAME",
        help="score a baseline of the task instead: its name, or `task|name` as `list baselines` prints it",
    )
    parser.add_argument("--dataset", help="publication/slug@version; default: the task's own")
    parser.add_argument("--metrics", help="names, separated by commas; default: the task's panel")
    configure_columns(parser)
    parser.add_argument("--ci", default="0.95", help="level of the intervals, or `none` (default 0.95)")
    parser.add_argument("--seed", type=int, default=0, help="seed of baselines and probes (default 0)")
    parser.add_argument("--partial", action="store_true", help="allow units without a prediction; coverage is reported")
    parser.add_argument(
        "--duplicates",
        choices=("refuse", "drop_identical"),
        help="an id that comes again: refused (default), or equal content counts once (default with several files)",
    )
    parser.add_argument("--label", action="append", default=[], metavar="KEY=TEXT", help="remark kept in the result")
    parser.add_argument("--require", action="append", default=[], metavar="METRIC>=X", help="fail (exit 1) unless met")
    parser.add_argument("--build", action="store_true", help="build the dataset first if it is missing")
    parser.add_argument("--store", help="store to read; overrides PRIMABENCH_STORE")
    parser.add_argument("--output", metavar="FILE", help="write the result as JSON")
    parser.add_argument(
        "--export", action="append", default=[], metavar="NAME=FILE", help="write the result in a plugin's format too"
    )
    parser.add_argument("--force", action="store_true", help="replace existing output files")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    many.configure(parser)


def configure_columns(parser: ArgumentParser) -> None:
    """Declare the arguments that say how the columns of prediction files are meant."""
    parser.add_argument("--map", action="append", default=[], metavar="FIELD=COLUMN", help="column of a field or ids")
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="COLUMN",
        help="leave a column out; '*': all that are neither ids nor a field",
    )


def run(args: Namespace) -> int:
    """Evaluate and return 0, or 1 if a metric failed or a requirement is not met."""
    from primabench_core.discovery import registry
    from primabench_core.errors import UsageError

    _settle_task(args)
    requirements = [_requirement(text) for text in args.require]
    ci = _level(args.ci)
    labels = dict(_pair(text, "--label") for text in args.label)
    exports = [_export(text) for text in args.export]
    for file in (*([args.output] if args.output else []), *(path for _, path in exports)):
        if Path(file).exists() and not args.force:
            raise UsageError(f"{file} exists.", remedy="choose another file, or add --force")
    task = registry.load("task", args.task)
    dataset = args.dataset or task.default_dataset
    if args.build:
        build_if_missing(dataset, args.store, quiet=args.json)
    metrics = [m.strip() for m in args.metrics.split(",")] if args.metrics else None
    if many.is_asked(args):
        return many.run(
            args,
            mapping=dict(_pair(text, "--map") for text in args.map),
            metrics=metrics,
            ci=ci,
            labels=labels,
            unmet=lambda found: _all_unmet(requirements, found),
        )
    result, predictions = _score(args, dataset, metrics, ci, labels)
    unmet = _all_unmet(requirements, result)
    if args.output:
        result.save(Path(args.output), overwrite=args.force)
    for export, path in exports:
        export(result, path)
    if args.json:
        from primabench_core.result import to_json

        write(to_json(result))
    else:
        console().print(result)
        for file in (*([args.output] if args.output else []), *(path for _, path in exports)):
            write(f"written to {file}")
    note = unknown_labels_note(result, predictions, args.store)
    if note:
        style = "yellow"
        if is_wholly_unknown(result):
            style = "bold red"
            note = f"WARNING: not one predicted label is a class of the data, so no score above means anything.\n{note}"
        console(stderr=True).print(note, style=style, markup=False)
    for text in unmet:
        console(stderr=True).print(text, style="bold red", markup=False)
    failed = any(m.status == "failed" for m in result)
    return 1 if unmet or failed else 0


def _settle_task(args: Namespace) -> None:
    """Take ``task|name`` of a baseline apart, so that the arguments name a task and a bare baseline.

    Raises:
        UsageError: no task is named, or two different ones.
    """
    from primabench_core.discovery.names import bare
    from primabench_core.errors import UsageError

    if args.baseline and "|" in args.baseline:
        whole = args.baseline
        of, _, args.baseline = whole.partition("|")
        if args.task and bare(args.task) != bare(of):
            raise UsageError(f"--baseline {whole!r} is of task {of!r}, and --task is {args.task!r}.")
        args.task = args.task or of
    if not args.task:
        raise UsageError("--task is missing.", remedy="name the task, or a baseline as `task|name`")


def read_for_task(task: str, path: str, mapping: list[str], ignore: Sequence[str] = ()) -> Any:
    """Predictions of a file, with the fields that the task's contract names."""
    from primabench_core.discovery import registry
    from primabench_core.store.prediction_files import read_predictions

    contract = registry.load("task", task).contract
    return read_predictions(path, contract, dict(_pair(text, "--map") for text in mapping), ignore=ignore)


def _score(
    args: Namespace, dataset: str, metrics: list[str] | None, ci: float | None, labels: dict[str, str]
) -> tuple[EvalResult, Any]:
    """The result, and the predictions where they may be looked at."""
    from primabench_core.discovery import registry
    from primabench_core.discovery.names import bare
    from primabench_core.evaluation.oneshot import evaluate

    options = {
        "dataset": dataset,
        "metrics": metrics,
        "ci": ci,
        "seed": args.seed,
        "labels": labels,
        "store": args.store,
    }
    if args.predictions is not None:
        predictions = read_for_task(args.task, args.predictions[0], args.map, args.ignore)
        options |= {"partial": args.partial, "duplicates": args.duplicates or "refuse"}
        return evaluate(args.task, predictions, **options), predictions
    if registry.load("baseline", f"{bare(args.task)}|{args.baseline}").oracle:
        from primabench_core.evaluation.oracle import evaluate_oracle

        return evaluate_oracle(args.task, args.baseline, **options), None
    from primabench_core.evaluation.baselines import predict_baseline

    options["labels"] = {"model_name": f"{args.baseline} (baseline)", **labels, "baseline": args.baseline}
    predictions = predict_baseline(args.task, args.baseline, dataset=dataset, seed=args.seed, store=args.store)
    return evaluate(args.task, predictions, partial=args.partial, **options), predictions


def is_wholly_unknown(result: EvalResult) -> bool:
    """Whether a metric met only classes that the data do not know."""
    return any(m.n and m.values.get("n_unknown_labels") == m.n for m in result)


def unknown_labels_note(result: EvalResult, predictions: Any, store: str | None) -> str:
    """What to say of predicted classes that the data do not know; empty if there are none.

    Names are those that the user wrote, and only where the public test data list the valid ones.
    """
    count = max((int(m.values.get("n_unknown_labels") or 0) for m in result), default=0)
    if not count:
        return ""
    names = [] if predictions is None else _unknown_names(result, predictions, store)
    shown = f" ({', '.join(map(repr, names[:_NAMED]))}{', …' if len(names) > _NAMED else ''})" if names else ""
    advice = "valid names: pb.load(test_path, …).coords['classes']"
    if names and all(name.strip().lstrip("-").isdigit() for name in names):
        advice = "map class numbers to names through pb.load(test_path, …).coords['classes']"
    plural = "" if count == 1 else "s"
    return f"note: {count:,} predicted label{plural}{shown} unknown to the data, counted as errors; {advice}"


def _unknown_names(result: EvalResult, predictions: Any, store: str | None) -> list[str]:
    from primabench_core.discovery import registry
    from primabench_core.store.access import fetch_test, load

    fields = registry.load("task", result.task).contract.prediction
    chosen = [f.name for f in fields if f.kind == "label" and f.vocabulary == "truth" and f.name in predictions]
    test = load(fetch_test(result.task, dataset=result.dataset, store=store, lazy=True))
    known = {str(name) for name in test.coords.get("classes", ())}
    if not known or not chosen:
        return []
    return list(dict.fromkeys(n for f in chosen for n in map(str, predictions[f].tolist()) if n not in known))


def build_if_missing(dataset: str, store: str | None, *, quiet: bool) -> None:
    """Build a dataset unless the store has it."""
    from primabench_core.cli.build_command import build
    from primabench_core.errors import VersionExistsError

    try:
        build(dataset, store, quiet=quiet)
    except VersionExistsError:
        return


def _pair(text: str, option: str) -> tuple[str, str]:
    from primabench_core.errors import UsageError

    key, sign, value = text.partition("=")
    if not sign or not key.strip() or not value.strip():
        raise UsageError(f"{option} {text!r} is not of the form KEY=VALUE.")
    return key.strip(), value.strip()


def _export(text: str) -> tuple[Callable[[Any, Path], None], Path]:
    """The exporter of a plugin, and the file it is to write."""
    from primabench_core.discovery import hooks
    from primabench_core.errors import UnknownNameError

    name, path = _pair(text, "--export")
    known = hooks.exporters()
    if name not in known:
        raise UnknownNameError("exporter", name, known, remedy="install the plugin that brings this format")
    return known[name], Path(path)


def _level(text: str) -> float | None:
    from primabench_core.errors import UsageError

    if text.lower() == "none":
        return None
    try:
        level = float(text)
    except ValueError:
        level = 0.0
    if not 0.0 < level < 1.0:
        raise UsageError(f"--ci {text!r} is neither a level between 0 and 1 nor `none`.")
    return level


def _requirement(text: str) -> dict[str, Any]:
    from primabench_core.errors import UsageError

    match = REQUIREMENT.match(text.strip())
    try:
        bound = float(match["bound"]) if match else float("nan")
    except ValueError:
        bound = float("nan")
    if match is None or bound != bound:
        raise UsageError(f"--require {text!r} is not of the form METRIC>=NUMBER or METRIC<=NUMBER.")
    return {"metric": match["metric"].strip(), "sign": match["sign"], "bound": bound, "text": text}


def _all_unmet(requirements: list[dict[str, Any]], result: EvalResult) -> list[str]:
    unknown = [r["metric"] for r in requirements if r["metric"] not in result.scores]
    if unknown:
        from primabench_core.errors import UnknownNameError

        raise UnknownNameError("metric", unknown[0], result.scores, remedy="require a metric that is in the panel")
    return [text for r in requirements if (text := _unmet(r, result))]


def _unmet(requirement: dict[str, Any], result: EvalResult) -> str:
    """Why a requirement is not met; empty if it is. A value that does not exist meets nothing."""
    value = result.scores[requirement["metric"]]
    if value is None:
        return f"required {requirement['text']}, but it has no value: {result[requirement['metric']].reason}"
    met = value >= requirement["bound"] if requirement["sign"] == ">=" else value <= requirement["bound"]
    return "" if met else f"required {requirement['text']}, got {value:.6g}"
