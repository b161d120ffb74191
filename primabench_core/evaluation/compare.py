"""``pb.compare``: two models on the same units, from their results and predictions, or from predictions alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from primabench_core.errors import UsageError
from primabench_core.evaluation.evaluation import Evaluation
from primabench_core.evaluation.paired import Placed, paired_tests
from primabench_core.result.compare import Comparison
from primabench_core.result.compare import compare as tabulate
from primabench_core.result.corrections import Correction, correction_of
from primabench_core.result.eval_result import EvalResult
from primabench_core.result.naming import names_of, tell_apart
from primabench_core.store.prediction_files import SUFFIXES

if TYPE_CHECKING:
    from primabench_core.evaluation.request import Metrics

DRAWS = 2000


def compare(
    a: Any,
    b: Any,
    *,
    predictions: tuple[Any, Any] | None = None,
    task: str | None = None,
    dataset: str | None = None,
    truth: Any = None,
    metrics: Iterable[str] | None = None,
    names: tuple[str, str] | None = None,
    correction: Correction = "holm",
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
    store: str | None = None,
) -> Comparison:
    """Say which differences of two models are real, on the same units.

    Each metric is tested as it declares: paired bootstrap, DeLong, McNemar or Wilcoxon; p-values are corrected over
    the table. Where the dataset names an independent unit (donors), those units are resampled.

    Args:
        a: Result of the first model (an EvalResult or its .json file), or its predictions (in memory, or the path of a
            prediction file).
        b: Likewise of the second, on the same truth.
        predictions: With results: the predictions of both, in memory or as paths. A result file holds none; without
            them there are differences and no tests.
        task: With predictions: the task that they are of.
        dataset: ``publication/slug@version``; by default the task's own.
        truth: A truth of your own instead of a task.
        metrics: Names of the metrics; by default those of the results, or the task's panel.
        names: Of the two models. By default results carry theirs, and predictions are called as their files, else
            ``a`` and ``b``. Where names coincide, labels that differ are added (``mynet step=5``), else the name of
            the file.
        correction: ``holm`` (no false find in the table) or ``benjamini_hochberg``, ``bh`` for short (few false finds).
        level: Confidence level of intervals and verdicts.
        draws: Resamples of the paired bootstrap.
        seed: Of the resamples.
        store: Store to read the dataset from; by default ``PRIMABENCH_STORE``.

    Returns:
        One row a metric; ``compare(…)["mcc"].p``; prints as a table.

    Raises:
        UsageError: the results are of different data or definitions, or the predictions are not those of the results.

    Example:
        >>> y, good, poor = [0, 1] * 20, [0, 1] * 20, [0] * 40
        >>> found = compare(
        ...     {"label": good}, {"label": poor}, truth={"label": y}, metrics=["accuracy"]
        ... )  # doctest: +SKIP
        >>> found["accuracy"].better(0.95)  # doctest: +SKIP
        'a'
    """
    about: dict[str, Any] = {"correction": correction_of(correction), "level": level}
    options: dict[str, Any] = {"seed": seed, "store": store}
    if _is_result(a) or _is_result(b):
        results = _loaded(a), _loaded(b)
        read_from = [_file(given, beside) for given, beside in zip((a, b), predictions or (None, None), strict=True)]
        about["names"] = names or tuple(names_of(results, read_from))
        chosen = _shared(*results) if metrics is None else list(metrics)
        if predictions is None:
            return tabulate(*results, metrics=chosen, **about)
        tabulate(*results, metrics=chosen, **about)  # what cannot be compared is refused before it is computed
        # all of them, so that the predictions may carry every field that was scored
        named = [k for k in _shared(*results) if _is_named(results[0], k)]
        placed = [_placed_again(r, p, named, truth, options) for r, p in zip(results, predictions, strict=True)]
        places = {key: i for i, key in enumerate(named) if key in chosen}
    else:
        if (task is None) == (truth is None):
            raise UsageError(
                "Predictions are compared over a task, or over a truth of your own: give task= or truth=.",
                remedy="primabench list tasks",
            )
        called = tell_apart(names or (_name_of(a, "a"), _name_of(b, "b")), files=(_file(a), _file(b)))
        made = [_evaluated(p, n, task, dataset, truth, metrics, options) for p, n in zip((a, b), called, strict=True)]
        results, placed = (made[0][0], made[1][0]), [made[0][1], made[1][1]]
        chosen = list(results[0].keys())
        # an aggregate comes last and has no plan: it follows from the others
        places = {key: i for i, key in enumerate(chosen[: len(placed[0].plans)])}
    if placed[0].fingerprint == placed[1].fingerprint or not places:
        return tabulate(*results, metrics=chosen, **about)
    first = results[0]
    data = first.dataset_hash or first.truth_sha256
    tests = paired_tests(
        places, placed[0], placed[1], task=first.task, data=data, unit=first.unit, level=level, draws=draws, seed=seed
    )
    return tabulate(*results, pairs=tests, metrics=chosen, **about)


def _is_result(value: Any) -> bool:
    """A result, or a path that has none of the suffixes of prediction files."""
    if isinstance(value, str | PathLike):
        return Path(value).suffix.lower() not in SUFFIXES
    return isinstance(value, EvalResult)


def _name_of(predictions: Any, otherwise: str) -> str:
    return Path(predictions).stem if isinstance(predictions, str | PathLike) else otherwise


def _file(*given: Any) -> str | PathLike[str] | None:
    """The first of them that is a path."""
    return next((path for path in given if isinstance(path, str | PathLike)), None)


def _loaded(result: Any) -> EvalResult:
    if isinstance(result, str | PathLike) and _is_result(result):
        return EvalResult.load(Path(result))
    if not isinstance(result, EvalResult):
        raise UsageError(
            f"Compare two results, or two predictions; got a result and {_words(result)}.",
            remedy="with results, give the predictions of both as predictions=(…, …)",
        )
    return result


def _words(value: Any) -> str:
    return f"the file {value}" if isinstance(value, str | PathLike) else f"a {type(value).__name__}"


def _shared(a: EvalResult, b: EvalResult) -> list[str]:
    return [key for key in a.keys() if key in b]  # noqa: SIM118  (iterating a result gives values)


def _is_named(result: EvalResult, key: str) -> bool:
    """Whether the registry can compute the metric again: no aggregate, and none of another library."""
    return bool(result[key].distribution) and not result[key].foreign


def _evaluated(
    predictions: Any,
    name: str,
    task: str | None,
    dataset: str | None,
    truth: Any,
    metrics: Metrics | None,
    options: Mapping[str, Any],
) -> tuple[EvalResult, Placed]:
    labels = {"model_name": name}
    run = Evaluation(task, dataset=dataset, metrics=metrics, truth=truth, labels=labels, **options)
    run._intake.keeps_rows = True  # tests of two models need them
    run.update(predictions=predictions)
    result = run.compute()
    if result.coverage < 1 and run._request.fill is None:
        raise _gaps(name)
    return result, Placed.of(run)


def place(
    result: EvalResult,
    predictions: Any,
    *,
    keys: Iterable[str] | None = None,
    truth: Any = None,
    seed: int = 0,
    store: str | None = None,
) -> Placed:
    """Predictions placed over the truth that a result was computed on; whether they are its own is not asked.

    Args:
        result: Says which task, dataset and metrics.
        predictions: Of every unit.
        keys: Metrics to be read; by default all that have a name in the registry.
        truth: The truth of a result that is over none of a task.
        seed: Of resamples.
        store: Store to read the dataset from.

    Raises:
        UsageError: the truth is not the one of the result, or units lack a prediction.
        ContractError: the predictions break the contract.
    """
    keys = [k for k in result.keys() if _is_named(result, k)] if keys is None else list(keys)  # noqa: SIM118
    if result.task == "" and truth is None:
        raise UsageError(
            "These results were computed on a truth of your own, which they do not hold.", remedy="pass truth="
        )
    metrics = [(result[k].name, dict(result[k].params)) for k in keys]
    if not metrics:
        raise UsageError("None of these metrics can be computed again by name.")
    where = {"task": result.task, "dataset": result.dataset} if result.task else {"truth": truth}
    run = Evaluation(metrics=metrics, seed=seed, store=store, **where)
    run._intake.keeps_rows = True
    if run.truth.sha256 != result.truth_sha256:
        raise UsageError(
            f"{result.model}: the truth at hand is not the one of the result.",
            remedy=f"primabench verify --dataset {result.dataset}" if result.dataset else "",
        )
    run.update(predictions=predictions)
    if run.n_seen < run.truth.n and run._request.fill is None:
        raise _gaps(result.model)
    return Placed.of(run)


def _placed_again(
    result: EvalResult, predictions: Any, keys: list[str], truth: Any, options: Mapping[str, Any]
) -> Placed:
    placed = place(result, predictions, keys=keys, truth=truth, **options)
    if result.predictions_sha256 and placed.fingerprint != result.predictions_sha256:
        raise UsageError(
            f"{result.model}: these are not the predictions that the result was computed from "
            f"({placed.fingerprint[:16]}… given, {result.predictions_sha256[:16]}… scored).",
            remedy="give the predictions in the order of the results",
        )
    return placed


def _gaps(name: str) -> UsageError:
    return UsageError(f"{name}: a paired test needs a prediction for every unit.", remedy="predict the missing units")
