"""What the sample declares: one thing of every kind."""

from __future__ import annotations

from primabench_core.spec import (
    BaselineSpec,
    BenchmarkRow,
    BenchmarkSpec,
    Contract,
    DatasetSpec,
    Field,
    MetricSpec,
    MetricUse,
    Parameter,
    PreparerSpec,
    RecipeSpec,
    TaskSpec,
)

_KEY = "primabench_synthetic/sample@1.0.0"
_LABEL = Field("label", "label")

RECALL = MetricSpec(
    name="sample_recall",
    summary="A metric with parameters.",
    compute="primabench_sample.runtime:recall",
    prediction=(_LABEL,),
    truth=(_LABEL,),
    parameters=(
        Parameter("average", "binary", choices=("binary", "macro")),
        Parameter("positive", 1, kinds=(int, str)),
    ),
    canonical={"macro_sample_recall": {"average": "macro"}},
)
MACRO_RECALL = RECALL.variant("macro_sample_recall", summary="Its mean over classes.")

TASK = TaskSpec(
    name="sample_task",
    title="Sample",
    summary="A task that stands for all.",
    contract=Contract(prediction=(_LABEL,), solution=(_LABEL,)),
    metrics=(
        MetricUse("sample_recall", {"average": "macro"}),
        MetricUse("sample_recall", {"positive": "b"}),
        "never_installed",
    ),
    primary="macro_sample_recall",
    default_dataset=_KEY,
)
DATASET = DatasetSpec(key=_KEY, title="Sample", summary="Nothing.", publication="None.", licence="CC0-1.0")
PREPARER = PreparerSpec(task="sample_task", dataset=_KEY, prepare="primabench_sample.runtime:prepare")
ZERO = BaselineSpec(name="zero", task="sample_task", summary="Zero.", predict="primabench_sample.runtime:zero")
DREAM = BaselineSpec(
    name="dream",
    task="sample_task",
    summary="Needs a library that nobody has.",
    predict="primabench_sample.dream:predict",
    requires=("primabench-absent-library>=1",),
)
BOARD = BenchmarkSpec(name="sample_board", title="Board", summary="One row.", rows=(BenchmarkRow("sample_task", _KEY),))
RECIPE = RecipeSpec(dataset=_KEY, build="primabench_sample.runtime:build")
