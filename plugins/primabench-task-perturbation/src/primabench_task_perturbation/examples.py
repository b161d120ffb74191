"""Inputs for the conformance kit: predicted and true rows in pairs, control cells among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_task_perturbation.roles import CONTROL

Example = dict[str, Any]
GENES = ("gene_b", "gene_a", "gene_c", "gene_e", "gene_d", "gene_f")


def _made(
    seed: int, n: int, kinds: int, spread: float
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    names = np.array([CONTROL, *(f"p{i}" for i in range(kinds))], object)[np.arange(n) % (kinds + 1)]
    effects = rng.normal(0.0, 2.0, (kinds + 1, len(GENES)))
    effects[0] = 0.0
    true = 5.0 + effects[np.arange(n) % (kinds + 1)] + rng.normal(0.0, spread, (n, len(GENES)))
    predicted = true + rng.normal(0.0, 0.7, true.shape)
    return names, true, predicted


def _example(names: NDArray[Any], true: NDArray[Any], predicted: NDArray[Any], **params: Any) -> Example:
    truth = {"value": true, "perturbation": names, "genes": GENES}
    return {
        "prediction": {"value": predicted, "perturbation": names, "genes": GENES},
        "truth": truth,
        "perfect": {"value": true, "perturbation": names, "genes": GENES},
        "params": params,
    }


def profiles(*, seed: int, n: int) -> Example:
    """Five perturbations and control cells; differential genes are in the truth as rows of their role."""
    names, true, predicted = _made(seed, n, 5, 0.5)
    found = _example(names, true, predicted)
    role = np.full(n, "cell", object)
    for p in range(5):  # the last cells of each perturbation make room for facts about it
        mine = np.flatnonzero(names == f"p{p}")[-3:]
        order = np.argsort(-np.abs(true[mine].mean(axis=0) - true[names == CONTROL].mean(axis=0)))
        rank = np.zeros(len(GENES))
        rank[order[:4]] = np.arange(1, 5)
        facts = {"rank": rank, "log_fold_change": np.arange(1.0, 7.0) - p, "significance": np.where(rank > 0, 3.0, 0.0)}
        for row, (kind, fact) in zip(mine, facts.items(), strict=False):
            role[row], true[row] = kind, fact
    for side in ("prediction", "perfect"):
        keep = role == "cell"
        found[side]["value"] = np.where(
            keep[:, None], found[side]["value"], _mean_of(names, role, found[side]["value"])
        )
    found["truth"] = {**found["truth"], "value": true, "role": role}
    return found


def _mean_of(names: NDArray[Any], role: NDArray[Any], value: NDArray[Any]) -> NDArray[np.float64]:
    """(n, m) mean over the cells of each row's perturbation."""
    means = {name: value[(names == name) & (role == "cell")].mean(axis=0) for name in dict.fromkeys(names.tolist())}
    return np.stack([means[name] for name in names.tolist()])


def clouds(*, seed: int, n: int) -> Example:
    """Three perturbations of about ten cells each, and control cells."""
    return _example(*_made(seed, n, 3, 1.0))


def differential_cells(*, seed: int, n: int) -> Example:
    """Three perturbations of which the cells are far from control in some genes."""
    names, true, predicted = _made(seed, n, 3, 0.4)
    place = np.arange(n) % 4
    for p in range(1, 4):  # p + 2 genes are changed much, the others are those of control
        rng, mine, k = np.random.default_rng([seed, p]), place == p, p + 2
        for side in (true, predicted):
            side[mine, k:] = 5.0 + rng.normal(0.0, 0.4, (int(mine.sum()), len(GENES) - k))
            side[mine, :k] = 9.0 + side[mine, :k] / 10
    return _example(names, true, predicted)


def signed_significance(*, seed: int, n: int) -> Example:
    """One row a perturbation of sign(log fold change)·-log10(adjusted p)."""
    rng = np.random.default_rng(seed)
    names = np.array([f"p{i:03d}" for i in range(n)], object)
    true = np.clip(rng.normal(0.0, 2.0, (n, len(GENES))), -4.0, 4.0)
    return _example(names, true, true + rng.normal(0.0, 0.8, true.shape))
