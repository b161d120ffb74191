"""Batch integration: the task, its synthetic dataset, its preparers and baselines."""

from __future__ import annotations

from primabench_core.spec import BaselineSpec, Contract, DatasetSpec, PreparerSpec, RecipeSpec, TaskSpec
from primabench_task_singlecell.specs import SYNTHETIC_NOTES
from primabench_task_singlecell.specs.integration_fields import (
    BATCH,
    BEFORE,
    CELL_CYCLE,
    CORRECTED,
    COUNTS,
    EMBEDDING,
    EXPRESSION,
    LABEL,
    NEIGHBOUR_DISTANCES,
    NEIGHBOURS,
    PSEUDOTIME_WHERE_CURATED,
    RATE,
    ROLE,
)

NAME = "batch_integration"
SYNTHETIC_KEY = f"primabench_synthetic/{NAME}@1.0.0"
IMMUNE_HUMAN = "luecken_2022_nature_methods/immune_human@1.0.0"
KANG = "kang_2018_nature_biotechnology/ifnb_pbmc@1.0.0"

TASK = TaskSpec(
    name=NAME,
    title="Batch integration",
    summary="Bring cells of several batches into one space: batch effects go, cell types stay.",
    contract=Contract(
        prediction=(EMBEDDING, CORRECTED, NEIGHBOURS, NEIGHBOUR_DISTANCES, RATE),
        solution=(LABEL, BATCH, BEFORE, EXPRESSION, CELL_CYCLE, PSEUDOTIME_WHERE_CURATED, COUNTS, ROLE),
    ),
    metrics=(
        "aggregate_unscaled",
        "bio_score",
        "batch_score",
        "silhouette_label",
        "nmi_leiden",
        "ari_leiden",
        "nmi_kmeans",
        "ari_kmeans",
        "clisi",
        "isolated_labels_asw",
        "isolated_labels_f1",
        "bras",
        "silhouette_batch",
        "ilisi",
        "kbet",
        "kbet_fixed_k",
        "graph_connectivity",
        "pcr_comparison",
        "entropy_per_cell",
        "cell_cycle_conservation",
        "hvg_overlap",
        "trajectory_conservation",
        "poisson_deviance",
        "nb_deviance",
        "reconstruction_pearson",
    ),
    primary="aggregate_unscaled",
    default_dataset=IMMUNE_HUMAN,
    synthetic_dataset=SYNTHETIC_KEY,
    unit="cell",
    supervised=False,
    description="""\
**Input.** `all_counts` (cells x `all_genes`), `expression` (cells x `genes`, log-normalised, the genes that are scored)
and `batch`; `label` is missing for every cell. Training and test data are the same path.

**Prediction.** One of: `embedding`; `corrected`, a matrix over the genes of `expression`; `neighbours`, the row numbers
(in the order of the test split) of the nearest other cells, with `neighbour_distances` if there are any. A metric that
is not defined for what was predicted has no value (`not_applicable`), which is not zero: a graph has no silhouettes, an
embedding no variable genes. A corrected matrix is looked at through its first fifty components.

**Models of counts.** A variational autoencoder takes `all_counts` and `batch` and gives a latent space: that is an
`embedding` like any other. It may hand in `rate` beside it, the expected counts of each cell over the scored genes.
Deviances and correlation are taken on the cells whose `role` is `score`: fit the model on cells of role `fit` alone and
encode the others. A lower deviance is better. Likelihoods of different observation models do not compare, these do.

**Score.** `aggregate_unscaled` = 0.6 `bio_score` + 0.4 `batch_score`, unscaled: no other method enters, and one part
without a value leaves it without one. All metrics share one exact graph of neighbours and one pass over all distances.
Intervals are not given: a cell that is drawn twice is its own nearest neighbour.

**Rules.** `perfect` knows the types; where batches are not equally large it does not reach 1 either. Batches that are
confounded with types (nested) make `silhouette_batch` mislead; `bras` is in the score for that reason.
""",
    references=(
        "Luecken et al. 2022, Nature Methods, doi:10.1038/s41592-021-01336-8",
        "Rautenstrauch and Ohler 2025, Nature Biotechnology, doi:10.1038/s41587-025-02743-4",
    ),
)

