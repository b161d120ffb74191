"""Answers as people have them: profiles and names, a control profile, lists of genes; as rows of a solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_task_perturbation.roles import (
    ADDITIVE,
    CELL,
    CONTROL,
    LOG_FOLD_CHANGE,
    MEAN_OF_TRAIN,
    RANK,
    SIGNIFICANCE,
    TARGET,
    UNTOLD,
)

ONLY = "all"
_PROFILES = {"log_fold_change": LOG_FOLD_CHANGE, "significance": SIGNIFICANCE, "additive": ADDITIVE}
_GENES = {"de_genes": RANK, "target_genes": TARGET}
EXTRA = frozenset({"control", "mean_of_train", *_PROFILES, *_GENES})
"""Keys of a truth that are not one entry a row."""


def arrange(truth: Mapping[str, Any]) -> Mapping[str, Any]:
    """A truth as rows.

    Args:
        truth: ``value`` (rows x genes), ``perturbation`` (name of each row; without it all rows are one), ``genes``,
            ``ids``, ``role``, ``context``, ``replicate`` as the solution holds them, and beside these: ``control``
            (genes, or cells x genes), ``de_genes`` and ``target_genes`` (perturbation: genes, the strongest first),
            ``log_fold_change``, ``significance`` (-log10 of adjusted p), ``additive`` (perturbation: one number a
            gene), ``mean_of_train`` (one number a gene).

    Returns:
        ``value``, ``perturbation``, ``role`` and what else was given, one entry a row.

    Raises:
        ContractError: a profile has another number of genes, or a list names genes or perturbations that the truth
            does not have.

    Example:
        >>> rows = arrange({"value": [[1.0, 2.0]], "perturbation": ["A"], "control": [0.0, 1.0]})
        >>> list(rows["perturbation"]), rows["value"].tolist()
        (['A', 'control'], [[1.0, 2.0], [0.0, 1.0]])
    """
    if "value" not in truth:
        return truth
    value = truth["value"]
    n = value.shape[0] if hasattr(value, "shape") else len(value)
    names = [str(name) for name in truth.get("perturbation", [ONLY] * n)]
    more = {key: truth[key] for key in EXTRA if truth.get(key) is not None}
    if not more:
        return {**truth, "perturbation": names}
    width = np.shape(value)[1] if len(np.shape(value)) == 2 else -1
    added = _Added(width)
    _add(added, more, list(map(str, truth.get("genes", ()))), set(names))
    rows: dict[str, Any] = {key: given for key, given in truth.items() if key not in EXTRA}
    extra = np.concatenate(added.rows) if added.rows else np.zeros((0, max(width, 0)))
    if hasattr(value, "toarray"):
        value = value.toarray()
    rows["value"] = np.concatenate([np.asarray(value, np.float64), extra])
    rows["perturbation"] = names + added.names
    rows["role"] = list(truth.get("role", [CELL] * n)) + added.roles
    if "context" in truth:
        rows["context"] = [*truth["context"], *([truth["context"][0]] * len(added.names))]
    if "replicate" in truth:
        rows["replicate"] = [*truth["replicate"], *([UNTOLD] * len(added.names))]
    if truth.get("ids") is not None:
        facts = enumerate(zip(added.roles, added.names, strict=True))
        rows["ids"] = [*truth["ids"], *(f"{role}:{name}:{i}" for i, (role, name) in facts)]
    return rows


class _Added:
    """Rows behind those of the truth."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.rows: list[NDArray[np.float64]] = []
        self.names: list[str] = []
        self.roles: list[str] = []

    def add(self, key: str, name: str, role: str, profile: Any) -> None:
        found = np.atleast_2d(np.asarray(profile, np.float64))
        if found.ndim != 2 or found.shape[1] != self.width:
            raise ContractError(
                [Violation(key, f"one number for each of {self.width} genes", f"shape {np.shape(profile)}")]
            )
        self.rows.append(found)
        self.names += [name] * len(found)
        self.roles += [role] * len(found)


def _add(added: _Added, more: Mapping[str, Any], genes: list[str], known: set[str]) -> None:
    for key in sorted(more):
        if key == "control":
            added.add(key, CONTROL, CELL, more[key])
            continue
        if key == "mean_of_train":
            added.add(key, CONTROL, MEAN_OF_TRAIN, more[key])
            continue
        strange = sorted(set(map(str, more[key])) - known)
        if strange:
            raise ContractError(
                [Violation(key, "perturbations of the truth", "others", tuple(strange[:5]), len(strange), noun="name")]
            )
        for name, given in more[key].items():
            if key in _PROFILES:
                added.add(key, str(name), _PROFILES[key], given)
            else:
                added.add(key, str(name), _GENES[key], _placed(key, list(map(str, given)), genes))


def _placed(key: str, listed: Sequence[str], genes: Sequence[str]) -> NDArray[np.float64]:
    """Place of each gene in a list, from 1; 0 for genes that it does not name."""
    at = {gene: i for i, gene in enumerate(genes)}
    strange = [gene for gene in listed if gene not in at]
    if strange:
        raise ContractError(
            [Violation(key, "genes of the truth", "others", tuple(strange[:5]), len(strange), noun="gene")]
        )
    places = np.zeros(len(genes))
    places[[at[gene] for gene in listed]] = np.arange(1, len(listed) + 1)
    return places
