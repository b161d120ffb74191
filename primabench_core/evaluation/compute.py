"""From placed predictions to an EvalResult."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any

from primabench_core.advice import PARTIAL
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError, CoverageError
from primabench_core.evaluation.aggregate import aggregate
from primabench_core.evaluation.codes import refuse_codes
from primabench_core.evaluation.draws import classes_of, draw_seed, population
from primabench_core.evaluation.elsewhere import counts_there
from primabench_core.evaluation.intervals import absent_for, as_level, bootstrap
from primabench_core.evaluation.pending import brought_home
from primabench_core.evaluation.plan import MetricPlan
from primabench_core.evaluation.resampled import Job
from primabench_core.evaluation.rows_there import rows_there
from primabench_core.evaluation.scoring import Scored, check_request, libraries_of, score, weighted_of
from primabench_core.evaluation.views import Views
from primabench_core.result.eval_result import EvalResult
from primabench_core.result.interval import Interval
from primabench_core.result.metric_result import MetricResult
from primabench_core.spec.dataset import DatasetKey
from primabench_core.state.rows import Column, OnDemand

if TYPE_CHECKING:
    from primabench_core.evaluation.intake import Intake
    from primabench_core.evaluation.request import Request
    from primabench_core.evaluation.truth import Truth

NO_ROWS = "the rows of a wide field are not kept, so none can be resampled"
MIN_PARTIAL = 30
"""Fewer predicted units of a private truth give no score: few of them would give single answers away."""


def compute(
    request: Request,
    truth: Truth,
    intake: Intake,
    *,
    ci: float | None,
    update_seconds: float = 0.0,
    hash_truth: bool = True,
) -> EvalResult:
    """Check coverage, build the views, run the metrics in isolation, fingerprint, and put the result together.

    Args:
        request: What was asked.
        truth: What it is compared with.
        intake: What was predicted.
        ci: Level of the intervals, or None.
        update_seconds: Time that the updates took.
        hash_truth: Without it the result does not say which truth it was, as where only its scores are handed on.
    """
    level = as_level(ci)
    started = perf_counter()
    plans = intake.decide()
    counted = counts_there(intake, plans) if level is None else None
    there = rows_there(intake) if counted is None else {}
    home = _home(request, intake, there) if counted is None else {}
    if home is None:
        _check_coverage(request, truth, intake)
    violations = check_request(plans, truth)
    if violations:
        raise ContractError(violations, what="The request")
    partial = home is None and intake.placed.n_seen < truth.n and request.fill is None
    columns = intake.columns() if home is None else {}
    seen = intake.placed.seen_positions() if partial else None
    views = intake.views(columns, seen) if home is None else Views(truth, home, counted=counted, device=intake.device)
    views.there = there
    coverage = intake.placed.coverage if home is None else 1.0
    fingerprint = intake.fingerprint(columns) if request.hash_predictions else ""
    hashed = perf_counter()
    if partial and truth.private and intake.placed.n_seen < MIN_PARTIAL:
        results = [_withheld(plan, coverage, intake.placed.n_seen) for plan in plans]
    else:
        refuse_codes(intake, columns)
        scored = [score(plan, views, coverage=coverage, private=truth.private) for plan in plans]
        results = _with_intervals(request, truth, views, scored, level)
    results = _with_ignored(results, len(intake.outside))
    if request.aggregate and set(request.panel) <= {r.name for r in results}:
        by_name = {r.name: r for r in results}
        results.append(aggregate([by_name[name] for name in request.panel], request.aggregate))
    result = EvalResult.make(
        task=request.task,
        dataset=request.dataset,
        dataset_hash=request.dataset_hash,
        results=results,
        primary=request.primary if any(r.name == request.primary for r in results) else results[0].name,
        predictions_sha256=fingerprint,
        **({} if fingerprint else {"predictions_reason": "hash_predictions=False"}),
        truth_sha256=truth.sha256 if hash_truth else "",
        packages=_packages(request),
        environment=_environment(),
        seeds={"bootstrap": request.seed},
        device=intake.device,
        timings={
            "update": update_seconds,
            "hash": hashed - started,
            "metrics": perf_counter() - hashed,
        },
        labels=request.labels,
        n_units=truth.n,
        coverage=coverage,
        unit=request.unit,
        synthetic=bool(request.dataset) and DatasetKey.parse(request.dataset).is_synthetic,
    )
    _finished(result)
    return result


def _home(request: Request, intake: Intake, there: Mapping[str, Any]) -> Mapping[str, Column] | None:
    """Columns that come home when a metric asks; None where the host needs all rows, as for a fingerprint."""
    if not there or request.hash_predictions or there.keys() != intake.pending.batches[0].columns.keys():
        return None
    return OnDemand({name: lambda tensor=tensor: brought_home(tensor) for name, tensor in there.items()})  # type: ignore[misc]


def _check_coverage(request: Request, truth: Truth, intake: Intake) -> None:
    placed = intake.placed
    if placed.n_seen == truth.n or request.allows_partial or request.fill is not None:
        return
    names = truth.names_of(placed.missing_positions(5))
    missing = truth.n - placed.n_seen
    expected = f"a prediction for each of {truth.n:,} {request.unit}s"
    if not placed.n_seen:  # the ids of all units would say nothing
        where = f" in {intake.source}, only a header or empty arrays" if intake.source else ""
        found = Violation("ids", expected, f"no rows{where}")
        raise CoverageError([found], remedy="give one row a unit, with its id")
    raise CoverageError(
        [Violation("ids", expected, "none", names, missing)], remedy=f"predict the missing rows, or {PARTIAL.text()}"
    )


def _withheld(plan: MetricPlan, coverage: float, seen: int) -> MetricResult:
    from primabench_core.spec.outcome import Outcome

    detail = f"{seen} of the units were predicted; a partial score needs {MIN_PARTIAL}"
    outcome = Outcome.undefined("insufficient_coverage", detail, n=seen)
    metric = plan.metric
    return MetricResult.from_outcome(
        outcome,
        metric.spec,
        params=metric.params,
        coverage=coverage,
        libraries=libraries_of(plan),
        distribution=metric.distribution,
        foreign=metric.foreign,
    )


def _with_ignored(results: list[MetricResult], ignored: int) -> list[MetricResult]:
    """Note rows outside the universe, which the contract lets pass."""
    from attrs import evolve

    if not ignored:
        return results
    return [evolve(r, n_excluded={**r.n_excluded, "outside": ignored}) for r in results]


def _with_intervals(
    request: Request, truth: Truth, views: Views, scored: list[Scored], level: float | None
) -> list[MetricResult]:
    if level is None:
        return [s.result for s in scored]
    jobs: list[Job] = []
    places: list[int] = []
    results = [s.result for s in scored]
    populations: dict[Any, Any] = {}
    for i, s in enumerate(scored):
        declared = s.plan.metric.spec.interval
        if s.function is None:
            continue
        if declared.method == "none":
            results[i] = s.result.with_interval(absent_for(declared, level))
            continue
        if views.is_summed(s.plan) and "moments" in s.plan.metric.spec.sums:
            results[i] = s.result.with_interval(Interval.absent(NO_ROWS, level=level))
            continue
        gaps = views.gaps(s.plan)
        classes = None if views.is_summed(s.plan) else classes_of(s.plan, views.rows(s.plan))
        key = (gaps, declared.method, classes is not None)
        if key not in populations:
            chosen = views.positions(gaps)
            populations[key] = population(
                views.rows(s.plan).n,
                method=declared.method,
                unit=truth.unit or request.unit,
                groups=truth.groups if chosen is None or truth.groups is None else truth.groups[chosen],
                blocks=lambda chosen=chosen: truth.blocks if chosen is None else truth.blocks[chosen],  # type: ignore[misc]
                classes=classes,
            )
        source = populations[key]
        if views.is_summed(s.plan):
            sums: Any = views.sums(s.plan)
            jobs.append(Job(s.plan, s.function, sums, source, weighted_of(s.plan.metric)))
        else:
            jobs.append(Job(s.plan, s.function, views.rows(s.plan), source, weighted_of(s.plan.metric)))
        places.append(i)
    seed = draw_seed(request.task, request.dataset_hash or truth.sha256, request.seed)
    for i, interval in zip(places, bootstrap(jobs, seed, level=level), strict=True):
        results[i] = results[i].with_interval(interval)
    return results


def _packages(request: Request) -> dict[str, str]:
    """Versions of core and of the plugins that compute."""
    from primabench_core import __version__

    owners = {metric.distribution: metric.version for metric in request.metrics if metric.distribution}
    return {"primabench-core": __version__, **owners, **dict(filter(None, [request.task_plugin]))}


def _environment() -> dict[str, str]:
    """Versions of what numbers go through, for the reader; in no hash."""
    import numpy as np

    return {"python": platform.python_version(), "numpy": np.__version__}


def _finished(result: EvalResult) -> None:
    from primabench_core.discovery.hooks import evaluation_finished

    evaluation_finished(result)
