"""PrimaBench scores the predictions of biological foundation models against held-out truth.

Everything public is here and loads when it is first used: ``import primabench_core as pb`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "Evaluation": "evaluation.evaluation",
    "evaluate": "evaluation.oneshot",
    "evaluate_many": "evaluation.many",
    "score": "evaluation.oneshot",
    "stream": "evaluation.oneshot",
    "EvalData": "contract.evaldata",
    "EvalResult": "result.eval_result",
    "EvalFailure": "result.failure",
    "MetricResult": "result.metric_result",
    "compare": "evaluation.compare",
    "fetch_data": "store.access",
    "fetch_train": "store.access",
    "fetch_test": "store.access",
    "load": "store.access",
    "list_tasks": "discovery.listing",
    "list_datasets": "discovery.listing",
    "list_metrics": "discovery.listing",
    "list_baselines": "discovery.listing",
    "list_benchmarks": "discovery.listing",
    "PrimaBenchError": "errors",
    "UsageError": "errors",
    "UnknownNameError": "errors",
    "ParameterError": "errors",
    "ContractError": "errors",
    "CoverageError": "errors",
    "PluginError": "errors",
    "MissingPluginError": "errors",
    "StoreError": "errors",
    "MissingDataError": "errors",
    "CorruptDataError": "errors",
    "VersionExistsError": "errors",
    "MetricError": "errors",
    "DistributedError": "errors",
    "ResultError": "errors",
}
_MODULES = {"foreign": "evaluation.foreign", "statistics": "statistics"}
"""Modules of core that are public under their own name."""
_EXTENSIONS = {"get_sequences": "primabench-task-genome"}
"""Functions that a plugin serves through the entry-point group ``primabench.extensions``, and who brings them."""

__all__ = [*_HOMES, *_MODULES, *_EXTENSIONS]

if TYPE_CHECKING:
    from primabench_core import statistics as statistics
    from primabench_core.contract.evaldata import EvalData as EvalData
    from primabench_core.discovery.listing import list_baselines as list_baselines
    from primabench_core.discovery.listing import list_benchmarks as list_benchmarks
    from primabench_core.discovery.listing import list_datasets as list_datasets
    from primabench_core.discovery.listing import list_metrics as list_metrics
    from primabench_core.discovery.listing import list_tasks as list_tasks
    from primabench_core.errors import ContractError as ContractError
    from primabench_core.errors import CorruptDataError as CorruptDataError
    from primabench_core.errors import CoverageError as CoverageError
    from primabench_core.errors import DistributedError as DistributedError
    from primabench_core.errors import MetricError as MetricError
    from primabench_core.errors import MissingDataError as MissingDataError
    from primabench_core.errors import MissingPluginError as MissingPluginError
    from primabench_core.errors import ParameterError as ParameterError
    from primabench_core.errors import PluginError as PluginError
    from primabench_core.errors import PrimaBenchError as PrimaBenchError
    from primabench_core.errors import ResultError as ResultError
    from primabench_core.errors import StoreError as StoreError
    from primabench_core.errors import UnknownNameError as UnknownNameError
    from primabench_core.errors import UsageError as UsageError
    from primabench_core.errors import VersionExistsError as VersionExistsError
    from primabench_core.evaluation import foreign as foreign
    from primabench_core.evaluation.compare import compare as compare
    from primabench_core.evaluation.evaluation import Evaluation as Evaluation
    from primabench_core.evaluation.many import evaluate_many as evaluate_many
    from primabench_core.evaluation.oneshot import evaluate as evaluate
    from primabench_core.evaluation.oneshot import score as score
    from primabench_core.evaluation.oneshot import stream as stream
    from primabench_core.result.eval_result import EvalResult as EvalResult
    from primabench_core.result.failure import EvalFailure as EvalFailure
    from primabench_core.result.metric_result import MetricResult as MetricResult
    from primabench_core.store.access import fetch_data as fetch_data
    from primabench_core.store.access import fetch_test as fetch_test
    from primabench_core.store.access import fetch_train as fetch_train
    from primabench_core.store.access import load as load


def __getattr__(name: str) -> Any:
    value: Any
    if name in _MODULES:
        from importlib import import_module

        value = import_module(f"primabench_core.{_MODULES[name]}")
    elif name in _HOMES:
        from importlib import import_module

        value = getattr(import_module(f"primabench_core.{_HOMES[name]}"), name)
    elif name in _EXTENSIONS:
        from primabench_core.discovery.extensions import forward

        value = forward(name, _EXTENSIONS[name])  # a call loads the plugin; looking at the name never fails
    else:
        raise AttributeError(f"module 'primabench_core' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
