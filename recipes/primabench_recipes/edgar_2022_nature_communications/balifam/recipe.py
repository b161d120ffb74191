"""Turns the families of an archive into one row a sequence, aligned where the reference holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import three_views
from primabench_recipes.edgar_2022_nature_communications.balifam.card import SIZES
from primabench_recipes.formats.archives import read_members
from primabench_recipes.formats.fasta import parse_fasta

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

GAPS = str.maketrans("", "", "-.")


def build(context: BuildContext) -> list[Artifact]:
    """Three views, a row a sequence: ``family``, ``name``, ``sequence``, answer ``aligned`` (None for homologs).

    Raises:
        CorruptDataError: another number of families, or a reference that is not an alignment of its input.
    """
    path, slug = context.source("balifam.tar.gz"), context.key.slug
    inputs, references = (read_families(path, slug, part) for part in ("in", "ref"))
    if len(inputs) != SIZES[slug] or set(inputs) != set(references):
        raise CorruptDataError(f"{path.name}: {len(inputs)} families in {slug}, {len(references)} references")
    rows: list[tuple[str, str, str, str | None]] = []
    for family, members in inputs.items():
        check_reference(family, members, references[family])
        rows += [(family, name, letters, references[family].get(name)) for name, letters in members.items()]
    columns = dict(zip(("family", "name", "sequence", "aligned"), zip(*rows, strict=True), strict=True))
    fields: dict[str, Any] = {key: np.array(values, dtype=object) for key, values in columns.items()}
    data = EvalData(fields, ids=[f"{family}:{name}" for family, name, *_ in rows])
    said = {"aligned": "upper case is assessed; - and . are gaps"}
    return three_views(data, ["aligned"], attributes=said)


def read_families(path: Path, slug: str, part: str) -> dict[str, dict[str, str]]:
    """Sequences by name, by family; the name ends at its first blank.

    Raises:
        CorruptDataError: a family has a name twice.
    """
    found: dict[str, dict[str, str]] = {}
    for member, text in read_members(path, f"{slug}/{part}/*"):
        entries = list(parse_fasta(text.splitlines(), member.name))
        found[member.name] = {entry.name: entry.letters for entry in entries}
        if len(found[member.name]) != len(entries):
            raise CorruptDataError(f"{part}/{member.name} has a name twice")
    return found


def check_reference(family: str, members: dict[str, str], reference: dict[str, str]) -> None:
    """Refuse a reference whose rows differ in length, or are not the input's sequences with gaps."""
    if len({len(letters) for letters in reference.values()}) != 1:
        raise CorruptDataError(f"{family}: rows of the reference differ in length")
    for name, letters in reference.items():
        if letters.translate(GAPS).upper() != members.get(name, "").upper():
            raise CorruptDataError(f"{family}: {name} of the reference, without gaps, is not its input sequence")
