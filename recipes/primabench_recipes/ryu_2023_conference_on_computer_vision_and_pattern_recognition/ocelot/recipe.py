"""Turns the folder of point annotations into the splits that they are; images stay where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_core.contract.ragged import Ragged
from primabench_recipes.curation.views import published_splits

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

SPLITS = ("train", "val", "test")
SIZE = 1024
"""Pixels to each side of a patch."""


def build(context: BuildContext) -> list[Artifact]:
    """Splits train, val and test, a row an image: ``image`` text, answer ``cells`` ragged int32 (x, y, class).

    Raises:
        CorruptDataError: a split is absent, a point lies outside of its patch, or a class is neither 1 nor 2.
    """
    root = context.source("ocelot")
    said = {"cells": "x, y in pixels from the upper left, class 1 background, 2 tumour", "spacing": "0.2 µm a pixel"}
    return published_splits({split: read_split(root, split) for split in SPLITS}, ["cells"], attributes=said)


def read_split(root: Path, split: str) -> EvalData:
    """Images of one split, by name."""
    files = sorted((root / "annotations" / split / "cell").glob("*.csv"))
    if not files:
        raise CorruptDataError(f"{root} has no annotations of split {split}")
    points = [read_points(path, f"{split}/{path.name}") for path in files]
    images = np.array([f"{split}/{path.stem}" for path in files], dtype=object)
    counts = np.array([len(found) for found in points], np.int64)
    return EvalData({"image": images, "cells": Ragged(np.concatenate(points), counts)}, ids=images.tolist())


def read_points(path: Path, where: str) -> np.ndarray:
    """(cells, 3) int32 x, y, class of a file without a header; one without bytes has no cells."""
    rows = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    try:
        found = np.array([[int(word) for word in row] for row in rows], np.int32).reshape(len(rows), 3)
    except ValueError:
        raise CorruptDataError(f"{where}: expected x,y,class a line, whole numbers") from None
    if len(found) and ((found[:, :2] < 0) | (found[:, :2] >= SIZE)).any():
        raise CorruptDataError(f"{where}: a point lies outside of the patch of {SIZE} pixels")
    if not set(found[:, 2].tolist()) <= {1, 2}:
        raise CorruptDataError(f"{where}: classes are {sorted(set(found[:, 2].tolist()))}, expected 1 and 2")
    return found
