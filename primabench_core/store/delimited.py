"""Tables of text (.csv, .tsv) as columns of text: nothing is typed, stripped, guessed or dropped while reading."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError, CorruptDataError

_SHOWN = 5
LONGEST_CELL = 1 << 24
"""A cell beyond 16 MiB is a quote that was never closed, not a value."""


def read_columns(path: Path, delimiter: str) -> dict[str, list[str]]:
    """Columns of a table with a header line, in file order; every cell as it stands.

    UTF-8 with or without a byte order mark; any line ends; quotes as in RFC 4180. Blank lines are skipped.

    Args:
        path: The file.
        delimiter: ``","`` or a tab.

    Returns:
        Text cells by column name; a first column without a name is called ``""``.

    Raises:
        CorruptDataError: the file is empty, is no text, or a quote does not close.
        ContractError: columns that occur twice, or rows of another length than the header.
    """
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(_text_lines(file, path), delimiter=delimiter, strict=True)
            header = next((line for line in lines if line), None)
            if header is None:
                raise CorruptDataError(f"{path} is empty: no header line", remedy="write the predictions again")
            _check_header(header, path)
            rows, wrong = [], []
            for line in lines:
                if len(line) == len(header):
                    rows.append(line)
                elif line:
                    wrong.append((lines.line_num, len(line)))
    except UnicodeDecodeError as error:
        raise CorruptDataError(f"{path} is not UTF-8 text (byte {error.start:,}: {error.reason})") from error
    except csv.Error as error:
        raise CorruptDataError(f"{path} cannot be read as a table: line {lines.line_num:,}: {error}") from error
    finally:
        csv.field_size_limit(before)
    if wrong:
        lengths = ", ".join(str(n) for n in sorted({n for _, n in wrong})[:_SHOWN])
        shown = [f"line {n}" for n, _ in wrong[:_SHOWN]]
        remedy = "quote cells that hold the delimiter; a last line cut short means a file that was not finished"
        found = Violation(path.name, f"{len(header)} cells per row", f"{lengths} cells", shown, len(wrong), remedy)
        raise ContractError([found], what=f"The file {path}")
    cells = zip(*rows, strict=True) if rows else ([] for _ in header)
    return {name: list(column) for name, column in zip(header, cells, strict=True)}


def _text_lines(file: Iterable[str], path: Path) -> Iterator[str]:
    for number, line in enumerate(file, 1):
        if "\0" in line:
            raise CorruptDataError(f"{path} is no table of text: line {number:,} holds a zero byte")
        yield line


def _check_header(header: list[str], path: Path) -> None:
    if not all(name.isprintable() for name in header):
        raise CorruptDataError(f"{path} is no table of text: its header holds control characters")
    twins = sorted({name for name in header if header.count(name) > 1}) if len(set(header)) < len(header) else []
    if twins:
        violations = [Violation(name or "(no name)", "one column", "several of this name") for name in twins]
        raise ContractError(violations, what=f"The file {path}")
    if len(header) == 1 and any(other in header[0] for other in ("\t", ";", ",")):
        remedy = "separate cells by commas in .csv, by tabs in .tsv"
        found = Violation("header", "several columns", f"one, {header[0][:60]!r}", remedy=remedy)
        raise ContractError([found], what=f"The file {path}")
