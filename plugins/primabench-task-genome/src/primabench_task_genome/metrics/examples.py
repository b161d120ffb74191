"""Inputs for the conformance kit where the declared fields do not say enough to make a telling one."""

from __future__ import annotations

from typing import Any

import numpy as np

Example = dict[str, Any]


def variants(*, seed: int, n: int) -> Example:
    """Genes of eight variants, three of them positive; one gene of one class."""
    rng = np.random.default_rng(seed)
    n = max(24, n - n % 8)
    label = rng.permuted(np.tile([1, 1, 1, 0, 0, 0, 0, 0], (n // 8, 1)), axis=1)
    label[0] = 0
    return {
        "prediction": {"score": label.ravel() + rng.integers(0, 5, n) / 2},
        "truth": {"label": label.ravel(), "gene": np.repeat([f"gene {i}" for i in range(n // 8)], 8)},
        "perfect": {"score": label.ravel().astype(np.float64)},
        "params": {"positive": 1},
    }


def effects(*, seed: int, n: int) -> Example:
    """Effects of either sign; the large ones are significant."""
    rng = np.random.default_rng(seed)
    n = max(12, n)
    significant = np.arange(n) % 3 == 0
    effect = rng.choice([-1.0, 1.0], n) * (rng.random(n) + 2 * significant)
    return {
        "prediction": {"value": effect + rng.normal(0, 1, n)},
        "truth": {"significant": significant.astype(np.int64)},
        "perfect": {"value": effect},
        "params": {},
    }


def folds(*, seed: int, n: int) -> Example:
    """Two classes dealt over four folds, most of them called rightly."""
    rng = np.random.default_rng(seed)
    n = max(32, n - n % 8)
    label = np.arange(n) // 4 % 2
    called = np.where(rng.random(n) < 0.2, 1 - label, label)
    return {
        "prediction": {"label": called},
        "truth": {"label": label, "fold": np.arange(n) % 4},
        "perfect": {"label": label},
        "params": {},
    }


def leaks(*, seed: int, n: int) -> Example:
    """Two classes, a third of the rows seen in training and called rightly."""
    found = folds(seed=seed, n=n)
    label = found["truth"]["label"]
    seen = np.asarray(["no", "no", "exact", "no", "near", "reverse_complement"], object)[np.arange(len(label)) % 6]
    called = np.where(seen == "no", found["prediction"]["label"], label)
    return {**found, "prediction": {"label": called}, "truth": {"label": label, "seen": seen}}


def tracks(*, seed: int, n: int) -> Example:
    """Regions of four bins with three tracks."""
    rng = np.random.default_rng(seed)
    n = max(24, n - n % 4)
    true = rng.gamma(1.0, 1.0, (n, 3))
    return {
        "prediction": {"value": true + rng.normal(0, 1, (n, 3))},
        "truth": {"value": true, "region": np.repeat([f"region {i}" for i in range(n // 4)], 4)},
        "perfect": {"value": true},
        "params": {},
    }


def peaks(*, seed: int, n: int) -> Example:
    """Peaks of three tracks with some bins unanswered."""
    rng = np.random.default_rng(seed)
    n = max(24, n)
    peak = (rng.random((n, 3)) < 0.3).astype(np.float64)
    peak[:3] = [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    true = peak.copy()
    peak[3::5, 1] = -100.0
    return {
        "prediction": {"value": true + rng.normal(0, 1, (n, 3))},
        "truth": {"peak": peak},
        "perfect": {"value": true},
        "params": {},
    }
