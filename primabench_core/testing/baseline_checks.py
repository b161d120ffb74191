"""Checks of baselines on the synthetic data of their task."""

from __future__ import annotations

import random
from math import isclose

import numpy as np

from primabench_core.contract.evaldata import EvalData
from primabench_core.discovery import registry
from primabench_core.errors import MissingPluginError, PrimaBenchError
from primabench_core.evaluation.evaluation import Evaluation
from primabench_core.store.splits import answered
from primabench_core.testing.bench import refused
from primabench_core.testing.report import CheckFailure, NotApplicable
from primabench_core.testing.subjects import BaselineSubject


def _predict(subject: BaselineSubject) -> tuple[EvalData, str]:
    """Predictions on the synthetic dataset, made once, and its key.

    Raises:
        NotApplicable: there are no data, or a library that it requires is absent.
        CheckFailure: it raised, or returned something else.
    """
    key = subject.bench.task_data(subject.task)
    return subject.bench.once(("predict", subject.qualified), lambda: _run(subject, key, state=1)), key


def _run(subject: BaselineSubject, key: str, *, state: int) -> EvalData:
    """One run with seed 0, the global generators in a state of their own."""
    spec, task = subject.spec, subject.task
    try:
        function = registry.resolve(spec.predict, owner=subject.distribution, requires=spec.requires)
    except MissingPluginError as error:
        raise NotApplicable(error.message) from error
    arguments: tuple[EvalData | None, ...] = (
        (subject.bench.solution(task.name, key),) if spec.oracle else subject.bench.splits(task.name, key)
    )
    saved, saved_numpy = random.getstate(), np.random.get_state()
    random.seed(state)
    np.random.seed(state)
    try:
        found = function(*arguments, seed=0)
    except Exception as error:
        raise CheckFailure(f"it raised {type(error).__name__} on {key}: {error}") from error
    finally:
        random.setstate(saved)
        np.random.set_state(saved_numpy)
    if not isinstance(found, EvalData):
        raise CheckFailure(f"it returned {type(found).__name__}; expected EvalData")
    return found


def check_runs_on_synthetic_data(subject: BaselineSubject) -> None:
    """It predicts every test unit of the task's synthetic dataset."""
    found, key = _predict(subject)
    solution, contract = subject.bench.solution(subject.task.name, key), subject.task.contract
    if contract.many_rows_per_unit:
        units = set(map(str, answered(solution, contract) or ()))
        missing = units - set(map(str, found[contract.unit_field].tolist()))
        if missing:
            raise CheckFailure(f"it predicts {len(units) - len(missing)} of {len(units)} units")
        return
    if found.n != solution.n:
        raise CheckFailure(f"it predicts {found.n} rows, the test split has {solution.n}")


def check_repeats_with_its_seed(subject: BaselineSubject) -> None:
    """The same seed gives the same predictions, whatever state the global generators are in."""
    first, key = _predict(subject)
    if first != _run(subject, key, state=2):
        raise CheckFailure(
            "two runs with one seed differ",
            remedy="make every draw from np.random.default_rng(seed), or by a hash of seed and id",
        )


def check_fits_the_contract(subject: BaselineSubject) -> None:
    """The task's contract takes its predictions, and the panel runs on them."""
    subject.bench.require_panel(subject.task)
    found, key = _predict(subject)
    try:
        run = Evaluation(subject.task.name, dataset=key, duplicates="refuse", store=str(subject.bench.root))
        run.update(predictions=found)
        failed = [r.name for r in run.compute().results if r.status == "failed"]
    except PrimaBenchError as error:
        raise refused("its predictions are refused", error) from error
    if failed:
        raise CheckFailure(f"metrics failed on its predictions: {', '.join(failed)}")


def check_oracle_reaches_the_optimum(subject: BaselineSubject) -> None:
    """An oracle reaches the optimum of the task's primary metric; no other baseline passes it."""
    from primabench_core.discovery.metrics import resolve_metric

    task = subject.task
    subject.bench.require_panel(task)
    found, key = _predict(subject)
    spec = resolve_metric(task.primary).spec
    if spec.best is None:
        raise NotApplicable(f"the primary metric {task.primary!r} declares no optimum")
    run = Evaluation(task.name, dataset=key, metrics=list(task.metrics), store=str(subject.bench.root))
    run.update(predictions=found)
    value = run.compute()[task.primary].value
    slack = max(spec.atol, spec.rtol, 1e-9)
    if subject.spec.oracle and (value is None or not isclose(value, spec.best, rel_tol=slack, abs_tol=slack)):
        raise CheckFailure(f"the oracle has {task.primary} = {value!r}; the optimum is {spec.best!r}")
    sign = -1.0 if spec.direction == "lower" else 1.0
    if value is not None and sign * (value - spec.best) > slack:
        raise CheckFailure(f"it has {task.primary} = {value!r}, better than the optimum {spec.best!r}")
