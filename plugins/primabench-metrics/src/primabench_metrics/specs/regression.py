"""Metrics of the distance between predicted and measured numbers."""

from __future__ import annotations

from primabench_core.spec import MetricSpec
from primabench_metrics.specs.fields import PREDICTED_VALUE, TRUE_VALUE

_MODULE = "primabench_metrics.regression"

mse = MetricSpec(
    name="mse",
    summary="Mean squared error over all numbers.",
    compute=f"{_MODULE}:mse",
    prediction=(PREDICTED_VALUE,),
    truth=(TRUE_VALUE,),
    direction="lower",
    low=0.0,
    paired_test="wilcoxon",
    references=("Gauss (1823) Theoria combinationis observationum erroribus minimis obnoxiae",),
)
