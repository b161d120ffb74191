"""Turns the files of one HEST task into one row a spot, with the folds of the source; images stay where they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import three_views
from primabench_recipes.formats.cells import as_counts, names, open_cells
from primabench_recipes.formats.tables import read_table
from primabench_recipes.jaume_2024_advances_in_neural_information_processing_systems.hest_bench.card import FOLDERS

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build(context: BuildContext) -> list[Artifact]:
    """Three views, a row a spot: ``sample``, ``fold_0`` …, answer ``counts`` (spots, genes) int32.

    Raises:
        CorruptDataError: a sample lacks a gene or holds no counts, or folds do not name each sample once.
    """
    root = context.source("hest_bench") / FOLDERS[context.key.slug][0]
    genes = json.loads((root / "var_50genes.json").read_text(encoding="utf-8"))["genes"]
    files = sorted((root / "adata").glob("*.h5ad"))
    spots = {path.stem: read_sample(path, genes) for path in files}
    sample = np.array([name for name, (ids, _) in spots.items() for _ in ids], dtype=object)
    fields: dict[str, Any] = {"sample": sample}
    for fold, sides in enumerate(read_folds(root / "splits", set(spots))):
        fields[f"fold_{fold}"] = np.array([sides[name] for name in sample], dtype=object)
    fields["counts"] = np.concatenate([values for _, values in spots.values()])
    ids = [f"{name}:{barcode}" for name, (barcodes, _) in spots.items() for barcode in barcodes]
    data = EvalData(fields, ids=ids, coords={"genes": names(genes, "genes")})
    said = {"counts": "molecules; the benchmark predicts their log(1 + counts)"}
    return three_views(data, ["counts"], attributes=said, columns={"counts": "genes"})


def read_sample(path: Path, genes: list[str]) -> tuple[tuple[str, ...], np.ndarray]:
    """Barcodes, and the raw counts of the task's genes, in their order."""
    spots = open_cells(path)
    place = {str(gene): i for i, gene in enumerate(spots.var_names)}
    absent = [gene for gene in genes if gene not in place]
    if absent:
        raise CorruptDataError(f"{path.name} has no gene {absent[0]!r}")
    counts = as_counts(spots.X, path.name)[:, [place[gene] for gene in genes]]
    return names(spots.obs_names, "spots"), counts.toarray().astype(np.int32)


def read_folds(folder: Path, samples: set[str]) -> list[dict[str, str]]:
    """For each fold the side of each sample; their number is that of the files.

    Raises:
        CorruptDataError: a fold is incomplete, or names a sample that is not there, or one on both sides.
    """
    numbers = sorted(int(path.stem.rpartition("_")[2]) for path in folder.glob("train_*.csv"))
    if numbers != list(range(len(numbers))) or not numbers:
        raise CorruptDataError(f"{folder} holds no folds numbered from 0")
    found = []
    for number in numbers:
        listed = [
            (str(sample), side)
            for side in ("train", "test")
            for sample in read_table(folder / f"{side}_{number}.csv").text("sample_id")
        ]
        sides = dict(listed)
        if len(sides) != len(listed) or set(sides) != samples:
            raise CorruptDataError(f"fold {number} does not name each of the {len(samples)} samples once")
        found.append(sides)
    return found
