"""Metrics of agreement between predicted and measured numbers up to scale."""

from __future__ import annotations

from primabench_core.spec import MetricSpec, Parameter
from primabench_metrics.specs.fields import POLICY, PREDICTED_VALUE, TRUE_VALUE

_MODULE = "primabench_metrics.correlation"
_PARAMETERS = (
    Parameter(
        "per",
        "pooled",
        "all numbers together, or each feature over its rows",
        choices=("pooled", "feature"),
    ),
    Parameter("reduce", "mean", "how features are joined", choices=("mean",)),
    POLICY,
)

pearson = MetricSpec(
    name="pearson",
    summary="Pearson correlation of predicted and measured numbers.",
    compute=f"{_MODULE}:pearson",
    prediction=(PREDICTED_VALUE,),
    truth=(TRUE_VALUE,),
    low=-1.0,
    high=1.0,
    parameters=_PARAMETERS,
    references=("Pearson (1895) Proc R Soc Lond 58:240, doi:10.1098/rspl.1895.0041",),
)
