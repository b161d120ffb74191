"""Fields of batch integration, on both sides."""

from __future__ import annotations

from attrs import evolve

from primabench_core.spec import Field

EMBEDDING = Field("embedding", "embedding", doc="integrated coordinates of each cell", optional=True)
CORRECTED = Field("corrected", "matrix", coord="genes", doc="corrected expression, genes by name", optional=True)
NEIGHBOURS = Field(
    "neighbours",
    "value",
    coord="neighbours",
    low=-1.0,
    doc="row numbers, in the order of the test split, of the nearest other cells, nearest first; -1 for none",
    optional=True,
)
NEIGHBOUR_DISTANCES = Field(
    "neighbour_distances",
    "value",
    coord="neighbours",
    low=0.0,
    doc="distances to these neighbours",
    optional=True,
)
RATE = Field("rate", "matrix", coord="genes", low=0.0, doc="expected counts of each cell, genes by name", optional=True)

LABEL = Field("label", "label", doc="cell type")
BATCH = Field("batch", "label", doc="batch: donor, technology, study or condition", public=True)
BEFORE = Field("embedding", "embedding", doc="representation before integration", optional=True, public=True)
EXPRESSION = Field(
    "expression",
    "matrix",
    coord="genes",
    doc="log-normalised expression before integration",
    optional=True,
    public=True,
)
CELL_CYCLE = Field(
    "cell_cycle",
    "value",
    coord="phases",
    doc="scores of S and G2/M, two a cell, before integration",
    optional=True,
    public=True,
)
PSEUDOTIME = Field("pseudotime", "value", doc="curated pseudotime; missing off the trajectory", nullable=True)
PSEUDOTIME_WHERE_CURATED = evolve(PSEUDOTIME, optional=True)
COUNTS = Field("counts", "matrix", coord="genes", state="counts", doc="molecules counted", optional=True, public=True)
ROLE = Field(
    "role",
    "label",
    vocabulary=("fit", "score"),
    doc="fit: a model of counts may be fitted on the cell; score: held out",
    optional=True,
    public=True,
)
