"""Tables as columns of text: CSV, TSV and the like, read strictly; numbers are made on request."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from primabench_core import CorruptDataError
from primabench_recipes.formats.text_files import open_text


class Table:
    """Columns of text of equal length, by name.

    Example:
        >>> table = Table("t.csv", {"name": ["a", "b"], "kd": ["1", "2.5"]})
        >>> table.numbers("kd").tolist()
        [1.0, 2.5]
    """

    def __init__(self, file: str, columns: dict[str, list[str]]) -> None:
        self.file, self.columns = file, columns
        self.n = len(next(iter(columns.values()), []))

    def text(self, name: str, *, empty: bool = False) -> np.ndarray[Any, Any]:
        """(n,) object array of a column's text.

        Raises:
            CorruptDataError: there is no such column, or an entry is empty.
        """
        if name not in self.columns:
            known = ", ".join(map(repr, self.columns))
            raise CorruptDataError(f"{self.file} has no column {name!r}; it has {known}")
        values = self.columns[name]
        if not empty and "" in values:
            raise CorruptDataError(f"{self.file}, column {name!r}: row {values.index('') + 1} is empty")
        return np.array(values, dtype=object)

    def numbers(self, name: str, *, missing: Iterable[str] = ()) -> np.ndarray[Any, Any]:
        """(n,) float64 of a column; the texts in ``missing`` become NaN.

        Raises:
            CorruptDataError: an entry is no number.
        """
        absent = set(missing)
        found = np.empty(self.n)
        for row, value in enumerate(self.text(name, empty=True)):
            found[row] = np.nan if value in absent else self._parse(float, value, name, row)
        return found

    def integers(self, name: str) -> np.ndarray[Any, Any]:
        """(n,) int64 of a column; ``1.0`` is an integer, ``1.5`` is not.

        Raises:
            CorruptDataError: an entry is no integer.
        """
        values = self.numbers(name)
        odd = np.flatnonzero(~(np.isfinite(values) & (values == np.floor(values))))
        if len(odd):
            raise CorruptDataError(f"{self.file}, column {name!r}: row {odd[0] + 1} is no integer")
        return values.astype(np.int64)

    def _parse(self, kind: Callable[[str], float], value: str, name: str, row: int) -> float:
        try:
            return kind(value)
        except ValueError:
            raise CorruptDataError(f"{self.file}, column {name!r}: row {row + 1} is no number: {value!r}") from None


def read_table(path: Path, *, delimiter: str = ",", header: Sequence[str] | None = None, skip: int = 0) -> Table:
    """Read a table whose rows all have as many fields as the header.

    Args:
        path: Plain or gzipped text.
        delimiter: Between fields; quotes are understood.
        header: Names of the columns of a file that has no header line.
        skip: Lines before the header.

    Raises:
        CorruptDataError: a row has another number of fields, or a column is named twice.
    """
    with open_text(path) as stream:
        for _ in range(skip):
            stream.readline()
        reader = csv.reader(stream, delimiter=delimiter, skipinitialspace=True)
        names = list(header) if header is not None else next(reader, [])
        if len(set(names)) != len(names):
            raise CorruptDataError(f"{path.name} names a column twice: {names}")
        columns: list[list[str]] = [[] for _ in names]
        for number, row in enumerate(reader, 1):
            if not row:
                continue
            if len(row) != len(names):
                raise CorruptDataError(f"{path.name}: row {number} has {len(row)} fields, expected {len(names)}")
            for column, value in zip(columns, row, strict=True):
                column.append(value)
    return Table(path.name, dict(zip(names, columns, strict=True)))


def join_tables(tables: Sequence[Table]) -> Table:
    """Rows of several tables with the same columns, one table after the other.

    Raises:
        CorruptDataError: their columns differ.
    """
    first = tables[0]
    odd = next((t for t in tables if list(t.columns) != list(first.columns)), None)
    if odd is not None:
        raise CorruptDataError(f"{odd.file} has other columns than {first.file}")
    return Table(first.file, {name: [v for t in tables for v in t.columns[name]] for name in first.columns})
