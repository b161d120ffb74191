"""Checks of tasks: the panel resolves, data are there, and the contract refuses every generated corruption by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from primabench_core.contract.evaldata import EvalData
from primabench_core.discovery import names
from primabench_core.discovery.origin import renewal
from primabench_core.errors import ContractError, PrimaBenchError, UnknownNameError
from primabench_core.evaluation.evaluation import Evaluation
from primabench_core.testing.bench import refused
from primabench_core.testing.predictions import NUMERIC, fields_of, shortened, spoiled, valid_prediction
from primabench_core.testing.report import CheckFailure, NotApplicable
from primabench_core.testing.subjects import TaskSubject

EXTRA = "field_of_nobody"
STRANGER = "unit_of_nobody"


def check_panel_resolves(subject: TaskSubject) -> None:
    """Every metric of the panel is installed, takes its parameters, and finds its fields; the primary one is in it."""
    task = subject.spec
    try:
        panel = subject.bench.panel(task)
    except UnknownNameError as error:
        remedy = (
            f"if {error.name} is a metric of {subject.distribution}, name it under "
            f'[project.entry-points."primabench.metrics"] in pyproject.toml, then {renewal(subject.distribution)}'
        )
        raise CheckFailure(f"the panel does not resolve: {error.message}", remedy=remedy) from error
    except PrimaBenchError as error:
        raise refused("the panel does not resolve", error) from error
    if task.primary not in {metric.name for metric in panel}:
        raise CheckFailure(
            f"the primary metric {task.primary!r} is not in the panel {', '.join(metric.name for metric in panel)}"
        )


def check_default_dataset_known(subject: TaskSubject) -> None:
    """An installed plugin describes the default dataset, and a preparer joins it with the task."""
    task = subject.spec
    if task.default_dataset not in names.names("dataset"):
        raise CheckFailure(
            f"no installed plugin describes the default dataset {task.default_dataset!r}",
            remedy="name a dataset that this distribution brings or requires",
        )
    if f"{task.name}|{task.default_dataset}" not in names.names("preparer"):
        raise CheckFailure(f"no preparer joins task {task.name!r} and its default dataset {task.default_dataset!r}")


def check_synthetic_dataset_builds(subject: TaskSubject) -> None:
    """The task names a synthetic dataset, and it builds and is prepared without a network."""
    task = subject.spec
    if not task.synthetic_dataset:
        raise CheckFailure(
            "it names no synthetic dataset; without one nobody can try it offline",
            remedy="synthetic_dataset=, with a recipe and a preparer in this distribution",
        )
    try:
        subject.bench.prepare(task.name, task.synthetic_dataset)
    except NotApplicable as error:
        raise CheckFailure(f"the synthetic dataset {task.synthetic_dataset} cannot be built: {error}") from error
    except PrimaBenchError as error:
        raise refused(f"the synthetic dataset {task.synthetic_dataset} cannot be used", error) from error


def check_valid_prediction_scores(subject: TaskSubject) -> None:
    """A prediction made to the contract is taken, and every metric of the panel runs."""
    offer = Offer(subject)
    try:
        result = offer.evaluate(offer.fields, offer.ids)
    except PrimaBenchError as error:
        raise refused("a prediction made to the contract is refused", error) from error
    failed = [f"{r.name}: {r.reason} {r.detail}" for r in result.results if r.status == "failed"]
    if failed:
        raise CheckFailure(f"metrics of the panel failed: {'; '.join(failed)}")


class Offer:
    """A valid prediction on the task's synthetic dataset, to be spoiled.

    Raises:
        NotApplicable: there is no synthetic data, its panel does not resolve, or the task predicts several rows a unit.
    """

    def __init__(self, subject: TaskSubject) -> None:
        self.task, self.bench = subject.spec, subject.bench
        self.bench.require_panel(self.task)
        if self.task.contract.many_rows_per_unit:
            raise NotApplicable("the task predicts several rows a unit")
        self.key = self.bench.task_data(self.task)
        solution = self.bench.solution(self.task.name, self.key)
        self.fields = valid_prediction(self.task, solution)
        self.ids = None if solution.ids is None else list(solution.ids)

    def evaluate(self, fields: Mapping[str, Any], ids: list[str] | None) -> Any:
        """Hand the prediction in and compute."""
        run = Evaluation(self.task.name, dataset=self.key, duplicates="refuse", store=str(self.bench.root))
        run.update(**({} if ids is None else {"ids": ids}), **fields)
        return run.compute()

    def named_ids(self) -> list[str]:
        """The ids.

        Raises:
            NotApplicable: the rows have none.
        """
        if self.ids is None:
            raise NotApplicable("its rows have no ids")
        return self.ids

    def demand_refusal(self, what: str, name: str, fields: Mapping[str, Any], ids: list[str] | None) -> None:
        """Refuse a contract that takes this, or that does not say what is wrong.

        Raises:
            CheckFailure: it was taken, or the message does not hold ``name``.
        """
        try:
            self.evaluate(fields, ids)
        except ContractError as error:
            if not any(v.field == name or name in str(v) for v in error.violations):
                raise CheckFailure(
                    f"{what} is refused, but the message does not name {name!r}: {error.message}"
                ) from error
        except Exception as error:
            raise CheckFailure(
                f"{what} ended in {type(error).__name__} ({error}) instead of a contract error"
            ) from error
        else:
            raise CheckFailure(f"{what} is accepted", remedy="declare the fields of the contract more strictly")


def check_refuses_missing_field(subject: TaskSubject) -> None:
    """A prediction without one of its fields is refused, and the field is named."""
    offer = Offer(subject)
    for f in fields_of(offer.task, offer.fields):
        rest = {name: value for name, value in offer.fields.items() if name != f.name}
        offer.demand_refusal(f"a prediction without the field {f.name!r}", f.name, rest, offer.ids)


def check_refuses_extra_field(subject: TaskSubject) -> None:
    """A field that the contract does not name is refused, and named."""
    offer = Offer(subject)
    some = next(iter(offer.fields.values()))
    offer.demand_refusal("a field that the contract does not name", EXTRA, {**offer.fields, EXTRA: some}, offer.ids)


def check_refuses_nan(subject: TaskSubject) -> None:
    """NaN, or a missing label, is refused, and the field is named."""
    offer = Offer(subject)
    for f in fields_of(offer.task, offer.fields):
        value = offer.fields[f.name]
        if f.kind in (*NUMERIC, "points", "pairs"):
            bad = spoiled(value, 0, np.nan)
        else:
            bad = np.asarray([None, *np.asarray(value, object)[1:]], object)
        offer.demand_refusal(f"a missing value in {f.name!r}", f.name, {**offer.fields, f.name: bad}, offer.ids)


def check_refuses_infinity(subject: TaskSubject) -> None:
    """An infinite number is refused, and the field is named."""
    offer = Offer(subject)
    for f in fields_of(offer.task, offer.fields, *NUMERIC):
        bad = spoiled(offer.fields[f.name], 0, np.inf)
        offer.demand_refusal(f"an infinite number in {f.name!r}", f.name, {**offer.fields, f.name: bad}, offer.ids)


def check_refuses_wrong_type(subject: TaskSubject) -> None:
    """Text where numbers belong, or broken numbers where labels or text belong, are refused, and the field is named."""
    offer = Offer(subject)
    for f in fields_of(offer.task, offer.fields):
        n = len(offer.fields[f.name])
        bad = np.full(n, "text", object) if f.kind in NUMERIC else np.linspace(0.1, 0.9, n)
        offer.demand_refusal(f"values of another type in {f.name!r}", f.name, {**offer.fields, f.name: bad}, offer.ids)


def check_refuses_wrong_rows(subject: TaskSubject) -> None:
    """A field with a row less than the others is refused, and the field is named."""
    offer = Offer(subject)
    for f in fields_of(offer.task, offer.fields):
        bad = {**offer.fields, f.name: shortened(offer.fields[f.name])}
        offer.demand_refusal(f"a row less in {f.name!r}", f.name, bad, offer.ids)


def check_refuses_out_of_range(subject: TaskSubject) -> None:
    """A number outside the declared range, or a class outside an exact vocabulary, is refused by name."""
    offer = Offer(subject)
    looked = False
    for f in fields_of(offer.task, offer.fields):
        value = offer.fields[f.name]
        if f.kind in NUMERIC and (f.high is not None or f.kind == "probability"):
            bad = spoiled(value, 0, (1.0 if f.high is None else f.high) + 1.0)
        elif f.kind in NUMERIC and f.low is not None:
            bad = spoiled(value, 0, f.low - 1.0)
        elif f.kind == "label" and f.vocabulary != "open" and offer.task.contract.unknown_labels == "refuse":
            array = np.asarray(value)
            bad = array.copy()
            bad[0] = "a class of nobody" if array.dtype == object else 987_654
        else:
            continue
        looked = True
        offer.demand_refusal(
            f"a value outside of its range in {f.name!r}", f.name, {**offer.fields, f.name: bad}, offer.ids
        )
    if not looked:
        raise NotApplicable("no field declares a range or an exact vocabulary")


def check_refuses_unknown_id(subject: TaskSubject) -> None:
    """A row that is not in the truth is refused, and its id named."""
    offer = Offer(subject)
    if offer.task.contract.outside == "ignore":
        raise NotApplicable("the contract ignores rows outside of the truth")
    ids = [STRANGER, *offer.named_ids()[1:]]
    offer.demand_refusal("an unknown id", STRANGER, offer.fields, ids)


def check_refuses_duplicated_id(subject: TaskSubject) -> None:
    """A row that comes twice is refused where duplicates are to be refused, and its id named."""
    offer = Offer(subject)
    if offer.task.contract.repeats != "duplicates":
        raise NotApplicable("the contract has a rule for rows that come again")
    ids = offer.named_ids()
    twice = EvalData({k: v for k, v in offer.fields.items() if k not in ("classes", "genes")}, ids=ids).select(
        [*range(len(ids)), 0]
    )
    coords = {k: v for k, v in offer.fields.items() if k in ("classes", "genes")}
    offer.demand_refusal("an id that comes twice", ids[0], {**twice.fields, **coords}, [*ids, ids[0]])


def check_refuses_missing_id(subject: TaskSubject) -> None:
    """A unit without a prediction is refused where the contract asks for all, and its id named."""
    offer = Offer(subject)
    if offer.task.contract.missing != "error":
        raise NotApplicable("the contract allows units without a prediction")
    ids = offer.named_ids()
    rest = EvalData({k: v for k, v in offer.fields.items() if k not in ("classes", "genes")}, ids=ids).select(
        slice(1, None)
    )
    coords = {k: v for k, v in offer.fields.items() if k in ("classes", "genes")}
    offer.demand_refusal("a prediction that leaves a unit out", ids[0], {**rest.fields, **coords}, ids[1:])
