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
    weighted="primabench_metrics.weighted.correlation:pearson",
    prediction=(PREDICTED_VALUE,),
    truth=(TRUE_VALUE,),
    state="sums",
    sums=("moments",),
    low=-1.0,
    high=1.0,
    parameters=_PARAMETERS,
    references=("Pearson (1895) Proc R Soc Lond 58:240, doi:10.1098/rspl.1895.0041",),
)

spearman = MetricSpec(
    name="spearman",
    summary="Pearson correlation of mid-ranks.",
    compute=f"{_MODULE}:spearman",
    weighted="primabench_metrics.weighted.correlation:spearman",
    prediction=(PREDICTED_VALUE,),
    truth=(TRUE_VALUE,),
    low=-1.0,
    high=1.0,
    parameters=_PARAMETERS,
    references=("Spearman (1904) Am J Psychol 15:72, doi:10.2307/1412159",),
)

kendall_tau_b = MetricSpec(
    name="kendall_tau_b",
    summary="Surplus of pairs in the same order, corrected for ties.",
    compute=f"{_MODULE}:kendall_tau_b",
    prediction=(PREDICTED_VALUE,),
    truth=(TRUE_VALUE,),
    low=-1.0,
    high=1.0,
    parameters=_PARAMETERS,
    references=(
        "Kendall (1945) Biometrika 33:239, doi:10.1093/biomet/33.3.239",
        "Knight (1966) J Am Stat Assoc 61:436, doi:10.1080/01621459.1966.10480879",
    ),
)
