"""What a metric function returns when a bare float is not enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from primabench_core.spec.frozen import as_mapping, as_texts

REASONS = frozenset(
    {
        "single_class", "no_positives", "no_negatives", "constant_truth", "constant_prediction", "too_few_items",
        "single_batch", "single_label", "no_isolated_label", "zero_denominator", "both_empty", "no_comparable_pair",
        "no_scored_pair", "no_reference_effect", "component_undefined", "numerical_failure", "not_applicable",
        "insufficient_coverage",
    }
)  # fmt: skip
"""The closed list of reason codes for a value that does not exist."""


@frozen
class Outcome:
    """A value with what belongs beside it, or a reason why there is none.

    Example:
        >>> Outcome.undefined("single_class", "only 'b' occurs").reason
        'single_class'
    """

    value: float | None
    reason: str = field(default="", kw_only=True)
    """A code of :data:`REASONS`; required when ``value`` is None."""
    detail: str = field(default="", kw_only=True)
    """One sentence that makes the reason concrete."""
    flags: tuple[str, ...] = field(default=(), kw_only=True, converter=as_texts)
    """Remarks on a defined value, such as ``zero_division``."""
    n: int | None = field(default=None, kw_only=True)
    """Items used; by default the rows of the state."""
    n_excluded: Mapping[str, int] = field(factory=dict, kw_only=True, converter=as_mapping)
    """Items left out, by reason."""
    per_unit: Mapping[str, float | None] = field(factory=dict, kw_only=True, converter=as_mapping)
    """Values of the parts (classes, genes …) an aggregate was made of."""
    values: Mapping[str, Any] = field(factory=dict, kw_only=True, converter=as_mapping)
    """Several named results that belong to the value (prevalence, components)."""
    n_undefined: int | None = field(default=None, kw_only=True)
    """Parts of an aggregate without a value."""
    mean_over_defined: float | None = field(default=None, kw_only=True)
    """Mean over the parts that have a value; stands beside ``value``, never instead of it."""
    coverage: float | None = field(default=None, kw_only=True)
    """Share of parts that have a value; in the result it is ``values["parts_coverage"]``, beside that of units."""

    def __attrs_post_init__(self) -> None:
        if self.value is None and self.reason not in REASONS:
            raise ValueError(f"an undefined outcome needs one of the reasons {sorted(REASONS)}, got {self.reason!r}")

    @classmethod
    def undefined(cls, reason: str, detail: str = "", **more: Any) -> Outcome:
        """No value, for this reason."""
        return cls(None, reason=reason, detail=detail, **more)
