"""How values of units (classes, features, groups, folds) become one value: the three policies.

``strict``: one undefined unit makes the mean undefined. ``defined_only``: mean over the units that have a value, with
their share beside it. ``penalise_constant_prediction``: a unit whose *prediction* is constant counts 0, so that
constants cannot raise the mean; a unit whose *truth* is constant is left out for every model; any other undefined
unit makes the mean undefined. The record of each unit stays undefined whatever the policy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from primabench_core.spec import Outcome
from primabench_core.statistics import aggregate_mean


def mean_of_units(units: Mapping[str, float | Outcome], policy: str = "strict", *, n: int | None = None) -> Outcome:
    """Unweighted mean over units under one of the policies.

    Args:
        units: Value, or outcome, of each unit by name.
        policy: ``strict``, ``defined_only`` or ``penalise_constant_prediction``.
        n: Items used, for the result.

    Returns:
        The mean with ``per_unit``, ``mean_over_defined``, ``n_undefined`` and ``coverage``; undefined as
        ``component_undefined`` where the policy says so, ``too_few_items`` without units.

    Example:
        >>> units = {"a": 1.0, "b": Outcome.undefined("constant_truth")}
        >>> mean_of_units(units).reason, mean_of_units(units, "defined_only").value
        ('component_undefined', 1.0)
    """
    values = {name: u.value if isinstance(u, Outcome) else u for name, u in units.items()}
    whys = ["" if values[name] is not None or not isinstance(u, Outcome) else u.reason for name, u in units.items()]
    found = aggregate_mean(value=list(values.values()), policy=policy, reason=whys)
    if not units:
        return Outcome.undefined(found.reason, "there are no parts to average", n=n)
    reasons = dict(sorted(Counter(filter(None, whys)).items()))
    parts: dict[str, Any] = {
        "n": n,
        "per_unit": values,
        "n_undefined": found.values["n_undefined"],
        "mean_over_defined": found.values["mean_over_defined"],
        "coverage": found.values["coverage"],
        "values": {"undefined_reasons": reasons} if reasons else {},
    }
    if found.value is not None:
        return Outcome(found.value, flags=found.flags, **parts)
    detail = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
    return Outcome.undefined(found.reason, f"of {len(units)} parts: {detail}", **parts)
