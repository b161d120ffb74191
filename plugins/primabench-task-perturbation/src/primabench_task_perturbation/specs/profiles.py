"""Metrics of mean profiles: errors, effects, discrimination."""

from __future__ import annotations

from primabench_core.spec import Parameter
from primabench_task_perturbation.specs.fields import among_all, over_means, over_rows

AHLMANN = "Ahlmann-Eltze, Huber and Anders (2025) Nat Methods, doi:10.1038/s41592-025-02772-6"
ROOHANI = "Roohani, Huang and Leskovec (2024) Nat Biotechnol 42:927, doi:10.1038/s41587-023-01905-6"
CELL_EVAL = "Adduri et al. (2025) bioRxiv, doi:10.1101/2025.06.26.661135"
PERTURBENCH = "Wu et al. (2024) PerturBench, arXiv:2408.10609"
_ERROR = {"direction": "lower", "low": 0.0, "optimum": 0.0}
_AGREEMENT = {"low": -1.0, "high": 1.0}
_REFERENCE = Parameter(
    "reference",
    "control",
    "profile that both sides are taken against",
    choices=("control", "mean_of_perturbed", "leave_one_out"),
)

l2_pseudobulk = over_means(
    "errors_of_profiles",
    "l2_pseudobulk",
    "Euclidean distance of mean profiles, mean over perturbations.",
    Parameter("top_k_control_genes", 0, "only the genes most expressed in control; 0 for all", kinds=(int,), low=0),
    canonical={"l2_pseudobulk_top_1000_control_genes": {"top_k_control_genes": 1000}},
    references=(AHLMANN,),
    **_ERROR,
)
l2_pseudobulk_top_1000_control_genes = l2_pseudobulk.variant(
    "l2_pseudobulk_top_1000_control_genes",
    summary="Euclidean distance of mean profiles over the 1,000 genes most expressed in control.",
)
mse_pseudobulk = over_means(
    "errors_of_profiles",
    "mse_pseudobulk",
    "Mean squared error of mean profiles, mean over perturbations.",
    references=(CELL_EVAL,),
    **_ERROR,
)
mae_pseudobulk = over_means(
    "errors_of_profiles",
    "mae_pseudobulk",
    "Mean absolute error of mean profiles, mean over perturbations.",
    references=(CELL_EVAL,),
    **_ERROR,
)
mse_top_20_de_genes = over_means(
    "errors_of_profiles",
    "mse_top_20_de_genes",
    "Mean squared error over the first 20 differential genes of the truth.",
    references=(ROOHANI,),
    **_ERROR,
)
weighted_mse = over_means(
    "errors_of_profiles",
    "weighted_mse",
    "Mean squared error with weights from the strength of differential expression.",
    references=("Mejia et al. (2025) bioRxiv, doi:10.1101/2025.06.23.661105",),
    **_ERROR,
)
weighted_r2_delta = over_means(
    "errors_of_profiles",
    "weighted_r2_delta",
    "R² of effects with weights from the strength of differential expression.",
    high=1.0,
    references=("Mejia et al. (2025) bioRxiv, doi:10.1101/2025.06.23.661105",),
)

