"""A plugin for the store's tests: ten units, a private label, tasks of three kinds. Copied beside a dist-info."""

from __future__ import annotations

import os
import time

import numpy as np
from scipy import sparse

from primabench_core.contract.contract import Contract
from primabench_core.contract.evaldata import EvalData
from primabench_core.contract.fields import Field
from primabench_core.spec import DatasetSpec, PreparerSpec, RecipeSpec, Source, TaskSpec

KEY = "doe_2020_journal/toy@1.0.0"
CANARY = "canary-label"
"""A value of the solution that must never be seen in an error."""

LABEL = Field("label", "label", vocabulary="truth")


def _task(name: str, *, supervised: bool = True) -> TaskSpec:
    return TaskSpec(
        name=name, title=name, summary=name, contract=Contract(prediction=(LABEL,), solution=(LABEL,)), metrics=(),
        primary="accuracy", default_dataset=KEY, supervised=supervised,
    )  # fmt: skip


SUPERVISED, UNSUPERVISED, TEST_ONLY = _task("toy"), _task("toy_groups", supervised=False), _task("toy_test_only")
DATASET = DatasetSpec(key=KEY, title="Toy", summary="Ten units.", publication="Doe 2020", licence="CC0-1.0")
RECIPE = RecipeSpec(
    dataset=KEY,
    build="toy_plugin:build",
    sources=(Source(name="table", package="toy-plugin:toy_data/table.txt", licence="CC0-1.0"),),
    curator="Jane Doe",
)
PREPARE = PreparerSpec(task="toy", dataset=KEY, prepare="toy_plugin:prepare")
PREPARE_GROUPS = PreparerSpec(task="toy_groups", dataset=KEY, prepare="toy_plugin:prepare_groups")
PREPARE_TEST_ONLY = PreparerSpec(task="toy_test_only", dataset=KEY, prepare="toy_plugin:prepare_test_only")


def build(context):
    """Three views of ten units."""
    from primabench_core.store.artifact import Artifact

    words = context.source("table").read_text().split()
    if os.environ.get("TOY_WAIT"):  # tests kill or overtake a build here
        (context.workdir / "begun").touch()
        time.sleep(float(os.environ["TOY_WAIT"]))
    rng = np.random.default_rng(0)
    ids = [f"u{i}" for i in range(10)]
    labels = np.array([CANARY if i % 2 else word for i, word in zip(range(10), words, strict=True)], object)
    x = sparse.random(10, 4, density=0.5, format="csr", random_state=0, dtype=np.float32)
    fields = {"x": x, "depth": rng.normal(size=10), "label": labels}
    coords = {"genes": ("a", "b", "c", "d")}
    cells = EvalData(fields, ids=ids, coords=coords)
    hidden = EvalData({**fields, "label": np.full(10, None, object)}, ids=ids, coords=coords)
    return [
        Artifact(view="labelled", data=cells, private=True, attributes={"state": "log"}, columns={"x": "genes"}),
        Artifact(view="censored", data=hidden, attributes={"state": "log"}, columns={"x": "genes"}),
        Artifact(view="solution", data=EvalData({"label": labels}, ids=ids)),
    ]


def prepare(data):
    """Six units to learn from, four to predict."""
    from primabench_core.store.prepare import Splits

    train, test = [f"u{i}" for i in range(6)], [f"u{i}" for i in range(9, 5, -1)]
    return Splits(
        train=data.artifact("labelled").select(train),
        test=data.artifact("censored").select(test),
        solution=data.artifact("solution").select(test),
    )


def prepare_groups(data):
    """Everything at once."""
    from primabench_core.store.prepare import Splits

    return Splits(train=None, test=data.artifact("censored"), solution=data.artifact("solution"))


prepare_test_only = prepare_groups
