"""Baselines of track prediction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from primabench_core import EvalData
from primabench_task_genome.baselines.draws import uniform_by_id
from primabench_task_genome.baselines.sequences import composition


def perfect(solution: EvalData, *, seed: int = 0) -> EvalData:
    """The measured signal; runs inside the runner."""
    return _predicted(solution, np.asarray(solution["value"], np.float64), solution.coords["genes"])


def random(train: EvalData, test: EvalData, *, seed: int = 0) -> EvalData:
    """Uniform signal for each bin and track, by a hash of seed, id and track."""
    tracks = train.coords["genes"]
    return _predicted(test, uniform_by_id(test, len(tracks), seed=seed), tracks)


def gc_linear(train: EvalData, test: EvalData, *, seed: int = 0) -> EvalData:
    """Least squares of each track on the share of G and C and of purines in the bin."""
    known, asked = (_design(data) for data in (train, test))
    fit = np.linalg.lstsq(known, np.asarray(train["value"], np.float64), rcond=None)[0]
    return _predicted(test, asked @ fit, train.coords["genes"])


def _design(data: EvalData) -> NDArray[np.float64]:
    shares = composition([str(v).upper() for v in np.asarray(data["sequence"], object).tolist()])
    return np.column_stack([np.ones(data.n), shares])


def _predicted(data: EvalData, value: NDArray[np.float64], tracks: tuple[str | int, ...]) -> EvalData:
    return EvalData({"value": value}, ids=data.ids, coords={"genes": tracks})
