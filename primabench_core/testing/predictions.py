"""Valid predictions of a task made from its solution, and every way to spoil them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core.contract.fields import Field
from primabench_core.contract.ragged import Ragged
from primabench_core.testing.generate import as_predicted, draw
from primabench_core.testing.report import NotApplicable

if TYPE_CHECKING:
    from primabench_core.contract.evaldata import EvalData
    from primabench_core.spec.task import TaskSpec

NUMERIC = ("score", "probability", "value", "embedding", "matrix")
"""Kinds of field that hold one array of real numbers."""


def valid_prediction(task: TaskSpec, solution: EvalData, *, seed: int = 5) -> dict[str, Any]:
    """Fields that the task's contract should take: the answers themselves where they are of the kind, else draws.

    Args:
        task: The task.
        solution: Its answers.
        seed: Seed of the draws.

    Returns:
        Fields by name, in the order of the solution, and the names of columns.
    """
    rng = np.random.default_rng(seed)
    wanted = [f for f in task.contract.prediction if not f.optional] or list(task.contract.prediction[:1])
    fields = {f.name: _field(rng, f, task, solution) for f in wanted}
    if any(f.kind == "probability" for f in wanted):
        fields["classes"] = _classes(task, solution)
    if (
        any(f.kind in ("value", "matrix") and np.ndim(fields[f.name]) == 2 for f in wanted)
        and "genes" in solution.coords
    ):
        fields["genes"] = solution.coords["genes"]
    return fields


def _field(rng: np.random.Generator, f: Field, task: TaskSpec, solution: EvalData) -> Any:
    twin = solution[f.name] if f.name in solution.fields else None
    if f.kind == "label":
        labels = _labels(task, solution)
        if isinstance(f.vocabulary, tuple):
            kind = object if isinstance(f.vocabulary[0], str) else np.int64
            return np.asarray(f.vocabulary, kind)[rng.integers(0, len(f.vocabulary), solution.n)]
        found = twin if twin is not None else labels if labels is not None else rng.integers(0, 3, solution.n)
        return _filled(found)
    if f.kind == "probability":
        labels, classes = _labels(task, solution), _classes(task, solution)
        at = {str(c): i for i, c in enumerate(classes)}
        codes = [at.get(str(v), 0) for v in labels] if labels is not None else rng.integers(0, len(classes), solution.n)
        return np.eye(len(classes))[codes]
    if twin is not None and not isinstance(twin, Ragged) and f.kind != "text":
        dense = np.asarray(twin.toarray() if hasattr(twin, "toarray") else twin)
        return np.where(np.isnan(dense), 0.0, dense) if dense.dtype.kind == "f" else dense
    if twin is not None:
        return as_predicted(f, twin)
    width = len(solution.coords.get("genes", ())) or 3
    return draw(rng, f, solution.n, width=width)


def _labels(task: TaskSpec, solution: EvalData) -> Any:
    names = [f.name for f in task.contract.solution if f.kind == "label" and f.name in solution]
    name = "label" if "label" in names else next(iter(names), "")
    return solution[name] if name else None


def _classes(task: TaskSpec, solution: EvalData) -> tuple[Any, ...]:
    if "classes" in solution.coords:
        return tuple(solution.coords["classes"])
    labels = _labels(task, solution)
    return (0, 1) if labels is None else tuple(sorted({v for v in np.asarray(labels).tolist() if v is not None}))


def _filled(labels: Any) -> Any:
    """Labels with some class in the place of missing ones."""
    array = np.asarray(labels)
    if array.dtype != object:
        return array
    some = next((v for v in array if v is not None), "a")
    return np.asarray([some if v is None else v for v in array], object)


def fields_of(task: TaskSpec, prediction: Mapping[str, Any], *kinds: str) -> list[Field]:
    """Predicted fields of these kinds.

    Raises:
        NotApplicable: there are none.
    """
    found = [f for f in task.contract.prediction if f.name in prediction and (not kinds or f.kind in kinds)]
    if not found:
        raise NotApplicable(f"the contract has no field of kind {' or '.join(kinds)}")
    return found


def spoiled(value: Any, row: int, content: float) -> Any:
    """A copy with one entry of this row replaced."""
    if isinstance(value, Ragged):
        values = np.asarray(value.values, np.float64).copy()
        values[0] = content
        return Ragged(values, value.counts)
    copy = np.array(value, np.float64)
    copy[(row, *([0] * (copy.ndim - 1)))] = content
    return copy


def shortened(value: Any) -> Any:
    """The field without its last row."""
    return value.take(np.arange(len(value) - 1)) if isinstance(value, Ragged) else value[:-1]
