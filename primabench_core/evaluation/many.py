"""Scores of many predictions of one task, in parallel: ``pb.evaluate_many``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import evolve

from primabench_core.errors import PrimaBenchError, ResultError, UsageError
from primabench_core.evaluation.cluster import Cluster, Threads, Work, steps_of
from primabench_core.evaluation.folding import Question
from primabench_core.evaluation.intervals import as_level
from primabench_core.evaluation.parts import identity, partitions
from primabench_core.evaluation.ranks import asked
from primabench_core.evaluation.request import (
    Duplicates,
    Metrics,
    Request,
    check_options,
    request_for_task,
    request_for_truth,
)
from primabench_core.evaluation.scoring import function_of
from primabench_core.evaluation.travel import error_from_plain
from primabench_core.result.eval_result import EvalResult
from primabench_core.result.failure import EvalFailure

Progress = Callable[[str, int, int], None]
"""Called with what is done, steps done, steps in all."""


def evaluate_many(
    predictions: Mapping[str, Any],
    task: str | None = None,
    *,
    client: Any = None,
    dataset: str | None = None,
    metrics: Metrics | None = None,
    ci: float | None = 0.95,
    duplicates: Duplicates = "drop_identical",
    partial: bool = False,
    seed: int = 0,
    labels: Mapping[str, str] | None = None,
    hash_predictions: bool = True,
    device: str | None = None,
    truth: Any = None,
    mapping: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    partition_rows: int | None = None,
    resources: Mapping[str, float] | None = None,
    results: str | os.PathLike[str] | None = None,
    progress: bool | Progress = True,
    store: str | None = None,
) -> dict[str, EvalResult | EvalFailure]:
    """Score many predictions of one task on a Dask cluster, or on threads of this process; the same bits as one by one.

    Stored predictions are read where they are folded: one task folds a group of partitions, few states are merged on
    a worker, and only the result comes back. Each worker opens the solution through its own ``PRIMABENCH_STORE``.
    An evaluation that fails does not stop the others.

    Args:
        predictions: Name to predictions: path or URL of a file (.zarr is read in partitions), anything that
            :func:`~primabench_core.evaluation.oneshot.evaluate` takes, or a list of these whose rows have ids. Rows
            in memory travel with their tasks; large ones are better written to a store.
        task: Name of the task.
        client: A ``distributed.Client``; without one, threads of this process do the work.
        dataset: ``publication/slug@version``; by default the task's own.
        metrics: Names; by default the task's panel.
        ci: Level of the intervals; None makes none.
        duplicates: ``"drop_identical"``: equal content of a row counts once, or ``"refuse"``.
        partial: Allow units without a prediction; the coverage stands beside each score.
        seed: Seed of intervals.
        labels: Free pairs of text kept in every result; ``model_name`` defaults to the name of the predictions.
        hash_predictions: Fingerprint the predictions.
        device: Where each worker reduces predictions, such as ``"cuda"``; by default on its CPU.
        truth: A truth of your own in place of a task, or the path of one that each worker can open; then ``metrics``
            must be named.
        mapping: Column of the files by field.
        ignore: Columns of the files to leave out; ``"*"`` is every one that is neither ids nor a field.
        partition_rows: Rows of a partition; by default a storage block.
        resources: What a task needs of a worker, such as ``{"GPU": 1}``.
        results: Folder to keep results in. What is there already for the same request and the same predictions is
            read and not computed again.
        progress: A bar on standard error where that is a terminal, or a function ``progress(step, done, total)``.
        store: Store to read the dataset from in this process; by default ``PRIMABENCH_STORE``. It does not travel.

    Returns:
        For each name, in the order given, a result or an :class:`~primabench_core.result.failure.EvalFailure`.

    Raises:
        UnknownNameError: no such task, dataset or metric.
        UsageError: arguments that do not go together, or resources that no worker has.
        MissingDataError: the dataset is not in the store of this process.
        DistributedError: the scheduler has no workers.

    Example:
        >>> scores = evaluate_many({"a": "a.zarr", "b": "b.h5ad"}, task="cell_type_annotation")  # doctest: +SKIP
        >>> scores["a"]["macro_f1"]  # doctest: +SKIP
        MetricResult(macro_f1: 0.8312 [0.7901, 0.8689] (n=210))
    """
    options = {
        "seed": seed,
        "duplicates": duplicates,
        "partial": bool(partial),
        "hash_predictions": bool(hash_predictions),
        "device": device,  # checked where it is: this process may have no such device
    }
    check_options(None, seed, labels)
    if client is None and resources:
        raise UsageError("resources= are those of workers, and there is no client.", remedy="pass client=")
    for name in predictions:
        if not isinstance(name, str) or not name:
            raise UsageError(f"predictions are named by text, got {name!r}.")
    question = _question(task, truth, dataset, metrics, store, as_level(ci), options, travels=client is not None)
    backend = Threads() if client is None else Cluster(client, resources)
    found: dict[str, EvalResult | EvalFailure] = {}
    files: dict[str, Path] = {}
    works = []
    for name, value in predictions.items():
        try:
            if results is not None:
                files[name] = _file(Path(results), name, _job_key(question, value, dict(mapping or {}), ignore))
                kept = _kept(files[name])
                if kept is not None:
                    found[name] = _labelled(kept, name, labels)
                    continue
            parts = partitions(value, question.request.contract, dict(mapping or {}), partition_rows, ignore)
            works.append(Work(name, question, tuple(parts), ids_first=_needs_owners(question)))
        except PrimaBenchError as error:
            found[name] = EvalFailure(name, type(error).__name__, error.message, error.remedy)
    with _bar(progress, sum(steps_of(w, backend.groups(len(works))) for w in works)) as advance:
        for name, state in backend.run(works) if works else ():
            advance(name)
            if state is None:
                continue
            found[name] = result = _outcome(name, state, labels)
            if name in files and isinstance(result, EvalResult):
                result.save(files[name], overwrite=True)
    return {name: found[name] for name in predictions}


def _question(
    task: str | None,
    truth: Any,
    dataset: str | None,
    metrics: Metrics | None,
    store: str | None,
    ci: float | None,
    options: dict[str, Any],
    *,
    travels: bool,
) -> Question:
    from primabench_core.evaluation.unit_truth import own_data

    if (task is None) == (truth is None):
        raise UsageError("Name a task, or give a truth of your own: one of the two.", remedy="primabench list tasks")
    if task is not None:
        request = request_for_task(task, dataset=dataset, metrics=metrics, store=store, **options)
        question = Question(evolve(request, store=None) if travels else request, ci)
    else:
        if metrics is None or dataset is not None:
            raise UsageError("A truth of your own needs metrics=, and no dataset.", remedy="primabench list metrics")
        request = request_for_truth(metrics, **options)
        is_path = isinstance(truth, str | os.PathLike)
        own = os.fspath(truth) if is_path else own_data(truth, request).load()
        question = Question(request, ci, own, identity(own, request.contract, {}))
    for metric in request.metrics:
        function_of(metric)  # refused here, not on every worker
    return question


def _needs_owners(question: Question) -> bool:
    """Whether a state cannot take a row out again, so that no row may be folded twice."""
    return any(metric.spec.state not in ("rows", "counts") for metric in question.request.metrics)


def _outcome(name: str, state: Mapping[str, Any], labels: Mapping[str, str] | None) -> EvalResult | EvalFailure:
    from primabench_core.result.json import from_json

    if "error" in state:
        error = error_from_plain(state["error"])
        return EvalFailure(name, type(error).__name__, error.message, error.remedy)
    result: EvalResult = from_json(state["result"])
    return _labelled(result, name, labels)


def _labelled(result: EvalResult, name: str, labels: Mapping[str, str] | None) -> EvalResult:
    return evolve(result, labels={"model_name": name, **(labels or {})})  # labels are in no hash


# -- results that are kept ---------------------------------------------------------------------------------------------


def _job_key(question: Question, value: Any, mapping: Mapping[str, str], ignore: Sequence[str]) -> str:
    """What a job is: the request, and the predictions as their place describes them."""
    from primabench_core.evaluation.compute import _packages
    from primabench_core.result.identity import digest

    request: Request = question.request
    truth = "" if question.truth is None else identity(question.truth, request.contract, {})
    return digest(
        {
            "version": 1,
            "request": asked(request, truth, question.ci),
            "packages": _packages(request),
            "predictions": identity(value, request.contract, mapping, ignore),
        }
    )


def _file(folder: Path, name: str, key: str) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultError(f"{folder} cannot hold results: {error.strerror}", remedy="choose another folder") from error
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:60]
    return folder / f"{readable or 'result'}-{key[:24]}.json"


def _kept(file: Path) -> EvalResult | None:
    """The result of an earlier run; a file that is none is said, not passed over."""
    return EvalResult.load(file) if file.exists() else None


# -- progress ----------------------------------------------------------------------------------------------------------


@contextmanager
def _bar(progress: bool | Progress, total: int) -> Iterator[Callable[[str], None]]:
    done = 0
    if callable(progress):

        def tell(name: str) -> None:
            nonlocal done
            done += 1
            progress(name, done, total)

        yield tell
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    out = Console(stderr=True)
    with Bar(console=out, transient=True, disable=not progress or not out.is_terminal) as bar:
        job = bar.add_task("evaluate", total=total)
        yield lambda name: bar.update(job, advance=1, description=name[:30])
