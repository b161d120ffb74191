"""Metrics of regulatory networks."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from primabench_core.spec import Field, Interval, MetricSpec, Parameter

SCORE = Field("score", "score", low=0.0, doc="magnitude of the candidate edge's weight; edges not listed weigh 0")
LABEL = Field("label", "label", vocabulary=(0, 1), doc="1 for an edge of the network")
REGULATOR = Field("regulator", "label", doc="where the candidate edge begins", public=True)
_ANY_REGULATOR = evolve(REGULATOR, optional=True)

FORMS = (
    Field("edges", "text", doc="in Python: a list of (regulator, target, weight)", optional=True),
    Field("regulator", "text", doc="column of a table of edges", optional=True),
    Field("target", "text", doc="column of a table of edges", optional=True),
    Field("weight", "score", doc="column of a table of edges; signs are dropped", optional=True),
)
_EDGES = "primabench_task_singlecell.grn.edges"
RULES: dict[str, Any] = {
    "missing": 0.0,
    "repeats": "max_abs",
    "outside": "ignore",
    "forms": FORMS,
    "arrange": f"{_EDGES}:arrange_prediction",
}
"""Edges that are not listed weigh 0, of repeated ones the heaviest counts, self-loops and edges that begin at no
regulator are ignored and counted."""

_METRICS = "primabench_task_singlecell.grn.metrics"
_BEELINE = "Pratapa et al. (2020) Nature Methods 17:147, doi:10.1038/s41592-019-0690-6"
_SHARED: dict[str, Any] = {
    "prediction": (SCORE,),
    "low": 0.0,
    "rules": RULES,
    "arrange": f"{_EDGES}:arrange_truth",
    "references": (_BEELINE,),
}

auprc_ratio = MetricSpec(
    name="auprc_ratio",
    summary="Average precision over candidate edges, divided by the density of the network.",
    compute=f"{_METRICS}:auprc_ratio",
    weighted=f"{_METRICS}:weighted_auprc_ratio",
    truth=(LABEL, _ANY_REGULATOR),
    example="primabench_task_singlecell.grn.examples:network",
    **_SHARED,
)
early_precision_ratio = MetricSpec(
    name="early_precision_ratio",
    summary="Precision of as many of the heaviest edges as are true, over the density; ties at the cut all enter.",
    compute=f"{_METRICS}:early_precision_ratio",
    weighted=f"{_METRICS}:weighted_early_precision_ratio",
    truth=(LABEL, _ANY_REGULATOR),
    example="primabench_task_singlecell.grn.examples:network",
    **_SHARED,
)
mean_regulator_average_precision = MetricSpec(
    name="mean_regulator_average_precision",
    summary="Mean over regulators with enough edges of the average precision among their own candidates.",
    compute=f"{_METRICS}:mean_regulator_average_precision",
    truth=(LABEL, REGULATOR),
    example="primabench_task_singlecell.grn.examples:regulators",
    high=1.0,
    parameters=(Parameter("min_edges", 10, "true edges that a regulator needs", kinds=(int,), low=1),),
    interval=Interval("none", "a regulator that is drawn twice would be one regulator"),
    **_SHARED,
)
