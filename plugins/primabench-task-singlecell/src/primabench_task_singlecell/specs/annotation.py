"""Cell-type annotation: the task, its synthetic dataset, its splits and baselines."""

from __future__ import annotations

from primabench_core.spec import BaselineSpec, Contract, DatasetSpec, Field, PreparerSpec, RecipeSpec, TaskSpec
from primabench_task_singlecell.specs import PBMC68K, SYNTHETIC_NOTES

NAME = "cell_type_annotation"
SYNTHETIC_KEY = f"primabench_synthetic/{NAME}@1.0.0"

TASK = TaskSpec(
    name=NAME,
    title="Cell-type annotation",
    summary="Name the type of each held-out cell, given expression and the types of the training cells.",
    contract=Contract(
        prediction=(
            Field("label", "label", doc="predicted cell type", vocabulary="truth"),
            Field("probability", "probability", doc="of each type, columns named", coord="classes", optional=True),
        ),
        solution=(Field("label", "label", doc="cell type"),),
        unknown_labels="count",
    ),
    metrics=(
        "macro_f1_truth_labels",
        "macro_f1",
        "weighted_f1",
        "micro_f1",
        "accuracy",
        "balanced_accuracy",
        "macro_precision",
        "macro_recall",
        "mcc",
        "n_unpredicted_classes",
    ),
    primary="macro_f1_truth_labels",
    default_dataset=PBMC68K,
    synthetic_dataset=SYNTHETIC_KEY,
    unit="cell",
    description="""\
**Input.** `expression` (cells x genes, log-normalised, genes named by the coordinate `genes`) of all cells and `label`
of the training cells; in the test split `label` is missing. **Prediction.** One `label` for each test cell. Types are
those of the coordinate `classes`; a predicted type outside it counts as an error. `probability` (cells x types, columns
named by `classes`) may come along; the panel does not read it, `metrics=["auroc_ovr_macro"]` does.

**Score.** `macro_f1_truth_labels` orders tables: rare types weigh as much as frequent ones, and inventing a type that
does not occur costs through the recall of the true one. `macro_f1` (scikit-learn's union of classes) stands beside it.

**Rules.** Whatever is fitted (gene selection, PCA, scaler, probe) is fitted on training cells only. An embedding
that was fitted on all cells has seen the test cells: say so in the labels of the result.

**Tracks.** A split that holds out whole donors or batches is the hard track; a split of the cells of one donor is the
easy one and saturates early. The card of each dataset says which one it is.

**Intervals** resample cells. Cells of one donor are not independent: an interval on a one-donor dataset says nothing
about other donors.
""",
    references=("Abdelaal et al. 2019, Genome Biology, doi:10.1186/s13059-019-1795-z",),
)

SYNTHETIC = DatasetSpec(
    key=SYNTHETIC_KEY,
    title="Synthetic cells with types and donors",
    summary="120 made cells x 40 genes, 4 types, 3 donors; for offline trials and tests only.",
    publication="Made by primabench-task-singlecell; not measured, not published.",
    licence="CC0-1.0",
    organism="none (synthetic)",
    modality="synthetic negative-binomial counts, log1p",
    n_units=40,
    content_hash="a01e3b16a107b96e9183709618fc5f30f5379e429deace2afbddc56c9d19609f",
    notes=SYNTHETIC_NOTES + "Donor `d3` is the test split of the annotation task.\n",
)

RECIPE = RecipeSpec(
    dataset=SYNTHETIC_KEY,
    build="primabench_task_singlecell.synthetic.recipes:build_annotation",
    curator="The PrimaBench maintainers",
    history=("2026-11 The PrimaBench maintainers: first version",),
)

PREPARE_PBMC68K = PreparerSpec(
    task=NAME,
    dataset=PBMC68K,
    prepare="primabench_task_singlecell.preparers.annotation:prepare",
    id_list="primabench_task_singlecell:splits/annotation_pbmc68k_reduced.tsv",
    id_list_sha256="ee7730ff0b74aaf9a0700d222151ff74b1adc2fad77d7919757644bbd5914056",
    summary="Half of the cells of each type, rounded down, drawn by a hash of seed 20181 and barcode, are the test "
    "split (347 of 700; no test cell has a twin of equal expression in training). The easy track: all cells come from "
    "one donor, so that a donor-out split is impossible.",
)

PREPARE_SYNTHETIC = PreparerSpec(
    task=NAME,
    dataset=SYNTHETIC_KEY,
    prepare="primabench_task_singlecell.preparers.annotation:prepare",
    id_list="primabench_task_singlecell:splits/annotation_synthetic.tsv",
    id_list_sha256="806ee796c4029cc0ab97bf29ea5de47ddd585a3957bd8c8d74d513fcf531bf2f",
    summary="Donor d3 is held out (40 of 120 cells); donors d1 and d2 are the training split.",
)

_BASELINES = "primabench_task_singlecell.baselines.annotation"

PERFECT = BaselineSpec(
    name="perfect",
    task=NAME,
    summary="The truth itself: the upper end of every metric.",
    predict=f"{_BASELINES}:perfect",
    oracle=True,
)
MAJORITY = BaselineSpec(
    name="majority",
    task=NAME,
    summary="The most frequent training type for every cell; of equally frequent ones the first by name.",
    predict=f"{_BASELINES}:majority",
)
RANDOM = BaselineSpec(
    name="random",
    task=NAME,
    summary="A type drawn with the frequencies of the training cells, by a hash of seed and cell id.",
    predict=f"{_BASELINES}:random",
)
KNN = BaselineSpec(
    name="knn",
    task=NAME,
    summary="Vote of the 15 nearest training cells in up to 50 principal components, fitted on training cells.",
    predict=f"{_BASELINES}:knn",
    requires=("scikit-learn",),
)
LOGISTIC = BaselineSpec(
    name="logistic",
    task=NAME,
    summary="L2 logistic regression (C = 1) on up to 50 standardised principal components fitted on training cells.",
    predict=f"{_BASELINES}:logistic",
    requires=("scikit-learn",),
)
