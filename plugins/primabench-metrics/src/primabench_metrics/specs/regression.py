"""Metrics of the distance between predicted and measured numbers."""

from __future__ import annotations

from primabench_core.spec import MetricSpec, Parameter
from primabench_metrics.specs.fields import POLICY, PREDICTED_VALUE, TRUE_VALUE

_MODULE = "primabench_metrics.regression"
_MULTIOUTPUT = (
    Parameter(
        "multioutput",
        "uniform_average",
        "how features are joined: the plain mean",
        choices=("uniform_average",),
    ),
    POLICY,
)

mse = MetricSpec(
    name="mse",
    summary="Mean squared error over all numbers.",
    compute=f"{_MODULE}:mse",
    weighted="primabench_metrics.weighted.regression:mse",
    prediction=(PREDICTED_VALUE,),
    truth=(TRUE_VALUE,),
    state="sums",
    sums=("squared_error",),
    direction="lower",
    low=0.0,
    paired_test="wilcoxon",
    references=("Gauss (1823) Theoria combinationis observationum erroribus minimis obnoxiae",),
)

rmse = MetricSpec(
    name="rmse",
    summary="Root of the mean squared error over all numbers.",
    compute=f"{_MODULE}:rmse",
    weighted="primabench_metrics.weighted.regression:rmse",
    prediction=(PREDICTED_VALUE,),
    truth=(TRUE_VALUE,),
    state="sums",
    sums=("squared_error",),
    direction="lower",
    low=0.0,
    paired_test="wilcoxon",
    references=("Gauss (1823) Theoria combinationis observationum erroribus minimis obnoxiae",),
)

mae = MetricSpec(
    name="mae",
    summary="Mean absolute error over all numbers.",
    compute=f"{_MODULE}:mae",
    weighted="primabench_metrics.weighted.regression:mae",
    prediction=(PREDICTED_VALUE,),
    truth=(TRUE_VALUE,),
    state="sums",
    sums=("absolute_error",),
    direction="lower",
    low=0.0,
    paired_test="wilcoxon",
    references=("Willmott & Matsuura (2005) Clim Res 30:79, doi:10.3354/cr030079",),
)

r2 = MetricSpec(
    name="r2",
    summary="Coefficient of determination, 1 - residual over total sum of squares.",
    compute=f"{_MODULE}:r2",
    weighted="primabench_metrics.weighted.regression:r2",
    prediction=(PREDICTED_VALUE,),
    truth=(TRUE_VALUE,),
    state="sums",
    sums=("moments",),
    high=1.0,
    parameters=_MULTIOUTPUT,
    references=("Wright (1921) J Agric Res 20:557",),
)

explained_variance = MetricSpec(
    name="explained_variance",
    summary="1 - variance of the errors over variance of the truth; forgives a constant bias.",
    compute=f"{_MODULE}:explained_variance",
    weighted="primabench_metrics.weighted.regression:explained_variance",
    prediction=(PREDICTED_VALUE,),
    truth=(TRUE_VALUE,),
    state="sums",
    sums=("moments",),
    high=1.0,
    parameters=_MULTIOUTPUT,
    references=("Pedregosa et al. (2011) JMLR 12:2825, definitions of sklearn.metrics",),
)

rm2 = MetricSpec(
    name="rm2",
    summary="Squared correlation, lowered by its distance from that of a line through the origin.",
    compute=f"{_MODULE}:rm2",
    weighted="primabench_metrics.weighted.regression:rm2",
    prediction=(PREDICTED_VALUE,),
    truth=(TRUE_VALUE,),
    high=1.0,
    parameters=(Parameter("form", "roy", "roy, or the root of DeepDTA's code", choices=("roy", "deepdta")),),
    canonical={"rm2_deepdta": {"form": "deepdta"}},
    references=(
        "Roy & Roy (2008) QSAR Comb Sci 27:302, doi:10.1002/qsar.200710043",
        "Ozturk et al. (2018) Bioinformatics 34:i821, doi:10.1093/bioinformatics/bty593",
    ),
)
rm2_deepdta = rm2.variant("rm2_deepdta", summary="The modified r2 as the code of DeepDTA computes it.")

aafe = MetricSpec(
    name="aafe",
    summary="Geometric mean of the fold by which predictions miss; needs positive numbers.",
    compute=f"{_MODULE}:aafe",
    prediction=(PREDICTED_VALUE,),
    truth=(TRUE_VALUE,),
    direction="lower",
    low=1.0,
    paired_test="wilcoxon",
    reproducibility="tolerance",
    rtol=1e-12,
    references=("Obach et al. (1997) J Pharmacol Exp Ther 283:46",),
)
