"""Inputs for the conformance kit where the declared fields do not say enough to make a telling one."""

from __future__ import annotations

from typing import Any

import numpy as np

Example = dict[str, Any]


def ranked_lists(*, seed: int, n: int) -> Example:
    """Lists of eight rows with two positives each, looked at two places deep."""
    rng = np.random.default_rng(seed)
    n = max(8, n - n % 8)
    label = rng.permuted(np.tile([1, 1, 0, 0, 0, 0, 0, 0], (n // 8, 1)), axis=1).ravel()
    group = np.repeat([f"list {i}" for i in range(n // 8)], 8)
    return {
        "prediction": {"score": rng.integers(0, 5, n) / 4},
        "truth": {"label": label, "group": group},
        "perfect": {"score": label.astype(np.float64)},
        "params": {"k": 2, "positive": 1},
    }


def probed(*, seed: int, n: int) -> Example:
    """Two classes, dealt over four folds, in an embedding that tells them in part."""
    rng = np.random.default_rng(seed)
    n = max(32, n - n % 8)
    place = np.arange(n)
    label = place // 4 % 2
    return {
        "prediction": {"embedding": label[:, None] * 1.5 + rng.standard_normal((n, 3))},
        "truth": {"label": label, "fold": place % 4},
        "perfect": {"embedding": label[:, None] * 100.0 + rng.standard_normal((n, 3))},
        "params": {},
    }
