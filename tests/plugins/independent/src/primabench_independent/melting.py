"""Made mixtures, their split by laboratory, and predictors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import EvalData

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext
    from primabench_core.store.prepare import DatasetReader, Splits


def build(context: BuildContext) -> list[Artifact]:
    """Labelled, censored and solution views; numbers over powers of two, the same bytes on every machine."""
    from primabench_core.store.artifact import Artifact

    n = 80
    words = np.random.Philox(key=78).random_raw(6 * n).reshape(n, 6)
    parts = (words[:, :4] % 64).astype(np.float64) / 64
    value = 500 + 256 * parts[:, 0] + 128 * parts[:, 1] - 64 * parts[:, 2] + (words[:, 4] % 32).astype(np.float64)
    value[words[:, 5] % 9 == 0] = np.nan
    laboratory = np.asarray([f"lab_{i % 8 + 1}" for i in range(n)], object)
    ids = [f"mixture_{i:02d}" for i in range(n)]
    public = {"parts": parts, "laboratory_id": np.arange(n) % 8 // 4}
    answers = {"value": value, "laboratory": laboratory}
    none = {"value": np.full(n, np.nan), "laboratory": np.full(n, None, object)}
    return [
        Artifact(view="labelled", data=EvalData({**public, **answers}, ids=ids), private=True),
        Artifact(view="censored", data=EvalData({**public, **none}, ids=ids)),
        Artifact(view="solution", data=EvalData(answers, ids=ids)),
    ]


def prepare(data: DatasetReader) -> Splits:
    """Hold the second half of the laboratories out."""
    from primabench_core.store.prepare import Splits

    held = data.artifact("censored")["laboratory_id"] == 1
    train, test = np.flatnonzero(~held), np.flatnonzero(held)
    return Splits(
        train=data.artifact("labelled").select(train),
        test=data.artifact("censored").select(test),
        solution=data.artifact("solution").select(test),
    )


def perfect(solution: EvalData, *, seed: int = 0) -> EvalData:
    """The truth; where there is none, anything is as good."""
    return EvalData({"value": np.nan_to_num(solution["value"], nan=300.0)}, ids=solution.ids)


def mean(train: EvalData, test: EvalData, *, seed: int = 0) -> EvalData:
    """The mean of the training values."""
    return EvalData({"value": np.full(test.n, np.nanmean(train["value"]))}, ids=test.ids)


def least_squares(train: EvalData, test: EvalData, *, seed: int = 0) -> EvalData:
    """Linear in the parts."""
    known = ~np.isnan(train["value"])
    design = np.column_stack([np.ones(known.sum()), train["parts"][known]])
    weights, *_ = np.linalg.lstsq(design, train["value"][known], rcond=None)
    return EvalData({"value": np.column_stack([np.ones(test.n), test["parts"]]) @ weights}, ids=test.ids)
