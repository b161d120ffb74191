"""Metrics of variants, sequences and tracks."""

from __future__ import annotations

from primabench_metrics.specs.fields import EMBEDDING, POLICY, POSITIVE, PROBABILITY

from primabench_core.spec import Interval, MetricSpec, Parameter
from primabench_task_genome.specs.fields import (
    CALLED,
    CHROMOSOME,
    CLASS,
    EFFECT,
    FOLD,
    GENE,
    LABEL,
    PEAK,
    REGION,
    SCORE,
    SEEN,
    SIGNIFICANT,
    TRACKS,
    TRUE_TRACKS,
)

_VARIANTS = "primabench_task_genome.metrics.variants"
_TRACKS = "primabench_task_genome.metrics.tracks"
_EXAMPLES = "primabench_task_genome.metrics.examples"
_CHECK = "primabench_metrics.ranking:check_ranking"
_DEFINED_ONLY = Parameter(
    "policy",
    "defined_only",
    "what a part without a value does to the mean",
    choices=("strict", "defined_only", "penalise_constant_prediction"),
)
_TRAITGYM = "Benegas et al. (2025) TraitGym, bioRxiv, doi:10.1101/2025.02.11.637758"
_BEND = "Marin et al. (2024) BEND, ICLR, arXiv:2311.12570"

auprc_by_chrom_weighted_average = MetricSpec(
    name="auprc_by_chrom_weighted_average",
    summary="Average precision of each chromosome, weighted by its number of variants.",
    compute=f"{_VARIANTS}:auprc_by_chrom_weighted_average",
    prediction=(SCORE,),
    truth=(LABEL, CHROMOSOME),
    low=0.0,
    high=1.0,
    parameters=(POSITIVE,),
    check=_CHECK,
    interval=Interval("none", "values['standard_error'] resamples chromosomes, the independent units"),
    references=(_TRAITGYM,),
)

auroc_mean_over_genes = MetricSpec(
    name="auroc_mean_over_genes",
    summary="Mean over genes of the AUROC within the gene.",
    compute=f"{_VARIANTS}:auroc_mean_over_genes",
    prediction=(SCORE,),
    truth=(LABEL, GENE),
    low=0.0,
    high=1.0,
    parameters=(POSITIVE, _DEFINED_ONLY),
    check=_CHECK,
    example=f"{_EXAMPLES}:variants",
    interval=Interval("none", "genes, not variants, are independent, and resampling variants would empty them"),
    references=("Hanley & McNeil (1982) Radiology 143:29, doi:10.1148/radiology.143.1.7063747",),
)

average_precision_mean_over_genes = MetricSpec(
    name="average_precision_mean_over_genes",
    summary="Mean over genes of the average precision within the gene.",
    compute=f"{_VARIANTS}:average_precision_mean_over_genes",
    prediction=(SCORE,),
    truth=(LABEL, GENE),
    low=0.0,
    high=1.0,
    parameters=(POSITIVE, _DEFINED_ONLY),
    check=_CHECK,
    example=f"{_EXAMPLES}:variants",
    interval=Interval("none", "genes, not variants, are independent, and resampling variants would empty them"),
    references=("Davis & Goadrich (2006) ICML, doi:10.1145/1143844.1143874",),
)

mcc_at_prevalence = MetricSpec(
    name="mcc_at_prevalence",
    summary="Matthews correlation when as many variants are called as there are positives.",
    compute=f"{_VARIANTS}:mcc_at_prevalence",
    prediction=(SCORE,),
    truth=(LABEL,),
    low=-1.0,
    high=1.0,
    parameters=(POSITIVE,),
    check=_CHECK,
    references=("Matthews (1975) BBA 405:442, doi:10.1016/0005-2795(75)90109-9",),
)

mcc_at_prevalence_mean_over_genes = MetricSpec(
    name="mcc_at_prevalence_mean_over_genes",
    summary="Mean over genes of the Matthews correlation within the gene, as many called as it has positives.",
    compute=f"{_VARIANTS}:mcc_at_prevalence_mean_over_genes",
    prediction=(SCORE,),
    truth=(LABEL, GENE),
    low=-1.0,
    high=1.0,
    parameters=(POSITIVE, _DEFINED_ONLY),
    check=_CHECK,
    example=f"{_EXAMPLES}:variants",
    interval=Interval("none", "genes, not variants, are independent, and resampling variants would empty them"),
    references=("Matthews (1975) BBA 405:442, doi:10.1016/0005-2795(75)90109-9",),
)

average_precision_standard_error = MetricSpec(
    name="average_precision_standard_error",
    summary="Standard error of the average precision over all variants, by a bootstrap within classes.",
    compute=f"{_VARIANTS}:average_precision_standard_error",
    prediction=(SCORE,),
    truth=(LABEL,),
    direction="info",
    low=0.0,
    high=1.0,
    parameters=(POSITIVE,),
    check=_CHECK,
    interval=Interval("none", "it is itself made of resamples"),
    references=(_TRAITGYM, "Efron & Tibshirani (1993) An Introduction to the Bootstrap, doi:10.1201/9780429246593"),
)

