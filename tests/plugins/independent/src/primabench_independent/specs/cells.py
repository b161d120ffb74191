"""A dataset and a baseline for the annotation task of primabench-task-singlecell."""

from __future__ import annotations

from primabench_core.spec import BaselineSpec, DatasetSpec, PreparerSpec, RecipeSpec

KEY = "primabench_synthetic/independent_cells@1.0.0"
TASK = "cell_type_annotation"

DATASET = DatasetSpec(
    key=KEY,
    title="Synthetic cells of two plates",
    summary="60 made cells x 5 genes on two plates; the second plate is the test split.",
    publication="Made by primabench-independent; not measured, not published.",
    licence="CC0-1.0",
    n_units=60,
    content_hash="ea576e04e311f90f6b1d1a9bea55d0ab92842c965863fb76e56a7d541fec9f13",
)
RECIPE = RecipeSpec(dataset=KEY, build="primabench_independent.cells:build")
PREPARE = PreparerSpec(
    task=TASK, dataset=KEY, prepare="primabench_independent.cells:prepare", summary="Plate 2 is held out."
)
FIRST_GENE = BaselineSpec(
    name="first_gene",
    task=TASK,
    summary="The training type whose mean of the first gene is nearest.",
    predict="primabench_independent.cells:first_gene",
)
