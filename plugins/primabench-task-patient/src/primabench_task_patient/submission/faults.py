"""Why a submission is refused, and what it is warned of; each has a code of its own."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from primabench_core import PrimaBenchError

SHOWN, LONGEST_SHOWN = 5, 60
"""Names that a message lists before it counts, and how much of each."""


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
    found = [plain(name) for name in names]
    more = len(found) - SHOWN
    return ", ".join(found[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def plain(name: object) -> str:
    r"""A name out of a file as a message may show it: cut, and nothing in it steers a terminal or turns the text.

    Example:
        >>> plain("s\x1b[31m")
        's\\x1b[31m'
    """
    text = str(name)
    text = text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
