"""Names of the rows of a batch, for the wording of errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.arrays import as_ids

if TYPE_CHECKING:
    from primabench_core.evaluation.truth import Truth

Where = slice | NDArray[np.int64]


class RowNames(Sequence[str]):
    """Names of the rows of a batch, looked up only when an error is worded."""

    __slots__ = ("_ids", "_n", "_truth", "_where")

    def __init__(self, truth: Truth, where: Where, ids: Any, n: int) -> None:
        self._truth, self._where, self._ids, self._n = truth, where, ids, n

    def __len__(self) -> int:
        return max(self._n, 0)

    def __getitem__(self, row: Any) -> Any:
        if self._ids is not None and self._truth.ids is not None:
            return as_ids(self._ids)[row]
        where = self._where
        position = range(*where.indices(self._truth.n))[row] if isinstance(where, slice) else int(where[row])
        return self._truth.names_of(np.asarray([position]))[0]
