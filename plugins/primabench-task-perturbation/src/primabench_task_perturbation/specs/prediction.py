"""Perturbation prediction: the task, its synthetic dataset, its splits and baselines."""

from __future__ import annotations

from attrs import evolve

from primabench_core.spec import BaselineSpec, Contract, DatasetSpec, PreparerSpec, RecipeSpec, TaskSpec
from primabench_task_perturbation.specs.fields import (
    CONTEXT,
    NAMES,
    PREDICTED,
    REPLICATE,
    ROLE,
    RULES,
    TRUE,
    TRUE_NAMES,
)

NAME = "perturbation_prediction"
SYNTHETIC_KEY = f"primabench_synthetic/{NAME}@1.0.0"
NORMAN = "peidli_2024_nature_methods/norman_2019@1.0.0"
ADAMSON = "peidli_2024_nature_methods/adamson_2016@1.0.0"
REPLOGLE = "peidli_2024_nature_methods/replogle_2022_k562_essential@1.0.0"
KANG = "kang_2018_nature_biotechnology/ifnb_pbmc@1.0.0"

_STATE = "log(1 + counts per 10,000)"

TASK = TaskSpec(
    name=NAME,
    title="Perturbation prediction",
    summary="Predict the expression of cells after perturbations that were never seen.",
    contract=Contract(
        prediction=(evolve(PREDICTED, units=_STATE), evolve(NAMES, optional=False), REPLICATE),
        solution=(evolve(TRUE, units=_STATE), evolve(TRUE_NAMES, optional=False), ROLE, CONTEXT, REPLICATE),
        **RULES,
    ),
    metrics=(
        "l2_pseudobulk",
        "l2_pseudobulk_top_1000_control_genes",
        "mse_pseudobulk",
        "mae_pseudobulk",
        "mse_top_20_de_genes",
        "weighted_mse",
        "weighted_r2_delta",
        "pearson_delta",
        "pearson_delta_centred",
        "pearson_delta_leave_one_out",
        "pearson_delta_top_20_de_genes",
        "pearson_delta_top_50_de_genes",
        "pearson_delta_top_100_de_genes",
        "pearson_delta_top_200_de_genes",
        "spearman_delta",
        "cosine_delta",
        "perturbation_discrimination_l1",
        "perturbation_discrimination_l2",
        "perturbation_discrimination_cosine",
        "perturbation_rank",
        "energy_distance",
        "mmd_rbf",
        "wasserstein",
        "pearson_edistance",
        "de_overlap_at_n",
        "de_precision_at_n",
        "de_recall",
        "de_direction_match",
        "de_spearman_lfc",
        "de_count_spearman",
        "de_auroc",
        "de_average_precision",
    ),
    primary="l2_pseudobulk_top_1000_control_genes",
    default_dataset=NORMAN,
    synthetic_dataset=SYNTHETIC_KEY,
    unit="perturbation",
    description="""\
**Input.** Training cells: `value` (cells x genes, log(1 + counts per 10,000)), `perturbation` (`control`, `A`, or
`A+B` in alphabetical order). Test: the names of held-out perturbations, the genes that they aim at (`target_genes`),
and their class (`split_class`). **Prediction.** `value` and `perturbation`: predicted cells with ids of their own, any
number for each perturbation, or one mean profile for each. Dense or sparse; genes are joined by name (`genes`).

**Score.** Cells are averaged for each perturbation, and perturbations weigh equally. The control is always that of the
solution: control rows of a prediction are dropped and counted. Beside the scores of mean profiles stand those of *no
change*, of the *mean of the training perturbations*, of the *additive* model (pairs whose genes were both seen alone)
and the *data ceiling* (one half of the true cells against the other); `relative_to_…` is (score - baseline)/(optimum -
baseline), not clipped. Beside scores of cells and of differential genes stand *no change* and the ceiling. A
model that does not beat the mean has learnt no perturbation.

**Cells or profiles.** Distances of clouds and metrics of differential expression need predicted cells and are
`not_applicable` to profiles. Metrics of profiles keep exact sums alone. `energy_distance`, `mmd_rbf`, `wasserstein` and
`pearson_edistance` keep at most `max_cells` (500) cells of a perturbation, chosen by a hash of the row id. The `de_…`
metrics keep all cells, because each gene is ranked over all of them: 4 bytes a number, or 8 for each that is not zero
where most are zero, and look at 64 genes at a time; ask for the other metrics by name where memory matters.

**Differential expression** of the truth lies in the solution, with the name of its test; the same test with the same
control cells is run on the prediction. Where a dataset has replicates (donors), it is tested between them
(`pseudobulk-moderated-t-bh/1`): a prediction says the donor of each cell in `replicate`, and without it, or with
names that the truth has not, the `de_…` metrics are `not_applicable`. `replicates` of the test data names the donors
of a held-out perturbation, joined by `+`. Elsewhere cells are tested (`wilcoxon-bh/1`).

**Known pathologies.** A shift that all perturbed cells share lifts every delta metric of the mean baseline: read
`pearson_delta_centred`. Effects scaled up are discriminated more easily by l1 and l2: read the cosine. The number of
cells of a hidden perturbation tells how many genes will be significant: it is not given.
""",
    references=(
        "Ahlmann-Eltze, Huber and Anders 2025, Nature Methods, doi:10.1038/s41592-025-02772-6",
        "Roohani, Huang and Leskovec 2024, Nature Biotechnology, doi:10.1038/s41587-023-01905-6",
    ),
)

