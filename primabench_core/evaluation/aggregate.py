"""The one aggregate that a task may declare over its panel."""

from __future__ import annotations

from collections.abc import Sequence

from primabench_core.result.metric_result import MetricResult
from primabench_core.statistics.aggregate import aggregate_mean

NAME = "aggregate"


def aggregate(results: Sequence[MetricResult], policy: str) -> MetricResult:
    """Mean of the panel under one of the policies of the metric specification, section 0.2.

    ``strict``: any part without a value leaves the mean undefined. ``defined_only``: mean of the parts that have a
    value, with their share in ``values``. ``penalise_constant_prediction``: a part undefined because the prediction is
    constant counts 0, one undefined because the truth is constant is left out, any other leaves the mean undefined.
    A part that failed leaves it undefined under every policy: a failure must not lift a score.

    Args:
        results: The panel's results; those of direction ``info`` take no part.
        policy: Name of the policy.

    Example:
        >>> parts = [MetricResult(name="a", value=0.5), MetricResult(name="b", value=1.0)]
        >>> aggregate(parts, "strict").value
        0.75
    """
    parts = [r for r in results if r.direction != "info"]
    found = aggregate_mean(value=[r.value for r in parts], policy=policy, reason=[r.reason for r in parts])
    lower = [r.name for r in parts if r.direction == "lower"]
    failed = [r.name for r in parts if r.status == "failed"]
    value, reason, detail = found.value, found.reason, found.detail
    if lower:
        value, reason = None, "not_applicable"
        detail = f"lower is better for {', '.join(lower)}: no mean over both directions"
    elif failed:
        value, reason, detail = None, "component_undefined", f"failed: {', '.join(failed)}"
    return MetricResult(
        name=NAME,
        params={"policy": policy},
        value=value,
        reason=reason,
        detail=detail,
        n=len(parts),
        n_undefined=found.values["n_undefined"],
        coverage=min((r.coverage for r in parts if r.coverage is not None), default=None),
        mean_over_defined=None if lower else found.values["mean_over_defined"],
        per_unit={r.name: r.value for r in parts},
        values={} if found.values["coverage"] is None else {"parts_coverage": found.values["coverage"]},
        flags=() if value is None else found.flags,
        reproducibility="exact" if all(r.reproducibility == "exact" for r in parts) else "tolerance",
        rtol=max((r.rtol for r in parts), default=0.0),
        atol=max((r.atol for r in parts), default=0.0),
    )
