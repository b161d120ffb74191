"""Names of the corrections for many tests, light enough for the parser of a command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Correction = Literal["holm", "benjamini_hochberg", "bh"]

CORRECTIONS: Mapping[str, Literal["holm", "benjamini_hochberg"]] = {
    "holm": "holm",
    "benjamini_hochberg": "benjamini_hochberg",
    "bh": "benjamini_hochberg",
}
"""What a user may write, and the name that a comparison holds."""


def correction_of(name: str) -> Literal["holm", "benjamini_hochberg"]:
    """The name that a comparison holds.

    Args:
        name: ``holm``, ``benjamini_hochberg`` or ``bh`` for short.

    Raises:
        UsageError: It is none of them.

    Example:
        >>> correction_of("bh")
        'benjamini_hochberg'
    """
    if name not in CORRECTIONS:
        from primabench_core.errors import UsageError

        raise UsageError(f"correction: expected 'holm' or 'benjamini_hochberg' (short 'bh'), found {name!r}")
    return CORRECTIONS[name]
