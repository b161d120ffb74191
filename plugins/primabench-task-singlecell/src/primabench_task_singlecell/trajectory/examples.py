"""Inputs for the conformance checks: cells along a curve, in four stages."""

from __future__ import annotations

from typing import Any

import numpy as np

Example = dict[str, Any]


def along(*, seed: int, n: int) -> Example:
    """Noisy pseudotime with ties, and stages; the stage itself is perfect."""
    rng = np.random.default_rng([seed, 7])
    stage = np.sort(rng.integers(0, 4, n)).astype(np.float64)
    return {
        "prediction": {"pseudotime": np.round(stage + rng.normal(0, 1, n), 1)},
        "truth": {"stage": stage},
        "perfect": {"pseudotime": stage},
        "params": {},
    }


def moving(*, seed: int, n: int) -> Example:
    """Velocities that roughly point along the curve."""
    rng = np.random.default_rng([seed, 8])
    time = np.sort(rng.random(n))
    place = np.stack([time, time**2, np.sin(3 * time)], axis=1) + rng.normal(0, 0.02, (n, 3))
    along_curve = np.stack([np.ones(n), 2 * time, 3 * np.cos(3 * time)], axis=1)
    genes = ("gene_b", "gene_a", "gene_c")
    return {
        "prediction": {"velocity": along_curve + rng.normal(0, 0.5, (n, 3)), "genes": genes},
        "truth": {
            "stage": np.floor(4 * time),
            "cluster": np.asarray([("early", "late")[int(t > 0.5)] for t in time], object),
            "expression": place,
            "genes": genes,
        },
        "params": {"k": 8},
    }
