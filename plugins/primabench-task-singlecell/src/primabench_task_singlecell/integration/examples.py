"""Inputs for the conformance kit: cells of two types in three batches, enough for the neighbours that are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

Example = dict[str, Any]


def _cells(seed: int, n: int) -> Example:
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 2
    batch = np.arange(n) // 2 % 3
    label[: n // 5], batch[: n // 5] = 2, 1
    before = 3.0 * np.eye(4)[label] + 2.0 * np.eye(4)[batch] + rng.standard_normal((n, 4))
    after = 3.0 * np.eye(4)[label] + 0.5 * np.eye(4)[batch] + rng.standard_normal((n, 4))
    return {
        "prediction": {"embedding": after},
        "truth": {"label": label, "batch": batch, "embedding": before},
        "params": {},
    }


def cells(*, seed: int, n: int) -> Example:
    """Sixty cells of two types in three batches, and of one type in a single batch."""
    return _cells(seed, 60)


def near(*, seed: int, n: int) -> Example:
    """The same, looked at with twelve neighbours."""
    return {**_cells(seed, 60), "params": {"k": 12}}


def panel(*, seed: int, n: int) -> Example:
    """A hundred such cells: enough for every default of the panel."""
    return _cells(seed, 100)


def cycling(*, seed: int, n: int) -> Example:
    """Cells of two batches with scores of the cell cycle; nothing changed is perfect."""
    made = _cells(seed, 60)
    rng = np.random.default_rng([seed, 1])
    before = made["truth"]["embedding"]
    scores = before[:, :2] + rng.standard_normal((len(before), 2))
    return {
        "prediction": {"embedding": made["prediction"]["embedding"]},
        "truth": {"batch": made["truth"]["batch"], "embedding": before, "cell_cycle": scores},
        "perfect": {"embedding": before},
        "params": {},
    }


def along_a_line(*, seed: int, n: int) -> Example:
    """Cells along a curve, with the time of each."""
    rng = np.random.default_rng(seed)
    time = np.sort(rng.random(60))
    return {
        "prediction": {"embedding": np.stack([time, time**2], axis=1) + 0.02 * rng.standard_normal((len(time), 2))},
        "truth": {"pseudotime": time},
        "params": {},
    }


def corrected(*, seed: int, n: int) -> Example:
    """Expression of thirty genes in two batches; nothing changed is perfect."""
    rng = np.random.default_rng(seed)
    n = max(n, 40)
    expression = np.log1p(rng.poisson(rng.gamma(1.0, 2.0, 30), (n, 30)).astype(np.float64))
    genes = tuple(f"gene {i}" for i in range(30))
    return {
        "prediction": {"corrected": expression + 0.3 * rng.standard_normal((n, 30)), "genes": genes},
        "truth": {"batch": np.arange(n) % 2, "expression": expression, "genes": genes},
        "perfect": {"corrected": expression, "genes": genes},
        "params": {},
    }


def expected(*, seed: int, n: int) -> Example:
    """Counts of eight genes and the rates that they were drawn with; the counts themselves are perfect."""
    rng = np.random.default_rng(seed)
    rate = rng.gamma(2.0, 2.0, (n, 8))
    counts = rng.poisson(rate).astype(np.float64)
    genes = tuple(f"gene {i}" for i in range(8))
    return {
        "prediction": {"rate": rate, "genes": genes},
        "truth": {"counts": counts, "genes": genes, "role": np.resize(np.asarray(["score", "fit"], object), n)},
        "perfect": {"rate": counts, "genes": genes},
        "params": {},
    }


def two_species(*, seed: int, n: int) -> Example:
    """Three types in two species, in an embedding that tells them in part."""
    rng = np.random.default_rng(seed)
    label = np.arange(48) % 3
    return {
        "prediction": {"embedding": 1.5 * np.eye(3)[label] + rng.standard_normal((48, 3))},
        "truth": {"label": label, "domain": np.arange(48) // 3 % 2},
        "perfect": {"embedding": 100.0 * np.eye(3)[label] + rng.standard_normal((48, 3))},
        "params": {},
    }
