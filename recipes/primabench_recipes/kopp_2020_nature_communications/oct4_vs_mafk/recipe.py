"""Turns four FASTA files, a split and a factor each, into the splits that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.sequences import labelled_sequences
from primabench_recipes.curation.views import published_splits
from primabench_recipes.formats.fasta import read_fasta

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

CLASSES = {"Mafk": "mafk", "Oct4": "oct4"}
LENGTH = 200


def build(context: BuildContext) -> list[Artifact]:
    """Splits train and test: ``sequence``, ``chrom``, answer ``label`` (``Oct4`` or ``Mafk``).

    Raises:
        CorruptDataError: a header is no place, or a sequence has not 200 bases.
    """
    return published_splits({split: _split(context, split) for split in ("train", "test")}, ["label"])


def _split(context: BuildContext, split: str) -> EvalData:
    letters, labels, chroms = [], [], []
    for label, name in CLASSES.items():
        file = f"{split}.{name}.fa"
        for entry in read_fasta(context.source(file)):
            chrom, colon, _ = entry.name.partition(":")
            if not colon or len(entry.letters) != LENGTH:
                raise CorruptDataError(f"{file}: {entry.header[:40]!r} is no place with {LENGTH} bases")
            letters.append(entry.letters)
            labels.append(label)
            chroms.append(chrom)
    return labelled_sequences(letters, labels, split, chrom=chroms)
