"""``primabench patient``: validate, score and compare submissions, and a quickstart."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from primabench_core import PrimaBenchError, StoreError, UsageError
from primabench_core.result.compare import p_text
from primabench_core.result.naming import tell_apart
from primabench_core.result.numeral import numeral, span
from primabench_task_patient.scoring import Truth, compare, read_inputs, read_registry, read_truth, score_submission
from primabench_task_patient.scoring.compare import Difference
from primabench_task_patient.scoring.result_file import to_json
from primabench_task_patient.submission import Asked, cover, read_submission

OK, FAILED = 0, 1


def main(arguments: Sequence[str]) -> int:
    """Run a subcommand.

    Args:
        arguments: What stands after ``primabench patient``.

    Returns:
        0 all asked was done; 1 something that was required is not so. Errors of PrimaBench pass through: 2.
    """
    options = _parser().parse_args(list(arguments))
    run: Any = options.run
    code: int = run(options)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="primabench patient", description=(__doc__ or "").strip())
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    validate = commands.add_parser("validate", help="check a submission; no label is needed")
    validate.add_argument("file", type=Path)
    validate.add_argument("--inputs", type=Path, required=True, help="folder with datasets.yaml")
    validate.add_argument("--tasks", type=Path, help="tasks.yaml, to tell which tasks can be scored")
    validate.add_argument("--require-complete", action="store_true", help="exit with 1 unless everything is covered")
    validate.add_argument("--json", action="store_true")
    validate.set_defaults(run=_validate)
    score = commands.add_parser("score", help="score a submission and write its result file")
    score.add_argument("file", type=Path)
    score.add_argument("--truth", type=Path, required=True, help="private folder with tasks.yaml and labels")
    score.add_argument("--model", required=True, help="name of the model")
    score.add_argument("--organisation")
    score.add_argument("--owner", help="account that the name belongs to; never shown")
    score.add_argument("--family", help="family of models")
    score.add_argument("--baseline", action="store_true")
    score.add_argument("--submitted-at", help="time such as 2026-11-29T19:30:00Z; now, if not given")
    score.add_argument("--out", type=Path, help="result file; by default beside the submission")
    score.add_argument("--require-complete", action="store_true", help="exit with 1 unless every task was scored")
    score.add_argument("--json", action="store_true", help="print the result file")
    score.set_defaults(run=_score)
    against = commands.add_parser("compare", help="paired tests between submissions")
    against.add_argument("files", type=Path, nargs="+")
    against.add_argument("--truth", type=Path, required=True)
    against.add_argument("--json", action="store_true")
    against.set_defaults(run=_compare)
    quick = commands.add_parser("quickstart", help="made cohorts: embed, write, validate, score; offline")
    quick.add_argument("folder", type=Path, nargs="?", default=Path("patient-quickstart"))
    quick.set_defaults(run=_quickstart)
    return parser


def _validate(options: argparse.Namespace) -> int:
    datasets = read_inputs(options.inputs)
    submission = read_submission(options.file)
    # without labels every sample counts as labelled, so what is complete here is scored for certain
    asked = {name: Asked(name, samples) for name, samples in datasets.items()}
    found = cover(submission, datasets, asked)
    tasks = {}
    if options.tasks:
        for name, task in read_registry(options.tasks).tasks.items():
            covered = found.tasks.get(task.dataset)
            certain = covered is not None and covered.status == "scored"
            lost = covered is None or covered.reason == "dataset_not_covered"
            tasks[name] = "scored" if certain else "skipped" if lost else "skipped if it has a label for such a sample"
    report = {
        "accepted": True,
        "complete": found.complete,
        "sha256": submission.sha256,
        "datasets": {
            name: {"width": found.width.get(name), "status": "covered" if t.status == "scored" else t.reason,
                   "detail": t.detail or None}
            for name, t in found.tasks.items()
        },
        "tasks": tasks,
        "unknown": [list(pair) for pair in found.unknown],
        "warnings": [{"code": w.code, "message": w.message} for w in found.warnings],
    }  # fmt: skip
    if options.json:
        _write(json.dumps(report, indent=2, sort_keys=True, ensure_ascii=False))
    else:
        _write(f"{options.file.name}: accepted, {submission.n_rows:,} rows, {submission.format}")
        rows = [(n, str(found.width.get(n, "-")), "covered" if t.status == "scored" else t.detail)
                for n, t in found.tasks.items()]  # fmt: skip
        _write_columns(rows, ("data set", "width", "coverage"))
        if tasks:
            _write()
            _write_columns(list(tasks.items()), ("task", "will be"))
        for warned in found.warnings:
            _write(f"warning ({warned.code}): {warned.message}")
    return FAILED if options.require_complete and not found.complete else OK


def _score(options: argparse.Namespace) -> int:
    truth = read_truth(options.truth)
    document = score_submission(
        options.file,
        truth,
        model=options.model,
        organisation=options.organisation,
        owner=options.owner,
        family=options.family,
        is_baseline=options.baseline,
        submitted_at=_time(options.submitted_at),
    )
    out: Path = options.out or options.file.with_name(options.file.name + ".scores.json")
    try:
        out.write_text(to_json(document), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{out} cannot be written: {error.strerror}", remedy="--out FILE") from None
    if options.json:
        sys.stdout.write(to_json(document))
    else:
        _print_scores(document)
        _write(f"written: {out}")
    return FAILED if document["counts"]["failed"] or (options.require_complete and not document["complete"]) else OK


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--submitted-at: {text!r} is no time", remedy="write it as 2026-11-29T19:30:00Z") from None
    return found


def _print_scores(document: dict[str, Any]) -> None:
    rows = []
    for score in document["scores"]:
        interval = score["interval"] or {}
        ends = "" if interval.get("low") is None else f"[{interval['low']:.3f}, {interval['high']:.3f}]"
        told = score["detail"] or ", ".join(f for f in score["flags"] if f != "interval_without_refit")
        rows.append((
            score["task"], score["metric"], score["status"], _number(score["pooled"]), ends,
            _number(score["fold_mean"]), str(score["n"] or ""), told,
        ))  # fmt: skip
    _write_columns(rows, ("task", "metric", "status", "pooled", "95 %", "fold mean", "n", "remarks"))
    for warned in document["submission"]["warnings"]:
        _write(f"warning ({warned['code']}): {warned['message']}")
    _write("complete" if document["complete"] else "partial: boards rank it only where every task was scored")


def _compare(options: argparse.Namespace) -> int:
    names = tell_apart([path.stem for path in options.files], files=options.files)
    truth: Truth = read_truth(options.truth)
    found = compare(dict(zip(names, options.files, strict=True)), truth)
    if options.json:
        _write(json.dumps([_plain(d) for d in found], indent=2, sort_keys=True, ensure_ascii=False))
        return OK
    rows = [
        (
            d.task,
            d.a,
            d.b,
            numeral(d.difference, digits=3),
            _ends(d),
            d.test,
            p_text(d.p),
            p_text(d.adjusted),
            _verdict(d),
        )
        for d in found
    ]
    _write_columns(rows, ("task", "a", "b", "a - b", "95 %", "test", "p", "Holm", "verdict"))
    return OK


def _ends(d: Difference) -> str:
    return "–" if d.low is None or d.high is None else span(d.low, d.high, digits=3)


def _verdict(d: Difference) -> str:
    if not d.resolvable:
        return "not resolvable"
    return f"{d.better} better" if d.better else "tied"


def _plain(d: Difference) -> dict[str, Any]:
    return {
        "task": d.task, "a": d.a, "b": d.b, "difference": d.difference, "low": d.low, "high": d.high, "p": d.p,
        "adjusted": d.adjusted, "test": d.test, "resolvable": d.resolvable, "tied": d.is_tied, "better": d.better,
    }  # fmt: skip


def _quickstart(options: argparse.Namespace) -> int:
    from primabench_task_patient.quickstart import run

    for document in _made(run, options.folder):
        _write(f"\n{document['model']['name']}{' (baseline)' if document['model']['is_baseline'] else ''}")
        _print_scores(document)
    _write(f"\nfiles: {options.folder}; put your model into the function embed of quickstart.py")
    return OK


def _made(run: Any, folder: Path) -> Iterator[dict[str, Any]]:
    try:
        yield from run(folder)
    except PrimaBenchError:
        raise
    except OSError as error:
        raise StoreError(f"{error.filename or folder} cannot be written: {error.strerror}") from None


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _write(text: str = "") -> None:
    sys.stdout.write(f"{text}\n")


def _write_columns(rows: Sequence[Sequence[str]], header: Sequence[str]) -> None:
    table = [tuple(header), *(tuple(row) for row in rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    for row in table:
        _write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
