"""What a report draws beyond single scores: confusion tables, ROC, precision-recall and reliability curves.

A result file holds no predictions, so these come from whoever has them. They are values; the functions below make
them from arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from attrs import field, frozen, validators

from primabench_core.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

GRID = 101
"""Points of a curve that has a band."""


def _floats(value: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(item) for item in value)


def _texts(value: Sequence[Any]) -> tuple[str, ...]:
    return tuple(str(item) for item in value)


def _table(value: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(item) for item in row) for row in value)


@frozen
class Confusion:
    """How often each true class meets each predicted class.

    Example:
        >>> Confusion([[3, 1], [0, 4]], ["a", "b"], ["a", "b"]).table[0]
        (3, 1)
    """

    table: tuple[tuple[int, ...], ...] = field(converter=_table)
    """True class x predicted class."""
    truth_classes: tuple[str, ...] = field(converter=_texts)
    predicted_classes: tuple[str, ...] = field(converter=_texts)

    def __attrs_post_init__(self) -> None:
        widths = {len(row) for row in self.table}
        if len(self.table) != len(self.truth_classes) or widths - {len(self.predicted_classes)}:
            raise ValueError("a confusion table has a row a true class and a column a predicted class")


@frozen(kw_only=True)
class Curve:
    """One curve, with a band where it is known.

    Example:
        >>> Curve(kind="roc", x=[0, 1], y=[0, 1]).n
        2
    """

    kind: Literal["roc", "pr", "reliability"] = field(validator=validators.in_(("roc", "pr", "reliability")))
    x: tuple[float, ...] = field(converter=_floats)
    """False positive rate, recall, or mean predicted probability."""
    y: tuple[float, ...] = field(converter=_floats)
    """True positive rate, precision, or observed share."""
    low: tuple[float, ...] = field(default=(), converter=_floats)
    high: tuple[float, ...] = field(default=(), converter=_floats)
    weight: tuple[float, ...] = field(default=(), converter=_floats)
    """Rows behind each point of a reliability curve."""
    name: str = ""
    """What the curve is of, such as the positive class."""
    chance: float | None = None
    """Level of chance: the prevalence, for precision."""

    def __attrs_post_init__(self) -> None:
        for part in ("y", "low", "high", "weight"):
            if getattr(self, part) and len(getattr(self, part)) != len(self.x):
                raise ValueError(f"{part} must be as long as x")

    @property
    def n(self) -> int:
        """Points."""
        return len(self.x)


def roc_curve(score: ArrayLike, positive: ArrayLike, *, draws: int = 0, seed: int = 0, name: str = "") -> Curve:
    """The ROC curve; rows with equal scores enter together.

    Args:
        score: (n,) numbers, higher is more positive.
        positive: (n,) bool.
        draws: Bootstrap resamples for a pointwise 95 % band, on a grid; 0 for none.
        seed: Of the resamples.
        name: What the curve is of.

    Raises:
        UsageError: One class only, or lengths differ.

    Example:
        >>> roc_curve([0.9, 0.4, 0.4, 0.1], [True, True, False, False]).y
        (0.0, 0.5, 1.0, 1.0)
    """
    import numpy as np

    values, truth = _checked(score, positive)
    x, y = _roc(values, truth)
    if not draws:
        return Curve(kind="roc", x=x.tolist(), y=y.tolist(), name=name)
    grid = np.linspace(0, 1, GRID)
    low, high = _band(values, truth, draws, seed, lambda s, t: np.interp(grid, *_roc(s, t)))
    return Curve(kind="roc", x=grid.tolist(), y=np.interp(grid, x, y).tolist(), low=low, high=high, name=name)


def precision_recall_curve(
    score: ArrayLike, positive: ArrayLike, *, draws: int = 0, seed: int = 0, name: str = ""
) -> Curve:
    """Precision at each recall; rows with equal scores enter together, nothing is interpolated upwards.

    Args:
        score: (n,) numbers, higher is more positive.
        positive: (n,) bool.
        draws: Bootstrap resamples for a pointwise 95 % band, on a grid; 0 for none.
        seed: Of the resamples.
        name: What the curve is of.

    Raises:
        UsageError: One class only, or lengths differ.
    """
    import numpy as np

    values, truth = _checked(score, positive)
    x, y = _precision_recall(values, truth)
    chance = float(truth.mean())
    if not draws:
        return Curve(kind="pr", x=x.tolist(), y=y.tolist(), name=name, chance=chance)
    grid = np.linspace(0, 1, GRID)

    def on_grid(s: NDArray[np.float64], t: NDArray[np.bool_]) -> NDArray[np.float64]:
        recall, precision = _precision_recall(s, t)
        found: NDArray[np.float64] = precision[np.searchsorted(recall, grid - 1e-12, "left").clip(0, len(recall) - 1)]
        return found

    low, high = _band(values, truth, draws, seed, on_grid)
    return Curve(
        kind="pr", x=grid.tolist(), y=on_grid(values, truth).tolist(), low=low, high=high, name=name, chance=chance
    )


def reliability_curve(probability: ArrayLike, correct: ArrayLike, *, bins: int = 10, name: str = "") -> Curve:
    """Observed share against mean predicted probability, in equal-width bins (lo, hi]; empty bins are left out.

    Args:
        probability: (n,) in [0, 1].
        correct: (n,) bool: whether the event happened.
        bins: Number of bins.
        name: What the curve is of.

    Raises:
        UsageError: A probability outside [0, 1], or lengths differ.
    """
    import numpy as np

    from primabench_core.state.bins import bin_of

    values, truth = np.asarray(probability, np.float64), np.asarray(correct, np.bool_)
    if values.shape != truth.shape or values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise UsageError("probability: expected as many numbers in [0, 1] as there are outcomes")
    place = bin_of(values, bins)
    count = np.bincount(place, minlength=bins)
    seen = count > 0
    mean, share = (np.bincount(place, weights=w, minlength=bins)[seen] / count[seen] for w in (values, truth))
    return Curve(
        kind="reliability", x=mean.tolist(), y=share.tolist(), weight=count[seen].astype(float).tolist(), name=name
    )


def _checked(score: ArrayLike, positive: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    import numpy as np

    values, truth = np.asarray(score, np.float64), np.asarray(positive, np.bool_)
    if values.shape != truth.shape or values.ndim != 1:
        raise UsageError("score and positive must have one dimension and the same length")
    if not np.isfinite(values).all():
        raise UsageError("score: expected finite numbers")
    if truth.all() or not truth.any():
        raise UsageError("a curve needs rows of both classes")
    return values, truth


def _cumulated(score: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """True and false positives at each distinct score, from the highest down."""
    import numpy as np

    order = np.argsort(-score, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    hits = np.cumsum(truth[order])[ends]
    return hits, ends + 1 - hits


def _roc(score: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    import numpy as np

    hits, misses = _cumulated(score, truth)
    return np.append(0.0, misses / misses[-1]), np.append(0.0, hits / hits[-1])


def _precision_recall(
    score: NDArray[np.float64], truth: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    hits, misses = _cumulated(score, truth)
    return hits / hits[-1], hits / (hits + misses)


def _band(
    score: NDArray[np.float64], truth: NDArray[np.bool_], draws: int, seed: int, curve: Any
) -> tuple[list[float], list[float]]:
    import numpy as np

    from primabench_core.statistics import Resampling

    plan = Resampling.of(len(score), strata=truth.astype(np.int64))  # so that each draw has both classes
    found = [curve(score[at], truth[at]) for at in (plan.positions(seed, draw) for draw in range(draws))]
    low, high = np.quantile(np.array(found), [0.025, 0.975], axis=0)
    return low.tolist(), high.tolist()
