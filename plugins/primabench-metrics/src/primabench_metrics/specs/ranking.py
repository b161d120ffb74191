"""Metrics of how rows are ranked by a score."""

from __future__ import annotations

from primabench_core.spec import MetricSpec, Parameter
from primabench_metrics.specs.fields import POSITIVE, PROBABILITY, SCORE, TRUE_LABEL

_MODULE = "primabench_metrics.ranking"

auroc = MetricSpec(
    name="auroc",
    summary="Probability that a positive row scores above a negative one, ties count half.",
    compute=f"{_MODULE}:auroc",
    prediction=((SCORE, PROBABILITY),),
    truth=(TRUE_LABEL,),
    low=0.0,
    high=1.0,
    parameters=(
        POSITIVE,
        Parameter(
            "multi_class",
            "",
            "ovr: one class against the rest, over the columns of a probability field",
            choices=("", "ovr"),
        ),
        Parameter("average", "macro", "how classes are joined with multi_class", choices=("macro",)),
    ),
    canonical={"auroc_ovr_macro": {"multi_class": "ovr", "average": "macro"}},
    check=f"{_MODULE}:check_ranking",
    paired_test="delong",
    references=(
        "Hanley & McNeil (1982) Radiology 143:29, doi:10.1148/radiology.143.1.7063747",
        "Mann & Whitney (1947) Ann Math Stat 18:50, doi:10.1214/aoms/1177730491",
    ),
)
auroc_ovr_macro = auroc.variant(
    "auroc_ovr_macro",
    summary="Mean of one-against-rest AUROC over classes that have both sides.",
    prediction=(PROBABILITY,),
    paired_test="bootstrap",
)

average_precision = MetricSpec(
    name="average_precision",
    summary="Step-wise area under the precision-recall curve, tied scores are one step.",
    compute=f"{_MODULE}:average_precision",
    prediction=((SCORE, PROBABILITY),),
    truth=(TRUE_LABEL,),
    low=0.0,
    high=1.0,
    parameters=(POSITIVE,),
    check=f"{_MODULE}:check_ranking",
    references=(
        "Davis & Goadrich (2006) ICML, doi:10.1145/1143844.1143874",
        "Boyd, Eng & Page (2013) ECML PKDD, doi:10.1007/978-3-642-40994-3_29",
    ),
)
