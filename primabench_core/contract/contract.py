"""A contract: what predictions must be, what the solution holds, and how gaps and repeats are treated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from attrs import evolve, field, frozen

from primabench_core.contract.fields import Field


# not `tuple` itself: type checkers cannot solve the type variable of a generic converter
def _fields(value: Iterable[Field]) -> tuple[Field, ...]:
    return tuple(value)


def _names(value: Iterable[str]) -> tuple[str, ...]:
    return tuple(value)


@frozen(kw_only=True)
class Contract:
    """The fields of both sides and the rules between them.

    Example:
        >>> label = Field("label", "label", vocabulary="truth")
        >>> Contract(prediction=(label,), solution=(label,)).find("label").kind
        'label'
    """

    prediction: tuple[Field, ...] = field(converter=_fields)
    """Fields that a prediction carries. Others are refused, except ``ignored``."""
    solution: tuple[Field, ...] = field(converter=_fields)
    """Fields of the private truth."""
    missing: Literal["error", "partial"] | float = "error"
    """A unit that was never predicted: an error at compute, allowed (with its coverage), or this value."""
    repeats: Literal["duplicates", "max_abs"] = "duplicates"
    """A row that comes again: the ``duplicates`` argument decides, or the largest absolute value counts."""
    outside: Literal["refuse", "ignore"] = "refuse"
    """A row that is not in the truth: refused, or ignored and counted."""
    many_rows_per_unit: bool = False
    """Rows have ids of their own and name their unit in a field (``unit_field``); coverage counts units."""
    unit_field: str = "unit"
    """With ``many_rows_per_unit``: the text field of both sides that names the unit of a row."""
    ignored_units: tuple[str, ...] = field(default=(), converter=_names)
    """With ``many_rows_per_unit``: names that are no unit, such as that of controls. Rows of the truth under such a
    name serve the others; predicted rows under it are dropped and counted."""
    unknown_labels: Literal["count", "refuse"] = "count"
    """A predicted class outside the vocabulary: counted as an error, or refused."""
    ignored: tuple[str, ...] = field(default=(), converter=_names)
    """Fields that may come with a prediction and are dropped."""
    forms: tuple[Field, ...] = field(default=(), converter=_fields)
    """Fields of a handier form than one row a unit, such as regulator, target and weight of a list of edges."""
    arrange: str = ""
    """``package.module:function``, called as ``arrange(ids, fields, coords)`` with each batch as it came and the names
    along columns that the truth has, before anything is read of it; returns ids and fields as ``prediction`` says. A
    batch that is in that form already is returned as it is."""

    def __attrs_post_init__(self) -> None:
        if self.forms and not self.arrange:
            raise ValueError("fields of another form need a function that arranges them")
        for side, fields in (("prediction", (*self.prediction, *self.forms)), ("solution", self.solution)):
            names = [f.name for f in fields]
            if len(set(names)) != len(names):
                raise ValueError(f"{side} fields must have distinct names, got {names}")

    def find(self, name: str, side: Literal["prediction", "solution"] = "prediction") -> Field:
        """The field of this name, or KeyError."""
        for candidate in self.prediction if side == "prediction" else self.solution:
            if candidate.name == name:
                return candidate
        raise KeyError(name)

    @property
    def written(self) -> Contract:
        """The contract by which files are read: the fields of :attr:`forms` are fields like any other."""
        return evolve(self, prediction=(*self.prediction, *self.forms), forms=()) if self.forms else self
