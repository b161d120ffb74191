"""One broken rule of a contract, as a value that prints as a sentence."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import field as attribute
from attrs import frozen


def _as_text(ids: Iterable[object]) -> tuple[str, ...]:
    return tuple(str(i) for i in ids)


@frozen
class Violation:
    """A broken rule: where, what was expected, what was found, and what to do.

    Example:
        >>> print(Violation("score", "finite numbers", "NaN", ids=["c7"], count=1))
        score: expected finite numbers, found NaN in 1 row (ids: c7)
    """

    field: str
    """Name of the field, or ``ids``, ``genes``, ``classes``."""
    expected: str
    """What the contract asks for."""
    found: str
    """What was there instead."""
    ids: tuple[str, ...] = attribute(default=(), converter=_as_text)
    """The first few ids (or column names) concerned."""
    count: int = 0
    """How many rows (or columns) are concerned; 0 where that has no meaning."""
    remedy: str = ""
    """What to do about it."""
    noun: str = "row"
    """What ``count`` counts."""

    def __str__(self) -> str:
        text = f"{self.field}: expected {self.expected}, found {self.found}"
        if self.count:
            plural = "" if self.count == 1 else "es" if self.noun.endswith("s") else "s"
            text += f" in {self.count:,} {self.noun}{plural}"
        if self.ids:
            more = ", …" if self.count > len(self.ids) else ""
            text += f" (ids: {', '.join(self.ids)}{more})" if self.noun == "row" else f" ({', '.join(self.ids)}{more})"
        return f"{text}. {self.remedy}" if self.remedy else text
