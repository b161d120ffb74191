"""Runs an oracle baseline inside the runner: it sees the solution, and nothing but its score comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from primabench_core.errors import ContractError, MetricError, UsageError
from primabench_core.evaluation.evaluation import Evaluation
from primabench_core.evaluation.request import Metrics

if TYPE_CHECKING:
    from primabench_core.result.eval_result import EvalResult


def evaluate_oracle(
    task: str,
    baseline: str,
    *,
    dataset: str | None = None,
    metrics: Metrics | None = None,
    ci: float | None = 0.95,
    seed: int = 0,
    labels: Mapping[str, str | float] | None = None,
    store: str | None = None,
    shards: int = 1,
) -> EvalResult:
    """Score a baseline that knows the solution. Its predictions are never returned or written.

    Args:
        task: Name of the task.
        baseline: Name of an oracle baseline of the task.
        dataset: ``publication/slug@version``; by default the task's own.
        metrics: Names; by default the task's panel.
        ci: Level of the intervals; None makes none.
        seed: Seed of the baseline and of the intervals.
        labels: Free pairs of text kept in the result.
        store: Store to read from; by default ``PRIMABENCH_STORE``.
        shards: Feed the predictions in so many parts, as a user's loop would.

    Raises:
        UsageError: the baseline is no oracle.
        MetricError: it raised; what it said is left out, because it may quote the solution.

    Example:
        >>> evaluate_oracle("cell_type_annotation", "perfect").scores["accuracy"]  # doctest: +SKIP
        1.0
    """
    import numpy as np

    from primabench_core.discovery import registry
    from primabench_core.discovery.names import bare
    from primabench_core.evaluation.scoring import describe
    from primabench_core.store.access import open_solution, resolve_dataset

    name = f"{bare(task)}|{baseline}"
    spec = registry.load("baseline", name)
    if not spec.oracle:
        raise UsageError(
            f"Baseline {baseline!r} of task {task!r} is no oracle; predict with it and evaluate what it gives.",
            remedy=f"primabench evaluate --task {task} --baseline {baseline}",
        )
    function = registry.resolve(spec.predict, owner=registry.distribution_of("baseline", name)[0])
    marked = {"baseline": baseline, "oracle": "yes", "model_name": f"{baseline} (oracle)", **(labels or {})}
    run = Evaluation(task, dataset=dataset, metrics=metrics, seed=seed, labels=marked, store=store)
    solution = open_solution(task, resolve_dataset(task, dataset), store=store)
    try:
        predictions = function(solution, seed=seed)
    except Exception as error:  # noqa: BLE001  (foreign code that saw the solution: its words are not passed on)
        place = describe(error, private=True)
    else:
        place = ""
    if place:  # outside the except block, so that no traceback holds the solution
        raise MetricError(f"Oracle baseline {baseline!r} of task {task!r} failed: {place}.", remedy="primabench doctor")
    run._opened.told_by_oracle = True
    broken: list[str] = []
    try:
        for part in np.array_split(np.arange(predictions.n), max(1, shards)):
            run.update(predictions=predictions.select(part))
    except ContractError as error:  # it quotes what was predicted, and that is the solution
        broken = sorted({v.field for v in error.violations})
    if broken:
        raise MetricError(
            f"Oracle baseline {baseline!r} of task {task!r} breaks the contract in {', '.join(broken)}.",
            remedy="tell the authors of its plugin; what it predicted is not shown",
        )
    return run.compute(ci=ci)