significance_auroc = MetricSpec(
    name="significance_auroc",
    summary="AUROC of the size of predicted effects against significance.",
    compute=f"{_VARIANTS}:significance_auroc",
    prediction=(EFFECT,),
    truth=(SIGNIFICANT,),
    low=0.0,
    high=1.0,
    example=f"{_EXAMPLES}:effects",
    references=("Hanley & McNeil (1982) Radiology 143:29, doi:10.1148/radiology.143.1.7063747",),
)

significance_average_precision = MetricSpec(
    name="significance_average_precision",
    summary="Average precision of the size of predicted effects against significance.",
    compute=f"{_VARIANTS}:significance_average_precision",
    prediction=(EFFECT,),
    truth=(SIGNIFICANT,),
    low=0.0,
    high=1.0,
    example=f"{_EXAMPLES}:effects",
    references=("Davis & Goadrich (2006) ICML, doi:10.1145/1143844.1143874",),
)

mcc_mean_over_folds = MetricSpec(
    name="mcc_mean_over_folds",
    summary="Mean over folds of the Matthews correlation within the fold.",
    compute="primabench_task_genome.metrics.sequences:mcc_mean_over_folds",
    prediction=(CALLED,),
    truth=(CLASS, FOLD),
    low=-1.0,
    high=1.0,
    parameters=(POLICY,),
    example=f"{_EXAMPLES}:folds",
    interval=Interval("none", "values['standard_deviation'] is over folds; folds share training rows"),
    references=("Dalla-Torre et al. (2025) Nat Methods 22:287, doi:10.1038/s41592-024-02523-z",),
)

leaked_share = MetricSpec(
    name="leaked_share",
    summary="Share of test rows that training holds too; a fact about the data beside every score.",
    compute="primabench_task_genome.metrics.sequences:leaked_share",
    prediction=((CALLED, PROBABILITY, EMBEDDING),),
    truth=(CLASS, SEEN),
    direction="info",
    low=0.0,
    high=1.0,
    interval=Interval("none", "a fact about the data, not an estimate"),
    references=("Broder (1997) SEQUENCES, doi:10.1109/SEQUEN.1997.666900",),
)

mcc_without_leaks = MetricSpec(
    name="mcc_without_leaks",
    summary="Matthews correlation over the test rows that training does not hold.",
    compute="primabench_task_genome.metrics.sequences:mcc_without_leaks",
    prediction=(CALLED,),
    truth=(CLASS, SEEN),
    low=-1.0,
    high=1.0,
    example=f"{_EXAMPLES}:leaks",
    references=("Matthews (1975) BBA 405:442, doi:10.1016/0005-2795(75)90109-9",),
)

pearson_over_bins_then_mean_over_tracks = MetricSpec(
    name="pearson_over_bins_then_mean_over_tracks",
    summary="Pearson correlation of each track over all bins, then the mean over tracks.",
    compute=f"{_TRACKS}:pearson_over_bins_then_mean_over_tracks",
    prediction=(TRACKS,),
    truth=(TRUE_TRACKS,),
    state="sums",
    sums=("moments",),
    low=-1.0,
    high=1.0,
    parameters=(POLICY,),
    references=("Avsec et al. (2021) Nat Methods 18:1196, doi:10.1038/s41592-021-01252-x",),
)

spearman_over_counts_then_mean_over_tracks = MetricSpec(
    name="spearman_over_counts_then_mean_over_tracks",
    summary="Spearman correlation over regions of each track's total, then the mean over tracks.",
    compute=f"{_TRACKS}:spearman_over_counts_then_mean_over_tracks",
    prediction=(TRACKS,),
    truth=(TRUE_TRACKS, REGION),
    low=-1.0,
    high=1.0,
    parameters=(POLICY,),
    example=f"{_EXAMPLES}:tracks",
    interval=Interval("none", "regions, not bins, are independent, and a region drawn twice would be one region"),
    references=("Avsec et al. (2021) Nat Genet 53:354, doi:10.1038/s41588-021-00782-6",),
)

auroc_over_bins_then_mean_over_tracks = MetricSpec(
    name="auroc_over_bins_then_mean_over_tracks",
    summary="AUROC of each track over its bins, then the mean over tracks.",
    compute=f"{_TRACKS}:auroc_over_bins_then_mean_over_tracks",
    prediction=(TRACKS,),
    truth=(PEAK,),
    low=0.0,
    high=1.0,
    parameters=(_DEFINED_ONLY,),
    example=f"{_EXAMPLES}:peaks",
    references=(_BEND,),
)

average_precision_over_bins_then_mean_over_tracks = MetricSpec(
    name="average_precision_over_bins_then_mean_over_tracks",
    summary="Average precision of each track over its bins, then the mean over tracks.",
    compute=f"{_TRACKS}:average_precision_over_bins_then_mean_over_tracks",
    prediction=(TRACKS,),
    truth=(PEAK,),
    low=0.0,
    high=1.0,
    parameters=(_DEFINED_ONLY,),
    example=f"{_EXAMPLES}:peaks",
    references=(_BEND,),
)
