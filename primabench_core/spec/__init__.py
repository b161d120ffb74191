"""What plugins declare: frozen values that import without any array library."""

from primabench_core.contract.contract import Contract
from primabench_core.contract.fields import Field
from primabench_core.spec.dataset import DatasetKey, DatasetSpec, PreparerSpec, RecipeSpec, Source
from primabench_core.spec.metric import Interval, MetricSpec, Parameter
from primabench_core.spec.outcome import REASONS, Outcome
from primabench_core.spec.task import BaselineSpec, BenchmarkRow, BenchmarkSpec, MetricUse, TaskSpec

API_VERSION = 1
"""Integer version of the plugin API; a spec made for another one is listed as incompatible."""

__all__ = [
    "API_VERSION",
    "REASONS",
    "BaselineSpec",
    "BenchmarkRow",
    "BenchmarkSpec",
    "Contract",
    "DatasetKey",
    "DatasetSpec",
    "Field",
    "Interval",
    "MetricSpec",
    "MetricUse",
    "Outcome",
    "Parameter",
    "PreparerSpec",
    "RecipeSpec",
    "Source",
    "TaskSpec",
]
