"""How commands print: JSON for programs, plain columns where starting fast matters, rich tables elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.markdown import Markdown


def write(text: str = "") -> None:
    """One line to standard output."""
    sys.stdout.write(f"{text}\n")


PIPED = 200
"""Characters of a line that no terminal shows; `COLUMNS` says otherwise."""


def write_json(value: Any) -> None:
    """A value as JSON with sorted keys, for a program to read."""
    import json

    write(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False))


def write_columns(rows: Sequence[Sequence[str]], header: Sequence[str]) -> None:
    """A table of plain text; rich would cost half of the start-up budget of ``list``."""
    table = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    for number, row in enumerate(table):
        write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        if number == 0:
            write("  ".join("-" * width for width in widths))


def console(*, stderr: bool = False) -> Console:
    """A rich console as wide as the terminal; what goes into a file or a pipe keeps its names in one piece."""
    from rich.console import Console

    found = Console(stderr=stderr, highlight=False)
    if not found.is_terminal and "COLUMNS" not in os.environ:
        found.width = PIPED
    return found


def markdown(text: str) -> Markdown:
    """Markdown for a terminal; long names in tables are folded, not cut."""
    from rich.console import ConsoleOptions, RenderResult
    from rich.markdown import Markdown, TableElement
    from rich.table import Table

    class Folding(TableElement):
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            for part in super().__rich_console__(console, options):
                for column in part.columns if isinstance(part, Table) else ():
                    column.overflow = "fold"
                yield part

    class Whole(Markdown):
        elements: ClassVar = {**Markdown.elements, "table_open": Folding}

    return Whole(text, hyperlinks=False)


@contextmanager
def bytes_bar(label: str, *, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on standard error that counts bytes; gives the function ``progress(step, done, total)`` that moves it.

    Nothing is drawn before the first call, where standard error is no terminal, or when ``quiet``.
    """
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    out = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(
        *columns, TimeRemainingColumn(), console=out, transient=True, disable=quiet or not out.is_terminal
    ) as bar:
        job = bar.add_task(label, total=None, visible=False)

        def progress(step: str, done: int, total: int) -> None:
            bar.update(job, description=step, completed=done, total=total or None, visible=True)

        yield progress
