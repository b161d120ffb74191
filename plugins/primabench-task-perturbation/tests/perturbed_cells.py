"""Made perturbations: cells x 12 genes."""

from __future__ import annotations

from typing import Any

import numpy as np

GENES = [f"g{i:02d}" for i in range(12)]


def made(seed: int = 0, n: int = 150, kinds: int = 5) -> dict[str, Any]:
    """Truth and prediction of cells x 12 genes: perturbations ``p0`` … and ``control``."""
    rng = np.random.default_rng(seed)
    names = np.array(["control", *(f"p{i}" for i in range(kinds))], object)[np.arange(n) % (kinds + 1)]
    effect = rng.normal(0, 1.5, (kinds + 1, len(GENES)))
    effect[0] = 0
    true = 4 + effect[np.arange(n) % (kinds + 1)] + rng.normal(0, 0.8, (n, len(GENES)))
    return {
        "truth": {"value": true, "perturbation": names, "genes": GENES},
        "prediction": {"value": true + rng.normal(0, 0.6, true.shape), "perturbation": names, "genes": GENES},
    }
