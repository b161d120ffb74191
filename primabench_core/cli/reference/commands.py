"""The command line, from its parsers. Not from their help texts, whose layout differs between versions of Python."""

from __future__ import annotations

import argparse
from importlib import import_module

from primabench_core.cli.reference.catalogue import Catalogue
from primabench_core.cli.reference.markdown import code, prose, table


def pages(found: Catalogue) -> dict[str, str]:
    """One page; commands of plugins document themselves."""
    del found
    from primabench_core.cli import main

    parts = [
        "# Commands",
        "`primabench [--version] [--debug] COMMAND …`",
        table(("exit code", "when"), [
            ("0", "all that was asked was done and passed"),
            ("1", "it ran and something failed: a requirement, a mismatch, a finding, an item of a batch"),
            ("2", "usage, unknown name, missing or refused input, store unreachable"),
            ("3", "an internal fault; `--debug` shows the traceback"),
            ("130", "interrupted"),
        ]),
    ]  # fmt: skip
    for name, line in main.COMMANDS.items():
        parser = argparse.ArgumentParser(prog=f"primabench {name}")
        import_module(f"primabench_core.cli.{name}_command").configure(parser)
        parts.append(f"## {name} {{ #{name} }}\n\n*{prose(line)}*\n\n{_command(parser)}")
    return {"commands.md": "\n\n".join(parts)}


def _command(parser: argparse.ArgumentParser) -> str:
    nested = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    rows = [_argument(a) for a in parser._actions if a.dest != "help" and a not in nested]
    parts = [prose(parser.description or ""), table(("argument", "meaning", "default"), rows)]
    for action in nested:
        for name, inner in action.choices.items():
            parts.append(f"### {parser.prog} {name}\n\n{_command(inner)}")
    return "\n\n".join(part for part in parts if part)


def _argument(action: argparse.Action) -> tuple[str, str, str]:
    value = action.metavar or action.dest.upper()
    metavar = " ".join(value) if isinstance(value, tuple) else value
    if action.option_strings:
        takes = "" if action.nargs == 0 else f" {metavar}"
        shown = ", ".join(action.option_strings) + takes
    else:
        shown = metavar if action.metavar else action.dest
    notes = prose(str(action.help or "")) if action.help != argparse.SUPPRESS else ""
    if action.choices:
        notes += f" ({', '.join(code(c) for c in action.choices)})"
    if action.required and action.option_strings:
        notes += " (required)"
    default = action.default
    plain = "" if default in (None, False, [], "", argparse.SUPPRESS) else code(default)
    return code(shown), notes, plain
