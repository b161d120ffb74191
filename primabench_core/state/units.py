"""The view of units of which a prediction holds any number of rows: what metrics over them receive."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from primabench_core.state.rows import Column
from primabench_core.state.unit_samples import UnitSamples
from primabench_core.state.windows import Floats

T = TypeVar("T")
Ints = NDArray[np.int64]
IGNORED, NOT_SCORED = -1, -2
"""Unit of a true row of an ignored unit (a control), and of a unit that was not predicted."""


@frozen(eq=False, slots=False)
class Units:
    """Units with their predicted and their true rows, in canonical order.

    What a metric did not declare in ``MetricSpec.units`` may be missing. Metrics over the same fields receive the same
    object and may keep common work in :meth:`shared`.
    """

    n: int
    """Units."""
    ids: Sequence[str]
    """Names of the units, sorted."""
    counts: Ints
    """(n,) predicted rows of each unit."""
    truth: Mapping[str, Column]
    """Fields of the solution over all its rows."""
    home: Ints
    """(true rows,) unit of each row of ``truth``; -1 for rows of ignored units, -2 for units not predicted."""
    truth_ids: Sequence[str] | None = None
    """Ids of the true rows; None where they have none."""
    prediction: Mapping[str, Column] = field(factory=dict)
    """Predicted rows by unit and row id, where a metric asked for ``rows``; numbers that are mostly zero come as a CSR
    array of scipy."""
    predicted_home: Ints = field(factory=lambda: np.zeros(0, np.int64))
    """(predicted rows,) unit of each row of ``prediction``."""
    coords: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """Names along columns."""
    n_excluded: Mapping[str, int] = field(factory=dict)
    """Units left out before this view, by reason."""
    _means: Callable[[str], Floats] | None = None
    _sample: Callable[[str, int, int], UnitSamples] | None = None
    chosen: Ints | None = None
    """In a resample: (n,) which units of the whole it holds; None in the whole."""
    whole: Units | None = None
    """In a resample: the view it was taken from."""
    _of_truth: dict[Hashable, Any] | None = field(default=None, repr=False)
    """What was made of this truth before; None where some of its units are missing."""
    _memo: dict[Hashable, Any] = field(factory=dict, init=False, repr=False)

    def means(self, name: str) -> Floats:
        """(n, m) float64 mean of each unit's predicted rows, exact and rounded once; made once."""
        if self._means is None:
            raise TypeError('the metric declares no units=("means",)')
        return self.shared(("means", name), lambda: self._means(name))  # type: ignore[misc]

    def sample(self, name: str, k: int, seed: int) -> UnitSamples:
        """At most k predicted rows of each unit; made once."""
        if self._sample is None:
            raise TypeError('the metric declares no units=("sample",)')
        return self.shared(("sample", name, k, seed), lambda: self._sample(name, k, seed))  # type: ignore[misc]

    def shared(self, key: Hashable, build: Callable[[], T]) -> T:
        """The value of ``build()``, made once for all metrics that ask under this key."""
        if key not in self._memo:
            self._memo[key] = build()
        return self._memo[key]  # type: ignore[no-any-return]

    def of_truth(self, key: Hashable, build: Callable[[], T]) -> T:
        """As :meth:`shared`, for what does not depend on the prediction: later evaluations of this truth find it too.

        Keep it small, and let it hold no view: it lives as long as the truth.
        """
        memo = self._memo if self._of_truth is None or self.whole is not None else self._of_truth
        if key not in memo:
            memo[key] = build()
        return memo[key]  # type: ignore[no-any-return]

    def unit_values(self, key: Hashable, build: Callable[[Units], Sequence[T]]) -> list[T]:
        """One value for each unit: ``build`` of all units, made once; in a resample those of the units drawn."""
        whole = self if self.whole is None else self.whole
        values = whole.shared(key, lambda: list(build(whole)))
        return values if self.chosen is None else [values[i] for i in self.chosen.tolist()]

    def take(self, positions: NDArray[np.intp]) -> Units:
        """These units (repeats allowed), as a view whose values are those of the whole."""
        at = np.asarray(positions, np.int64)
        whole = self if self.whole is None else self.whole
        at = at if self.chosen is None else self.chosen[at]
        ids = [whole.ids[i] for i in at.tolist()]
        return evolve(self, n=len(at), ids=ids, counts=whole.counts[at], chosen=at, whole=whole)
