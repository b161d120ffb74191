"""Turns DeepDTA's text files into one row a pair of inhibitor and kinase; the folds are kept as numbers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import three_views

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

SETTINGS = (1, 2, 3)


def build(context: BuildContext) -> list[Artifact]:
    """Three views: ``smiles``, ``sequence``, ``drug``, ``target``, folds int64, answers ``kd`` (nM) and ``pkd``.

    Raises:
        CorruptDataError: the matrix has another shape, a constant is not positive, or a pair is not in one fold.
    """
    drugs, targets = (read_names(context.source(name)) for name in ("ligands.txt", "proteins.txt"))
    kd = read_matrix(context.source("affinities.txt"), (len(drugs), len(targets)))
    n = kd.size
    fields: dict[str, Any] = {
        "smiles": np.repeat(np.array(list(drugs.values()), object), len(targets)),
        "sequence": np.tile(np.array(list(targets.values()), object), len(drugs)),
        "drug": np.repeat(np.array(list(drugs), object), len(targets)),
        "target": np.tile(np.array(list(targets), object), len(drugs)),
    }
    for setting in SETTINGS:
        files = [context.source(f"{part}_fold_setting{setting}.txt") for part in ("test", "train")]
        fields[f"fold_setting{setting}"] = read_folds(files[0], files[1], n)
    ids = [f"{drug}:{target}" for drug in drugs for target in targets]
    answers = {"kd": kd.ravel(), "pkd": np.round(9 - np.log10(kd.ravel()), 6)}
    units = {
        "kd": "nM",
        "pkd": "-log10 of mol/l, rounded to 6 decimals",
        "folds": "0 is the test fold, 1 to 5 are training folds",
    }
    return three_views(EvalData({**fields, **answers}, ids=ids), list(answers), attributes=units)


def read_names(path: Path) -> dict[str, str]:
    """Names and what they stand for, in the order of the file, which is that of the matrix.

    Raises:
        CorruptDataError: it is no JSON object of text.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CorruptDataError(f"{path.name} is no JSON: {error}") from None
    if not isinstance(found, dict) or not all(isinstance(v, str) and v for v in found.values()):
        raise CorruptDataError(f"{path.name} is no list of names with text")
    return found


def read_matrix(path: Path, shape: tuple[int, int]) -> np.ndarray:
    """Dissociation constants in nM.

    Raises:
        CorruptDataError: the shape differs, or a constant is not a positive number.
    """
    rows = [[float(word) for word in line.split()] for line in path.read_text(encoding="utf-8").splitlines() if line]
    if {len(row) for row in rows} != {shape[1]} or len(rows) != shape[0]:
        raise CorruptDataError(f"{path.name}: expected a matrix of {shape[0]} inhibitors by {shape[1]} kinases")
    found = np.array(rows)
    if not (np.isfinite(found) & (found > 0)).all():
        raise CorruptDataError(f"{path.name}: a dissociation constant is not a positive number")
    return found


def read_folds(test: Path, train: Path, n: int) -> np.ndarray:
    """(n,) the fold of each pair, counted along the rows of the matrix.

    Raises:
        CorruptDataError: a pair is in no fold, or in two.
    """
    folds = np.full(n, -1, np.int64)
    lists = [json.loads(test.read_text(encoding="utf-8")), *json.loads(train.read_text(encoding="utf-8"))]
    for number, members in enumerate(lists):
        at = np.asarray(members, np.int64)
        if len(at) and (at.min() < 0 or at.max() >= n or (folds[at] != -1).any() or len(set(members)) != len(members)):
            raise CorruptDataError(f"{test.name}, {train.name}: a pair stands in two folds, or there is no such pair")
        folds[at] = number
    if (folds < 0).any():
        raise CorruptDataError(f"{test.name}, {train.name}: {int((folds < 0).sum())} pairs are in no fold")
    return folds
