"""Runs metric functions, each in isolation: what one of them does cannot touch the others."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from primabench_core.contract.violations import Violation
from primabench_core.discovery import names
from primabench_core.discovery.registry import resolve
from primabench_core.errors import ContractError, MetricError, PluginError, PrimaBenchError, UsageError
from primabench_core.evaluation.plan import MetricPlan
from primabench_core.evaluation.secrecy import Secrecy
from primabench_core.result.metric_result import MetricResult
from primabench_core.spec.outcome import Outcome

if TYPE_CHECKING:
    from primabench_core.discovery.metrics import ResolvedMetric
    from primabench_core.evaluation.truth import Truth
    from primabench_core.evaluation.views import Views

MetricFunction = Callable[..., float | Outcome]


@frozen(eq=False)
class Scored:
    """A result and, if an interval can follow, the function that made it."""

    plan: MetricPlan
    result: MetricResult
    function: MetricFunction | None


def function_of(metric: ResolvedMetric) -> MetricFunction:
    """The metric's function.

    Raises:
        PluginError: its plugin cannot give it.
    """
    if metric.function is not None:
        return metric.function
    return resolve(metric.spec.compute, owner=metric.distribution, requires=metric.spec.libraries)


def weighted_of(metric: ResolvedMetric) -> Callable[..., Any] | None:
    """The metric's function over multiplicities of rows, None if it has none.

    Raises:
        PluginError: its plugin cannot give it.
    """
    if metric.function is not None or not metric.spec.weighted:
        return None
    return resolve(metric.spec.weighted, owner=metric.distribution, requires=metric.spec.libraries)


def check_request(plans: tuple[MetricPlan, ...], truth: Truth) -> list[Violation]:
    """What the metrics' own checks find before any row is scored."""
    classes, secrecy = truth.classes, Secrecy(truth)
    violations: list[Violation] = []
    for plan in plans:
        if not plan.metric.spec.check:
            continue
        check: Any = resolve(plan.metric.spec.check, owner=plan.metric.distribution)
        fields = tuple(f.name for f in plan.prediction)
        failure = ""
        try:
            found = secrecy.violations(check(fields, classes, dict(plan.metric.params)))
        except Exception as error:  # a plugin's code, which was told the classes
            if not truth.private:
                raise
            found, failure = [], describe(error, private=True)
        if failure:  # outside of the handler, as below
            raise PluginError(f"the check of metric {plan.metric.name!r} failed: {failure}", remedy="primabench doctor")
        violations += [v for v in found if v not in violations]
    return violations


def score(plan: MetricPlan, views: Views, *, coverage: float, private: bool) -> Scored:
    """Run one metric. Whatever it raises becomes a result with status ``failed``.

    A contract or usage error passes through: with it a metric refuses a request that only the data can show to be
    impossible, as its ``check`` would have done before.

    Args:
        plan: The metric and its fields.
        views: Where its state comes from.
        coverage: Share of units that were predicted.
        private: The truth is a dataset's; then the text of a foreign exception, which may quote it, is left out.
    """
    metric = plan.metric
    about = {
        "params": metric.params,
        "n": views.rows(plan).n,
        "n_excluded": dict(views.rows(plan).n_excluded),
        "coverage": coverage,
        "libraries": libraries_of(plan),
        "distribution": metric.distribution,
        "foreign": metric.foreign,
    }
    spec = metric.spec
    refused: PrimaBenchError | None = None
    try:
        function = function_of(metric)
        outcome = function(views.state(plan), **dict(metric.params))
        if private:
            outcome = Secrecy.over(views, plan).outcome(outcome)
    except (ContractError, PluginError, UsageError) as error:
        if not private:
            raise
        refused = Secrecy.over(views, plan).error(error)
    except Exception as error:  # noqa: BLE001  (foreign code: its failure is reported, and is its own alone)
        reason, detail = "raised", describe(error, private=private)
        return Scored(plan, MetricResult.failed(spec, reason, detail, **about), None)
    if refused is not None:  # outside of the handler: no context holds the original, which may quote the truth
        raise refused
    value = outcome.value if isinstance(outcome, Outcome) else outcome
    if isinstance(value, float | int) and not isfinite(value):
        detail = f"the metric returned {float(value)!r}"
        return Scored(plan, MetricResult.failed(spec, "numerical_failure", detail, **about), None)
    try:
        result = MetricResult.from_outcome(outcome, spec, **about)  # type: ignore[arg-type]
    except MetricError as error:
        return Scored(plan, MetricResult.failed(spec, "not_a_result", str(error), **about), None)
    unknown = views.unknown_labels(plan)
    if unknown and "n_unknown_labels" not in result.values:
        result = evolve(
            result,
            flags=tuple(dict.fromkeys((*result.flags, "unknown_labels"))),
            values={**result.values, "n_unknown_labels": unknown},
        )
    return Scored(plan, result, function if result.value is not None else None)


def describe(error: Exception, *, private: bool) -> str:
    """Where a foreign function raised what; with the message only if it cannot quote a private truth."""
    frames = extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}" if private else f"{type(error).__name__}{place}: {error}"


def libraries_of(plan: MetricPlan) -> dict[str, str]:
    """Versions of the libraries that the value depends on."""
    return {name: names.version_of(name) or "not installed" for name in plan.metric.spec.libraries}
