"""Everything in one call: a metric on arrays, a stream over a truth of your own, predictions of a task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError, UsageError
from primabench_core.evaluation.evaluation import Evaluation
from primabench_core.evaluation.request import Duplicates, Metrics

if TYPE_CHECKING:
    from primabench_core.contract.evaldata import EvalData
    from primabench_core.discovery.metrics import ResolvedMetric
    from primabench_core.result.eval_result import EvalResult
    from primabench_core.result.metric_result import MetricResult


def score(
    metric: str | ResolvedMetric,
    prediction: Any,
    truth: Any,
    *,
    shards: Sequence[Sequence[int] | Sequence[str]] | None = None,
    duplicates: Duplicates = "refuse",
    ci: float | None = None,
    seed: int = 0,
    partial: bool = False,
    device: str | None = None,
    **params: Any,
) -> MetricResult:
    """Score arrays by any registered metric.

    Args:
        metric: Name of the metric, such as ``"auroc"``, or ``"recall{average: macro}"``; or a metric of another
            library, from ``pb.foreign``.
        prediction: Mapping of fields, n rows each, that may carry ``ids``, ``classes`` and ``genes``; or EvalData, a
            DataFrame, AnnData, an xarray Dataset.
        truth: Likewise. Rows are joined by id where the truth has ids, else by row number.
        shards: Feed the rows part by part, as a stream would: lists of row numbers or of ids of the prediction.
        duplicates: ``"refuse"``, or ``"drop_identical"``: equal content of a row counts once.
        ci: Level of an interval, such as 0.95; None makes none.
        seed: Seed of the interval.
        partial: Allow rows without a prediction; see ``coverage``.
        device: Where numbers are reduced, such as ``"cuda"``; by default where they are.
        **params: Parameters of the metric.

    Returns:
        The result; an undefined value is None with a reason.

    Raises:
        ContractError: prediction or truth break the contract of the metric.
        UnknownNameError, ParameterError: no such metric, or parameter.

    Example:
        >>> score("accuracy", {"label": [0, 1, 1, 0]}, {"label": [0, 1, 0, 0]}).value  # doctest: +SKIP
        0.75
    """
    from primabench_core.contract.evaldata import EvalData
    from primabench_core.discovery.metrics import ResolvedMetric
    from primabench_core.evaluation.compute import compute

    asked: Any = [(metric, params)]
    if isinstance(metric, ResolvedMetric):
        asked = metric
        if params:
            raise UsageError(f"{metric.name!r} has its parameters already; {', '.join(params)} cannot be given.")
    if _is_bare(prediction) or _is_bare(truth):
        raise _unnamed(asked)
    # a MetricResult carries no fingerprint, so neither side is hashed
    run = stream(asked, truth, duplicates=duplicates, seed=seed, partial=partial, device=device, hash_predictions=False)
    if shards is None:
        run.update(predictions=prediction)
    else:
        data = EvalData.of(prediction)
        ignored = run._request.contract.ignored  # may have other numbers of rows
        if ignored:
            fields = {name: value for name, value in data.fields.items() if name not in ignored}
            data = EvalData(fields, ids=data.ids, coords=data.coords)
        for shard in shards:
            _feed(run, data, _rows_of(shard, data))
    return compute(run._request, run._opened, run._intake, ci=ci, hash_truth=False).results[0]


def stream(
    metrics: Metrics,
    truth: Any,
    *,
    duplicates: Duplicates = "drop_identical",
    seed: int = 0,
    partial: bool = False,
    device: str | None = None,
    labels: Mapping[str, str | float] | None = None,
    hash_predictions: bool = True,
    process_group: Any = None,
    timeout: float = 600.0,
) -> Evaluation:
    """Score predictions that arrive in batches against a truth of your own.

    Args:
        metrics: Names, or (name, parameters) pairs.
        truth: Mapping of fields that may carry ``ids``, ``classes`` and ``genes``; or EvalData, a DataFrame, AnnData,
            an xarray Dataset.
        duplicates: See :class:`~primabench_core.evaluation.evaluation.Evaluation`, as all that follow.
        seed: Seed of intervals.
        partial: Allow rows without a prediction.
        device: Where numbers are reduced, such as ``"cuda"``; by default where they are.
        labels: Free pairs of text kept in the result; numbers are kept as their text.
        hash_predictions: Fingerprint the predictions.
        process_group: A ``torch.distributed`` group (``"world"``: the default one) whose ranks are scored as one.
        timeout: Seconds that ``compute`` waits for the other ranks.

    Example:
        >>> run = stream(["accuracy", "mcc"], truth={"label": [0, 1, 1, 0]})  # doctest: +SKIP
        >>> run.update(positions=[0, 1], label=[0, 1])  # doctest: +SKIP
        >>> run.update(positions=[2, 3], label=[1, 0])  # doctest: +SKIP
        >>> run.compute().scores  # doctest: +SKIP
        {'accuracy': 1.0, 'mcc': 1.0}
    """
    return Evaluation(
        metrics=metrics,
        truth=truth,
        duplicates=duplicates,
        seed=seed,
        partial=partial,
        device=device,
        labels=labels,
        hash_predictions=hash_predictions,
        process_group=process_group,
        timeout=timeout,
    )


def evaluate(
    task: str,
    predictions: Any,
    *,
    dataset: str | None = None,
    metrics: Metrics | None = None,
    ci: float | None = 0.95,
    duplicates: Duplicates = "refuse",
    partial: bool = False,
    seed: int = 0,
    labels: Mapping[str, str | float] | None = None,
    device: str | None = None,
    hash_predictions: bool = True,
    store: str | None = None,
) -> EvalResult:
    """Score predictions of a task in one call; the same bits as a stream of any cut and order.

    Args:
        task: Name of the task.
        predictions: EvalData, a DataFrame, AnnData, an xarray Dataset, a mapping of fields with ``ids``, or the path of
            a prediction file (see :func:`primabench_core.store.prediction_files.read_predictions`).
        dataset: ``publication/slug@version``; by default the task's own.
        metrics: Names; by default the task's panel.
        ci: Level of the intervals; None makes none.
        duplicates: ``"refuse"``, or ``"drop_identical"``.
        partial: Allow units without a prediction; the coverage stands beside each score.
        seed: Seed of intervals.
        labels: Free pairs of text kept in the result; numbers are kept as their text.
        device: Where numbers are reduced, such as ``"cuda"``; by default where they are.
        hash_predictions: Fingerprint the predictions.
        store: Store to read the dataset from; by default ``PRIMABENCH_STORE``.

    Raises:
        UnknownNameError: no such task, dataset or metric.
        ContractError: the predictions break the task's contract; every violation is listed.

    Example:
        >>> evaluate("cell_type_annotation", predictions)["macro_f1"]  # doctest: +SKIP
        MetricResult(macro_f1: 0.8312 [0.7901, 0.8689] (n=210))
    """
    run = Evaluation(
        task,
        dataset=dataset,
        metrics=metrics,
        duplicates=duplicates,
        partial=partial,
        seed=seed,
        labels=labels,
        device=device,
        hash_predictions=hash_predictions,
        store=store,
    )
    run.update(predictions=predictions)
    return run.compute(ci=ci)


def _is_bare(value: Any) -> bool:
    """An array, list, tensor or series, which does not say which field it is."""
    if isinstance(value, str | Mapping) or any(hasattr(value, a) for a in ("columns", "data_vars", "obs", "fields")):
        return False
    return hasattr(value, "shape") or hasattr(value, "__array__") or isinstance(value, list | tuple)


def _unnamed(asked: Any) -> UsageError:
    """What to write in place of a bare array."""
    from primabench_core.evaluation.plan import resolve_all

    metric = resolve_all(asked)[0]
    sides = [
        [[field.name for field in options] for options in side if not all(field.optional for field in options)]
        for side in (metric.spec.prediction, metric.spec.truth)
    ]
    words = [", ".join(" or ".join(map(repr, options)) for options in side) or "no field" for side in sides]
    calls = ["{" + ", ".join(f'"{options[0]}": …' for options in side) + "}" for side in sides]
    return UsageError(
        f"A bare array does not say which field it is: {metric.name!r} reads {words[0]} of the prediction and "
        f"{words[1]} of the truth.",
        remedy=f'pb.score("{metric.name}", {calls[0]}, {calls[1]})',
    )


def _rows_of(shard: Iterable[Any], data: EvalData) -> list[int]:
    """Row numbers of a shard given by numbers or by ids of the prediction."""
    named = {} if data.ids is None else {name: i for i, name in reversed(list(enumerate(data.ids)))}
    rows = []
    for item in shard:
        row = named.get(item, -1) if isinstance(item, str) else int(item)
        if not 0 <= row < data.n:
            raise ContractError(
                [Violation("ids", "shards of rows of the prediction", f"no row {item!r}", [str(item)], 1)]
            )
        rows.append(row)
    return rows


def _feed(run: Evaluation, data: EvalData, rows: list[int]) -> None:
    import numpy as np

    part = data.select(np.asarray(rows, np.int64))
    where = {} if data.ids is not None else {"positions": rows}
    run.update(predictions=part, **where)