SYNTHETIC = DatasetSpec(
    key=SYNTHETIC_KEY,
    title="Synthetic cells in batches",
    summary="116 made cells x 40 genes, 4 types, 3 batches, one type absent from a batch; for trials and tests.",
    publication="Made by primabench-task-singlecell; not measured, not published.",
    licence="CC0-1.0",
    organism="none (synthetic)",
    modality="synthetic negative-binomial counts, log1p",
    n_units=116,
    content_hash="10b1778c3206b0122f4e713c06c49c0e519ffa22dfc66c9e2f90bbace40df48f",
    notes=SYNTHETIC_NOTES + "Donors are the batches; no cell of type `delta` is in batch `d3`.\n",
)

RECIPE = RecipeSpec(
    dataset=SYNTHETIC_KEY,
    build="primabench_task_singlecell.synthetic.batches:build",
    curator="The PrimaBench maintainers",
    history=("2026-11 The PrimaBench maintainers: first version",),
)

_PREPARERS = "primabench_task_singlecell.preparers.integration"
_HOW = (
    "All cells, no type given; one cell in ten of each batch is held out from models of counts. Scored genes: the "
    "2,000 with the largest normalised dispersion, averaged over batches. Before: their first 50 components."
)

PREPARE_IMMUNE_HUMAN = PreparerSpec(
    task=NAME, dataset=IMMUNE_HUMAN, prepare=f"{_PREPARERS}:prepare_immune_human", summary=_HOW
)
PREPARE_KANG = PreparerSpec(
    task=NAME,
    dataset=KANG,
    prepare=f"{_PREPARERS}:prepare_kang",
    summary="The condition (control, interferon) is the batch: a true effect of biology is to be removed, so that the "
    f"score says how well conditions align, not whether they should. {_HOW}",
)
PREPARE_SYNTHETIC = PreparerSpec(task=NAME, dataset=SYNTHETIC_KEY, prepare=f"{_PREPARERS}:prepare", summary=_HOW)

_BASELINES = "primabench_task_singlecell.baselines.integration"

PERFECT = BaselineSpec(
    name="perfect",
    task=NAME,
    summary="A place for each type and no batches: the upper end, as far as the sizes of batches allow.",
    predict=f"{_BASELINES}:perfect",
    oracle=True,
)
RANDOM = BaselineSpec(
    name="random",
    task=NAME,
    summary="Ten numbers a cell, drawn by a hash of seed and id: batches are mixed, and so are types.",
    predict=f"{_BASELINES}:random",
)
UNINTEGRATED = BaselineSpec(
    name="unintegrated",
    task=NAME,
    summary="The first fifty principal components of expression: nothing done about batches.",
    predict=f"{_BASELINES}:unintegrated",
    requires=("scikit-learn",),
)
BATCH_CENTRED = BaselineSpec(
    name="batch_centred",
    task=NAME,
    summary="Expression less the mean of its batch, plus that of all cells, as a corrected matrix.",
    predict=f"{_BASELINES}:batch_centred",
)
HARMONY = BaselineSpec(
    name="harmony",
    task=NAME,
    summary="Harmony on fifty principal components; needs the extra harmony.",
    predict=f"{_BASELINES}_harmony:harmony",
    requires=("harmonypy", "pandas"),
)
SCANORAMA = BaselineSpec(
    name="scanorama",
    task=NAME,
    summary="Scanorama over batches in the order of their names; needs the extra scanorama.",
    predict=f"{_BASELINES}_scanorama:scanorama",
    requires=("scanorama",),
)
