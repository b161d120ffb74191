"""ARFF: a table with declared columns, as Weka and scikit-survival write it (dense rows only)."""

from __future__ import annotations

import csv
from pathlib import Path

from primabench_core import CorruptDataError
from primabench_recipes.formats.tables import Table
from primabench_recipes.formats.text_files import open_text


def read_arff(path: Path) -> tuple[Table, dict[str, tuple[str, ...]]]:
    """The rows as text, and the declared levels of each nominal column.

    Raises:
        CorruptDataError: a row has another number of fields, or an entry is not among its levels (``?`` is missing).
    """
    names: list[str] = []
    levels: dict[str, tuple[str, ...]] = {}
    with open_text(path) as stream:
        for line in stream:
            text = line.strip()
            if text.lower() == "@data":
                break
            if text.lower().startswith("@attribute"):
                _, name, kind = text.split(maxsplit=2)
                names.append(name)
                if kind.startswith("{"):
                    levels[name] = tuple(level.strip(" '\"") for level in kind.strip("{}").split(","))
        rows = [row for row in csv.reader(stream, skipinitialspace=True) if row and not row[0].startswith("%")]
    odd = next((n for n, row in enumerate(rows, 1) if len(row) != len(names)), None)
    if odd is not None or not rows:
        raise CorruptDataError(f"{path.name}: row {odd} does not have {len(names)} fields")
    columns = {name: [row[i].strip(" '\"") for row in rows] for i, name in enumerate(names)}
    for name, known in levels.items():
        strange = next((value for value in columns[name] if value not in (*known, "?")), None)
        if strange is not None:
            raise CorruptDataError(f"{path.name}, column {name!r}: {strange!r} is not among its declared levels")
    return Table(path.name, columns), levels
