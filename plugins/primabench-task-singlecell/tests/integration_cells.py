"""Made cells for tests of batch integration, and views of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from primabench_core.state.rows import Labels, Rows


def cells(n: int = 150, *, seed: int = 0, types: int = 3, batches: int = 2, width: int = 5) -> dict[str, Any]:
    """``embedding`` after, ``before``, ``label`` and ``batch`` codes."""
    rng = np.random.default_rng(seed)
    label, batch = rng.integers(0, types, n), rng.integers(0, batches, n)
    label[:types], batch[:batches] = np.arange(types), np.arange(batches)
    places, effects = rng.standard_normal((types, width)) * 2, rng.standard_normal((batches, width))
    noise = rng.standard_normal((n, width))
    return {
        "embedding": places[label] + 0.3 * effects[batch] + noise,
        "before": places[label] + effects[batch] + noise,
        "label": label,
        "batch": batch,
    }


def labels(codes: Any) -> Labels:
    """Codes as a label column."""
    values = np.unique(codes)
    return Labels(np.searchsorted(values, codes).astype(np.int64), tuple(f"c{v}" for v in values.tolist()))


def view(prediction: dict[str, Any], *, ids: Any = None, **truth: Any) -> Rows:
    """A view as metrics get it; ``label`` and ``batch`` may be codes."""
    n = len(next(iter(prediction.values())))
    columns = {k: labels(v) if k in ("label", "batch", "domain") else v for k, v in truth.items()}
    return Rows(n, prediction, columns, ids=ids)


def made_view(made: dict[str, Any], **more: Any) -> Rows:
    """The view of made cells."""
    truth = {"label": made["label"], "batch": made["batch"], "embedding": made["before"]}
    return view({"embedding": made["embedding"]}, **{**truth, **more})


def isolated(n: int = 150) -> dict[str, np.ndarray]:
    """Made cells of which the third type is in one batch alone."""
    made = cells(n)
    made["batch"][made["label"] == 2] = 0
    return made
