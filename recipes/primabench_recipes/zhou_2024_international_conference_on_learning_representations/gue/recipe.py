"""Turns three CSV files, ``sequence,label``, into the splits that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.sequences import labelled_sequences
from primabench_recipes.curation.views import published_splits
from primabench_recipes.formats.tables import read_table
from primabench_recipes.zhou_2024_international_conference_on_learning_representations.gue.card import SETS, SPLITS

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build(context: BuildContext) -> list[Artifact]:
    """Splits train, dev and test: ``sequence``, answer ``label`` (0, 1 … as text). Labels of dev are public.

    Raises:
        CorruptDataError: a file lacks one of the classes, or names another one.
    """
    classes = next(n for name, (_, n) in SETS.items() if name.lower() == context.key.slug)
    wanted = [str(code) for code in range(classes)]
    return published_splits({s: read_split(context.source(f"{s}.csv"), s, wanted) for s in SPLITS}, ["label"])


def read_split(path: Path, split: str, classes: list[str]) -> EvalData:
    """Sequences of one file."""
    table = read_table(path)
    labels = [str(code) for code in table.integers("label")]
    if sorted(set(labels), key=int) != classes:
        raise CorruptDataError(f"{path.name}: labels are {sorted(set(labels))}, expected {classes}")
    return labelled_sequences(table.text("sequence").tolist(), labels, split)
