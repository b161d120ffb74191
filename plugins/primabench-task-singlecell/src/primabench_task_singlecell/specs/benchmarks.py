"""Groups of tasks that are reported together."""

from __future__ import annotations

from primabench_core.spec import BenchmarkRow, BenchmarkSpec
from primabench_task_singlecell.specs import PBMC68K

SINGLE_CELL_CORE = BenchmarkSpec(
    name="single_cell_core",
    title="Single-cell core",
    summary="Annotation and clustering of 700 blood cells: the smallest real benchmark, seconds on a laptop.",
    rows=(BenchmarkRow("cell_type_annotation", PBMC68K), BenchmarkRow("clustering", PBMC68K)),
)
