"""Toy metrics of a plugin that exists as a dist-info folder for one test session."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

SPECS = """
from primabench_core.spec import BaselineSpec, Contract, Field, Interval, MetricSpec, MetricUse, Parameter, TaskSpec

LABEL = Field("label", "label", vocabulary="truth")
VALUE = Field("value", "value")


def spec(name, **changes):
    declared = {
        "summary": name,
        "compute": f"toy_metrics:{name}",
        "prediction": (LABEL,),
        "truth": (Field("label", "label"),),
    }
    return MetricSpec(name=name, **{**declared, **changes})


toy_hits = spec("toy_hits", state="counts", low=0.0, high=1.0)
toy_raises = spec("toy_raises")
toy_nan = spec("toy_nan")
toy_text = spec("toy_text")
toy_refuses = spec("toy_refuses", check="toy_metrics:check_nothing_goes")
toy_picky = spec("toy_picky", interval=Interval("none", "it is picky"))
toy_mean = spec("toy_mean", prediction=(VALUE,), truth=(Field("value", "value", nullable=True),), parameters=(
    Parameter("power", 1, kinds=(int,)),), canonical={"toy_mean_squared": {"power": 2}})
toy_mean_squared = toy_mean.variant("toy_mean_squared")
toy_blocks = spec(
    "toy_blocks",
    prediction=(VALUE,),
    truth=(VALUE,),
    compute="toy_metrics:toy_mean_blocks",
    interval=Interval("blocks"),
)
toy_either = spec("toy_either", prediction=((Field("score", "score"), Field("probability", "probability")),))
toy_probe = spec(
    "toy_probe",
    prediction=(Field("embedding", "embedding"),),
    truth=(Field("value", "value"), Field("role", "label", vocabulary=("fit", "score"))),
    reproducibility="tolerance",
    rtol=1e-9,
)
toy_gappy = spec(
    "toy_gappy", truth=(Field("label", "label", nullable=True),), state="counts", compute="toy_metrics:toy_hits"
)
toy_open = spec("toy_open", prediction=(Field("cluster", "label"),), state="counts")
toy_unit = spec("toy_unit", prediction=(Field("score", "score", low=0.0, high=1.0),))
toy_often_undefined = spec("toy_often_undefined")

