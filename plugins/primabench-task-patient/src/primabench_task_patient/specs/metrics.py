"""The probe with its interval over patients."""

from __future__ import annotations

from primabench_core.spec import Field, Interval, MetricSpec, Parameter

PATIENT_PROBE = MetricSpec(
    name="patient_probe",
    summary="linear-probe/1 on one embedding a sample, pooled out of fold, with an interval over patients.",
    compute="primabench_task_patient.scoring.probe:patient_probe",
    prediction=(Field("embedding", "embedding", doc="one vector a sample"),),
    truth=(
        (Field("label", "label", doc="class"), Field("value", "value", doc="number")),
        Field("role", "label", vocabulary=("fit", "score"), optional=True, doc="fit on this sample, or score on it"),
        Field("fold", "label", optional=True, doc="fold of each sample; every fold is scored once"),
        Field("group", "label", optional=True, doc="patient; never on both sides of a split"),
    ),
    low=-1.0,
    high=1.0,
    parameters=(
        Parameter("task", "", "name of the task, which seeds inner folds and draws", kinds=(str,)),
        Parameter("allow_unstratified", False, "accept folds without their share of each class", kinds=(bool,)),
        Parameter(
            "inner", "folds", "how ridge chooses its penalty; classes have folds", choices=("folds", "leave_one_out")
        ),
        Parameter("draws", 2000, "resamples of the interval in values; 0 for none", kinds=(int,), low=0),
        Parameter("minimum_n", 30, "independent units below which a score is not resolvable", kinds=(int,), low=1),
    ),
    example="primabench_metrics.examples:probed",
    interval=Interval(
        "none", "resampled rows would be refitted; values.interval is over patients on fixed out-of-fold predictions"
    ),
    reproducibility="tolerance",
    atol=1e-3,
    references=(
        "Alain & Bengio (2016) arXiv:1610.01644",
        "Airola et al. (2011) Comput Stat Data Anal 55:1828, doi:10.1016/j.csda.2010.11.018",
        "DeLong et al. (1988) Biometrics 44:837, doi:10.2307/2531595",
    ),
)
