"""Rows and Counts made directly, as the engine hands them to metric functions."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np
import primabench_metrics.specs
from hypothesis import settings

from primabench_core.spec import MetricSpec, Outcome
from primabench_core.state.counts import Counts
from primabench_core.state.rows import Labels, Rows

PREFIX = "primabench_metrics.specs."
DECLARED = {
    spec.name: (module.name, spec)
    for module in pkgutil.iter_modules(primabench_metrics.specs.__path__)
    for spec in vars(importlib.import_module(PREFIX + module.name)).values()
    if isinstance(spec, MetricSpec)
}
"""Every metric of this distribution by name: the module that declares it, and the spec."""

laws = settings(deadline=None, max_examples=50, derandomize=True)
"""A slow machine is no failure, and a failure must come back on the next run."""

LABEL_FIELDS = {"label", "cluster", "role", "fold", "group"}


def labels(values: Any, classes: tuple[Any, ...] | None = None, *, extend: bool = False) -> Labels:
    """Codes into ``classes`` (sorted by default); with ``extend``, unknown labels follow, sorted."""
    items = np.asarray(values).tolist()
    known = tuple(sorted(set(items))) if classes is None else tuple(classes)
    if extend:
        known += tuple(sorted(set(items) - set(known)))
    code = {c: k for k, c in enumerate(known)}
    return Labels(np.asarray([code[i] for i in items], np.int64), known)


def counts(truth: Any, predicted: Any, *, open_vocabulary: bool = False, classes: Any = None) -> Counts:
    true = labels(truth, classes)
    called = labels(predicted) if open_vocabulary else labels(predicted, true.classes, extend=True)
    return Counts.of(true.codes, called.codes, true.classes, called.classes)


def rows(prediction: dict[str, Any], truth: dict[str, Any], *, classes: Any = None, genes: Any = None) -> Rows:
    """Label fields become codes, others float64 unless they are float32."""

    def column(name: str, value: Any) -> Any:
        if name in LABEL_FIELDS:
            return labels(value, classes if name == "label" else None)
        array = np.asarray(value)
        return array if array.dtype == np.float32 else array.astype(np.float64)

    columns = {name: column(name, value) for name, value in truth.items()}
    if classes is None and "label" in columns:
        classes = columns["label"].classes
    given = {name: column(name, value) for name, value in prediction.items()}
    n = len(next(iter(truth.values())))
    coords = {} if genes is None else {"genes": tuple(genes)}
    return Rows(n, given, columns, coords, None if classes is None else tuple(classes))


def outcome(result: float | Outcome) -> Outcome:
    return result if isinstance(result, Outcome) else Outcome(float(result))


def value(result: float | Outcome) -> float:
    out = outcome(result)
    assert out.value is not None, (out.reason, out.detail)
    return out.value


def reason(result: float | Outcome) -> str:
    out = outcome(result)
    assert out.value is None, out.value
    return out.reason
