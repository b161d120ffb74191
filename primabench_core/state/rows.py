"""The view of placed rows that metric functions receive: aligned arrays in canonical order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from primabench_core.contract.ragged import Ragged
from primabench_core.state.counts import Counts

__all__ = ["Column", "Label", "Labels", "OnDemand", "Ragged", "Rows"]

T = TypeVar("T")
Label = str | int


@frozen(eq=False)
class Labels:
    """A label column: codes into a tuple of classes.

    Classes of a truth are its vocabulary in its order. Classes of a prediction with vocabulary ``truth`` begin with
    those of the truth in the same order, so that codes of both sides compare; classes outside it follow, sorted.
    An open vocabulary is sorted (integers by value, text by code point).
    """

    codes: NDArray[np.int64]
    """(n,) int64, each in ``range(len(classes))``."""
    classes: tuple[Label, ...]

    def take(self, positions: NDArray[np.intp]) -> Labels:
        """The labels at these positions."""
        return Labels(self.codes[positions], self.classes)

    def values(self) -> NDArray[Any]:
        """(n,) the labels themselves: int64, or an object array of text."""
        kind = np.int64 if all(isinstance(c, int) for c in self.classes) and self.classes else object
        return np.asarray(self.classes, dtype=kind)[self.codes]


Column = Labels | Ragged | NDArray[Any]


class OnDemand(Mapping[str, Column]):
    """Columns of numbers that are made when they are asked for, once.

    Args:
        makers: What makes each of them.

    Example:
        >>> columns = OnDemand({"score": lambda: np.zeros(2)})
        >>> "score" in columns, columns["score"] is columns["score"]
        (True, True)
    """

    def __init__(self, makers: Mapping[str, Callable[[], Column]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, Column] = {}

    def __getitem__(self, name: str) -> Column:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __contains__(self, name: object) -> bool:
        return name in self._makers


@frozen(eq=False)
class Rows:
    """Predictions and truth, row by row in canonical order, nothing missing.

    Metrics over the same fields receive the same object and may keep common work in :meth:`shared`.
    """

    n: int
    """Number of rows."""
    prediction: Mapping[str, Column]
    """Fields of the prediction; real fields are float32 or float64 arrays, ``label`` fields are :class:`Labels`."""
    truth: Mapping[str, Column]
    """Fields of the solution, likewise."""
    coords: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """Names along columns: ``genes``, and ``classes`` as text (class labels themselves: ``classes``)."""
    classes: tuple[Label, ...] | None = None
    """Class of each column of a probability field; None if the truth has no classes."""
    n_excluded: Mapping[str, int] = field(factory=dict)
    """Rows left out before this view, by reason (``no_truth``)."""
    ids: Sequence[str] | None = None
    """Ids of the rows, for metrics that draw or break ties by row; None if the truth has none, and in a resample."""
    device: str = "cpu"
    """Where the predictions were handed in, as torch names it: long work on them is best done there."""
    there: Mapping[str, Any] = field(factory=dict)
    """Predicted columns of numbers that still lie there, as tensors; :meth:`tensor` brings the others."""
    _memo: dict[Hashable, Any] = field(factory=dict, init=False, repr=False)

    def shared(self, key: Hashable, build: Callable[[], T]) -> T:
        """The value of ``build()``, made once for all metrics that ask under this key."""
        if key not in self._memo:
            self._memo[key] = build()
        return self._memo[key]  # type: ignore[no-any-return]

    def tensor(self, name: str) -> Any:
        """A predicted column of numbers as a torch tensor on :attr:`device`, canonical order, float32 or float64.

        Columns in :attr:`there` are not copied by way of the host. It may be the rows themselves: only read it.
        """
        if name in self.there:
            return self.there[name]
        import torch

        column = np.asarray(self.prediction[name])
        return torch.as_tensor(column if column.flags.writeable else column.copy(), device=self.device)

    def take(self, positions: NDArray[np.intp]) -> Rows:
        """The rows at these positions (repeats allowed), as a new view on the host with nothing shared."""

        def pick(columns: Mapping[str, Column]) -> dict[str, Column]:
            return {
                k: c.take(positions) if isinstance(c, Labels | Ragged) else c[positions] for k, c in columns.items()
            }

        return Rows(len(positions), pick(self.prediction), pick(self.truth), self.coords, self.classes, self.n_excluded)

    def counts(self, truth: str, prediction: str) -> Counts:
        """How often each class of a truth field meets each class of a predicted field; made once.

        Args:
            truth: Name of a label field of the solution.
            prediction: Name of a label field of the prediction.
        """

        def build() -> Counts:
            left, right = self.truth[truth], self.prediction[prediction]
            if not isinstance(left, Labels) or not isinstance(right, Labels):
                raise TypeError(f"counts need label fields, got {truth!r} and {prediction!r}")
            return Counts.of(left.codes, right.codes, left.classes, right.classes)

        return self.shared(("counts", truth, prediction), build)
