"""A mean of scores of which some may not exist: a failed part never lifts it."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, isfinite

from primabench_core.errors import UsageError
from primabench_core.statistics.finding import Finding
from primabench_core.statistics.inputs import choice

POLICIES = ("strict", "defined_only", "penalise_constant_prediction")


def aggregate_mean(
    *, value: Sequence[float | None], policy: str = "strict", reason: Sequence[str] | None = None
) -> Finding:
    """The mean over parts, with what is missing beside it.

    Sums are correctly rounded, so that the order of the parts changes no bit.

    Args:
        value: Score of each part; None where it is undefined.
        policy: ``strict``: any undefined part makes the mean undefined. ``defined_only``: mean over the defined parts.
            ``penalise_constant_prediction``: a part without a value because the prediction is constant counts as 0,
            one whose truth is constant is left out, any other gap makes the mean undefined; for ranking tables only.
        reason: Reason of each part (empty where it has a value); needed by the last policy.

    Returns:
        ``value`` under the policy; ``values``: ``mean`` (None if any part is undefined), ``mean_over_defined``,
        ``n_defined``, ``n_undefined``, ``coverage`` (share of parts with a value), ``policy``. The flag ``penalised``
        where an undefined part changed the value under the last policy.

    Raises:
        UsageError: An entry is not a finite number or None, or lengths differ.

    Example:
        >>> aggregate_mean(value=[0.5, None, 0.7]).reason
        'component_undefined'
    """
    choice(policy, POLICIES, "policy")
    for place, item in enumerate(value):
        if item is not None and (isinstance(item, bool | str) or not isfinite(item)):
            raise UsageError(f"value: expected a finite number or None, found {item!r} at place {place}")
    if reason is not None and len(reason) != len(value):
        raise UsageError(f"reason: expected {len(value)} entries as in value, found {len(reason)}")
    defined = [float(item) for item in value if item is not None]
    undefined = len(value) - len(defined)
    over_defined = fsum(defined) / len(defined) if defined else None
    values = {
        "mean": over_defined if not undefined else None,
        "mean_over_defined": over_defined,
        "n_defined": len(defined),
        "n_undefined": undefined,
        "coverage": len(defined) / len(value) if value else None,
        "policy": policy,
    }
    if policy == "penalise_constant_prediction":
        if undefined and reason is None:
            raise UsageError("reason: this policy needs the reason of each undefined part")
        whys = ["" if v is not None else w for v, w in zip(value, reason or [""] * len(value), strict=True)]
        counted = [*defined, *[0.0 for w in whys if w == "constant_prediction"]]
        other = sum(
            v is None and w not in ("constant_prediction", "constant_truth") for v, w in zip(value, whys, strict=True)
        )
        found = fsum(counted) / len(counted) if counted and not other else None
    else:
        found = over_defined if policy == "defined_only" or not undefined else None
    if found is not None:
        penalised = policy == "penalise_constant_prediction" and undefined
        return Finding("aggregate_mean", value=found, values=values, flags=("penalised",) if penalised else ())
    if not value:
        return Finding.undefined("aggregate_mean", "too_few_items", "there are no parts", **values)
    return Finding.undefined("aggregate_mean", "component_undefined", f"{undefined} of {len(value)} parts", **values)
