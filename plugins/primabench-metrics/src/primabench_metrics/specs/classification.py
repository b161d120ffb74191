"""Metrics of predicted classes and of class probabilities."""

from __future__ import annotations

from primabench_core.spec import MetricSpec, Parameter
from primabench_metrics.specs.fields import POSITIVE, PREDICTED_LABEL, TRUE_LABEL

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
    prediction=(PREDICTED_LABEL,),
    truth=(TRUE_LABEL,),
    low=0.0,
    high=1.0,
    state="counts",
    references=(_SCIKIT_LEARN,),
)

precision = MetricSpec(
    name="precision",
    summary="Share of the rows called positive that are positive.",
    compute=f"{_MODULE}:precision",
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
