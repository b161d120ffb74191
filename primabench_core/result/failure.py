"""An evaluation that failed, as a value beside those that did not."""

from __future__ import annotations

from attrs import frozen


@frozen
class EvalFailure:
    """Why one of many evaluations has no result.

    Example:
        >>> print(EvalFailure("b", "MissingDataError", "no such file: b.zarr", "check the path"))
        b failed: MissingDataError: no such file: b.zarr
          Next: check the path
    """

    name: str
    """Name of the predictions."""
    kind: str
    """Class of the error."""
    reason: str
    """What was wrong."""
    remedy: str = ""
    """What to do about it."""

    def __str__(self) -> str:
        text = f"{self.name} failed: {self.kind}: {self.reason}"
        return f"{text}\n  Next: {self.remedy}" if self.remedy else text

    def to_dict(self) -> dict[str, str]:
        """Plain values, as JSON takes them."""
        return {"name": self.name, "kind": self.kind, "reason": self.reason, "remedy": self.remedy}
