"""Clustering: the task, its synthetic dataset, its splits and baselines."""

from __future__ import annotations

from primabench_core.spec import BaselineSpec, Contract, DatasetSpec, Field, PreparerSpec, RecipeSpec, TaskSpec
from primabench_task_singlecell.specs import PBMC68K, SYNTHETIC_NOTES

NAME = "clustering"
SYNTHETIC_KEY = f"primabench_synthetic/{NAME}@1.0.0"

TASK = TaskSpec(
    name=NAME,
    title="Clustering of cells",
    summary="Group the cells, without any label, so that groups agree with cell types.",
    contract=Contract(
        prediction=(Field("cluster", "label", doc="cluster of the cell, any names or numbers"),),
        solution=(Field("label", "label", doc="cell type"),),
    ),
    metrics=("ari", "nmi", "ami", "v_measure"),
    primary="ari",
    default_dataset=PBMC68K,
    synthetic_dataset=SYNTHETIC_KEY,
    unit="cell",
    supervised=False,
    description="""\
**Input.** `expression` (cells x genes, log-normalised); `label` is missing for every cell. Training and test data are
the same path. **Prediction.** One `cluster` for each cell: text or integers, names are free and carry no meaning.

**Score.** Clusters are compared with the types, never with another clustering of the input. Scores do not depend on
how clusters are called. A noise label (such as -1) is a cluster of its own.

**Tracks.** *k given*: the coordinate `classes` lists the types of the dataset, so that their number is public; which
cell has which type is not. *k not given*: the method must not look at it. Say which one in the labels of a result
(`track=k_given`, `track=k_not_given`) and do not rank the two together.
""",
    references=(
        "Hubert and Arabie 1985, Journal of Classification, doi:10.1007/BF01908075",
        "Luecken et al. 2022, Nature Methods, doi:10.1038/s41592-021-01336-8",
    ),
)

SYNTHETIC = DatasetSpec(
    key=SYNTHETIC_KEY,
    title="Synthetic cells in groups",
    summary="120 made cells x 40 genes, 4 types, 3 donors; for offline trials and tests only.",
    publication="Made by primabench-task-singlecell; not measured, not published.",
    licence="CC0-1.0",
    organism="none (synthetic)",
    modality="synthetic negative-binomial counts, log1p",
    n_units=120,
    content_hash="62a5513169541e41f77739e132a1fd37355d4e32c435d07dc02c519d3852618b",
    notes=SYNTHETIC_NOTES,
)

RECIPE = RecipeSpec(
    dataset=SYNTHETIC_KEY,
    build="primabench_task_singlecell.synthetic.recipes:build_clustering",
    curator="The PrimaBench maintainers",
    history=("2026-11 The PrimaBench maintainers: first version",),
)

PREPARE_PBMC68K = PreparerSpec(
    task=NAME,
    dataset=PBMC68K,
    prepare="primabench_task_singlecell.preparers.clustering:prepare",
    summary="All 700 cells, no label given; training and test data are the same.",
)

PREPARE_SYNTHETIC = PreparerSpec(
    task=NAME,
    dataset=SYNTHETIC_KEY,
    prepare="primabench_task_singlecell.preparers.clustering:prepare",
    summary="All 120 cells, no label given; training and test data are the same.",
)

_BASELINES = "primabench_task_singlecell.baselines.clustering"

PERFECT = BaselineSpec(
    name="perfect",
    task=NAME,
    summary="The types themselves as clusters: the upper end of every metric.",
    predict=f"{_BASELINES}:perfect",
    oracle=True,
)
RANDOM = BaselineSpec(
    name="random",
    task=NAME,
    summary="One of k clusters (k given) for each cell, by a hash of seed and cell id.",
    predict=f"{_BASELINES}:random",
)
SINGLE_CLUSTER = BaselineSpec(
    name="single_cluster",
    task=NAME,
    summary="All cells in one cluster.",
    predict=f"{_BASELINES}:single_cluster",
)
KMEANS = BaselineSpec(
    name="kmeans",
    task=NAME,
    summary="k-means (k given, best of 10 starts) on up to 50 principal components.",
    predict=f"{_BASELINES}:kmeans",
    requires=("scikit-learn",),
)
KMEANS_FREE = BaselineSpec(
    name="kmeans_k_not_given",
    task=NAME,
    summary="k-means on up to 50 principal components, k of 2 to 20 by the largest mean silhouette.",
    predict=f"{_BASELINES}:kmeans_k_not_given",
    requires=("scikit-learn",),
)
