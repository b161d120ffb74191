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


def build(context: BuildContext) -> list[Artifact]:
    """Three views: ``sequence`` of 57 bases, answer ``label`` (``+`` or ``-``).

    Raises:
        CorruptDataError: a class is unknown, or a window has not 57 bases.
    """
    labels, _, letters = read_lines(context.source("promoters.zip"), "promoters.data")
    if set(labels) != {"+", "-"} or {len(text) for text in letters} != {57}:
        raise CorruptDataError("promoters.data: expected windows of 57 bases and the classes + and -")
    return three_views(labelled_sequences(letters, labels, "window"), ["label"])
