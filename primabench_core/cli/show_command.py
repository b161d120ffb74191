"""``primabench show [KIND] NAME``: the card of one thing, as its plugin declares it."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from primabench_core.cli.output import console, write_json

if TYPE_CHECKING:
    from primabench_core.errors import UnknownNameError

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
    if args.json:
        write_json({"kind": kind, **plain(spec)})
        return 0
    _print_card(kind, name, spec)
    return 0


def _find(words: list[str]) -> tuple[str, str]:
    from primabench_core.discovery import names
    from primabench_core.errors import UsageError

    if len(words) == 2 and words[0] in KINDS:
        kinds: tuple[str, ...] = (words[0],)
    elif len(words) == 1:
        kinds = KINDS
    else:
        raise UsageError(
            f"Expected [KIND] NAME, got {' '.join(words)!r}.", remedy="primabench show task cell_type_annotation"
        )
    name = words[-1]
    if ":" in name:  # qualified by a distribution
        owned = [kind for kind in kinds if names.bare(name) in {r.name for r in names.records(kind)}]
        return (owned or list(kinds))[0], name
    known = {kind: names.names(kind) for kind in kinds}
    for kind in kinds:
        if name in known[kind]:
            return kind, name
    short = [n for n in known.get("baseline", ()) if n.partition("|")[2] == name]
    if len(short) == 1:
        return "baseline", short[0]
    if short:
        raise UsageError(
            f"{len(short)} tasks have a baseline {name!r}: {', '.join(short)}.",
            remedy=f"primabench show baseline '{short[0]}'",
        )
    if len(kinds) == 1 and words[0] != "baseline":
        return kinds[0], name  # qualified by a distribution, or refused by the registry in its words
    raise _unknown(name, known)


def _unknown(name: str, known: Mapping[str, tuple[str, ...]]) -> UnknownNameError:
    """The error of a name that no kind has; the kind of the closest name says what to list."""
    from primabench_core.errors import UnknownNameError, close_names

    everything = sorted({n for held in known.values() for n in held})
    close = close_names(name, everything)
    if close:
        kind = next(kind for kind, held in known.items() if close[0] in held)
        return UnknownNameError(kind, name, known[kind])
    if len(known) == 1:
        return UnknownNameError(next(iter(known)), name, everything)
    first, *others = (f"{kind}s" for kind in known)
    return UnknownNameError("name", name, everything, remedy=f"primabench list {first} (or {', '.join(others)})")


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


def _print_card(kind: str, name: str, spec: Any) -> None:
    from rich.text import Text

    from primabench_core.cli.output import markdown
    from primabench_core.cli.reference.cards import card
    from primabench_core.cli.reference.catalogue import Catalogue
    from primabench_core.discovery import names

    record = next(r for r in names.records(kind) if name in (r.name, r.qualified))
    out = console()
    out.print(Text(f"{kind} {name}", style="bold"), soft_wrap=True)
    out.print(markdown(for_terminal(card(kind, record, spec, Catalogue.load()))))


def for_terminal(text: str) -> str:
    """A page of the reference without what only a site can show: anchors, links between pages, boxes."""
    text = re.sub(r"^# .*\n+|^## \S+ \{ #\S+ \}\n+", "", text)
    text = re.sub(r"^## (.*)$", r"**\1**", text, flags=re.MULTILINE)
    text = re.sub(r'^!!! \w+ "(.*)"\n {4}(.*)$', r"**\1.** \2", text, flags=re.MULTILINE)
    return re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", text)
