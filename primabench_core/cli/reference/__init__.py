"""Reference pages written from what is installed: metrics, cards, hooks, errors, commands, public names.

Everything comes from the values that plugins declare and from docstrings, so that no page can say something else than
the code. Pages are plain Markdown; equal installations give equal text.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from primabench_core.cli.reference.catalogue import Catalogue
from primabench_core.cli.reference.markdown import code, prose, table
from primabench_core.discovery.names import Record

MARK = "<!-- Written by `primabench docs build` from the code; change the source instead. -->"
"""First line of every page; only files that begin with it are ever removed."""


@frozen
class Reference:
    """The pages, and what could not be described."""

    pages: Mapping[str, str]
    """Path inside the folder to text."""
    broken: tuple[Record, ...]
    """Plugin entries that cannot be loaded; each is named on the first page."""


def build_reference() -> Reference:
    """Describe everything that is installed; a broken plugin is named and harms no other page."""
    from primabench_core.cli.reference import cards, commands, metrics, python

    found = Catalogue.load()
    pages: dict[str, str] = {}
    for part in (metrics.pages, cards.pages, python.pages, commands.pages):
        pages |= part(found)
    pages["index.md"] = _index(found)
    return Reference({path: f"{MARK}\n\n{text.strip()}\n" for path, text in sorted(pages.items())}, found.broken)


def _index(found: Catalogue) -> str:
    rows = [
        (f"[{kind}s]({kind}s/index.md)", str(len(found.of(kind))))
        for kind in ("task", "dataset", "metric", "baseline", "benchmark", "recipe")
    ]
    parts = [
        "# Reference",
        "Written by `primabench docs build` from what is installed.",
        table(("cards", "installed"), rows),
        "- [Public names](python.md): what `import primabench_core as pb` offers\n"
        "- [What plugins declare](specs.md): the values of `primabench_core.spec`\n"
        "- [Hooks](hooks.md): moments at which a plugin may take part\n"
        "- [Errors](errors.md): one tree\n"
        "- [Commands](commands.md): `primabench …`",
    ]
    if found.broken:
        parts.append("## Broken\n\nThese entries are installed and cannot be loaded:")
        parts.append(
            table(
                ("kind", "name", "distribution", "status", "why"),
                [(r.kind, code(r.name), code(r.distribution), r.status, prose(r.detail)) for r in found.broken],
            )
        )
    return "\n\n".join(parts)
