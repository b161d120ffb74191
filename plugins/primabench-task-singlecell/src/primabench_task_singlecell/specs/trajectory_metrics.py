"""Metrics of trajectories and velocities."""

from __future__ import annotations

from typing import Any

from primabench_core.spec import Field, Interval, MetricSpec, Parameter

PSEUDOTIME = Field("pseudotime", "score", doc="place of each cell in the course of development, larger is later")
VELOCITY = Field(
    "velocity", "matrix", coord="genes", doc="change of expression of each cell, genes by name", optional=True
)
STAGE = Field("stage", "value", doc="ordinal stage as a number; missing off the trajectory", nullable=True)
EXPRESSION = Field("expression", "matrix", coord="genes", doc="expression that velocities are changes of", public=True)
CLUSTER = Field("cluster", "label", doc="kind of cell, where stages branch", optional=True)

_STAGES = "primabench_task_singlecell.trajectory.stages"
_VELOCITY = "primabench_task_singlecell.trajectory.velocity"
_EXAMPLES = "primabench_task_singlecell.trajectory.examples"
_QIAO = "Qiao & Huang (2021) PNAS 118:e2105859118, doi:10.1073/pnas.2105859118"

pseudotime_spearman = MetricSpec(
    name="pseudotime_spearman",
    summary="Spearman's correlation of pseudotime and stage, sign kept.",
    compute=f"{_STAGES}:pseudotime_spearman",
    weighted=f"{_STAGES}:weighted_pseudotime_spearman",
    prediction=(PSEUDOTIME,),
    truth=(STAGE,),
    low=-1.0,
    high=1.0,
    example=f"{_EXAMPLES}:along",
    references=("Spearman (1904) Am J Psychol 15:72, doi:10.2307/1412159",),
)
pseudotime_kendall_tau_b = MetricSpec(
    name="pseudotime_kendall_tau_b",
    summary="Kendall's tau-b of pseudotime and stage, sign kept.",
    compute=f"{_STAGES}:pseudotime_kendall_tau_b",
    prediction=(PSEUDOTIME,),
    truth=(STAGE,),
    low=-1.0,
    high=1.0,
    example=f"{_EXAMPLES}:along",
    references=("Kendall (1945) Biometrika 33:239, doi:10.1093/biomet/33.3.239",),
)
adjacent_stage_accuracy = MetricSpec(
    name="adjacent_stage_accuracy",
    summary="Share of pairs of cells from neighbouring stages in the right order, ties half; mean over steps.",
    compute=f"{_STAGES}:adjacent_stage_accuracy",
    prediction=(PSEUDOTIME,),
    truth=(STAGE,),
    low=0.0,
    high=1.0,
    example=f"{_EXAMPLES}:along",
    references=("Hanley & McNeil (1982) Radiology 143:29, doi:10.1148/radiology.143.1.7063747",),
)

_SHARED: dict[str, Any] = {
    "prediction": (VELOCITY,),
    "truth": (STAGE, EXPRESSION, CLUSTER),
    "low": -1.0,
    "high": 1.0,
    "parameters": (
        Parameter("k", 30, "nearest other cells that are looked at", kinds=(int,), low=1),
        Parameter(
            "policy",
            "strict",
            "what a cell with a velocity of length 0 does to the mean",
            choices=("strict", "defined_only", "penalise_constant_prediction"),
        ),
    ),
    "example": f"{_EXAMPLES}:moving",
    "interval": Interval("none", "a cell that is drawn twice would be its own nearest neighbour"),
    "reproducibility": "tolerance",
    "rtol": 1e-9,
    "atol": 1e-9,
    "references": (_QIAO,),
    "libraries": ("torch",),
}
cbdir = MetricSpec(
    name="cbdir",
    summary="Do velocities of boundary cells point to their neighbours of the next stage: mean cosine.",
    compute=f"{_VELOCITY}:cbdir",
    **_SHARED,
)
iccoh = MetricSpec(
    name="iccoh",
    summary="Mean cosine of velocities of neighbours in one cluster: how smooth, not how right.",
    compute=f"{_VELOCITY}:iccoh",
    **_SHARED,
)
