"""Lines of plain and gzipped text files."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from primabench_core import CorruptDataError


@contextmanager
def open_text(path: Path) -> Iterator[IO[str]]:
    """Open a text file, gzipped or not (its first two bytes say which), as UTF-8.

    Raises:
        CorruptDataError: it is truncated, damaged or not UTF-8; raised while reading too.
    """
    with path.open("rb") as raw:
        zipped = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        try:
            if zipped:
                with gzip.open(raw, "rt", encoding="utf-8", newline="") as stream:
                    yield stream
            else:
                with path.open(encoding="utf-8", newline="") as stream:
                    yield stream
        except (EOFError, gzip.BadGzipFile, UnicodeDecodeError) as error:
            raise CorruptDataError(f"{path.name} is damaged: {error}", remedy="get the file again") from error
