"""Inputs for the conformance kit where the declared fields do not say enough to make a telling one."""

from __future__ import annotations

from typing import Any

import numpy as np

Example = dict[str, Any]
_KINDS = ("Activity", "Stability", "Binding")


def assays(*, seed: int, n: int) -> Example:
    """One value an assay; proteins with several assays."""
    rng = np.random.default_rng(seed)
    n = max(12, n)
    return {
        "prediction": {"value": rng.random(n)},
        "truth": {
            "assay": np.asarray([f"assay {i}" for i in range(n)], object),
            "uniprot": np.asarray([f"protein {i // 2 % 5}" for i in range(n)], object),
            "selection": np.asarray([_KINDS[i % 3] for i in range(n)], object),
        },
        "perfect": {"value": np.ones(n)},
        "params": {},
    }


def valued_scans(*, seed: int, n: int) -> Example:
    """Six assays with measured fitness."""
    return _scans(seed, n, "value")


def labelled_scans(*, seed: int, n: int) -> Example:
    """Six assays with the classes fit and unfit."""
    return _scans(seed, n, "label")


def _scans(seed: int, n: int, answer: str) -> Example:
    rng = np.random.default_rng(seed)
    size = max(20, n // 6)
    value = rng.normal(0, 1, 6 * size)
    label = (value.reshape(6, size) > np.median(value.reshape(6, size), axis=1)[:, None]).astype(np.int64).ravel()
    number = np.repeat(np.arange(6), size)
    return {
        "prediction": {"score": value + rng.normal(0, 1, 6 * size)},
        "truth": {
            answer: value if answer == "value" else label,
            "assay": np.asarray([f"assay {i}" for i in number], object),
            "uniprot": np.asarray([f"protein {i // 2}" for i in number], object),
            "selection": np.asarray([_KINDS[i % 3] for i in number], object),
        },
        "perfect": {"score": value},
        "params": {},
    }


def fitness(*, seed: int, n: int) -> Example:
    """One assay; ties among the scores."""
    rng = np.random.default_rng(seed)
    n = max(20, n)
    value = rng.normal(0, 1, n)
    return {
        "prediction": {"score": np.round(value + rng.normal(0, 1, n), 1)},
        "truth": {"value": value},
        "perfect": {"score": value},
        "params": {},
    }


def halves(*, seed: int, n: int) -> Example:
    """One assay of an even number of variants, half of them fit."""
    rng = np.random.default_rng(seed)
    n = max(20, n - n % 2)
    label = rng.permutation(np.arange(n) % 2)
    return {
        "prediction": {"score": label + rng.normal(0, 1, n)},
        "truth": {"label": label},
        "perfect": {"score": label.astype(np.float64)},
        "params": {"positive": 1},
    }
