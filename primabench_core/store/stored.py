"""EvalData that lie in a store: nothing but metadata is read before it is used, ids and coordinates included."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from primabench_core.contract.arrays import as_ids
from primabench_core.contract.evaldata import EvalData, Label, as_names


class StoredData(EvalData):
    """What opening an artifact gives; it behaves like any other EvalData.

    Args:
        fields: Lazily opened fields by name.
        ids: Lazily opened text, or None.
        coords: Lazily opened coordinates by name.
        n: Number of rows.
    """

    __slots__ = ("_coords", "_ids", "_n", "_open_coords", "_open_ids")

    def __init__(self, fields: Mapping[str, Any], ids: Any, coords: Mapping[str, Any], n: int) -> None:
        self.fields = dict(fields)
        self._open_ids, self._open_coords, self._n = ids, dict(coords), n
        self._ids: tuple[str, ...] | None = None
        self._coords: dict[str, tuple[Label, ...]] | None = None

    @property
    def ids(self) -> tuple[str, ...] | None:  # type: ignore[override]  # read once, when first asked for
        """Ids of the rows, or None."""
        if self._ids is None and self._open_ids is not None:
            self._ids = tuple(as_ids(self._open_ids[...]))
        return self._ids

    @property
    def coords(self) -> Mapping[str, tuple[Label, ...]]:  # type: ignore[override]
        """Names along columns."""
        if self._coords is None:
            self._coords = {name: as_names(value, name) for name, value in self._open_coords.items()}
        return self._coords

    @property
    def n(self) -> int:
        """Number of rows, as the metadata say."""
        return self._n
