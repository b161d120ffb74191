"""Turns the two files inside SQUARNA (header, bases, brackets) into splits with base pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.structures import as_rows
from primabench_recipes.curation.views import published_splits
from primabench_recipes.formats.rna_structures import Structure, parse_dot_bracket

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build(context: BuildContext) -> list[Artifact]:
    """Splits train and test: ``sequence`` and ``entry`` text, ``pairs`` ragged int32 (from 0, first < second).

    Raises:
        CorruptDataError: a structure is not balanced, or a base is none of A, C, G, U.
    """
    parts = {split: read_chains(context.source(f"{split}.fas")) for split in ("train", "test")}
    return published_splits(parts, ["pairs"], attributes={"pairs": "positions from 0, pseudoknots kept"})


def read_chains(path: Path) -> EvalData:
    """Chains of one file; the id is the header."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if len(lines) % 3 or any(not header.startswith(">") for header in lines[::3]):
        raise CorruptDataError(f"{path.name}: expected three lines a chain, header, bases, brackets")
    found: dict[str, Structure] = {}
    for header, bases, brackets in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        if set(bases) - set("ACGU") or header in found:
            raise CorruptDataError(f"{path.name}: {header} stands twice, or holds a letter that is no base")
        found[header] = parse_dot_bracket(bases, brackets, f"{path.name}, {header}")
    return as_rows({name.lstrip("> "): structure for name, structure in found.items()}, entry=_entry)


def _entry(name: str) -> str:
    return name.split(maxsplit=1)[0]
