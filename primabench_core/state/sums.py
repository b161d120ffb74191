"""The view of a wide field that metrics over sums receive: no rows, the sums that they asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from primabench_core.state.column_moments import ColumnMoments
from primabench_core.state.exact import Moments
from primabench_core.state.windows import Floats

T = TypeVar("T")


@frozen(eq=False, slots=False)
class Sums:
    """Exact sums over predicted and true rows of a wide field.

    What a metric did not declare in ``MetricSpec.sums`` may be missing.
    """

    n: int
    """Rows."""
    width: int
    """Numbers of a row."""
    columns: ColumnMoments | None = None
    """Moments and ranges of each pair of columns; None in a resample, and where no metric asked."""
    errors: Mapping[str, Floats] = field(factory=dict)
    """(n,) sum of an error inside each row, rounded once: ``squared_error``, ``absolute_error``."""
    coords: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """Names along columns."""
    n_excluded: Mapping[str, int] = field(factory=dict)
    """Rows left out before this view, by reason."""
    ids: Sequence[str] | None = None
    """Ids of the rows; None if the truth has none, and in a resample."""
    _memo: dict[Hashable, Any] = field(factory=dict, init=False, repr=False)

    @cached_property
    def moments(self) -> list[Moments]:
        """Exact moments of each pair of columns, prediction x and truth y."""
        if self.columns is None:
            raise TypeError('the metric declares no sums=("moments",)')
        return self.columns.moments()

    @cached_property
    def pooled(self) -> Moments:
        """Exact moments of all pairs of numbers together."""
        if self.columns is None:
            raise TypeError('the metric declares no sums=("moments",)')
        return self.columns.pooled()

    def shared(self, key: Hashable, build: Callable[[], T]) -> T:
        """The value of ``build()``, made once for all metrics that ask under this key."""
        if key not in self._memo:
            self._memo[key] = build()
        return self._memo[key]  # type: ignore[no-any-return]

    def take(self, positions: NDArray[np.intp]) -> Sums:
        """The rows at these positions (repeats allowed), of what is known row by row."""
        errors = {name: values[positions] for name, values in self.errors.items()}
        return Sums(len(positions), self.width, None, errors, self.coords, self.n_excluded)
