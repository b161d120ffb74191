"""Turns labelled data into the views that a store keeps: labelled, censored and solution."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import EvalData

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact


def three_views(
    data: EvalData,
    answers: Sequence[str],
    *,
    attributes: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    split: str = "",
    name: str = "data",
    solution: bool = True,
) -> list[Artifact]:
    """The same rows three times: with answers (private), without, and the answers alone (private).

    Args:
        data: Everything.
        answers: Fields that are predicted.
        attributes: Plain values that belong to the data, such as units.
        columns: Coordinate that names the columns of a two-dimensional field.
        split: Where the source publishes splits.
        name: Name of the artifacts.
        solution: Whether the answers are stored alone too; where they are most of the bytes, ``labelled`` is enough.

    Example:
        >>> data = EvalData({"x": [1.0, 2.0], "label": ["a", "b"]}, ids=["r", "s"])
        >>> [(a.path, a.is_private) for a in three_views(data, ["label"])]
        [('labelled/data.zarr', True), ('censored/data.zarr', False), ('solution/data.zarr', True)]
    """
    from primabench_core.store.artifact import Artifact

    said, named = dict(attributes or {}), dict(columns or {})
    kept = {field: coord for field, coord in named.items() if field in answers}
    hidden = censored(data, answers)
    shown = {field: coord for field, coord in named.items() if field in hidden.fields}
    found = [
        Artifact(view="labelled", name=name, split=split, data=data, private=True, attributes=said, columns=named),
        Artifact(view="censored", name=name, split=split, data=hidden, attributes=said, columns=shown),
    ]
    if solution:
        alone = solution_of(data, answers)
        found.append(Artifact(view="solution", name=name, split=split, data=alone, columns=kept))
    return found


def published_splits(
    parts: Mapping[str, EvalData],
    answers: Sequence[str],
    *,
    tested: Collection[str] = ("test",),
    attributes: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
) -> list[Artifact]:
    """Views of data whose source publishes splits: answers of what is learnt from are public, those of tests are not.

    Args:
        parts: Rows by split; no id may stand in two of them.
        answers: Fields that are predicted.
        tested: Splits whose answers are private.
        attributes: Plain values that belong to the data.
        columns: Coordinate that names the columns of a two-dimensional field.

    Raises:
        ValueError: an id stands in two splits.
    """
    from primabench_core.store.artifact import Artifact

    ids = [name for part in parts.values() for name in part.ids or ()]
    if len(set(ids)) != len(ids):
        raise ValueError("an id stands in two splits")
    found: list[Artifact] = []
    for split, part in parts.items():
        if split in tested:
            found += three_views(part, answers, attributes=attributes, columns=columns, split=split)
        else:
            said, named = dict(attributes or {}), dict(columns or {})
            found.append(Artifact(view="labelled", split=split, data=part, attributes=said, columns=named))
    return found


def censored(data: EvalData, answers: Sequence[str]) -> EvalData:
    """The same rows with the answers missing: NaN for numbers, None for text, no entries for ragged fields.

    A sparse answer has no missing value, so the field is not there at all.
    """
    sparse = {name for name in answers if hasattr(data[name], "indptr")}
    hidden = {name: _missing(data[name]) for name in answers if name not in sparse}
    shown = {name: value for name, value in data.fields.items() if name not in sparse}
    return EvalData({**shown, **hidden}, ids=data.ids, coords=data.coords)


def solution_of(data: EvalData, answers: Sequence[str]) -> EvalData:
    """The answers alone, with the coordinates that name their classes and columns."""
    return EvalData(
        {name: data[name] for name in answers},
        ids=data.ids,
        coords={name: values for name, values in data.coords.items() if name == "classes" or _wide(data, answers)},
    )


def _wide(data: EvalData, answers: Sequence[str]) -> bool:
    return any(len(getattr(data[name], "shape", ())) > 1 for name in answers)


def _missing(value: Any) -> Any:
    if hasattr(value, "counts"):  # ragged
        return type(value)(value.values[:0], np.zeros(len(value), np.int64))
    if value.dtype.kind in "OUT":
        return np.full(len(value), None, object)
    kind = value.dtype if value.dtype.kind == "f" else np.float64
    return np.full(value.shape, np.nan, kind)


def blind_order(keys: Sequence[str]) -> NDArray[np.intp]:
    """An order that says nothing about the rows: by SHA-256 of what each one is; equal rows keep their order.

    Sources list positives after negatives, so that the order of a test split would give its answers away.
    """
    return np.array(sorted(range(len(keys)), key=lambda i: (sha256(keys[i].encode()).digest(), i)), np.intp)


def numbered(prefix: str, n: int) -> list[str]:
    """Ids for rows that have none of their own: ``prefix-000000`` on, in the order of the source.

    Example:
        >>> numbered("test", 2)
        ['test-000000', 'test-000001']
    """
    return [f"{prefix}-{i:06d}" for i in range(n)]
