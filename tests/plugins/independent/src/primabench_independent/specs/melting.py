"""A task of our own: melting points from composition."""

from __future__ import annotations

from primabench_core.spec import (
    BaselineSpec,
    Contract,
    DatasetSpec,
    Field,
    MetricUse,
    PreparerSpec,
    RecipeSpec,
    TaskSpec,
)

NAME = "melting_point_prediction"
KEY = "primabench_synthetic/melting_points@1.0.0"

TASK = TaskSpec(
    name=NAME,
    title="Melting points",
    summary="Predict the melting point of held-out mixtures from their composition.",
    contract=Contract(
        prediction=(Field("value", "value", low=0.0, high=5000.0, units="K", doc="predicted melting point"),),
        solution=(
            Field("value", "value", low=0.0, nullable=True, units="K", doc="measured melting point; not all were"),
            Field("laboratory", "label", doc="who measured"),
        ),
    ),
    metrics=("pearson", MetricUse("mse")),
    primary="pearson",
    default_dataset=KEY,
    synthetic_dataset=KEY,
    unit="mixture",
    independent_unit="laboratory",
)
DATASET = DatasetSpec(
    key=KEY,
    title="Synthetic mixtures",
    summary="80 made mixtures of 4 parts, 8 laboratories; some test mixtures were never measured.",
    publication="Made by primabench-independent; not measured, not published.",
    licence="CC0-1.0",
    n_units=80,
    content_hash="e820b506c29e79def5adbccd86cb413680eede6296b7223e9de12f88223f3c20",
)
RECIPE = RecipeSpec(dataset=KEY, build="primabench_independent.melting:build")
PREPARE = PreparerSpec(
    task=NAME,
    dataset=KEY,
    prepare="primabench_independent.melting:prepare",
    summary="Mixtures of laboratories 5 to 8 are held out.",
)

_RUN = "primabench_independent.melting"
PERFECT = BaselineSpec(name="perfect", task=NAME, summary="The truth itself.", predict=f"{_RUN}:perfect", oracle=True)
MEAN = BaselineSpec(name="mean", task=NAME, summary="The mean of the training values.", predict=f"{_RUN}:mean")
LEAST_SQUARES = BaselineSpec(
    name="least_squares", task=NAME, summary="Linear in the parts.", predict=f"{_RUN}:least_squares"
)
