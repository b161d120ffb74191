"""How values of units (classes, features, groups, folds) become one value: the three policies.

``strict``: one undefined unit makes the mean undefined. ``defined_only``: mean over the units that have a value, with
their share beside it. ``penalise_constant_prediction``: a unit whose *prediction* is constant counts 0, so that
constants cannot raise the mean; a unit whose *truth* is constant is left out for every model; any other undefined
unit makes the mean undefined. The record of each unit stays undefined whatever the policy.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from primabench_core.spec import Outcome


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
    if policy not in ("strict", "defined_only", "penalise_constant_prediction"):
        raise ValueError(f"unknown policy {policy!r}")
    if not units:
        return Outcome.undefined("too_few_items", "there are no parts to average", n=n)
    values = {name: u.value if isinstance(u, Outcome) else u for name, u in units.items()}
    defined = [v for v in values.values() if v is not None]
    reasons = Counter(u.reason for u in units.values() if isinstance(u, Outcome) and u.value is None)
    over_defined = math.fsum(defined) / len(defined) if defined else None
    parts: dict[str, Any] = {
        "n": n,
        "per_unit": values,
        "n_undefined": len(units) - len(defined),
        "mean_over_defined": over_defined,
        "coverage": len(defined) / len(units),
    }
    if reasons:
        parts["values"] = {"undefined_reasons": dict(sorted(reasons.items()))}
    if not reasons or (policy == "defined_only" and defined):
        return Outcome(over_defined, **parts)
    if policy == "penalise_constant_prediction" and set(reasons) <= {"constant_prediction", "constant_truth"}:
        counted = len(defined) + reasons["constant_prediction"]
        if counted:
            return Outcome(math.fsum(defined) / counted, flags=("penalised",), **parts)
    detail = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    return Outcome.undefined("component_undefined", f"of {len(units)} parts: {detail}", **parts)
