"""BED and its relatives: intervals on chromosomes, 0-based and half-open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core import CorruptDataError
from primabench_recipes.formats.text_files import open_text


@frozen(eq=False)
class Intervals:
    """Rows of a BED file; the columns behind the third stay text."""

    chrom: NDArray[Any]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    rest: tuple[tuple[str, ...], ...]

    def column(self, number: int, file: str = "BED") -> NDArray[Any]:
        """(n,) text of a column, numbered from 1 as in the format's description.

        Raises:
            CorruptDataError: some row is shorter.
        """
        if any(len(row) < number - 3 for row in self.rest):
            raise CorruptDataError(f"{file}: not every row has a column {number}")
        return np.array([row[number - 4] for row in self.rest], dtype=object)


def read_bed(path: Path) -> Intervals:
    """Read BED, BED6 or narrowPeak; ``track`` and ``browser`` lines and comments are passed over.

    Raises:
        CorruptDataError: a row is no interval with 0 <= start < end.
    """
    chrom: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    rest: list[tuple[str, ...]] = []
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            text = line.rstrip("\r\n")
            if not text.strip() or text.startswith(("track", "browser", "#")):
                continue
            parts = text.split("\t")
            if len(parts) < 3 or not (parts[1].isdigit() and parts[2].isdigit()) or int(parts[1]) >= int(parts[2]):
                raise CorruptDataError(f"{path.name}, line {number}: {text[:60]!r} is no interval")
            chrom.append(parts[0])
            starts.append(int(parts[1]))
            ends.append(int(parts[2]))
            rest.append(tuple(parts[3:]))
    return Intervals(np.array(chrom, dtype=object), np.array(starts, np.int64), np.array(ends, np.int64), tuple(rest))
