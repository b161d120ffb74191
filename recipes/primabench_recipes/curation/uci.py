"""The sequence files of the UCI repository: ``class, name, sequence`` a line, inside a zip archive."""

from __future__ import annotations

from pathlib import Path

from primabench_core import CorruptDataError
from primabench_recipes.formats.archives import read_members


def read_lines(path: Path, member: str) -> tuple[list[str], list[str], list[str]]:
    """Classes, names and sequences of a member, blanks around them removed.

    Raises:
        CorruptDataError: the archive holds no such member, or a line has not three parts.
    """
    rows: list[list[str]] = []
    for name, text in read_members(path, member):
        for number, line in enumerate(text.splitlines(), 1):
            parts = [part.strip() for part in line.split(",")]
            if len(parts) == 3:
                rows.append(parts)
            elif line.strip():
                raise CorruptDataError(f"{name}, line {number}: expected class, name, sequence")
    labels, names, letters = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    if not rows:
        raise CorruptDataError(f"{member} in {path.name} is empty")
    return labels, names, letters
