"""A plugin with a task, its private dataset, and ways to disturb a worker. Copied beside a dist-info."""

from __future__ import annotations

import errno
import os
import random
import signal
import time
from pathlib import Path

import numpy as np

from primabench_core.contract.contract import Contract
from primabench_core.contract.evaldata import EvalData
from primabench_core.contract.fields import Field
from primabench_core.spec import DatasetSpec, PreparerSpec, RecipeSpec, Source, TaskSpec

KEY = "doe_2020_journal/crowd@1.0.0"
CANARY = "canary-5b1e"
"""A class that only the solution knows."""
N = 1_500
IDS = [f"unit{i:04d}" for i in range(N)]

TASK = TaskSpec(
    name="crowd",
    title="Crowd",
    summary="Name the class of each unit.",
    contract=Contract(prediction=(Field("label", "label", vocabulary="truth"),), solution=(Field("label", "label"),)),
    metrics=("accuracy", "macro_f1_truth_labels"),
    primary="accuracy",
    default_dataset=KEY,
    supervised=False,
)
DATASET = DatasetSpec(key=KEY, title="Crowd", summary="Many units.", publication="Doe 2020", licence="CC0-1.0")
RECIPE = RecipeSpec(
    dataset=KEY,
    build="crowd_plugin:build",
    sources=(Source(name="words", package="crowd-plugin:crowd_data/words.txt", licence="CC0-1.0"),),
    curator="Jane Doe",
)
PREPARE = PreparerSpec(task="crowd", dataset=KEY, prepare="crowd_plugin:prepare")


def build(context):
    """The answers, and the units without them."""
    from primabench_core.store.artifact import Artifact

    words = [*context.source("words").read_text().split(), CANARY]
    labels = np.asarray(words, object)[np.random.default_rng(0).integers(0, len(words), N)]
    depth = np.arange(N, dtype=np.float32)
    return [
        Artifact(view="labelled", data=EvalData({"depth": depth, "label": labels}, ids=IDS), private=True),
        Artifact(view="censored", data=EvalData({"depth": depth}, ids=IDS)),
        Artifact(view="solution", data=EvalData({"label": labels}, ids=IDS)),
    ]


def prepare(data):
    """Everything at once."""
    from primabench_core.store.prepare import Splits

    return Splits(train=None, test=data.artifact("censored"), solution=data.artifact("solution"))


# -- what a test does to a worker, by client.run ----------------------------------------------------------------------

_kept: dict[str, object] = {}


def _replace(name: str, function) -> None:
    from primabench_core.evaluation import folding

    _kept.setdefault(name, getattr(folding, name))
    setattr(folding, name, function)


def heal() -> None:
    """Take all disturbances away."""
    from primabench_core.evaluation import folding

    for name, function in _kept.items():
        setattr(folding, name, function)


def linger(name: str, folder: str, seconds: float) -> None:
    """Say who runs this step of a fold or a merge, and take long over it."""
    from primabench_core.evaluation import folding

    real = _kept.get(name, getattr(folding, name))

    def slow(*arguments):
        Path(folder, f"{name}-{os.getpid()}").touch()
        time.sleep(seconds)
        return real(*arguments)

    _replace(name, slow)


def shuffle(seed: int) -> None:
    """Take differently long over every block."""
    from primabench_core.evaluation import folding

    real, generator = _kept.get("take", folding.take), random.Random(seed + os.getpid())

    def uneven(*arguments):
        time.sleep(generator.random() * 0.005)
        return real(*arguments)

    _replace("take", uneven)


def fill_disk() -> None:
    """No byte can be written where this worker keeps what it fetches."""

    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    _replace("open_truth", full)
    forget()


def die() -> None:
    """As the kernel ends a process that takes too much memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def forget() -> None:
    """Close every truth."""
    from primabench_core.evaluation import folding

    folding._opened.clear()


def opened() -> int:
    """How many truths this process holds."""
    from primabench_core.evaluation import folding

    return len(folding._opened)


def move_store(path: str) -> None:
    """Another store for this worker."""
    os.environ["PRIMABENCH_STORE"] = path
    forget()
