"""``primabench docs build``: the reference as Markdown, from what is installed."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path

from primabench_core.cli.output import console, write


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Write reference pages of metrics, tasks, datasets, recipes, baselines, benchmarks, hooks, errors, commands "
        "and public names, from the values that plugins declare and from docstrings."
    )
    parser.add_argument("action", choices=["build"], help="what to do")
    parser.add_argument("--output", default="docs/reference", metavar="FOLDER", help="where pages are written")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is not up to date")


def run(args: Namespace) -> int:
    """Build or check, and return 0, or 1 if a page is stale or a plugin broken."""
    from primabench_core.cli.reference import build_reference

    reference = build_reference()
    folder = Path(args.output)
    stale = find_stale(folder, reference.pages)
    for record in reference.broken:
        text = f"{record.status}: {record.kind} {record.name} of {record.distribution}: {record.detail}"
        console(stderr=True).print(text, style="red", markup=False)
    if args.check:
        for path, why in stale.items():
            write(f"{folder / path}: {why}")
        if stale:
            write("  Next: primabench docs build")
        return 1 if stale or reference.broken else 0
    for path, why in stale.items():
        target = folder / path
        if why == "not generated any more":
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(reference.pages[path], encoding="utf-8")
    write(f"{len(reference.pages)} pages in {folder}, {len(stale)} of them changed")
    return 1 if reference.broken else 0


def find_stale(folder: Path, pages: Mapping[str, str]) -> dict[str, str]:
    """Pages that are absent, differ, or are not generated any more, and which of it; by path inside the folder."""
    from primabench_core.cli.reference import MARK

    stale = {}
    for path, text in pages.items():
        target = folder / path
        if not target.is_file():
            stale[path] = "absent"
        elif target.read_text(encoding="utf-8") != text:
            stale[path] = "out of date"
    for found in sorted(folder.rglob("*.md")):
        path = found.relative_to(folder).as_posix()
        if path not in pages and found.read_text(encoding="utf-8").startswith(MARK):
            stale[path] = "not generated any more"
    return stale
