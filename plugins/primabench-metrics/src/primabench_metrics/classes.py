"""Which class is the positive one, and what to say when it cannot be told."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from primabench_core.contract.violations import Violation
from primabench_core.errors import ParameterError

Label = str | int


def positive_problem(classes: Sequence[Label] | None, positive: Label) -> Violation | None:
    """Why ``positive`` cannot be a class of this truth, or None.

    A truth of a single class of the same kind says nothing about the name of the other one, so any name is accepted
    there and the metric is undefined for want of positives.
    """
    if not classes or positive in classes:
        return None
    same_kind = isinstance(positive, str) == isinstance(classes[0], str)
    if same_kind and len(classes) == 1:
        return None
    kind = "text" if isinstance(classes[0], str) else "integers"
    return Violation(
        "label",
        f"the positive class {positive!r} among the classes of the truth",
        f"{len(classes)} classes ({kind}) without it",  # not their names: the truth may be private
        remedy="Name one of them: positive=…",
    )


def positive_code(classes: Sequence[Label], positive: Label) -> int:
    """Position of the positive class; -1 if no row can be positive.

    Raises:
        ParameterError: the truth has other classes, and this is none of them.
    """
    problem = positive_problem(classes, positive)
    if problem is not None:
        raise ParameterError(str(problem))
    return classes.index(positive) if positive in classes else -1


def names_of(classes: Collection[Label]) -> tuple[str, ...]:
    """The classes as text, the keys of ``per_unit``."""
    return tuple(str(c) for c in classes)
