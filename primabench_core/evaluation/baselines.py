"""Runs the model-free predictors that ship with a task."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from primabench_core.errors import MetricError, MissingDataError, UsageError

if TYPE_CHECKING:
    from primabench_core.contract.evaldata import EvalData


def predict_baseline(
    task: str, name: str, *, dataset: str | None = None, seed: int = 0, store: str | None = None
) -> EvalData:
    """Predictions of a baseline for the test units of a task.

    Args:
        task: Name of the task.
        name: Name of the baseline, such as ``majority``.
        dataset: ``publication/slug@version``; by default the task's own.
        seed: Seed of its random steps.
        store: Store to read the data from; by default ``PRIMABENCH_STORE``.

    Raises:
        UsageError: the baseline is an oracle, whose predictions never leave the runner.
        MetricError: the baseline raised.

    Example:
        >>> predict_baseline("cell_type_annotation", "majority").n  # doctest: +SKIP
        210
    """
    from primabench_core.discovery import registry
    from primabench_core.discovery.names import bare
    from primabench_core.store.access import fetch_test, fetch_train, load

    key = f"{bare(task)}|{name}"
    spec = registry.load("baseline", key)
    if spec.oracle:
        raise UsageError(
            f"Baseline {name!r} knows the solution; its predictions are scored inside the runner and never returned.",
            remedy=f"primabench evaluate --task {task} --baseline {name}",
        )
    function = registry.resolve(spec.predict, owner=registry.distribution_of("baseline", key)[0])
    task_spec = registry.load("task", task)
    test = load(fetch_test(task, dataset=dataset, store=store), task=task, split="test")
    train = None
    if task_spec.supervised:
        with suppress(MissingDataError):  # test-only data: a baseline that needs none may run
            train = load(fetch_train(task, dataset=dataset, store=store), task=task, split="train")
    try:
        predictions: EvalData = function(train, test, seed=seed)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise MetricError(
            f"Baseline {name!r} of task {task!r} failed: {type(error).__name__}: {error}",
            remedy="primabench doctor",
        ) from error
    return predictions