pearson_delta = over_means(
    "deltas",
    "pearson_delta",
    "Pearson correlation of predicted and true effects, mean over perturbations.",
    _REFERENCE,
    Parameter("top_de_genes", 0, "only the first differential genes of the truth; 0 for all", kinds=(int,), low=0),
    canonical={
        "pearson_delta_centred": {"reference": "mean_of_perturbed"},
        "pearson_delta_leave_one_out": {"reference": "leave_one_out"},
        **{f"pearson_delta_top_{n}_de_genes": {"top_de_genes": n} for n in (20, 50, 100, 200)},
    },
    references=(ROOHANI, AHLMANN),
    **_AGREEMENT,
)
pearson_delta_centred = pearson_delta.variant(
    "pearson_delta_centred", summary="Pearson correlation of effects against the mean of all perturbed profiles."
)
pearson_delta_leave_one_out = pearson_delta.variant(
    "pearson_delta_leave_one_out",
    summary="Pearson correlation of effects against the mean of the other perturbations.",
)
pearson_delta_top_20_de_genes = pearson_delta.variant(
    "pearson_delta_top_20_de_genes", summary="Pearson correlation of effects over the first 20 differential genes."
)
pearson_delta_top_50_de_genes = pearson_delta.variant(
    "pearson_delta_top_50_de_genes", summary="Pearson correlation of effects over the first 50 differential genes."
)
pearson_delta_top_100_de_genes = pearson_delta.variant(
    "pearson_delta_top_100_de_genes", summary="Pearson correlation of effects over the first 100 differential genes."
)
pearson_delta_top_200_de_genes = pearson_delta.variant(
    "pearson_delta_top_200_de_genes", summary="Pearson correlation of effects over the first 200 differential genes."
)
spearman_delta = over_means(
    "deltas",
    "spearman_delta",
    "Spearman correlation of predicted and true effects, mean over perturbations.",
    _REFERENCE,
    references=(CELL_EVAL,),
    **_AGREEMENT,
)
cosine_delta = over_means(
    "deltas",
    "cosine_delta",
    "Cosine of predicted and true effects, mean over perturbations.",
    _REFERENCE,
    references=(PERTURBENCH,),
    **_AGREEMENT,
)

_EXCLUDE = Parameter("exclude_target_gene", True, "leave out the genes aimed at", choices=(True, False))
_RESCALED = Parameter("rescaled", False, "from 0 to 1 with chance 0.5", choices=(False, True))
perturbation_discrimination = over_means(
    "discrimination",
    "perturbation_discrimination",
    "How often a predicted effect is nearest to its own true effect, by rank.",
    Parameter("distance", "l1", "distance of effects", choices=("l1", "l2", "cosine")),
    _EXCLUDE,
    _RESCALED,
    canonical={
        f"perturbation_discrimination_{distance}{suffix}": {"distance": distance, **more}
        for distance in ("l1", "l2", "cosine")
        for suffix, more in (("", {}), ("_rescaled", {"rescaled": True}))
    },
    interval=among_all("its ranks"),
    low=0.0,
    high=1.0,
    references=(CELL_EVAL,),
)
perturbation_discrimination_l1 = perturbation_discrimination.variant("perturbation_discrimination_l1")
perturbation_discrimination_l2 = perturbation_discrimination.variant("perturbation_discrimination_l2")
perturbation_discrimination_cosine = perturbation_discrimination.variant("perturbation_discrimination_cosine")
perturbation_discrimination_l1_rescaled = perturbation_discrimination.variant("perturbation_discrimination_l1_rescaled")
perturbation_discrimination_l2_rescaled = perturbation_discrimination.variant("perturbation_discrimination_l2_rescaled")
perturbation_discrimination_cosine_rescaled = perturbation_discrimination.variant(
    "perturbation_discrimination_cosine_rescaled"
)
perturbation_rank = over_means(
    "discrimination",
    "perturbation_rank",
    "Rank of the right prediction among all by distance to a true effect, mean over perturbations.",
    Parameter("distance", "cosine", "distance of effects", choices=("cosine", "l1", "l2")),
    interval=among_all("its ranks"),
    direction="lower",
    low=0.0,
    high=1.0,
    optimum=0.0,
    references=(PERTURBENCH,),
)

OPENPROBLEMS = (
    "Szałata et al. (2024) NeurIPS Datasets and Benchmarks; Luecken et al. (2025), doi:10.1038/s41587-025-02694-w"
)
mean_rowwise_rmse = over_rows(
    "rowwise",
    "mean_rowwise_rmse",
    "Root mean squared error of predicted signed significance, mean over perturbations.",
    references=(OPENPROBLEMS,),
    **_ERROR,
)
mean_rowwise_pearson = over_rows(
    "rowwise",
    "mean_rowwise_pearson",
    "Pearson correlation of predicted signed significance, mean over perturbations.",
    references=(OPENPROBLEMS,),
    **_AGREEMENT,
)
mean_rowwise_cosine = over_rows(
    "rowwise",
    "mean_rowwise_cosine",
    "Cosine of predicted signed significance, mean over perturbations.",
    references=(OPENPROBLEMS,),
    **_AGREEMENT,
)
