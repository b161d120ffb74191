"""Predictions that nobody has to train, each one mean profile a perturbation."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import EvalData, UsageError
from primabench_task_perturbation.preparers.cells import additive_of, means_of
from primabench_task_perturbation.roles import CELL, CONTROL, REPLICATE

Profiles = dict[str, NDArray[np.float64]]


def perfect(solution: EvalData, *, seed: int = 0) -> EvalData:
    """The measured cells themselves; runs inside the runner."""
    names = np.asarray(solution["perturbation"], object)
    cells = names != CONTROL
    if "role" in solution:
        cells &= np.asarray(solution["role"], object) == CELL
    rows = np.flatnonzero(cells)
    part = solution.select(rows)
    fields = {"value": part["value"], "perturbation": names[rows]}
    if REPLICATE in part:
        fields[REPLICATE] = part[REPLICATE]
    return EvalData(fields, ids=part.ids, coords={"genes": solution.coords["genes"]})


def no_change(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """The mean of the control cells of training, for every perturbation."""
    means = _means(train)
    return _predicted(train, test, lambda name: means[CONTROL])


def mean_of_train(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """The mean over training perturbations of their mean profiles, for every perturbation."""
    mean = _mean(_means(train))
    return _predicted(train, test, lambda name: mean)


def additive(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Control plus the effects of both parts; the mean of training where a part was never seen alone."""
    means = _means(train)
    mean = _mean(means)

    def predict(name: str) -> NDArray[np.float64]:
        found = additive_of(name, means)
        return mean if found is None else found

    return _predicted(train, test, predict)


def random(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """The mean profile of a training perturbation drawn by a hash of seed and name."""
    means = _means(train)
    names = sorted(set(means) - {CONTROL})

    def predict(name: str) -> NDArray[np.float64]:
        word = int.from_bytes(sha256(f"{seed}:{name}".encode()).digest()[:8], "big")
        return means[names[(word * len(names)) >> 64]]

    return _predicted(train, test, predict)


def _means(train: EvalData | None) -> Profiles:
    if train is None:
        raise UsageError("This baseline learns from training cells, and there are none.")
    names, profiles = means_of(train)
    found = dict(zip(names, profiles, strict=True))
    if CONTROL not in found or len(found) < 2:
        raise UsageError("This baseline needs control cells and at least one training perturbation.")
    return found


def _mean(means: Profiles) -> NDArray[np.float64]:
    return np.asarray(np.mean([profile for name, profile in sorted(means.items()) if name != CONTROL], axis=0))


def _predicted(train: EvalData | None, test: EvalData, predict: Any) -> EvalData:
    assert train is not None
    names = [str(name) for name in test.ids or ()]
    value = np.stack([predict(name) for name in names])
    fields = {"value": value, "perturbation": np.array(names, object)}
    return EvalData(fields, ids=names, coords={"genes": train.coords["genes"]})