task_cells = TaskSpec(
    name="toy_cells",
    title="Toy cells",
    summary="Name the class of each cell.",
    contract=Contract(
        prediction=(LABEL, Field("note", "text", optional=True)),
        solution=(Field("label", "label"),),
        ignored=("comment",),
    ),
    metrics=("toy_hits", "toy_picky"),
    primary="toy_hits",
    default_dataset="primabench_synthetic/toy_cells@1.0.0",
    unit="cell",
    independent_unit="donor",
    aggregate="strict",
)
task_edges = TaskSpec(
    name="toy_edges",
    title="Toy edges",
    summary="Weigh every edge.",
    contract=Contract(
        prediction=(VALUE,),
        solution=(VALUE,),
        missing=0.0,
        repeats="max_abs",
        outside="ignore",
        unknown_labels="refuse",
        forms=(Field("number", "value", optional=True),),
        arrange="toy_metrics:by_number",
    ),
    metrics=("toy_mean",),
    primary="toy_mean",
    default_dataset="primabench_synthetic/toy_edges@1.0.0",
    unit="edge",
)
task_strict = TaskSpec(
    name="toy_strict",
    title="Toy with a closed vocabulary",
    summary="Name the class of each cell.",
    contract=Contract(prediction=(LABEL,), solution=(Field("label", "label"),), unknown_labels="refuse"),
    metrics=("toy_hits", MetricUse("toy_picky", always=True)),
    primary="toy_hits",
    default_dataset="primabench_synthetic/toy_cells@1.0.0",
    independent_unit="donor",
)
oracle = BaselineSpec(
    name="perfect", task="toy_cells", summary="The truth.", predict="toy_metrics:perfect", oracle=True
)
leaky = BaselineSpec(name="leaky", task="toy_cells", summary="Raises.", predict="toy_metrics:leaky", oracle=True)
honest = BaselineSpec(name="honest", task="toy_cells", summary="No oracle.", predict="toy_metrics:perfect")
"""

CODE = '''
import math

import numpy as np

from primabench_core.contract.violations import Violation
from primabench_core.spec import Outcome

SEEN = []


def toy_hits(state):
    table, _ = state.square()
    if not state.n:
        return Outcome.undefined("too_few_items")
    return int(np.trace(table)) / state.n


def toy_raises(state):
    raise KeyError(f"the truth holds {state.truth['label'].classes}")


def toy_nan(state):
    return float("nan")


def toy_text(state):
    return "0.5"


def toy_refuses(state):
    return 1.0


def check_nothing_goes(fields, classes, params):
    return [Violation("label", "nothing at all", f"{fields[0]} with {len(classes)} classes")]


def toy_picky(state):
    return float(state.n)


def toy_mean(state, power=1):
    SEEN.append((sorted(state.prediction), sorted(state.truth)))
    if not state.n:
        return Outcome.undefined("too_few_items")
    difference = np.asarray(state.prediction["value"], np.float64) - np.asarray(state.truth["value"], np.float64)
    return math.fsum((np.abs(difference) ** power).ravel().tolist()) / difference.size


def by_number(ids, fields, coords):
    """Edges by their number in place of their id."""
    if "number" not in fields:
        return ids, fields
    return [f"e{int(i)}" for i in fields["number"]], {"value": fields["value"]}


def toy_mean_blocks(state):
    return toy_mean(state)


def perfect(solution, seed):
    from primabench_core.contract.evaldata import EvalData

    return EvalData({"label": solution.fields["label"]}, ids=solution.ids)


def leaky(solution, seed):
    raise ValueError(f"the solution is {list(solution.fields['label'])}")


def toy_either(state):
    if "score" in state.prediction:
        return math.fsum(state.prediction["score"].tolist())
    return math.fsum(state.prediction["probability"].ravel().tolist())


def toy_probe(state):
    """Least squares fitted on the rows of role `fit`, scored on those of role `score`."""
    role = state.truth["role"]
    scored = role.codes == role.classes.index("score")
    x, y = np.asarray(state.prediction["embedding"], np.float64), state.truth["value"]
    weights = np.linalg.lstsq(x[~scored], y[~scored], rcond=None)[0]
    error = x[scored] @ weights - y[scored]
    return Outcome(math.fsum((error**2).tolist()) / int(scored.sum()), n=int(scored.sum()))


def toy_open(state):
    return float(len(state.predicted_classes))


def toy_unit(state):
    return math.fsum(state.prediction["score"].tolist()) / state.n


def toy_often_undefined(state):
    label = state.prediction["label"]
    if (label.codes == 0).sum() < 2:
        return Outcome.undefined("single_class")
    return 0.5
'''


BASELINES = {"perfect": "oracle", "leaky": "leaky", "honest": "honest"}
CANARY = "canary_class_7f3a"


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory):
    """Installs the toy plugin; gives the names of its metrics."""
    from primabench_core.discovery import names

    folder = Path(tmp_path_factory.mktemp("toys"))
    (folder / "toy_specs.py").write_text(SPECS)
    (folder / "toy_metrics.py").write_text(CODE)
    found = [line.split(" = ")[0] for line in SPECS.splitlines() if line.startswith("toy_")]
    info = folder / "toy_metrics-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-metrics\nVersion: 1.0\n")
    points = "\n".join(f"{name} = toy_specs:{name}" for name in found)
    tasks = "\n".join(f"toy_{name} = toy_specs:task_{name}" for name in ("cells", "edges", "strict"))
    baselines = "\n".join(f"toy_cells|{name} = toy_specs:{at}" for name, at in BASELINES.items())
    (info / "entry_points.txt").write_text(
        f"[primabench.metrics]\n{points}\n[primabench.tasks]\n{tasks}\n[primabench.baselines]\n{baselines}\n"
    )
    sys.path.insert(0, str(folder))
    names.refresh()
    yield found
    sys.path.remove(str(folder))
    for module in ("toy_specs", "toy_metrics"):
        sys.modules.pop(module, None)
    names.refresh()
    names.refresh()


@pytest.fixture
def solutions(toys, monkeypatch: pytest.MonkeyPatch):
    """Private solutions of the toy tasks, served as the store would; the dict may be changed by a test."""
    from primabench_core.contract.evaldata import EvalData
    from primabench_core.store import access

    n = 40
    held = {
        "primabench_synthetic/toy_cells@1.0.0": EvalData(
            {
                "label": [CANARY if i % 3 == 0 else "plain" for i in range(n)],
                "donor": [f"d{i // 4}" for i in range(n)],
            },
            ids=[f"cell{i}" for i in range(n)],
        ),
        "primabench_synthetic/toy_edges@1.0.0": EvalData(
            {"value": [float(i % 2) for i in range(6)]}, ids=[f"e{i}" for i in range(6)]
        ),
    }
    hashes = {key: f"{i:064x}" for i, key in enumerate(held, 1)}

    def open_solution(task: str, key: str, store: str | None = None) -> EvalData:
        return held[key]

    def resolve_dataset(task: str, dataset: str | None = None) -> str:
        return dataset or f"primabench_synthetic/{'toy_edges' if task == 'toy_edges' else 'toy_cells'}@1.0.0"

    monkeypatch.setattr(access, "resolve_dataset", resolve_dataset)
    monkeypatch.setattr(access, "solution_salt", lambda key, store=None: b"s" * 32)
    monkeypatch.setattr(access, "open_solution", open_solution)
    monkeypatch.setattr(access, "public_names", lambda task, key, store=None: frozenset({"plain"}))
    monkeypatch.setattr(access, "dataset_content_hash", lambda key, store=None: hashes[key])
    return held, hashes
