"""Markdown out of values and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from html import escape
from textwrap import dedent
from typing import Any

_SECTIONS = {
    "Args": "Arguments",
    "Attributes": "Attributes",
    "Returns": "Returns",
    "Yields": "Yields",
    "Raises": "Raises",
    "Example": "Example",
    "Examples": "Example",
    "Environment": "Environment",
}
_HEADING = re.compile(rf"^({'|'.join(_SECTIONS)}):$")
_ROLE = re.compile(r":(?:class|func|meth|data|mod|attr|exc|obj):`~?([^`]+)`")
_ENTRY = re.compile(r"^(\*{0,2}[\w.]+(?:, \*{0,2}[\w.]+)*): (.*)$")


def code(text: object) -> str:
    """Inline code."""
    return f"`{text}`" if text not in ("", None) else ""


def prose(text: str) -> str:
    """Text of docstrings and cards as Markdown: roles and double backticks become code, angle brackets are kept."""
    text = _ROLE.sub(lambda m: f"`{m[1].rpartition('.')[2] if m[1].startswith('primabench') else m[1]}`", text)
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else p.replace("<", "&lt;").replace("*", "\\*") for p in parts)


def cell(text: str) -> str:
    """Text inside a table; a bar inside code is written so that every dialect of Markdown shows it."""
    line = " ".join(str(text).split())
    line = re.sub(r"`([^`]*\|[^`]*)`", lambda m: f"<code>{escape(m[1], quote=False)}</code>", line)
    return line.replace("|", "&#124;")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; empty without rows."""
    if not rows:
        return ""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell(c) for c in line)} |" for line in lines)


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Pairs with a text, as a list."""
    return "\n".join(f"- **{name}:** {' '.join(text.split())}" for name, text in pairs if text)


def doc_of(value: Any) -> str:
    """Docstring of a function, class or module as Markdown, empty without one."""
    return docstring(inspect.getdoc(value) or "")


def docstring(text: str) -> str:
    """A docstring in Google style as Markdown: sections become bold words, arguments a list, examples code."""
    out: list[str] = []
    lines = inspect.cleandoc(text).splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        match = _HEADING.match(line)
        if match:
            end = at + 1
            while end < len(lines) and (not lines[end].strip() or lines[end].startswith(" ")):
                end += 1
            body = dedent("\n".join(lines[at + 1 : end])).strip()
            out.append(f"\n**{_SECTIONS[match[1]]}**\n\n{_section(_SECTIONS[match[1]], body)}\n")
            at = end
        elif line.endswith("::") and line.strip() != "::":
            end = at + 1
            while end < len(lines) and (not lines[end].strip() or lines[end].startswith(" ")):
                end += 1
            block = dedent("\n".join(lines[at + 1 : end])).strip("\n")
            out.append(f"{prose(line[:-1])}\n\n```text\n{block}\n```\n")
            at = end
        else:
            out.append(_line(line))
            at += 1
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip()


def _line(line: str) -> str:
    if re.match(r"^=+(?: +=+)+$", line):  # the edge of a plain table, which Markdown shows as code
        return ""
    return prose(line)


def _section(name: str, body: str) -> str:
    if name == "Example":
        return "```pycon\n" + re.sub(r"  # doctest: \+SKIP", "", body) + "\n```"
    entries: list[str] = []
    for line in body.splitlines():
        match = _ENTRY.match(line)
        if match and name != "Returns":
            entries.append(f"- {', '.join(code(n) for n in match[1].split(', '))}: {match[2]}")
        elif entries:
            entries[-1] += f" {line.strip()}"
        else:
            entries.append(line)
    return "\n".join(prose(entry) for entry in entries)


def signature(function: Any, name: str) -> str:
    """A call as code, one argument a line where it is long."""
    try:
        parameters = [p for p in inspect.signature(function).parameters.values() if p.name not in ("self", "cls")]
    except (TypeError, ValueError):  # written in C
        return f"```text\n{name}(…)\n```"
    parts = [_parameter(p) for p in parameters]
    keyword = [p.kind is p.KEYWORD_ONLY for p in parameters]
    if any(keyword) and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        parts.insert(keyword.index(True), "*")
    short = f"{name}({', '.join(parts)})"
    text = short if len(short) <= 88 else f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + ")"
    return f"```text\n{text}\n```"


def _parameter(parameter: inspect.Parameter) -> str:
    kinds: dict[Any, str] = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
    stars = kinds.get(parameter.kind, "")
    kind = parameter.annotation
    text = f"{stars}{parameter.name}"
    if kind is not parameter.empty:
        text += f": {kind if isinstance(kind, str) else getattr(kind, '__name__', kind)}"
    return text if parameter.default is parameter.empty else f"{text} = {parameter.default!r}"
