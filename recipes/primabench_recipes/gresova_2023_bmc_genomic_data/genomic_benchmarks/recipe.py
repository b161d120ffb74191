"""Cuts the sequences of interval lists out of a reference, one chromosome in memory at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.sequences import labelled_sequences
from primabench_recipes.curation.views import published_splits
from primabench_recipes.formats.fasta import iterate_fasta, reverse_complement
from primabench_recipes.formats.tables import read_table
from primabench_recipes.gresova_2023_bmc_genomic_data.genomic_benchmarks.card import SETS

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


@frozen
class Place:
    """A row of an interval list."""

    region: str
    start: int
    end: int
    strand: str


def build(context: BuildContext) -> list[Artifact]:
    """Splits train and test: ``sequence``, answers ``label`` (name of the class) and ``region``.

    Raises:
        CorruptDataError: a list has another number of rows, or an interval lies outside of its reference.
    """
    classes, train, test = SETS[context.key.slug]
    lists = {
        split: {kind: read_places(context.source(f"{split}.{kind}.csv.gz")) for kind in classes}
        for split in ("train", "test")
    }
    check_sizes(lists, {"train": train, "test": test})
    needed: dict[str, set[Place]] = {}
    for kinds in lists.values():
        for kind, places in kinds.items():
            needed.setdefault(classes[kind], set()).update(places)
    letters = {file: cut(context.source(file), places) for file, places in needed.items()}
    parts = {split: _rows(kinds, classes, letters, split) for split, kinds in lists.items()}
    return published_splits(parts, ["label", "region"])


def check_sizes(lists: dict[str, dict[str, list[Place]]], expected: dict[str, int]) -> None:
    """Refuse lists of other sizes than the card says."""
    for split, kinds in lists.items():
        found = sum(map(len, kinds.values()))
        if found != expected[split]:
            raise CorruptDataError(f"the lists of {split} have {found:,} rows, the card says {expected[split]:,}")


def read_places(path: Path) -> list[Place]:
    """Rows of one list, in its order."""
    table = read_table(path)
    columns = (table.text("region"), table.integers("start"), table.integers("end"), table.text("strand"))
    return [Place(str(a), int(b), int(c), str(d)) for a, b, c, d in zip(*columns, strict=True)]


def cut(reference: Path, places: set[Place]) -> dict[Place, str]:
    """Letters of each place, on its own strand.

    A region ``chr1`` means the entry ``1`` of Ensembl's files too, and ``ENST1`` the entry ``ENST1.2``.

    Raises:
        CorruptDataError: a region is not in the reference, or an interval reaches beyond its end.
    """
    waiting: dict[str, list[Place]] = {}
    for place in places:
        waiting.setdefault(place.region, []).append(place)
    found: dict[Place, str] = {}
    for entry in iterate_fasta(reference):
        for name in {entry.name, f"chr{entry.name}", entry.name.partition(".")[0]}:
            for place in waiting.pop(name, ()):
                letters = entry.letters[place.start : place.end]
                if not 0 <= place.start < place.end <= len(entry.letters):
                    raise CorruptDataError(f"{place} lies outside of {entry.name} ({len(entry.letters):,} bases)")
                found[place] = reverse_complement(letters) if place.strand == "-" else letters
        if not waiting:
            break
    if waiting:
        raise CorruptDataError(f"{reference.name} has no entry for {len(waiting)} regions, such as {min(waiting)!r}")
    return found


def _rows(
    kinds: dict[str, list[Place]], classes: dict[str, str], letters: dict[str, dict[Place, str]], split: str
) -> EvalData:
    rows = [(letters[classes[kind]][place], kind, place.region) for kind, places in kinds.items() for place in places]
    sequences, labels, regions = zip(*rows, strict=True)
    return labelled_sequences(sequences, labels, split, region=regions)
