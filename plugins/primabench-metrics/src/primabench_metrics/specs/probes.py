"""Probes: simple models fitted on embeddings of some rows and scored on others."""

from __future__ import annotations

from primabench_core.spec import Field, Interval, MetricSpec, Parameter
from primabench_metrics.specs.fields import EMBEDDING, TRUE_LABEL, TRUE_VALUE

_ROLE = Field("role", "label", vocabulary=("fit", "score"), optional=True, doc="fit on this row, or score on it")
_FOLD = Field("fold", "label", optional=True, doc="fold of each row; every fold is scored once")
_GROUP = Field("group", "label", optional=True, doc="patient or other unit that must not be on both sides")
_NO_INTERVAL = Interval("none", "resampled rows would be fitted and scored at once; refits would be needed")

knn_probe = MetricSpec(
    name="knn_probe",
    summary="How well the nearest neighbours in an embedding tell the class.",
    compute="primabench_metrics.knn_probe:knn_probe",
    prediction=(EMBEDDING,),
    truth=(TRUE_LABEL, _ROLE, _FOLD, _GROUP),
    low=-1.0,
    high=1.0,
    parameters=(
        Parameter("k", 15, "number of neighbours", kinds=(int,), low=1),
        Parameter("distance", "euclidean", "between rows of the embedding", choices=("euclidean", "cosine")),
        Parameter(
            "score",
            "accuracy",
            "metric of the predicted classes",
            choices=("accuracy", "balanced_accuracy", "macro_f1", "mcc"),
        ),
    ),
    example="primabench_metrics.examples:probed",
    interval=_NO_INTERVAL,
    reproducibility="tolerance",
    atol=1e-4,
    references=("Cover & Hart (1967) IEEE Trans Inf Theory 13:21, doi:10.1109/TIT.1967.1053964",),
)

linear_probe = MetricSpec(
    name="linear_probe",
    summary="How well a penalised linear model on an embedding tells class or number, out of fold.",
    compute="primabench_metrics.linear_probe:linear_probe",
    prediction=(EMBEDDING,),
    truth=((TRUE_LABEL, TRUE_VALUE), _ROLE, _FOLD, _GROUP),
    low=-1.0,
    high=1.0,
    parameters=(
        Parameter("task", "", "name of the task, which seeds the inner folds", kinds=(str,)),
        Parameter("allow_unstratified", False, "accept folds without their share of each class", kinds=(bool,)),
        Parameter(
            "inner", "folds", "how ridge chooses its penalty; classes have folds", choices=("folds", "leave_one_out")
        ),
    ),
    example="primabench_metrics.examples:probed",
    interval=_NO_INTERVAL,
    reproducibility="tolerance",
    atol=1e-3,
    references=(
        "Alain & Bengio (2016) arXiv:1610.01644",
        "Airola et al. (2011) Comput Stat Data Anal 55:1828, doi:10.1016/j.csda.2010.11.018",
    ),
)
