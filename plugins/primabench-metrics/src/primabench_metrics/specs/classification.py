"""Metrics of predicted classes and of class probabilities."""

from __future__ import annotations

from primabench_core.spec import Interval, MetricSpec, Parameter
from primabench_metrics.specs.fields import POSITIVE, PREDICTED_LABEL, PROBABILITY, TRUE_LABEL

_MODULE = "primabench_metrics.classification"
_SCIKIT_LEARN = "Pedregosa et al. (2011) JMLR 12:2825, definitions of sklearn.metrics"
_LABELS = Parameter(
    "labels",
    "union",
    "classes that are averaged: those of truth or prediction, or those of the truth alone",
    choices=("union", "truth"),
)
_AVERAGE = Parameter("average", "binary", "one positive class, or the mean over classes", choices=("binary", "macro"))

accuracy = MetricSpec(
    name="accuracy",
    summary="Share of rows whose predicted class is the true one.",
    compute=f"{_MODULE}:accuracy",
    weighted="primabench_metrics.weighted.classification:accuracy",
    prediction=(PREDICTED_LABEL,),
    truth=(TRUE_LABEL,),
    low=0.0,
    high=1.0,
    state="counts",
    paired_test="mcnemar",
    references=(_SCIKIT_LEARN,),
)

balanced_accuracy = MetricSpec(
    name="balanced_accuracy",
    summary="Mean over the classes of the truth of the share of their rows that was found.",
    compute=f"{_MODULE}:balanced_accuracy",
    weighted="primabench_metrics.weighted.classification:balanced_accuracy",
    prediction=(PREDICTED_LABEL,),
    truth=(TRUE_LABEL,),
    low=0.0,
    high=1.0,
    state="counts",
    references=("Brodersen et al. (2010) ICPR, doi:10.1109/ICPR.2010.764", _SCIKIT_LEARN),
)

macro_f1 = MetricSpec(
    name="macro_f1",
    summary="Unweighted mean over classes of F1 = 2TP/(2TP+FP+FN).",
    compute=f"{_MODULE}:macro_f1",
    weighted="primabench_metrics.weighted.classification:macro_f1",
    prediction=(PREDICTED_LABEL,),
    truth=(TRUE_LABEL,),
    low=0.0,
    high=1.0,
    state="counts",
    parameters=(_LABELS,),
    canonical={"macro_f1_truth_labels": {"labels": "truth"}},
    references=("Opitz & Burst (2019) arXiv:1911.03347", _SCIKIT_LEARN),
)
macro_f1_truth_labels = macro_f1.variant(
    "macro_f1_truth_labels", summary="Unweighted mean of F1 over the classes of the truth alone."
)

weighted_f1 = MetricSpec(
    name="weighted_f1",
    summary="Mean of F1 over classes, weighted by their number of true rows.",
    compute=f"{_MODULE}:weighted_f1",
    weighted="primabench_metrics.weighted.classification:weighted_f1",
    prediction=(PREDICTED_LABEL,),
    truth=(TRUE_LABEL,),
    low=0.0,
    high=1.0,
    state="counts",
    references=(_SCIKIT_LEARN,),
)

micro_f1 = MetricSpec(
    name="micro_f1",
    summary="F1 of the counts pooled over classes; with one class a row this is the accuracy.",
    compute=f"{_MODULE}:micro_f1",
    weighted="primabench_metrics.weighted.classification:micro_f1",
    prediction=(PREDICTED_LABEL,),
    truth=(TRUE_LABEL,),
    low=0.0,
    high=1.0,
    state="counts",
    paired_test="mcnemar",
    references=(_SCIKIT_LEARN,),
)

precision = MetricSpec(
    name="precision",
    summary="Share of the rows called positive that are positive.",
    compute=f"{_MODULE}:precision",
    weighted="primabench_metrics.weighted.classification:precision",
    prediction=(PREDICTED_LABEL,),
    truth=(TRUE_LABEL,),
    low=0.0,
    high=1.0,
    state="counts",
    parameters=(_AVERAGE, POSITIVE, _LABELS),
    canonical={"macro_precision": {"average": "macro"}},
    check=f"{_MODULE}:check_positive",
    references=(_SCIKIT_LEARN,),
)
macro_precision = precision.variant(
    "macro_precision", summary="Unweighted mean over classes of the share of their calls that is right."
)

