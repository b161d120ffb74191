"""What makes two results the same: hashes over canonical bytes, never over time, device, host or labels."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from json import dumps
from math import isfinite
from typing import TYPE_CHECKING, Any

from primabench_core.errors import UsageError

if TYPE_CHECKING:
    from primabench_core.result.eval_result import EvalResult
    from primabench_core.result.metric_result import MetricResult

_COORDINATES = frozenset({"classes", "genes"})
"""Lists that name columns, so that they do not run along the rows."""

SCORED = (
    "status", "reason", "flags", "value", "n", "n_excluded", "coverage", "n_undefined", "mean_over_defined",
    "per_unit", "values",
)  # fmt: skip
"""Parts of a metric result whose bits enter ``scores_hash``."""

UNHASHED = frozenset({"created", "device", "timings", "labels", "environment", "record_hash"})
"""Parts of a result that are in no hash: they say where and when, not what."""


def canonical_bytes(value: Any) -> bytes:
    """UTF-8 of compact JSON with sorted keys; numbers that are not finite are refused."""
    return dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode(
        "utf-8", "surrogatepass"
    )


def digest(value: Any) -> str:
    """SHA-256, in hexadecimal, of the canonical bytes of a plain value."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def content_hash(**parts: Any) -> str:
    """SHA-256 of what was scored and how, from the parts that are given.

    Rows carry ids: with ``ids`` among the parts (or inside a mapping), every list beside it runs along them and their
    order does not enter. ``shards`` does not enter either. Numbers enter as float64 (-0.0 as 0.0), text as text.

    Args:
        **parts: Names to values: ``metric``, ``params``, ``ids``, fields, ``prediction=`` and ``truth=`` mappings …

    Returns:
        64 hexadecimal digits.

    Raises:
        UsageError: A list is not as long as ``ids``, or a part is of a kind that has no canonical form.

    Example:
        >>> content_hash(ids=["a", "b"], label=[0, 1]) == content_hash(label=[1, 0], ids=["b", "a"])
        True
    """
    return digest(_mapping(parts, "parts"))


def _mapping(parts: Mapping[str, Any], where: str) -> dict[str, Any]:
    kept = {str(name): _canonical(part, f"{where}.{name}") for name, part in parts.items() if name != "shards"}
    ids = kept.get("ids")
    if not isinstance(ids, list):
        return kept
    along = [name for name, part in kept.items() if isinstance(part, list) and name not in _COORDINATES]
    for name in along:
        if len(kept[name]) != len(ids):
            raise UsageError(f"{where}.{name} has {len(kept[name])} rows, but there are {len(ids)} ids")
    # the content breaks ties between equal ids, so that no order is left over from the input
    rows = sorted(range(len(ids)), key=lambda i: (str(ids[i]), canonical_bytes([kept[name][i] for name in along])))
    return {name: [part[i] for i in rows] if name in along else part for name, part in kept.items()}


def _canonical(value: Any, where: str) -> Any:
    """A plain value in which equal content has one form."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return float(value) if abs(value) <= 2**53 else value
    if isinstance(value, float):
        if not isfinite(value):  # a mapping cannot be confused with the text of the same letters
            return {"number": "nan" if value != value else "inf" if value > 0 else "-inf"}
        return float(value) + 0.0  # -0.0 + 0.0 is 0.0
    if isinstance(value, Mapping):
        return _mapping(value, where)
    if hasattr(value, "tolist"):
        return _canonical(value.tolist(), where)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_canonical(item, where) for item in value]
    raise UsageError(f"{where}: a {type(value).__name__} has no canonical form")


def request_hash(
    *,
    task: str,
    dataset: str,
    dataset_hash: str,
    predictions_sha256: str,
    truth_sha256: str,
    metrics: Iterable[tuple[str, str, Mapping[str, Any]]],
    seeds: Mapping[str, int],
    packages: Mapping[str, str],
) -> str:
    """SHA-256 of what was asked: known before any metric runs.

    Args:
        task: Name of the task, empty for a truth of the caller.
        dataset: ``publication/slug@version``, or empty.
        dataset_hash: Content hash of the dataset, or empty.
        predictions_sha256: Fingerprint of the predictions.
        truth_sha256: Fingerprint of the truth.
        metrics: (canonical name, version, all parameters) of each metric; their order does not enter.
        seeds: Name to seed.
        packages: Name to version of core and of the plugins that compute.
    """
    asked = sorted(
        ([name, version, _mapping(params, name)] for name, version, params in metrics),
        key=lambda item: canonical_bytes(item),
    )
    return digest(
        {
            "task": task,
            "dataset": dataset,
            "dataset_hash": dataset_hash,
            "predictions_sha256": predictions_sha256,
            "truth_sha256": truth_sha256,
            "metrics": asked,
            "seeds": dict(seeds),
            "packages": dict(packages),
        }
    )


def scores_hash(request: str, results: Iterable[MetricResult]) -> str:
    """SHA-256 of the request and of the bits of all exact metrics.

    Metrics of ``tolerance`` kind, intervals, and the order of the metrics do not enter: a result without intervals
    has the same scores as one with them.

    Args:
        request: The ``request_hash``.
        results: Metric results.
    """
    from primabench_core.result.json import to_dict

    exact = []
    for result in results:
        if result.reproducibility == "exact":
            whole = to_dict(result)
            exact.append([result.name, result.version, whole["params"], {part: whole[part] for part in SCORED}])
    return digest({"request": request, "scores": sorted(exact, key=canonical_bytes)})


def record_hash(result: EvalResult) -> str:
    """SHA-256 of everything in a result that is not about place and time: finds a file that was edited."""
    from primabench_core.result.json import to_dict

    return digest({name: part for name, part in to_dict(result).items() if name not in UNHASHED})


def request_hash_of(result: EvalResult) -> str:
    """The ``request_hash`` that belongs to what a result says about itself."""
    return request_hash(
        task=result.task,
        dataset=result.dataset,
        dataset_hash=result.dataset_hash,
        predictions_sha256=result.predictions_sha256,
        truth_sha256=result.truth_sha256,
        metrics=[(r.name, r.version, r.params) for r in result.results],
        seeds=result.seeds,
        packages=result.packages,
    )
