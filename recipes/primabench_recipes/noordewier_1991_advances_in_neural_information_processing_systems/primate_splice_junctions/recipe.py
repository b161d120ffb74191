"""Turns the lines ``class, name, sequence`` of the UCI archive into labelled, censored and solution bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from primabench_core import CorruptDataError
from primabench_recipes.curation.sequences import labelled_sequences
from primabench_recipes.curation.uci import read_lines
from primabench_recipes.curation.views import three_views

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

CLASSES = ("EI", "IE", "N")


def build(context: BuildContext) -> list[Artifact]:
    """Three views: ``sequence`` of 60 bases, ``gene`` text, answer ``label``.

    Raises:
        CorruptDataError: a class is unknown, or a window has not 60 bases.
    """
    labels, names, letters = read_lines(context.source("splice.zip"), "splice.data")
    if set(labels) != set(CLASSES) or {len(text) for text in letters} != {60}:
        raise CorruptDataError(f"splice.data: expected windows of 60 bases and the classes {', '.join(CLASSES)}")
    genes = [name.partition("-")[0] for name in names]
    return three_views(labelled_sequences(letters, labels, "junction", gene=genes), ["label"])
