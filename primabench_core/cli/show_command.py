"""``primabench show [KIND] NAME``: the card of one thing, as its plugin declares it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from primabench_core.cli.output import console, write_json

KINDS = ("task", "dataset", "metric", "baseline", "benchmark", "recipe")


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = "Show the card of a task, dataset, metric, baseline, benchmark or recipe."
    parser.add_argument("name", nargs="+", metavar="[KIND] NAME", help=f"optionally one of {', '.join(KINDS)}; a name")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    """Show and return the exit code."""
    kind, name = _find(args.name)
    from primabench_core.discovery import registry

    spec = registry.load(kind, name)
    card = {"kind": kind, **plain(spec)}
    if args.json:
        write_json(card)
        return 0
    _print_card(kind, name, spec, card)
    return 0


def _find(words: list[str]) -> tuple[str, str]:
    from primabench_core.discovery import names
    from primabench_core.errors import UnknownNameError, UsageError

    if len(words) == 2 and words[0] in KINDS:
        return words[0], words[1]
    if len(words) != 1:
        raise UsageError(
            f"Expected [KIND] NAME, got {' '.join(words)!r}.", remedy="primabench show task cell_type_annotation"
        )
    name = words[0]
    found = [kind for kind in KINDS if name in names.names(kind)]
    if not found:
        known = [n for kind in KINDS for n in names.names(kind)]
        raise UnknownNameError("name", name, known, remedy="primabench list tasks")
    return found[0], name


def plain(value: Any) -> Any:
    """A declared value as JSON types: mappings, lists, text, numbers."""
    import attrs

    if attrs.has(type(value)):
        return {a.name.lstrip("_"): plain(getattr(value, a.name)) for a in attrs.fields(type(value))}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if hasattr(value, "_asdict"):  # a named tuple, such as a record of discovery
        return {k: plain(v) for k, v in value._asdict().items()}
    if isinstance(value, tuple | list | frozenset | set):
        return [plain(v) for v in value]
    if isinstance(value, type):
        return value.__name__
    return value


def _print_card(kind: str, name: str, spec: Any, card: dict[str, Any]) -> None:
    from rich.markdown import Markdown
    from rich.table import Table
    from rich.text import Text

    out = console()
    out.print(Text(f"{kind} {name}", style="bold"))
    title = card.pop("title", "")
    if title:
        out.print(Text(title))
    out.print(Text(card.pop("summary", "") or ""), soft_wrap=True)
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    long_text = {key: card.pop(key) for key in ("description", "notes") if card.get(key)}
    if kind == "task":
        _add_contract(table, card.pop("contract"))
        card["datasets"] = list(_datasets(name))
        card["baselines"] = list(_baselines(name))
    for key, value in card.items():
        if key not in ("kind", "name", "key", "api") and value not in (None, "", [], {}):
            table.add_row(key.replace("_", " "), _cell(value))
    out.print(table)
    for text in long_text.values():
        out.print(Markdown(text))


def _cell(value: Any) -> str:
    if isinstance(value, dict) and set(value) == {"name", "params"}:  # a metric of a panel
        params = _cell(value["params"])
        return f"{value['name']}{{{params}}}" if params else str(value["name"])
    if isinstance(value, dict):
        return ", ".join(f"{k}: {_cell(v)}" for k, v in value.items() if v not in (None, "", [], {}))
    if isinstance(value, list):
        return "; ".join(_cell(v) for v in value)
    return str(value)


def _add_contract(table: Any, contract: dict[str, Any]) -> None:
    for side in ("prediction", "solution"):
        for item in contract[side]:
            marks = [item["kind"], item["units"], "optional" if item["optional"] else "", item["doc"]]
            table.add_row(f"{side} field", f"{item['name']}: {', '.join(m for m in marks if m)}")
    rules = {k: v for k, v in contract.items() if k not in ("prediction", "solution") and v not in ((), [], False, "")}
    table.add_row("contract", _cell(rules))


def _datasets(task: str) -> tuple[str, ...]:
    from primabench_core.discovery import listing

    return listing.list_datasets(task=task)


def _baselines(task: str) -> tuple[str, ...]:
    from primabench_core.discovery import listing

    return listing.list_baselines(task=task)