recall = MetricSpec(
    name="recall",
    summary="Share of the positive rows that were called positive.",
    compute=f"{_MODULE}:recall",
    weighted="primabench_metrics.weighted.classification:recall",
    prediction=(PREDICTED_LABEL,),
    truth=(TRUE_LABEL,),
    low=0.0,
    high=1.0,
    state="counts",
    parameters=(_AVERAGE, POSITIVE, _LABELS),
    canonical={"macro_recall": {"average": "macro"}},
    check=f"{_MODULE}:check_positive",
    references=(_SCIKIT_LEARN,),
)
macro_recall = recall.variant(
    "macro_recall", summary="Unweighted mean over classes of the share of their rows that was found."
)

mcc = MetricSpec(
    name="mcc",
    summary="Matthews correlation coefficient; R_K for more than two classes.",
    compute=f"{_MODULE}:mcc",
    weighted="primabench_metrics.weighted.classification:mcc",
    prediction=(PREDICTED_LABEL,),
    truth=(TRUE_LABEL,),
    low=-1.0,
    high=1.0,
    state="counts",
    parameters=(
        Parameter(
            "mode",
            "strict",
            "both sides constant: undefined, or 0 as in scikit-learn",
            choices=("strict", "sklearn"),
        ),
    ),
    canonical={"mcc_sklearn": {"mode": "sklearn"}},
    references=(
        "Matthews (1975) BBA 405:442, doi:10.1016/0005-2795(75)90109-9",
        "Gorodkin (2004) Comput Biol Chem 28:367, doi:10.1016/j.compbiolchem.2004.09.006",
    ),
)
mcc_sklearn = mcc.variant("mcc_sklearn", summary="Matthews correlation coefficient, 0 where scikit-learn gives 0.")

cohen_kappa = MetricSpec(
    name="cohen_kappa",
    summary="Agreement of predicted and true classes beyond that of independent ones.",
    compute=f"{_MODULE}:cohen_kappa",
    weighted="primabench_metrics.weighted.classification:cohen_kappa",
    prediction=(PREDICTED_LABEL,),
    truth=(TRUE_LABEL,),
    low=-1.0,
    high=1.0,
    state="counts",
    references=("Cohen (1960) Educ Psychol Meas 20:37, doi:10.1177/001316446002000104",),
)

n_unpredicted_classes = MetricSpec(
    name="n_unpredicted_classes",
    summary="Number of classes of the truth that were never predicted.",
    compute=f"{_MODULE}:n_unpredicted_classes",
    prediction=(PREDICTED_LABEL,),
    truth=(TRUE_LABEL,),
    direction="info",
    low=0.0,
    state="counts",
    interval=Interval("none", "a count of classes is not a mean over rows"),
)

_CALIBRATION = "primabench_metrics.calibration"

log_loss = MetricSpec(
    name="log_loss",
    summary="Mean negative natural logarithm of the probability given to the true class.",
    compute=f"{_CALIBRATION}:log_loss",
    weighted="primabench_metrics.weighted.calibration:log_loss",
    prediction=(PROBABILITY,),
    truth=(TRUE_LABEL,),
    direction="lower",
    low=0.0,
    parameters=(
        Parameter(
            "clip",
            2.220446049250313e-16,
            "smallest probability, the float64 epsilon as in scikit-learn",
            kinds=(float,),
            low=0.0,
            high=0.5,
        ),
    ),
    paired_test="wilcoxon",
    reproducibility="tolerance",
    rtol=1e-12,
    references=("Good (1952) J R Stat Soc B 14:107, doi:10.1111/j.2517-6161.1952.tb00104.x",),
)

brier_score = MetricSpec(
    name="brier_score",
    summary="Mean squared distance of the probabilities from the true class.",
    compute=f"{_CALIBRATION}:brier_score",
    weighted="primabench_metrics.weighted.calibration:brier_score",
    prediction=(PROBABILITY,),
    truth=(TRUE_LABEL,),
    direction="lower",
    low=0.0,
    high=2.0,
    parameters=(POSITIVE,),
    paired_test="wilcoxon",
    references=("Brier (1950) Mon Weather Rev 78:1, doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",),
)

expected_calibration_error = MetricSpec(
    name="expected_calibration_error",
    summary="Mean gap between the top probability and how often the top class is right, over equal-width bins.",
    compute=f"{_CALIBRATION}:expected_calibration_error",
    weighted="primabench_metrics.weighted.calibration:expected_calibration_error",
    prediction=(PROBABILITY,),
    truth=(TRUE_LABEL,),
    direction="lower",
    low=0.0,
    high=1.0,
    parameters=(Parameter("bins", 15, "number of equal-width bins", kinds=(int,), low=1, high=10_000),),
    references=("Guo et al. (2017) ICML, arXiv:1706.04599", "Naeini et al. (2015) AAAI"),
)
