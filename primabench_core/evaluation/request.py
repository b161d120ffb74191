"""What is asked of an evaluation: a value that names the truth but never holds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

from attrs import evolve, field, frozen

from primabench_core.contract.contract import Contract
from primabench_core.errors import CorruptDataError, UsageError
from primabench_core.evaluation.plan import derive_contract, resolve_all
from primabench_core.result.plain import text_labels
from primabench_core.spec.task import MetricUse

if TYPE_CHECKING:
    from primabench_core.discovery.metrics import ResolvedMetric
    from primabench_core.evaluation.truth import Truth

Duplicates = Literal["refuse", "drop_identical"]
Metrics = Iterable["str | MetricUse | ResolvedMetric | tuple[str, Mapping[str, Any]]"]


@frozen(kw_only=True)
class Request:
    """Task, dataset, metrics and rules of one evaluation. Two requests that are equal can be merged."""

    metrics: tuple[ResolvedMetric, ...]
    contract: Contract
    task: str = ""
    dataset: str = ""
    dataset_hash: str = ""
    primary: str = ""
    unit: str = "row"
    independent_unit: str = ""
    aggregate: str = ""
    panel: tuple[str, ...] = ()
    """Canonical names of the task's whole panel, which its aggregate is made of."""
    task_plugin: tuple[str, str] | None = None
    """Distribution and version that bring the task."""
    duplicates: Duplicates = field(default="refuse")
    partial: bool = False
    seed: int = 0
    hash_predictions: bool = True
    device: str | None = field(default=None, eq=False)
    """Where predictions are reduced; None for where they are. It changes no bit of an exact score."""
    store: str | None = field(default=None, eq=False)
    labels: Mapping[str, str] = field(factory=dict, converter=text_labels, eq=False)

    @duplicates.validator
    def _check_duplicates(self, _: object, value: str) -> None:
        if value not in get_args(Duplicates):
            raise UsageError(f"duplicates is one of {', '.join(map(repr, get_args(Duplicates)))}, got {value!r}.")

    @property
    def allows_partial(self) -> bool:
        """Whether units may lack a prediction."""
        return self.partial or self.contract.missing == "partial"

    @property
    def fill(self) -> float | None:
        """What stands for a unit that was never predicted, None if nothing does."""
        missing = self.contract.missing
        return None if isinstance(missing, str) else float(missing)


def check_options(device: str | None, seed: object, labels: Mapping[str, str | float] | None) -> None:
    """Refuse what cannot be meant.

    Raises:
        UsageError: an option is of the wrong kind, or asks for what this version does not do.
    """
    if device is not None and device != "cpu":
        _check_device(device)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise UsageError(f"seed is an integer that is not negative, got {seed!r}.")
    text_labels(labels or {})


def _check_device(device: object) -> None:
    """Refuse a device that torch does not have."""
    import torch

    remedy = "leave device out: predictions are reduced where they are"
    try:
        torch.empty(0, device=torch.device(device))  # type: ignore[call-overload]
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise UsageError(f"device {str(device)!r} cannot be used: {reason}", remedy=remedy) from error
    if torch.device(device).type == "meta":  # type: ignore[call-overload]
        raise UsageError("device 'meta' holds no numbers.", remedy=remedy)


def request_for_task(
    task: str, *, dataset: str | None, metrics: Metrics | None, store: str | None, **options: Any
) -> Request:
    """The request of a registered task.

    Raises:
        UnknownNameError: no such task or metric.
        MissingDataError: the dataset is not in the store.
    """
    from primabench_core.discovery.registry import as_meant_by, distribution_of, load
    from primabench_core.store.access import dataset_content_hash, resolve_dataset

    spec = load("task", task)
    key = resolve_dataset(task, dataset)
    plugin = distribution_of("task", task)
    panel = resolve_all([evolve(use, name=as_meant_by(plugin[0], "metric", use.name)) for use in spec.metrics])
    chosen = panel if metrics is None else _with_what_always_stands(resolve_all(metrics), panel, spec.metrics)
    own = [metric.name for metric in chosen if metric.foreign and not metric.distribution]
    if own:
        raise UsageError(
            f"{own[0]!r} is a function of your own, and the solution of a dataset is not handed to it.",
            remedy="score a truth of your own by it, or write a plugin: primabench new metric",
        )
    return Request(
        metrics=chosen,
        contract=spec.contract,
        task=spec.name,
        dataset=key,
        dataset_hash=dataset_content_hash(key, store=store),
        primary=spec.primary,
        unit=spec.unit,
        independent_unit=spec.independent_unit,
        aggregate=spec.aggregate,
        panel=tuple(m.name for m in panel),
        task_plugin=plugin,
        store=store,
        **options,
    )


def _with_what_always_stands(
    asked: tuple[ResolvedMetric, ...], panel: tuple[ResolvedMetric, ...], uses: tuple[MetricUse, ...]
) -> tuple[ResolvedMetric, ...]:
    """What was asked for, then the metrics that the task puts into every result."""
    always = [metric for metric, use in zip(panel, uses, strict=True) if use.always]
    there = [(metric.name, metric.params) for metric in asked]
    return (*asked, *(metric for metric in always if (metric.name, metric.params) not in there))


def request_for_truth(metrics: Metrics, **options: Any) -> Request:
    """The request over a truth of the caller: the contract follows from the metrics."""
    resolved = resolve_all(metrics)
    contract = derive_contract(resolved)
    unit = contract.unit_field if contract.many_rows_per_unit else "row"
    return Request(metrics=resolved, contract=contract, primary=resolved[0].name, unit=unit, **options)


def open_truth(request: Request) -> Truth:
    """Open the solution of a dataset.

    Raises:
        CorruptDataError: the store holds another content under this key than the request was made for.
        MissingDataError: it is not there.
    """
    from primabench_core.evaluation.unit_truth import make_truth
    from primabench_core.store.access import dataset_content_hash, open_solution, public_names, solution_salt

    found = dataset_content_hash(request.dataset, store=request.store)
    if found != request.dataset_hash:
        raise CorruptDataError(
            f"Dataset {request.dataset} has content hash {found[:16]}… in this store, but the evaluation was started "
            f"on {request.dataset_hash[:16]}….",
            remedy=f"primabench verify --dataset {request.dataset}",
        )
    solution = open_solution(request.task, request.dataset, store=request.store)
    salt = solution_salt(request.dataset, store=request.store)
    told = public_names(request.task, request.dataset, store=request.store)
    unit = request.independent_unit
    return make_truth(solution, request.contract, private=True, independent_unit=unit, salt=salt, told=told)
