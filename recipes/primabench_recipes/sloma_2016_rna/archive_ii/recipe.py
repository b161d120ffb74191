"""Turns a tar file of connectivity files into one row a molecule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from primabench_core import CorruptDataError
from primabench_recipes.curation.structures import as_rows
from primabench_recipes.curation.views import three_views
from primabench_recipes.formats.archives import read_members
from primabench_recipes.formats.rna_structures import Structure, parse_bpseq, parse_ct

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

PARSERS = {".bpseq": parse_bpseq, ".ct": parse_ct}


def build(context: BuildContext) -> list[Artifact]:
    """Three views: ``sequence`` and ``family`` text, answer ``pairs`` ragged int32 (from 0, first < second).

    Raises:
        CorruptDataError: two files have one name, or more than one in a hundred contradicts itself.
    """
    found, left_out = read_structures(context.source("archiveII.tar.gz"))
    said = {"pairs": "positions from 0, pseudoknots kept", "left_out": left_out}
    return three_views(as_rows(found, family=family_of), ["pairs"], attributes=said)


def read_structures(path: Path) -> tuple[dict[str, Structure], list[str]]:
    """Structures by name, and the names of files that contradict themselves.

    ct files are read only where there are no bpseq files: archives often hold both of one molecule.
    """
    try:
        members = list(read_members(path, "*.bpseq"))
    except CorruptDataError as error:
        if "holds no" not in error.message:
            raise
        members = list(read_members(path, "*.ct"))
    found: dict[str, Structure] = {}
    left_out: list[str] = []
    for member, text in members:
        if member.stem in found or member.stem in left_out:
            raise CorruptDataError(f"{path.name} holds two files named {member.stem}")
        try:
            found[member.stem] = PARSERS[member.suffix](text.splitlines(), member.name)
        except CorruptDataError:
            left_out.append(member.stem)
    if len(left_out) > len(members) / 100:
        raise CorruptDataError(f"{path.name}: {len(left_out)} of {len(members)} files contradict themselves")
    return found, left_out


def family_of(name: str) -> str:
    """The family that a file name begins with: ``5s_Acanthamoeba-castellanii-1`` is of ``5s``."""
    return name.partition("_")[0]
