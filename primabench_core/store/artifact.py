"""What a recipe returns: named data, and who may read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from primabench_core.contract.evaldata import EvalData
from primabench_core.spec.frozen import FrozenMapping
from primabench_core.store.location import part_name, view_name

SOLUTION_VIEW = "solution"
"""The view that holds nothing but answers; private whatever the artifact says."""


def _values(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return FrozenMapping(given)


def _names(given: Mapping[str, str]) -> Mapping[str, str]:
    return FrozenMapping(given)


@frozen(kw_only=True, repr=False)
class Artifact:
    """One piece of a dataset: ``{view}/[{split}/]{name}.zarr``.

    The usual views of a recipe are ``labelled`` (everything, ``private=True``), ``censored`` (the same rows with the
    answers missing) and ``solution`` (the answers alone, always private). A recipe does not split, unless its source
    publishes splits.

    Example:
        >>> import numpy as np
        >>> from primabench_core.contract.evaldata import EvalData
        >>> Artifact(view="censored", data=EvalData({"x": np.zeros((2, 3))}, ids=["a", "b"])).path
        'censored/data.zarr'
    """

    view: str = field()
    """Lower-case name such as ``labelled``, ``censored``, ``solution``."""
    name: str = field(default="data")
    """Name within the view."""
    data: EvalData
    """Ids, fields and coordinates. Missing text is None, a missing number NaN."""
    split: str = field(default="")
    """Only where the source publishes splits."""
    private: bool = False
    """Holds an answer to a unit that may be tested: lies in the private folder, and nothing public names it."""
    attributes: Mapping[str, Any] = field(factory=dict, converter=_values)
    """Plain values (text, numbers, lists) that enter the content hash, such as ``{"units": "log1p(CP10k)"}``."""
    columns: Mapping[str, str] = field(factory=dict, converter=_names)
    """Coordinate that names the columns of a two-dimensional field: ``{"expression": "genes"}``."""

    @view.validator
    def _check_view(self, _: object, value: str) -> None:
        view_name(value)

    @name.validator
    def _check_name(self, _: object, value: str) -> None:
        part_name(value, "artifact")

    @split.validator
    def _check_split(self, _: object, value: str) -> None:
        if value:
            part_name(value, "split")

    @property
    def is_private(self) -> bool:
        """Whether it lies in the private folder."""
        return self.private or self.view == SOLUTION_VIEW

    @property
    def path(self) -> str:
        """Path below the version's folder, or below its private folder."""
        return "/".join([self.view, *([self.split] if self.split else []), f"{self.name}.zarr"])

    def __repr__(self) -> str:
        kind = "private" if self.is_private else "public"
        return f"Artifact({self.path!r}, {kind})"
