"""Why a submission is refused, and what it is warned of; each has a code of its own."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from primabench_core import PrimaBenchError

SHOWN = 5
"""Names that a message lists before it counts."""


class SubmissionError(PrimaBenchError, ValueError):
    """The file as a whole is refused.

    Args:
        code: What is wrong, for programs: ``duplicate_key``, ``text_column`` …
        message: What is wrong, for people.
        remedy: What to do.
    """

    def __init__(self, code: str, message: str, *, remedy: str = "") -> None:
        super().__init__(f"The submission is refused ({code}): {message}", remedy=remedy)
        self.code = code


@frozen
class Warned:
    """Something that the submitter should know and that refuses nothing."""

    code: str
    message: str


def some(names: Iterable[object]) -> str:
    """The first few names, and how many there are.

    Example:
        >>> some(["a", "b"])
        'a, b'
        >>> some(range(7))
        '0, 1, 2, 3, 4 and 2 more'
    """
    found = [str(name) for name in names]
    more = len(found) - SHOWN
    return ", ".join(found[:SHOWN]) + (f" and {more} more" if more > 0 else "")
