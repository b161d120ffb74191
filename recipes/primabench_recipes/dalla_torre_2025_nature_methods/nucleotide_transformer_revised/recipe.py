"""Turns two FASTA files with labels in their headers into the splits that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.sequences import labelled_sequences
from primabench_recipes.curation.views import published_splits
from primabench_recipes.dalla_torre_2025_nature_methods.nucleotide_transformer_revised.card import TASKS
from primabench_recipes.formats.fasta import read_fasta

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build(context: BuildContext) -> list[Artifact]:
    """Splits train and test: ``sequence``, answers ``label`` (0, 1, 2 as text) and ``name``.

    Raises:
        CorruptDataError: a header has no label, or a file lacks one of the classes.
    """
    classes = next(n for task, (_, n) in TASKS.items() if task.lower() == context.key.slug)
    wanted = [str(code) for code in range(classes)]
    parts = {split: read_labelled(context.source(f"{split}.fna"), split, wanted) for split in ("train", "test")}
    return published_splits(parts, ["label", "name"])


def read_labelled(path: Path, split: str, classes: list[str]) -> EvalData:
    """Sequences of one file; the label stands behind the last ``|`` of the header."""
    entries = read_fasta(path)
    names, bars, labels = zip(*(entry.header.strip().rpartition("|") for entry in entries), strict=True)
    if "" in bars or sorted(set(labels)) != classes:
        raise CorruptDataError(f"{path.name}: labels behind '|' are {sorted(set(labels))}, expected {classes}")
    return labelled_sequences([entry.letters for entry in entries], labels, split, name=names)
