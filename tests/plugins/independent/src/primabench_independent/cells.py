"""Made cells, their split by plate, and a predictor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import EvalData

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext
    from primabench_core.store.prepare import DatasetReader, Splits

TYPES = ("neuron", "glia", "microglia")
GENES = ("g1", "g2", "g3", "g4", "g5")


def build(context: BuildContext) -> list[Artifact]:
    """Labelled, censored and solution views; the plate of a cell is public."""
    from primabench_core.store.artifact import Artifact

    n = 60
    words = np.random.Philox(key=77).random_raw(6 * n).reshape(n, 6)
    codes = (words[:, 0] % 7 % 3).astype(np.int64)
    expression = (words[:, 1:] % 5).astype(np.float32) / 4 + codes[:, None].astype(np.float32)
    label = np.asarray(TYPES, object)[codes]
    plate = np.asarray(["p1", "p2"], object)[np.arange(n) % 2]
    ids = [f"cell_{i:02d}" for i in range(n)]
    coords = {"genes": GENES, "classes": tuple(sorted(TYPES))}
    public = {"expression": expression, "plate": plate}
    columns = {"expression": "genes"}
    labelled = EvalData({**public, "label": label}, ids=ids, coords=coords)
    censored = EvalData({**public, "label": np.full(n, None, object)}, ids=ids, coords=coords)
    solution = EvalData({"label": label}, ids=ids, coords={"classes": coords["classes"]})
    return [
        Artifact(view="labelled", data=labelled, private=True, columns=columns),
        Artifact(view="censored", data=censored, columns=columns),
        Artifact(view="solution", data=solution),
    ]


def prepare(data: DatasetReader) -> Splits:
    """Train on plate 1, test on plate 2."""
    from primabench_core.store.prepare import Splits

    plate = data.artifact("censored")["plate"]
    first, second = np.flatnonzero(plate == "p1"), np.flatnonzero(plate == "p2")
    return Splits(
        train=data.artifact("labelled").select(first),
        test=data.artifact("censored").select(second),
        solution=data.artifact("solution").select(second),
        columns={"expression": "genes"},
    )


def first_gene(train: EvalData, test: EvalData, *, seed: int = 0) -> EvalData:
    """Nearest mean of the first gene."""
    known, asked = (np.asarray(_dense(d["expression"]))[:, 0] for d in (train, test))
    types = sorted(set(train["label"].tolist()))
    means = np.asarray([known[train["label"] == t].mean() for t in types])
    nearest = np.abs(asked[:, None] - means).argmin(1)
    return EvalData({"label": np.asarray(types, object)[nearest]}, ids=test.ids)


def _dense(matrix: object) -> object:
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix
