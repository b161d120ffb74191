"""Fields, rules and parameters that the metrics share."""

from __future__ import annotations

from typing import Any

from primabench_core.spec import Field, Interval, MetricSpec, Parameter
from primabench_task_perturbation.roles import CONTROL, ROLES, UNTOLD

PREDICTED = Field("value", "matrix", coord="genes", doc="cells x genes, or one mean profile a perturbation")
NAMES = Field("perturbation", "text", doc="perturbation of the row; names are opaque", optional=True)
TRUE = Field("value", "matrix", coord="genes", doc="cells x genes, and rows of facts about perturbations (role)")
TRUE_NAMES = Field(
    "perturbation", "text", doc=f"perturbation of the row; {CONTROL!r} for untreated cells", optional=True
)
ROLE = Field("role", "label", vocabulary=ROLES, doc="what the row is; without it every row is a cell", optional=True)
CONTEXT = Field(
    "context", "label", doc="cell type or batch whose control cells a perturbation is compared with", optional=True
)
REPLICATE = Field(
    "replicate",
    "text",
    doc=f"donor or sample of the row, for tests between replicates; {UNTOLD!r} without",
    optional=True,
)

RULES: dict[str, Any] = {
    "many_rows_per_unit": True,
    "unit_field": "perturbation",
    "ignored_units": (CONTROL,),
    "ignored": ("control", "role", "context"),
}
POLICY = Parameter(
    "policy",
    "strict",
    "what an undefined perturbation does to the mean",
    choices=("strict", "defined_only", "penalise_constant_prediction"),
)
BASELINES = Parameter(
    "baselines", "all", "whether scores of trivial predictions stand beside it", choices=("all", "none")
)
MAX_CELLS = Parameter("max_cells", 500, "cells of a perturbation and side, chosen by hash", kinds=(int,), low=2)
SAMPLING_SEED = Parameter("sampling_seed", 0, "seed of the choice of cells", kinds=(int,), low=0)
FDR = Parameter(
    "fdr", 0.05, "threshold of the false discovery rate on both sides", kinds=(float,), low=1e-300, high=1.0
)
TEST = Parameter(
    "test",
    "truth",
    "of both sides; truth: that of the solution's lists, else pseudobulk where it tells replicates",
    choices=("truth", "wilcoxon", "pseudobulk"),
)

_UNWEIGHTED = frozenset({"perturbation_discrimination", "perturbation_rank", "pearson_edistance", "de_count_spearman"})
"""No means over perturbations, or without an interval."""


def _weighted(name: str) -> str:
    return "" if name in _UNWEIGHTED else f"primabench_task_perturbation.resampled:{name}"


_FIXED: dict[str, Any] = {
    "prediction": (PREDICTED, NAMES, REPLICATE),
    "truth": (TRUE, TRUE_NAMES, ROLE, CONTEXT, REPLICATE),
    "state": "units",
    "rules": RULES,
    "arrange": "primabench_task_perturbation.arrange:arrange",
}


def over_means(module: str, name: str, summary: str, *parameters: Parameter, **more: Any) -> MetricSpec:
    """A metric of mean profiles: sums alone are kept of the predicted rows."""
    return MetricSpec(
        name=name,
        summary=summary,
        compute=f"primabench_task_perturbation.{module}:{name}",
        weighted=_weighted(name),
        example="primabench_task_perturbation.examples:profiles",
        units=("means",),
        parameters=(*parameters, POLICY, BASELINES),
        **_FIXED,
        **more,
    )


def over_rows(module: str, name: str, summary: str, *parameters: Parameter, **more: Any) -> MetricSpec:
    """A metric of one predicted row a perturbation that is no expression profile."""
    return MetricSpec(
        name=name,
        summary=summary,
        compute=f"primabench_task_perturbation.{module}:{name}",
        weighted=_weighted(name),
        example="primabench_task_perturbation.examples:signed_significance",
        units=("means",),
        parameters=(*parameters, POLICY),
        **_FIXED,
        **more,
    )


def over_cells(name: str, summary: str, *parameters: Parameter, **more: Any) -> MetricSpec:
    """A metric of clouds of cells: a bounded sample of the predicted rows is kept."""
    return MetricSpec(
        name=name,
        summary=summary,
        compute=f"primabench_task_perturbation.cells:{name}",
        weighted=_weighted(name),
        example="primabench_task_perturbation.examples:clouds",
        units=("sample",),
        sample=("max_cells", "sampling_seed"),
        parameters=(*parameters, MAX_CELLS, SAMPLING_SEED),
        reproducibility="tolerance",
        rtol=1e-9,
        atol=1e-9,
        **_FIXED,
        **more,
    )


def over_differential(name: str, summary: str, *parameters: Parameter, **more: Any) -> MetricSpec:
    """A metric of differential expression: all predicted rows are kept, because ranks need them.

    8 bytes for each float32 that is not zero where fewer than three in ten are, else 4 bytes a number, and once more in
    the order of the rows while the metric runs; the tests themselves look at 64 genes (Wilcoxon) or about 64 MiB of
    rows and sums (pseudobulk) at a time.
    """
    return MetricSpec(
        name=name,
        summary=summary,
        compute=f"primabench_task_perturbation.de_metrics:{name}",
        weighted=_weighted(name),
        example="primabench_task_perturbation.examples:differential_cells",
        units=("rows",),
        parameters=(*parameters, TEST),
        reproducibility="tolerance",
        rtol=1e-9,
        atol=1e-9,
        libraries=("scipy",),
        **_FIXED,
        **more,
    )


def among_all(what: str) -> Interval:
    """Why a metric of ranks among all perturbations has no interval."""
    return Interval("none", f"{what} are among all perturbations, so that perturbations are no independent units")
