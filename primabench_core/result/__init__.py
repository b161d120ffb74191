"""Results: values with their uncertainty and provenance, canonical JSON, hashes, comparison, verification, reports.

Names load on first use, so that reading one hash does not load a converter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

_HOMES = {
    "EvalResult": "eval_result",
    "MetricResult": "metric_result",
    "Interval": "interval",
    "content_hash": "identity",
    "from_json": "json",
    "request_hash": "identity",
    "scores_hash": "identity",
    "to_json": "json",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from primabench_core.result.eval_result import EvalResult as EvalResult
    from primabench_core.result.identity import content_hash as content_hash
    from primabench_core.result.identity import request_hash as request_hash
    from primabench_core.result.identity import scores_hash as scores_hash
    from primabench_core.result.interval import Interval as Interval
    from primabench_core.result.json import from_json as from_json
    from primabench_core.result.json import to_json as to_json
    from primabench_core.result.metric_result import MetricResult as MetricResult


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'primabench_core.result' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"primabench_core.result.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
