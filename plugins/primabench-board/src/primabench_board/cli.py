"""``primabench board add | show | export``: a thin shell over registry, ledger, standings and export."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from primabench_core.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from primabench_board.standings import BoardStanding, Standings

FAILED = 1


def main(arguments: list[str]) -> int:
    """Run ``primabench board`` and return its exit code.

    Args:
        arguments: What stands after ``primabench board``.

    Returns:
        0; 1 where some of several results could not be added.

    Raises:
        PrimaBenchError: What was asked for cannot be done; ``primabench`` prints it and leaves with 2.
    """
    args = _parser().parse_args(arguments)
    run: Any = {"add": _add, "show": _show, "export": _export}[args.action]
    code: int = run(args)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="primabench board",
        description="Boards of models: add scored submissions to a ledger, look at one, write all as a page.",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="add|show|export")
    add = actions.add_parser("add", help="add result files to the ledger")
    add.add_argument("results", nargs="+", metavar="RESULT", help="files that `primabench patient score` wrote")
    add.add_argument("--owner", default="", help="account that submits; default: the one the result names; never shown")
    add.add_argument("--accept-partial", action="store_true", help="replace a model even if it loses a rank")
    add.add_argument("--contact", default="", help="how the owner is reached; kept apart, never shown")
    show = actions.add_parser("show", help="print a board, or the list of boards")
    show.add_argument("board", nargs="?", help="id of a board; without it the boards are listed")
    export = actions.add_parser("export", help="write all boards as one page, JSON and CSV")
    export.add_argument("folder", help="new, empty, or holding an earlier export")
    for one in (add, show, export):
        one.add_argument(
            "--registry",
            default=os.environ.get("PRIMABENCH_BOARD_REGISTRY", "tasks.yaml"),
            help="registry file (default: PRIMABENCH_BOARD_REGISTRY, or tasks.yaml)",
        )
        one.add_argument(
            "--db",
            default=os.environ.get("PRIMABENCH_BOARD_DB", ""),
            help="ledger: an SQLite file or postgresql://… "
            "(default: PRIMABENCH_BOARD_DB, or results.sqlite beside the registry)",
        )
        one.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _address(args: argparse.Namespace) -> str:
    return args.db or str(Path(args.registry).parent / "results.sqlite")


def _write(text: str = "") -> None:
    sys.stdout.write(f"{text}\n")


def _write_json(value: Any) -> None:
    _write(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False))


def _add(args: argparse.Namespace) -> int:
    import attrs

    from primabench_board.ledger import Ledger
    from primabench_board.registry import load_registry
    from primabench_board.result_file import read_result
    from primabench_core.errors import PrimaBenchError, StoreError

    registry = load_registry(args.registry)
    found: list[dict[str, Any]] = []
    with Ledger(_address(args)) as ledger:
        for path in args.results:
            try:
                submission = read_result(path)
                done = ledger.add(submission, registry, owner=args.owner, accept_partial=args.accept_partial)
            except StoreError:
                raise
            except PrimaBenchError as error:
                if len(args.results) == 1:
                    raise
                found.append({"file": str(path), "error": str(error)})
                continue
            found.append({"file": str(path), **attrs.asdict(done)})
            if args.contact:
                ledger.set_contact(args.owner or (submission.model.owner or ""), args.contact)
    if args.json:
        _write_json(found)
    else:
        for one in found:
            _tell(one)
    return FAILED if any("error" in one for one in found) else 0


def _tell(one: dict[str, Any]) -> None:
    if "error" in one:
        sys.stderr.write(f"{one['file']}: not added: {one['error']}\n")
        return
    ranked = ", ".join(one["ranked_on"]) or "no board yet: it covers none wholly"
    said = f"{one['name']} is submission {one['number']}"
    if one["counts"] != one["number"]:
        said += f", and older than submission {one['counts']}, which boards keep"
    _write(f"{said}; ranked on {ranked}")
    if one["lost"]:
        sys.stderr.write(f"warning: {one['name']} is no longer ranked on {', '.join(one['lost'])}\n")


def _standings(args: argparse.Namespace) -> Standings:
    from primabench_board.ledger import Ledger
    from primabench_board.registry import load_registry
    from primabench_board.standings import compute

    registry = load_registry(args.registry)
    with Ledger(_address(args), create=False) as ledger:
        return compute(registry, ledger.entries())


def _show(args: argparse.Namespace) -> int:
    from primabench_board import public

    standings = _standings(args)
    if args.board is None:
        documents = [public.board(standings, b) for b in standings.boards]
        if args.json:
            _write_json([{"id": d["id"], "title": d["title"], "ranked": len(d["ranked"])} for d in documents])
            return 0
        return _list_boards(documents)
    by_id = {b.board.id: b for b in standings.boards}
    if args.board not in by_id:
        raise UnknownNameError("board", args.board, by_id, remedy="primabench board show")
    if args.json:
        _write_json(public.board(standings, by_id[args.board]))
        return 0
    _print_board(standings, by_id[args.board])
    return 0


def _list_boards(documents: list[dict[str, Any]]) -> int:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in ("board", "title", "tasks", "ranked", "first"):
        table.add_column(heading, overflow="fold", justify="right" if heading in ("tasks", "ranked") else "left")
    for one in documents:
        first = one["ranked"][0]["model"] if one["ranked"] else "–"
        cells = (one["id"], one["title"], str(len(one["tasks"])), str(len(one["ranked"])), first)
        table.add_row(*(Text(cell) for cell in cells))
    Console(highlight=False).print(table)
    return 0


def _print_board(standings: Standings, standing: BoardStanding) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from primabench_board import public
    from primabench_board.metrics import METRICS

    document = public.board(standings, standing)
    title = Text(f"{document['title']} ({document['id']})")
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), title=title, title_justify="left")
    table.add_column("rank", justify="right")
    table.add_column("model", overflow="fold")
    for family in document["families"]:
        table.add_column(Text(f"{family['title']}\n{METRICS[family['metric']].title}"), justify="right", min_width=15)
    if standing.has_mean:
        table.add_column("Mean,\nordering\nonly", justify="right", style="dim", min_width=8)
    for line in document["ranked"]:
        cells = [_figures(cell) for cell in line["families"]]
        mean = [f"{line['mean']['value']:.3f}"] if standing.has_mean else []
        table.add_row(str(line["rank"]), Text(line["model"]), *cells, *mean)
    console = Console(highlight=False)
    console.print(table)
    total = len(document["tasks"])
    if not document["ranked"]:
        console.print(f"No model covers all {total} tasks yet.")
    for family in document["families"]:
        if family["not_resolvable"]:
            told = f"Not resolvable, too few samples or patients: {', '.join(family['not_resolvable'])}"
            console.print(Text(f"{told} ({family['title']})"))
    if document["unranked"]:
        console.print("\nNot ranked, because tasks are missing:")
    for left in document["unranked"]:
        console.print(Text(f"  {left['model']}: {left['covered']} of {total} tasks"))


def _figures(cell: dict[str, Any]) -> str:
    ends = "" if cell["low"] is None else f"\n{cell['low']:.3f} to {cell['high']:.3f}"
    return f"{cell['value']:.3f}{ends}"


def _export(args: argparse.Namespace) -> int:
    from primabench_board.export import export

    standings = _standings(args)
    if not standings.boards:
        raise UsageError("The registry gives no board.")
    files = export(standings, args.folder)
    page = Path(args.folder).resolve() / "index.html"
    if args.json:
        _write_json({"page": str(page), "files": len(files)})
    else:
        _write(f"{len(files)} files written; the page is {page.as_uri()}")
    return 0
