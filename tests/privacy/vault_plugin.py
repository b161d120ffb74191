"""A plugin for the privacy walk: 60 test units with answers that stand nowhere else. Copied beside a dist-info.

Answers are names of classes (one of them in no public split), numbers that are no one else's, and group names.
"""

from __future__ import annotations

import hashlib
import logging

import numpy as np

from primabench_core.contract.evaldata import EvalData
from primabench_core.errors import ContractError, UsageError
from primabench_core.spec import (
    BaselineSpec,
    Contract,
    DatasetSpec,
    Field,
    MetricSpec,
    Outcome,
    PreparerSpec,
    RecipeSpec,
    Source,
    TaskSpec,
)

KEY = "doe_2020_journal/vault@1.0.0"
SECRET_CLASS = "hushed-kind-7f3a"
SECRET_GROUP = "hushed-donor-5c1e"
N_TRAIN, N_TEST = 60, 60
TEST_IDS = [f"test-unit-{i}" for i in range(N_TEST)]


def _number(name: str) -> float:
    return 0.5 + int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big") / 2**49


SECRET_VALUES = [_number(name) for name in TEST_IDS]
"""Sixty numbers below 1 with a dozen digits, unlike any time."""

TRUTH = Field("label", "label")
VALUE = Field("value", "value")
TYPES = TaskSpec(
    name="vault_types",
    title="Vault types",
    summary="Name the class of each unit.",
    contract=Contract(
        prediction=(
            Field("label", "label", vocabulary="truth"),
            Field("probability", "probability", coord="classes", optional=True),
        ),
        solution=(TRUTH, Field("donor", "label")),
        unknown_labels="count",
    ),
    metrics=("macro_f1_truth_labels", "macro_f1", "balanced_accuracy", "n_unpredicted_classes", "accuracy"),
    primary="macro_f1_truth_labels",
    default_dataset=KEY,
    unit="unit",
)
VALUES = TaskSpec(
    name="vault_values",
    title="Vault values",
    summary="Predict the number of each unit.",
    contract=Contract(prediction=(VALUE,), solution=(VALUE,)),
    metrics=("pearson", "rmse"),
    primary="pearson",
    default_dataset=KEY,
    unit="unit",
)
DATASET = DatasetSpec(key=KEY, title="Vault", summary="120 units.", publication="Doe 2020", licence="CC0-1.0")
RECIPE = RecipeSpec(
    dataset=KEY,
    build="vault_plugin:build",
    sources=(Source(name="table", package="vault-plugin:vault_data/table.txt", licence="CC0-1.0", public=False),),
    curator="Jane Doe",
)
PREPARE_TYPES = PreparerSpec(task="vault_types", dataset=KEY, prepare="vault_plugin:prepare_types")
PREPARE_VALUES = PreparerSpec(task="vault_values", dataset=KEY, prepare="vault_plugin:prepare_values")


def _metric(name: str, truth: Field = TRUTH, predicted: Field | None = None, **more) -> MetricSpec:
    asked = predicted or Field(truth.name, truth.kind, vocabulary="truth" if truth.kind == "label" else None)
    where = f"vault_plugin:{name}"
    return MetricSpec(name=name, summary=name, compute=where, prediction=(asked,), truth=(truth,), **more)


VAULT_RAISES = _metric("vault_raises")
VAULT_REFUSES = _metric("vault_refuses")
VAULT_MISUSES = _metric("vault_misuses", VALUE, VALUE)
VAULT_CHECKS = _metric("vault_checks", check="vault_plugin:quoting_check")
VAULT_TALKS = _metric("vault_talks")
VAULT_COUNTS = _metric("vault_counts", VALUE, VALUE)
ORACLE = BaselineSpec(
    name="perfect", task="vault_types", summary="The truth.", predict="vault_plugin:perfect", oracle=True
)
LEAKY = BaselineSpec(name="leaky", task="vault_types", summary="Raises.", predict="vault_plugin:leaky", oracle=True)
MAJORITY = BaselineSpec(name="majority", task="vault_types", summary="One class.", predict="vault_plugin:majority")
ORACLE_VALUES = BaselineSpec(
    name="perfect", task="vault_values", summary="The truth.", predict="vault_plugin:perfect_values", oracle=True
)
MEAN = BaselineSpec(name="mean", task="vault_values", summary="The mean.", predict="vault_plugin:mean")


