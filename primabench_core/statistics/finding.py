"""What a statistical function found: named numbers, or a reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from primabench_core.spec.frozen import FrozenMapping
from primabench_core.spec.outcome import REASONS


def _mapping(value: Mapping[str, Any]) -> FrozenMapping[Any]:
    return FrozenMapping(value)


@frozen
class Finding:
    """The answer of one function of ``pb.statistics``.

    Example:
        >>> Finding("holm", values={"adjusted": (0.02, 0.04)}).values["adjusted"]
        (0.02, 0.04)
    """

    name: str
    """Function that was asked."""
    value: float | None = field(default=None, kw_only=True)
    """The main number: the p-value of a test, the mean, the statistic; None where there is none."""
    values: Mapping[str, Any] = field(factory=dict, kw_only=True, converter=_mapping)
    """All named numbers."""
    reason: str = field(default="", kw_only=True)
    """A code of :data:`primabench_core.spec.outcome.REASONS` when there is no value."""
    detail: str = field(default="", kw_only=True)
    """One sentence that makes the reason concrete."""
    flags: tuple[str, ...] = field(default=(), kw_only=True)
    """Remarks on a defined value."""

    def __attrs_post_init__(self) -> None:
        if self.reason and (self.reason not in REASONS or self.value is not None):
            raise ValueError(f"a finding has a value or one of the reasons {sorted(REASONS)}, got {self.reason!r}")

    @property
    def status(self) -> str:
        """``ok`` or ``undefined``."""
        return "undefined" if self.reason else "ok"

    @property
    def p(self) -> float | None:
        """The p-value, None where the function is no test or has none."""
        found: float | None = self.values.get("p")
        return found

    @classmethod
    def undefined(cls, name: str, reason: str, detail: str = "", **values: Any) -> Finding:
        """No value, for this reason."""
        return cls(name, reason=reason, detail=detail, values=values)
