"""A metric for every task that predicts labels."""

from __future__ import annotations

from primabench_core.spec import Field, MetricSpec

METRIC = MetricSpec(
    name="rarest_class_recall",
    summary="Share of the rows of the rarest true class that were found.",
    compute="primabench_independent.metric:rarest_class_recall",
    prediction=(Field("label", "label", vocabulary="truth"),),
    truth=(Field("label", "label"),),
    low=0.0,
    high=1.0,
    state="counts",
)