SYNTHETIC = DatasetSpec(
    key=SYNTHETIC_KEY,
    title="Synthetic perturbed cells",
    summary="448 made cells x 48 genes: controls, 12 genes alone, 12 pairs; for offline trials and tests only.",
    publication="Made by primabench-task-perturbation; not measured, not published.",
    licence="CC0-1.0",
    organism="none (synthetic)",
    modality="synthetic negative-binomial counts, log1p",
    n_units=448,
    content_hash="9a6cbc2cce2090d037de1b0a11174ba197e9bf212d9e7aedf975af80781663c2",
    notes="Effects of pairs are products of those of their genes: the additive model is right in the logarithm. "
    "One gene answers to every perturbation, as stress does.\n",
)

RECIPE = RecipeSpec(
    dataset=SYNTHETIC_KEY,
    build="primabench_task_perturbation.synthetic.recipes:build",
    curator="The PrimaBench maintainers",
    history=("2026-11 The PrimaBench maintainers: first version",),
)

_SCREENS = "primabench_task_perturbation.preparers.screens"
_SIMULATION = (
    "GEARS' simulation split by a hash of seed 1 and name: three quarters of the perturbed genes are seen. Held out "
    "are unseen_single, combo_seen0, combo_seen1 and a quarter of the combinations of seen genes (combo_seen2). "
    "Perturbations of fewer than 10 cells are left out; 5,000 genes of largest variance over training cells."
)
_LEAVE_OUT = (
    "A quarter of the perturbations, by a hash of seed 1 and name, is held out. Perturbations of fewer than 10 cells "
    "are left out; 5,000 genes of largest variance over training cells."
)
PREPARE_NORMAN = PreparerSpec(task=NAME, dataset=NORMAN, prepare=f"{_SCREENS}:prepare_simulation", summary=_SIMULATION)
PREPARE_ADAMSON = PreparerSpec(task=NAME, dataset=ADAMSON, prepare=f"{_SCREENS}:prepare_leave_out", summary=_LEAVE_OUT)
PREPARE_REPLOGLE = PreparerSpec(
    task=NAME, dataset=REPLOGLE, prepare=f"{_SCREENS}:prepare_leave_out", summary=_LEAVE_OUT
)
PREPARE_KANG = PreparerSpec(
    task=NAME,
    dataset=KANG,
    prepare="primabench_task_perturbation.preparers.treatments:prepare",
    summary="A quarter of the donors, by a hash of seed 1, is held out: their stimulated cells are the answer, type by "
    "type, against untreated cells of the same type and donors. Types of fewer than 10 cells on a side are left out, "
    "and those that fewer than two held-out donors have. Differential expression between donors.",
)
PREPARE_SYNTHETIC = PreparerSpec(
    task=NAME, dataset=SYNTHETIC_KEY, prepare=f"{_SCREENS}:prepare_simulation", summary=_SIMULATION
)

_BASELINES = "primabench_task_perturbation.baselines"
PERFECT = BaselineSpec(
    name="perfect",
    task=NAME,
    summary="The measured cells themselves: the better end of every metric.",
    predict=f"{_BASELINES}:perfect",
    oracle=True,
)
NO_CHANGE = BaselineSpec(
    name="no_change", task=NAME, summary="The mean of the control cells.", predict=f"{_BASELINES}:no_change"
)
MEAN_OF_TRAIN = BaselineSpec(
    name="mean_of_train",
    task=NAME,
    summary="The mean over training perturbations of their mean profiles.",
    predict=f"{_BASELINES}:mean_of_train",
)
ADDITIVE = BaselineSpec(
    name="additive",
    task=NAME,
    summary="Control plus the effects of both genes; the mean of training where one was never seen alone.",
    predict=f"{_BASELINES}:additive",
)
RANDOM = BaselineSpec(
    name="random",
    task=NAME,
    summary="The mean profile of a training perturbation drawn by a hash of seed and name.",
    predict=f"{_BASELINES}:random",
)
