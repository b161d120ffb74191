"""Metrics of protein fitness."""

from __future__ import annotations

from primabench_metrics.specs.fields import POLICY, POSITIVE, SCORE, TRUE_LABEL

from primabench_core.spec import Field, Interval, MetricSpec, Parameter

FITNESS = Field("value", "value", doc="measured fitness (DMS_score); higher is fitter")
FIT = Field("label", "label", doc="1: fit, 0: not (DMS_score_bin)", vocabulary=(0, 1))
ASSAY = Field("assay", "label", doc="deep mutational scan", public=True)
UNIPROT = Field("uniprot", "label", doc="protein of the assay", public=True)
SELECTION = Field(
    "selection", "label", doc="Activity, Binding, Expression, OrganismalFitness or Stability", public=True
)
MSA_DEPTH = Field("msa_depth", "label", doc="Low, Medium or High", optional=True, public=True)
TAXON = Field("taxon", "label", doc="Human, Eukaryote, Prokaryote or Virus", optional=True, public=True)
MUTATION_DEPTH = Field("mutation_depth", "label", doc="1, 2, 3, 4 or 5+", optional=True, public=True)
AVERAGE = Field("value", "value", doc="score of one assay")

_ASSAY = "primabench_task_protein.metrics.assay"
_PANEL = "primabench_task_protein.metrics.panel"
_EXAMPLES = "primabench_task_protein.metrics.examples"
_PROTEINGYM = "Notin et al. (2023) ProteinGym, NeurIPS, doi:10.1101/2023.12.07.570727"
_TREE = (ASSAY, UNIPROT, SELECTION, MSA_DEPTH, TAXON, MUTATION_DEPTH)
_NO_INTERVAL = Interval("none", "proteins, not variants, are independent; proteingym_board resamples them")
_ROUND = Parameter(
    "round_first",
    False,
    "round values to three decimals before, as the script of ProteinGym does",
    choices=(False, True),
)

ndcg_at_10_percent = MetricSpec(
    name="ndcg_at_10_percent",
    summary="NDCG over the top tenth of one assay, gains scaled to [0, 1].",
    compute=f"{_ASSAY}:ndcg_at_10_percent",
    prediction=(SCORE,),
    truth=(FITNESS,),
    low=0.0,
    high=1.0,
    example=f"{_EXAMPLES}:fitness",
    interval=Interval("none", "the top tenth of a resample holds copies of one variant"),
    reproducibility="tolerance",
    rtol=1e-12,
    references=(_PROTEINGYM, "Jarvelin & Kekalainen (2002) ACM TOIS 20:422, doi:10.1145/582415.582418"),
)

top_recall_10_percent = MetricSpec(
    name="top_recall_10_percent",
    summary="Share of the truly best tenth of one assay that is among the predicted best tenth.",
    compute=f"{_ASSAY}:top_recall_10_percent",
    prediction=(SCORE,),
    truth=(FITNESS,),
    low=0.0,
    high=1.0,
    parameters=(Parameter("top", 0.1, "part of the variants that counts as best", kinds=(float,), low=0.0, high=1.0),),
    example=f"{_EXAMPLES}:fitness",
    interval=Interval("none", "the top tenth of a resample holds copies of one variant"),
    references=(_PROTEINGYM,),
)

mcc_at_median = MetricSpec(
    name="mcc_at_median",
    summary="Matthews correlation when variants at or above the median score are called fit.",
    compute=f"{_ASSAY}:mcc_at_median",
    prediction=(SCORE,),
    truth=(TRUE_LABEL,),
    low=-1.0,
    high=1.0,
    parameters=(POSITIVE,),
    check="primabench_metrics.ranking:check_ranking",
    example=f"{_EXAMPLES}:halves",
    references=(_PROTEINGYM,),
)

proteingym_average = MetricSpec(
    name="proteingym_average",
    summary="Mean over assays of a protein and selection type, then over proteins, then over selection types.",
    compute=f"{_PANEL}:proteingym_average",
    prediction=(AVERAGE,),
    truth=(ASSAY, UNIPROT, SELECTION),
    direction="higher",
    parameters=(_ROUND,),
    example=f"{_EXAMPLES}:assays",
    interval=Interval("none", "assays of one protein are not independent; proteingym_board resamples proteins"),
    references=(_PROTEINGYM,),
)


def _fitness(name: str, what: str, truth: Field, low: float) -> MetricSpec:
    return MetricSpec(
        name=f"fitness_{name}",
        summary=f"{what} within each assay, averaged by the tree of ProteinGym.",
        compute=f"{_PANEL}:fitness_{name}",
        prediction=(SCORE,),
        truth=(truth, *_TREE),
        low=low,
        high=1.0,
        parameters=(POLICY,),
        example=f"{_EXAMPLES}:{'valued' if truth is FITNESS else 'labelled'}_scans",
        interval=_NO_INTERVAL,
        reproducibility="tolerance" if "ndcg" in name else "exact",
        rtol=1e-12 if "ndcg" in name else 0.0,
        references=(_PROTEINGYM,),
    )


fitness_spearman = _fitness("spearman", "Spearman correlation", FITNESS, -1.0)
fitness_auroc = _fitness("auroc", "AUROC of fit variants", FIT, 0.0)
fitness_mcc = _fitness("mcc", "Matthews correlation at the median score", FIT, -1.0)
fitness_ndcg_at_10_percent = _fitness("ndcg_at_10_percent", "NDCG over the top tenth", FITNESS, 0.0)
fitness_top_recall_10_percent = _fitness("top_recall_10_percent", "Recall of the best tenth", FITNESS, 0.0)
