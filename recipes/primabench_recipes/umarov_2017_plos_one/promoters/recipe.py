"""Turns a FASTA file of promoters and one of other sequences into labelled, censored and solution bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from primabench_core import CorruptDataError
from primabench_recipes.curation.sequences import labelled_sequences
from primabench_recipes.curation.views import three_views
from primabench_recipes.formats.fasta import read_fasta
from primabench_recipes.umarov_2017_plos_one.promoters.card import SETS

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build(context: BuildContext) -> list[Artifact]:
    """Three views: ``sequence``, answer ``label`` (``promoter`` or ``other``).

    Raises:
        CorruptDataError: no sequence of one class has the number of bases that the card says.
    """
    length = SETS[context.key.slug][2]
    letters: list[str] = []
    labels: list[str] = []
    for file, label in (("promoters.fa", "promoter"), ("others.fa", "other")):
        found = [entry.letters for entry in read_fasta(context.source(file)) if len(entry.letters) == length]
        if not found:
            raise CorruptDataError(f"{file} holds no sequence of {length} bases")
        letters += found
        labels += [label] * len(found)
    return three_views(labelled_sequences(letters, labels, "sequence"), ["label"])
