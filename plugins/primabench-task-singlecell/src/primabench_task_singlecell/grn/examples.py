"""Inputs for the conformance checks."""

from __future__ import annotations

from typing import Any

import numpy as np


def network(*, seed: int, n: int) -> dict[str, Any]:
    """Candidate edges of three regulators with tied and zero weights; a third is true."""
    rng = np.random.default_rng([seed, 41])
    label = (rng.random(n) < 1 / 3).astype(np.int64)
    regulator = np.asarray([("Sox2", "Klf4", "Myc")[i % 3] for i in range(n)], object)
    score = np.round(rng.random(n) + 0.3 * label, 1) * (rng.random(n) < 0.8)
    return {
        "prediction": {"score": score},
        "truth": {"label": label, "regulator": regulator},
        "params": {},
    }


def regulators(*, seed: int, n: int) -> dict[str, Any]:
    """The same, where two true edges are enough for a regulator to count; the truth itself is perfect."""
    made = network(seed=seed, n=n)
    perfect = {"score": made["truth"]["label"].astype(np.float64)}
    return {**made, "perfect": perfect, "params": {"min_edges": 2}}
