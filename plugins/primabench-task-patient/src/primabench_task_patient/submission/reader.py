"""Reads a submission of any format and refuses what no row of can be trusted."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core import MissingDataError
from primabench_task_patient.submission.faults import SubmissionError, plain, some
from primabench_task_patient.submission.packed import read_npz, read_parquet
from primabench_task_patient.submission.table import DATASET, LIMITS, LONGEST_ID, SAMPLE, Limits, Table, read_text

FORMATS = ("csv", "tsv", "parquet", "npz")


@frozen(eq=False)
class Submission:
    """The embeddings of a file, not yet compared with what is asked for."""

    format: str
    sha256: str
    """Of the file's bytes, hex."""
    bytes: int
    columns: tuple[str, ...]
    rows: dict[str, dict[str, int]]
    """Row number by data set and sample."""
    values: NDArray[np.float64]
    """(rows, columns) float64; blank cells are NaN."""

    @property
    def n_rows(self) -> int:
        """Rows of the file."""
        return len(self.values)


def read_submission(path: str | Path, *, limits: Limits = LIMITS) -> Submission:
    """Read a submission.

    .csv and .tsv (UTF-8) and .parquet have the columns ``dataset_id``, ``sample_id`` and one numeric column for each
    dimension; .npz has the arrays ``dataset_ids``, ``sample_ids`` and ``embeddings`` (rows, dimensions) and nothing
    else. Ids are text and stay as they stand. Nothing is unpickled.

    Args:
        path: The file; its suffix says the format.
        limits: Sizes that are refused before memory is taken.

    Raises:
        MissingDataError: no such file.
        MissingPluginError: .parquet without pyarrow.
        SubmissionError: the file is refused; ``code`` says why.
    """
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise SubmissionError("unknown_format", f"{path.name!r}; known: {', '.join('.' + f for f in FORMATS)}")
    if path.is_dir():
        raise MissingDataError(f"{path} is a folder, not a file", remedy="name the file of the submission")
    if not path.is_file():
        raise MissingDataError(f"no such file: {path}", remedy="check the path")
    size = path.stat().st_size
    if not size:
        raise SubmissionError("empty_file", f"{path.name} has 0 bytes", remedy="write the embeddings again")
    if size > limits.file_bytes:
        raise SubmissionError("too_large", f"{size:,} bytes; at most {limits.file_bytes:,} are read")
    if kind == "npz":
        table = read_npz(path, limits)
    elif kind == "parquet":
        table = read_parquet(path, limits)
    else:
        table = read_text(path, "\t" if kind == "tsv" else ",", limits)
    return Submission(kind, _digest(path), size, table.columns, _placed(table), table.values)


def _placed(table: Table) -> dict[str, dict[str, int]]:
    """Row of each key.

    Raises:
        SubmissionError: no rows, an empty id, a key that occurs twice.
    """
    if not len(table.values):
        raise SubmissionError("no_rows", "there is a header and no row", remedy="write the embeddings again")
    placed: dict[str, dict[str, int]] = {}
    twice = []
    for row, (dataset, sample) in enumerate(zip(table.dataset_ids, table.sample_ids, strict=True)):
        if not dataset or not sample:
            raise SubmissionError("empty_id", f"row {row + 1:,} has no {SAMPLE if dataset else DATASET}")
        _check_id(dataset, row)
        _check_id(sample, row)
        if placed.setdefault(dataset, {}).setdefault(sample, row) != row:
            twice.append(f"{plain(dataset)} {plain(sample)}")
    if twice:
        raise SubmissionError(
            "duplicate_key", f"{len(twice)} rows repeat a pair of dataset_id and sample_id: {some(twice)}",
            remedy="send each sample once; no row wins over another",
        )  # fmt: skip
    return placed


def _check_id(name: str, row: int) -> None:
    if len(name) > LONGEST_ID:
        raise SubmissionError("too_large", f"row {row + 1:,}: an id of more than {LONGEST_ID:,} characters")
    if not name.isascii() and any("\ud800" <= char <= "\udfff" for char in name):
        raise SubmissionError("id_not_text", f"row {row + 1:,}: the id {plain(name)} holds half a character")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
