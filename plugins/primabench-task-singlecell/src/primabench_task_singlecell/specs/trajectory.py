"""Trajectory inference: the task, its synthetic dataset, its preparers and baselines."""

from __future__ import annotations

from primabench_core.spec import BaselineSpec, Contract, DatasetSpec, PreparerSpec, RecipeSpec, TaskSpec
from primabench_task_singlecell.specs.trajectory_metrics import CLUSTER, EXPRESSION, PSEUDOTIME, STAGE, VELOCITY

NAME = "trajectory_inference"
SYNTHETIC_KEY = f"primabench_synthetic/{NAME}@1.0.0"
GUO = "angerer_2016_bioinformatics/guo_embryo@1.0.0"
PANCREAS = "bergen_2020_nature_biotechnology/pancreas@1.0.0"

TASK = TaskSpec(
    name=NAME,
    title="Trajectory inference",
    summary="Order cells in the course of development, and say which way each of them moves.",
    contract=Contract(prediction=(PSEUDOTIME, VELOCITY), solution=(STAGE, EXPRESSION, CLUSTER)),
    metrics=("pseudotime_spearman", "pseudotime_kendall_tau_b", "adjacent_stage_accuracy", "cbdir", "iccoh"),
    primary="pseudotime_spearman",
    default_dataset=GUO,
    synthetic_dataset=SYNTHETIC_KEY,
    unit="cell",
    independent_unit="sample",
    supervised=False,
    description="""\
**Input.** `expression` (cells x genes, genes named by the coordinate `genes`), `root` (1 for one cell of the first
stage, 0 for all others), and where they were measured `spliced` and `unspliced` counts over `all_genes`; no stage is
given. Training and test data are the same path.

**Prediction.** `pseudotime`, a number for each cell, larger is later; its scale is free. `velocity` (cells x genes of
`expression`, by name) may come along.

**Score.** Pseudotime is compared with stages that were known when the cells were taken, not with another method's
pseudotime. The root is given, so that the sign is kept: a reversed order is wrong. `adjacent_stage_accuracy` looks at
neighbouring stages alone, which a coarse order cannot win. `cbdir` asks whether velocities of cells at the edge of a
stage point to the next one, `iccoh` whether neighbours agree; a constant velocity has `iccoh` 1, so that it never
stands alone. Without velocities both are `not_applicable`, which is not zero.

**Rules.** Names of cells say nothing: where a source names them by stage, the recipe gives them new names and an order
that follows from their expression. Stages are no input.

**Intervals** resample samples (embryos) where the source tells them, else cells, which are then taken for independent
although they are not. Metrics of velocities have none.
""",
    references=(
        "Qiao and Huang 2021, PNAS, doi:10.1073/pnas.2105859118",
        "Guo et al. 2010, Developmental Cell, doi:10.1016/j.devcel.2010.02.012",
    ),
)

SYNTHETIC = DatasetSpec(
    key=SYNTHETIC_KEY,
    title="Synthetic cells along a line",
    summary="100 made cells x 30 genes in five stages; for offline trials and tests only.",
    publication="Made by primabench-task-singlecell; not measured, not published.",
    licence="CC0-1.0",
    organism="none (synthetic)",
    modality="synthetic negative-binomial counts, log1p",
    n_units=100,
    content_hash="9c831375fc50fbf11c336cb916b534497cfb74cebf70e7524673d5aa80258905",
    notes="""\
**Synthetic: no cell was measured.** Ten genes rise along the line, ten fall, ten stay. Counts are drawn with integers
alone, so that every machine makes the same bytes. The truth can be made again by anybody.
""",
)

RECIPE = RecipeSpec(
    dataset=SYNTHETIC_KEY,
    build="primabench_task_singlecell.synthetic.line:build",
    curator="The PrimaBench maintainers",
    history=("2026-11 The PrimaBench maintainers: first version",),
)

_PREPARERS = "primabench_task_singlecell.preparers.trajectory"
_HOW = "All cells, no stage given but that of one root cell of the first stage, drawn by a hash of its id."

PREPARE_GUO = PreparerSpec(
    task=NAME,
    dataset=GUO,
    prepare=f"{_PREPARERS}:prepare",
    summary=f"{_HOW} The stage is log2 of the number of cells of the embryo, 1 to 6; samples are embryos.",
)
PREPARE_PANCREAS = PreparerSpec(
    task=NAME,
    dataset=PANCREAS,
    prepare=f"{_PREPARERS}:prepare_pancreas",
    summary=f"{_HOW} Ductal (0), Ngn3 low EP, Ngn3 high EP, Pre-endocrine, then Alpha, Beta, Delta and Epsilon (4). "
    "Velocities are over the 2,000 genes of the largest normalised dispersion, log-normalised spliced counts.",
)
PREPARE_SYNTHETIC = PreparerSpec(task=NAME, dataset=SYNTHETIC_KEY, prepare=f"{_PREPARERS}:prepare", summary=_HOW)

_BASELINES = "primabench_task_singlecell.baselines.trajectory"

PERFECT = BaselineSpec(
    name="perfect",
    task=NAME,
    summary="The stage itself: the upper end of what an order can reach; no velocities.",
    predict=f"{_BASELINES}:perfect",
    oracle=True,
)
RANDOM = BaselineSpec(
    name="random",
    task=NAME,
    summary="Pseudotime and velocity by a hash of seed and cell: correlations near 0, accuracy near one half.",
    predict=f"{_BASELINES}:random",
)
ROOT_DISTANCE = BaselineSpec(
    name="root_distance",
    task=NAME,
    summary="Distance from the root cell; velocities point away from it.",
    predict=f"{_BASELINES}:root_distance",
)
CORRELATION = BaselineSpec(
    name="correlation",
    task=NAME,
    summary="One less the correlation of a cell's expression with the root's; no velocities.",
    predict=f"{_BASELINES}:correlation",
)
GEODESIC = BaselineSpec(
    name="geodesic",
    task=NAME,
    summary="Shortest way from the root in a graph of nearest neighbours; velocities follow its increase.",
    predict=f"{_BASELINES}:geodesic",
    requires=("scikit-learn", "scipy"),
)
