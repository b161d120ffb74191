"""Metrics of a partition against true classes, and of an embedding by its classes."""

from __future__ import annotations

from primabench_core.spec import Interval, MetricSpec
from primabench_metrics.specs.fields import CLUSTER, TRUE_LABEL

_MODULE = "primabench_metrics.clustering"
_NO_INTERVAL = Interval("none", "a row drawn twice always agrees with itself, so resampled agreement is too high")

ari = MetricSpec(
    name="ari",
    summary="Rand index of two partitions, adjusted for chance.",
    compute=f"{_MODULE}:ari",
    prediction=(CLUSTER,),
    truth=(TRUE_LABEL,),
    low=-0.5,
    high=1.0,
    state="counts",
    interval=_NO_INTERVAL,
    references=(
        "Hubert & Arabie (1985) J Classif 2:193, doi:10.1007/BF01908075",
        "Chacon & Rastrojo (2023) Adv Data Anal Classif 17:125, doi:10.1007/s11634-022-00491-w",
    ),
)

nmi = MetricSpec(
    name="nmi",
    summary="Mutual information of two partitions over the arithmetic mean of their entropies.",
    compute=f"{_MODULE}:nmi",
    prediction=(CLUSTER,),
    truth=(TRUE_LABEL,),
    low=0.0,
    high=1.0,
    state="counts",
    interval=_NO_INTERVAL,
    references=("Vinh, Epps & Bailey (2010) JMLR 11:2837",),
)

ami = MetricSpec(
    name="ami",
    summary="Mutual information of two partitions, adjusted for chance.",
    compute=f"{_MODULE}:ami",
    prediction=(CLUSTER,),
    truth=(TRUE_LABEL,),
    high=1.0,
    state="counts",
    interval=_NO_INTERVAL,
    reproducibility="tolerance",
    rtol=1e-9,
    atol=1e-12,
    references=("Vinh, Epps & Bailey (2010) JMLR 11:2837",),
)

_ROSENBERG = "Rosenberg & Hirschberg (2007) EMNLP-CoNLL, ACL D07-1043"

homogeneity = MetricSpec(
    name="homogeneity",
    summary="How far each cluster holds members of one class only.",
    compute=f"{_MODULE}:homogeneity",
    prediction=(CLUSTER,),
    truth=(TRUE_LABEL,),
    low=0.0,
    high=1.0,
    state="counts",
    interval=_NO_INTERVAL,
    references=(_ROSENBERG,),
)

completeness = MetricSpec(
    name="completeness",
    summary="How far the members of each class lie in one cluster only.",
    compute=f"{_MODULE}:completeness",
    prediction=(CLUSTER,),
    truth=(TRUE_LABEL,),
    low=0.0,
    high=1.0,
    state="counts",
    interval=_NO_INTERVAL,
    references=(_ROSENBERG,),
)

v_measure = MetricSpec(
    name="v_measure",
    summary="Harmonic mean of homogeneity and completeness.",
    compute=f"{_MODULE}:v_measure",
    prediction=(CLUSTER,),
    truth=(TRUE_LABEL,),
    low=0.0,
    high=1.0,
    state="counts",
    interval=_NO_INTERVAL,
    references=(_ROSENBERG,),
)
