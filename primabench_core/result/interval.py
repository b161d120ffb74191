"""An interval around a score, or the reason why there is none."""

from __future__ import annotations

from math import isfinite

from attrs import field, frozen

from primabench_core.result.numeral import numeral


@frozen(kw_only=True)
class Interval:
    """A percentile interval of a score.

    Example:
        >>> print(Interval(low=0.71, high=0.83, method="units", draws=2000))
        [0.7100, 0.8300]
    """

    low: float | None
    """Lower end, in the units of the metric; None if there is no interval."""
    high: float | None
    """Upper end."""
    level: float = field(default=0.95)
    """Nominal coverage, inside (0, 1)."""
    method: str = "units"
    """``units``: independent units resampled; ``blocks``: hashed blocks resampled; ``none``: see ``reason``."""
    draws: int = 0
    """Resamples drawn."""
    dropped: int = 0
    """Resamples on which the metric was undefined; they are left out and counted."""
    reason: str = ""
    """Why there is no interval; required when ``low`` is None."""
    unit: str = ""
    """What was resampled: cell, donor, patient …"""

    def __attrs_post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends or none")
        if not 0 < self.level < 1:
            raise ValueError(f"the level of an interval lies between 0 and 1, got {self.level}")
        if not 0 <= self.dropped <= self.draws:
            raise ValueError(f"dropped draws must lie between 0 and {self.draws}, got {self.dropped}")
        if self.low is None or self.high is None:
            if not self.reason:
                raise ValueError("an interval without ends needs a reason")
        elif not (isfinite(self.low) and isfinite(self.high) and self.low <= self.high):
            raise ValueError(f"the ends of an interval must be finite and in order, got {self.low} and {self.high}")

    @classmethod
    def absent(cls, reason: str, **more: object) -> Interval:
        """No interval, for this reason."""
        return cls(**{"low": None, "high": None, "method": "none", "reason": reason, **more})  # type: ignore[arg-type]

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"no interval ({self.reason})"
        return f"[{numeral(self.low)}, {numeral(self.high)}]"
