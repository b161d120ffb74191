"""Names of perturbations: combinations in one order, and the genes that they aim at.

Recipes and preparers normalise names. Metrics never look inside of one.
"""

from __future__ import annotations

from collections.abc import Iterable

from primabench_task_perturbation.roles import CONTROL

JOINT = "+"
CONTROLS = frozenset({"control", "ctrl", "non-targeting", "nontargeting", "negctrl", "nt", ""})
"""What untreated cells, and the empty part of a combination, are called in sources, in lower case."""


def normalised(parts: Iterable[str]) -> str:
    """The name of a combination: parts in alphabetical order joined by ``+``; ``control`` if no part is left.

    Args:
        parts: Names of what was done; those of controls are dropped, repeats count once.

    Example:
        >>> normalised(["KLF1", "CEBPA"]), normalised(["ctrl", "TP53"]), normalised(["ctrl"])
        ('CEBPA+KLF1', 'TP53', 'control')
    """
    found = sorted({part for part in parts if part.lower() not in CONTROLS})
    return JOINT.join(found) or CONTROL


def parts_of(name: str) -> tuple[str, ...]:
    """The genes of a normalised name; none of a control.

    Example:
        >>> parts_of("CEBPA+KLF1"), parts_of("control")
        (('CEBPA', 'KLF1'), ())
    """
    return () if name == CONTROL else tuple(name.split(JOINT))