def build(context):
    """Labelled, censored and solution; only the first and the last hold answers."""
    from primabench_core.store.artifact import Artifact

    context.source("table")
    ids = [f"train-unit-{i}" for i in range(N_TRAIN)] + TEST_IDS
    x = np.random.default_rng(0).normal(size=(N_TRAIN + N_TEST, 3)).astype(np.float32)
    label = [("plain", "simple")[i % 2] for i in range(N_TRAIN)]
    label += [(SECRET_CLASS, "plain", "simple")[i % 3] for i in range(N_TEST)]
    donor = ["donor-a"] * N_TRAIN + [(SECRET_GROUP, "donor-a")[i % 2] for i in range(N_TEST)]
    value = np.array([_number(f"train {i}") for i in range(N_TRAIN)] + SECRET_VALUES)
    answers = {"label": np.array(label, object), "donor": np.array(donor, object), "value": value}
    none = np.full(len(ids), None, object)
    hidden = {"label": none, "donor": none, "value": np.full(len(ids), np.nan)}
    return [
        Artifact(view="labelled", data=EvalData({"x": x, **answers}, ids=ids), private=True),
        Artifact(view="censored", data=EvalData({"x": x, **hidden}, ids=ids)),
        Artifact(view="solution", data=EvalData(answers, ids=ids)),
    ]


def _prepare(data, names):
    from primabench_core.store.prepare import Splits

    train = [f"train-unit-{i}" for i in range(N_TRAIN)]

    def part(view, ids, fields):
        whole = data.artifact(view).select(ids)
        return EvalData({name: whole[name] for name in fields}, ids=whole.ids)

    return Splits(
        train=part("labelled", train, ["x", *names]),
        test=part("censored", TEST_IDS, ["x", *names]),
        solution=part("solution", TEST_IDS, names),
    )


def prepare_types(data):
    return _prepare(data, ["label", "donor"])


def prepare_values(data):
    return _prepare(data, ["value"])


def vault_raises(state):
    raise KeyError(f"the truth holds {state.truth['label'].values().tolist()}")


def vault_refuses(state):
    from primabench_core.contract.violations import Violation

    classes = [str(c) for c in state.truth["label"].classes]
    raise ContractError([Violation("label", f"other than {classes}", "these", classes, 3, noun="class")])


def vault_misuses(state):
    try:
        raise ValueError(f"first {state.truth['value'].tolist()}")
    except ValueError as error:
        raise UsageError(f"the largest is {max(state.truth['value'].tolist())!r}") from error


def quoting_check(fields, classes, params):
    from primabench_core.contract.violations import Violation

    return [Violation("label", f"none of {list(classes or ())}", "them")]


def vault_checks(state):
    return 0.5


def vault_talks(state):
    """A value, and the truth's names in every place that an outcome has for words."""
    names = [str(c) for c in state.truth["label"].classes]
    return Outcome(
        0.5,
        detail=f"classes are {', '.join(names)}",
        flags=tuple(f"seen {name}" for name in names),
        per_unit={**dict.fromkeys(names, 0.25), **{f"{name} / recall": 0.75 for name in names}},
        values={"classes": names, "most": names[0], "inner": {name: {"of": [name]} for name in names}},
    )


def vault_counts(state):
    logging.getLogger("vault").debug("scored %d units", state.n)
    return Outcome.undefined("not_applicable", f"the first answer is {state.truth['value'].tolist()[0]}")


def perfect(solution, seed=0):
    return EvalData({"label": solution["label"]}, ids=solution.ids)


def perfect_values(solution, seed=0):
    return EvalData({"value": solution["value"]}, ids=solution.ids)


def leaky(solution, seed=0):
    raise ValueError(f"the solution is {list(solution['label'])}")


def majority(train, test, seed=0):
    return EvalData({"label": np.full(test.n, "plain", object)}, ids=test.ids)


def mean(train, test, seed=0):
    drawn = np.random.default_rng(seed).normal(size=test.n) * 1e-6
    return EvalData({"value": float(np.mean(train["value"][...])) + drawn}, ids=test.ids)


# -- what a test does to a worker of a cluster, by client.run ---------------------------------------------------------


def listen(folder):
    """Everything that this process logs, at any level, and all that it prints, goes into files of this folder."""
    import os
    from pathlib import Path

    base = Path(folder, str(os.getpid()))
    printed = os.open(base.with_suffix(".printed"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    handler = logging.FileHandler(base.with_suffix(".log"))
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s %(args)r"))
    for name in ["", *logging.root.manager.loggerDict]:
        logger = logging.getLogger(name)
        logger.setLevel(logging.DEBUG)
        if not name or not logger.propagate:
            logger.addHandler(handler)
    logging.getLogger("vault").debug("listening")
    print("listening", flush=True)


def let_errors_out():
    """Tasks no longer turn errors into words: Dask logs them itself, with the arguments of the task."""
    from primabench_core.evaluation import folding

    folding._told = lambda act: act()


def read_from(store):
    """The store of this process is another one."""
    import os

    os.environ["PRIMABENCH_STORE"] = store


def whisper():
    """What no worker should do."""
    logging.getLogger("distributed.worker").info("%s %r", SECRET_CLASS, SECRET_VALUES[0])
