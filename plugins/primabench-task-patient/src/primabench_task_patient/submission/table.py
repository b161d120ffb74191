"""What every format is read into, the limits it is held to, and the text formats."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_task_patient.submission.faults import SubmissionError, plain, some

DATASET, SAMPLE = "dataset_id", "sample_id"
BLANK = frozenset({"", "nan", "na", "n/a", "null", "none", "<na>"})
"""Cells without a number, in small letters."""
LONGEST_CELL = 1 << 16
LONGEST_ID = 1 << 12
LONGEST_ROW = 1 << 23
"""Most characters of a row: 2^16 numbers of full precision, several times over."""


@frozen
class Limits:
    """What a file may be at most."""

    file_bytes: int = 2 << 30
    numbers: int = 1 << 28
    """Rows times columns; as float64 that is 2 GiB."""
    columns: int = 1 << 16
    rows: int = 1 << 22

    def check_shape(self, rows: int, columns: int) -> None:
        """Refuse before memory is taken.

        Raises:
            SubmissionError: more rows, columns or numbers than allowed (``too_large``).
        """
        if rows > self.rows or columns > self.columns or rows * columns > self.numbers:
            raise SubmissionError(
                "too_large",
                f"{rows:,} rows x {columns:,} embedding columns; at most {self.rows:,} rows, {self.columns:,} columns "
                f"and {self.numbers:,} numbers are read",
            )


LIMITS = Limits()


@frozen(eq=False)
class Table:
    """Rows of a submission as they stand in the file."""

    dataset_ids: Sequence[str]
    sample_ids: Sequence[str]
    columns: tuple[str, ...]
    values: NDArray[np.float64]
    """(rows, columns); blank cells are NaN."""


def read_text(path: Path, delimiter: str, limits: Limits) -> Table:
    """Read .csv or .tsv: UTF-8 with or without a byte order mark, a header line, ids as they stand.

    Raises:
        SubmissionError: not UTF-8, ragged rows, columns missing, repeated, unnamed or of text, too large.
    """
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = _Lines(file)
            lines = csv.reader(text, delimiter=delimiter, strict=True)
            header = next((line for line in text.rows_of(lines) if line), None)
            if header is None:
                raise SubmissionError("empty_file", "there is no header line", remedy="write the embeddings again")
            check_columns(header)
            return _rows(text.rows_of(lines), header, limits)
    except UnicodeDecodeError as error:
        raise SubmissionError(
            "not_text", f"byte {error.start:,} is not UTF-8 text", remedy="save the table as UTF-8"
        ) from None
    except csv.Error as error:
        raise SubmissionError("unreadable", f"line {lines.line_num:,}: {error}") from None
    finally:
        csv.field_size_limit(before)


def check_columns(header: Sequence[str]) -> None:
    """Ids there, every column named once.

    Raises:
        SubmissionError: ``missing_id_column``, ``duplicate_column``, ``unnamed_column``, ``no_embedding_column``.
    """
    absent = [name for name in (DATASET, SAMPLE) if name not in header]
    if absent:
        remedy = "separate cells by commas in .csv, by tabs in .tsv" if len(header) == 1 else ""
        raise SubmissionError(
            "missing_id_column", f"no column {' and no column '.join(absent)}; found {some(header)}", remedy=remedy
        )
    twins = sorted(name for name, times in Counter(header).items() if times > 1)
    if twins:
        raise SubmissionError("duplicate_column", f"several columns are called {some(twins)}")
    index = [name for name in header if not name.strip() or name.startswith("__index_level_")]
    if index:
        raise SubmissionError(
            "unnamed_column",
            f"a column is called {plain(index[0])!r}, as pandas calls the row numbers of a frame: no embedding",
            remedy="write the frame with index=False",
        )
    if len(header) == 2:
        raise SubmissionError("no_embedding_column", "ids alone; an embedding needs at least one numeric column")


class _Lines:
    """Lines of a file for the csv module; a row that never ends is refused before it fills the memory."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._number, self._taken = file, 0, 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._file.readline(LONGEST_ROW + 1)
        if not line:
            raise StopIteration
        self._number += 1
        self._taken += len(line)
        if "\0" in line:
            raise SubmissionError("not_text", f"line {self._number:,} holds a zero byte")
        if self._taken > LONGEST_ROW:
            raise SubmissionError(
                "too_large", f"the row at line {self._number:,} has more than {LONGEST_ROW:,} characters"
            )
        return line

    def rows_of(self, rows: Iterator[list[str]]) -> Iterator[list[str]]:
        """Rows that are read of these lines; a row may span several."""
        for row in rows:
            self._taken = 0
            yield row


def _rows(lines: Iterator[list[str]], header: Sequence[str], limits: Limits) -> Table:
    first, second = header.index(DATASET), header.index(SAMPLE)
    kept = [i for i in range(len(header)) if i not in (first, second)]
    columns = tuple(header[i] for i in kept)
    limits.check_shape(0, len(columns))
    datasets: list[str] = []
    samples: list[str] = []
    rows: list[NDArray[np.float64]] = []
    for line in lines:
        if not line:
            continue
        if len(line) != len(header):
            number = len(rows) + 1
            raise SubmissionError(
                "ragged_row", f"data row {number:,} has {len(line)} cells, the header has {len(header)}",
                remedy="leave cells of unused columns empty; a cut last row means a file that was not finished",
            )  # fmt: skip
        datasets.append(line[first])
        samples.append(line[second])
        rows.append(_numbers([line[i] for i in kept], columns))
        if len(rows) % 4096 == 0:
            limits.check_shape(len(rows), len(columns))
    limits.check_shape(len(rows), len(columns))
    return Table(datasets, samples, columns, np.stack(rows) if rows else np.empty((0, len(columns))))


def _numbers(cells: list[str], columns: tuple[str, ...]) -> NDArray[np.float64]:
    try:
        if "_" in "".join(cells):  # Python reads 1_000
            raise ValueError
        return np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return np.asarray([_number(cell, name) for cell, name in zip(cells, columns, strict=True)], np.float64)


def _number(cell: str, column: str) -> float:
    text = cell.strip().lower()
    if text in BLANK:
        return float("nan")
    if text in ("true", "false"):
        return float(text == "true")
    try:
        if "_" in text:
            raise ValueError
        return float(text)
    except ValueError:
        raise SubmissionError(
            "text_column", f"column {plain(column)!r} is not numeric: it holds {cell[:40]!r}",
            remedy=f"leave out all columns but {DATASET}, {SAMPLE} and those of the embedding",
        ) from None  # fmt: skip
