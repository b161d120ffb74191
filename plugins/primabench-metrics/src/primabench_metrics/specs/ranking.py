"""Metrics of how rows are ranked by a score."""

from __future__ import annotations

from primabench_core.spec import Interval, MetricSpec, Parameter
from primabench_metrics.specs.fields import (
    GROUP,
    OPTIONAL_GROUP,
    POSITIVE,
    PREDICTED_VALUE,
    PROBABILITY,
    SCORE,
    TRUE_LABEL,
    TRUE_VALUE,
)

_MODULE = "primabench_metrics.ranking"

auroc = MetricSpec(
    name="auroc",
    summary="Probability that a positive row scores above a negative one, ties count half.",
    compute=f"{_MODULE}:auroc",
    weighted="primabench_metrics.weighted.ranking:auroc",
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
    weighted="primabench_metrics.weighted.ranking:average_precision",
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

_PAIRWISE = "primabench_metrics.pairwise"
_RETRIEVAL = "primabench_metrics.retrieval"
_PER = Parameter(
    "per", "group", "one list a group (all rows without a group field), or all rows", choices=("group", "all")
)
_NO_INTERVAL = Interval("none", "groups, not rows, are independent, and resampling rows would take them apart")
_K = Parameter("k", 10, "rows looked at, all of a shorter list", kinds=(int,), low=1)

concordance_index = MetricSpec(
    name="concordance_index",
    summary="Share of pairs with unequal truth that are predicted in the same order, ties half.",
    compute=f"{_PAIRWISE}:concordance_index",
    prediction=((PREDICTED_VALUE, SCORE),),
    truth=(TRUE_VALUE,),
    low=0.0,
    high=1.0,
    references=("Harrell et al. (1982) JAMA 247:2543, doi:10.1001/jama.1982.03320430047030",),
)

paired_accuracy = MetricSpec(
    name="paired_accuracy",
    summary="Share of pairs whose positive scores above its negative, ties half.",
    compute=f"{_PAIRWISE}:paired_accuracy",
    prediction=(SCORE,),
    truth=(TRUE_LABEL, GROUP),
    low=0.0,
    high=1.0,
    parameters=(POSITIVE,),
    check="primabench_metrics.ranking:check_ranking",
    interval=_NO_INTERVAL,
    references=("Patel et al. (2024) DART-Eval, arXiv:2412.05430",),
)

mrr = MetricSpec(
    name="mrr",
    summary="Mean over lists of one over the rank of the first positive.",
    compute=f"{_RETRIEVAL}:mrr",
    prediction=(SCORE,),
    truth=(TRUE_LABEL, OPTIONAL_GROUP),
    low=0.0,
    high=1.0,
    parameters=(POSITIVE, _PER),
    check="primabench_metrics.ranking:check_ranking",
    interval=_NO_INTERVAL,
    references=("Voorhees (1999) TREC-8, NIST SP 500-246",),
)

hit_rate_at_k = MetricSpec(
    name="hit_rate_at_k",
    summary="Share of lists with a positive among the first k.",
    compute=f"{_RETRIEVAL}:hit_rate_at_k",
    prediction=(SCORE,),
    truth=(TRUE_LABEL, OPTIONAL_GROUP),
    low=0.0,
    high=1.0,
    parameters=(_K, POSITIVE, _PER),
    check="primabench_metrics.ranking:check_ranking",
    example="primabench_metrics.examples:ranked_lists",
    interval=_NO_INTERVAL,
    references=("Manning, Raghavan & Schuetze (2008) Introduction to Information Retrieval, chapter 8",),
)

recall_at_k = MetricSpec(
    name="recall_at_k",
    summary="Mean over lists of the share of positives found among the first k.",
    compute=f"{_RETRIEVAL}:recall_at_k",
    prediction=(SCORE,),
    truth=(TRUE_LABEL, OPTIONAL_GROUP),
    low=0.0,
    high=1.0,
    parameters=(_K, POSITIVE, _PER),
    check="primabench_metrics.ranking:check_ranking",
    example="primabench_metrics.examples:ranked_lists",
    interval=_NO_INTERVAL,
    references=("Manning, Raghavan & Schuetze (2008) Introduction to Information Retrieval, chapter 8",),
)

enrichment_factor = MetricSpec(
    name="enrichment_factor",
    summary="Share of positives among the top fraction over their share among all.",
    compute=f"{_RETRIEVAL}:enrichment_factor",
    prediction=(SCORE,),
    truth=(TRUE_LABEL,),
    low=0.0,
    parameters=(
        Parameter("fraction", 0.01, "part of all rows that is looked at", kinds=(float,), low=0.0, high=1.0),
        POSITIVE,
    ),
    check="primabench_metrics.ranking:check_ranking",
    references=("Truchon & Bayly (2007) J Chem Inf Model 47:488, doi:10.1021/ci600426e",),
)

ndcg_at_k = MetricSpec(
    name="ndcg_at_k",
    summary="Discounted gain of the top k over that of the ideal order.",
    compute=f"{_RETRIEVAL}:ndcg_at_k",
    prediction=(SCORE,),
    truth=(TRUE_VALUE, OPTIONAL_GROUP),
    low=0.0,
    high=1.0,
    parameters=(
        _K,
        Parameter("fraction", 0.0, "if positive, k is this part of each list", kinds=(float,), low=0.0, high=1.0),
        Parameter("gains", "raw", "the values, or the values scaled to [0, 1]", choices=("raw", "min_max")),
        _PER,
    ),
    reproducibility="tolerance",
    rtol=1e-12,
    interval=_NO_INTERVAL,
    references=(
        "Jarvelin & Kekalainen (2002) ACM TOIS 20:422, doi:10.1145/582415.582418",
        "McSherry & Najork (2008) ECIR, doi:10.1007/978-3-540-78646-7_38",
    ),
)
