"""Public names, declared values, hooks and errors."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from typing import Any

import attrs

from primabench_core.cli.reference.catalogue import Catalogue
from primabench_core.cli.reference.markdown import code, doc_of, prose, signature, table


def pages(found: Catalogue) -> dict[str, str]:
    """The four pages; plugins have no part in them."""
    del found
    return {"python.md": _public(), "specs.md": _specs(), "hooks.md": _hooks(), "errors.md": _errors()}


def _public() -> str:
    import primabench_core as pb
    from primabench_core import errors

    functions, classes, modules = [], [], []
    for name in pb.__all__:
        value = getattr(pb, name)
        if inspect.ismodule(value):
            modules.append(_module(name, value))
        elif isinstance(value, type):
            if value.__module__ != errors.__name__:
                classes.append(_class(name, value))
        else:
            functions.append(f"### {name} {{ #{name} }}\n\n{signature(value, f'pb.{name}')}\n\n{doc_of(value)}")
    parts = [
        "# Public names",
        "`import primabench_core as pb`; nothing is loaded before it is used. Errors stand on [a page of their "
        "own](errors.md), the values that plugins declare on [another](specs.md).",
        "## Functions",
        *functions,
        "## Classes",
        *classes,
        "## Modules",
        *modules,
    ]
    return "\n\n".join(parts)


def _class(name: str, value: type) -> str:
    parts = [f"### {name} {{ #{name} }}", doc_of(value)]
    fields = _fields(value)
    parts.append(table(("field", "default", "meaning"), fields))
    rows = []
    for method, held in sorted(vars(value).items()):
        is_member = callable(held) or isinstance(held, property | classmethod | staticmethod)
        if method.startswith("_") or not is_member:
            continue
        text = inspect.getdoc(held if isinstance(held, property) else getattr(value, method)) or ""
        shown = method if isinstance(held, property) else f"{method}(…)"
        rows.append((code(shown), prose(text.partition("\n\n")[0])))
    parts.append(table(("member", "what it is"), rows))
    return "\n\n".join(part for part in parts if part)


def _module(name: str, module: Any) -> str:
    parts = [f"### {name} {{ #{name} }}", doc_of(module)]
    for public in module.__all__:
        value = getattr(module, public)
        if not isinstance(value, type):
            parts.append(f"#### {name}.{public}\n\n{signature(value, f'pb.{name}.{public}')}\n\n{doc_of(value)}")
    return "\n\n".join(parts)


def _specs() -> str:
    from primabench_core import spec

    parts = [
        "# What plugins declare",
        doc_of(spec),
        f"`API_VERSION` of plugins is {spec.API_VERSION}. `REASONS` for a value that does not exist: "
        + ", ".join(code(r) for r in sorted(spec.REASONS))
        + ".",
    ]
    for name in spec.__all__:
        value = getattr(spec, name)
        if isinstance(value, type):
            parts.append(_class(name, value).replace("### ", "## ", 1))
    return "\n\n".join(parts)


def _fields(value: type) -> list[tuple[str, str, str]]:
    """Fields of an attrs class, their defaults, and the text that stands under each in the source."""
    if not attrs.has(value):
        return []
    docs = _field_docs(value)
    rows = []
    for field in attrs.fields(value):
        if not field.init or field.name.startswith("_"):
            continue
        default: Any = field.default
        if default is attrs.NOTHING:
            shown = "required"
        elif isinstance(default, attrs.Factory):  # type: ignore[arg-type]
            shown = ""
        else:
            shown = code(repr(default)) if isinstance(default, str | int | float | bool | None | tuple) else ""
        rows.append((code(field.name), shown, prose(docs.get(field.name, ""))))
    return rows


def _field_docs(value: type) -> dict[str, str]:
    try:
        tree = ast.parse(inspect.cleandoc(inspect.getsource(value)))
    except (OSError, TypeError, SyntaxError):
        return {}
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    docs = {}
    for held, after in pairwise(body):
        is_text = (
            isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str)
        )
        if isinstance(held, ast.AnnAssign) and isinstance(held.target, ast.Name) and is_text:
            docs[held.target.id] = " ".join(str(after.value.value).split())  # type: ignore[attr-defined]
    return docs


def _hooks() -> str:
    from primabench_core.discovery import hooks

    parts = ["# Hooks", doc_of(hooks)]
    parts.append(
        "```python\nfrom primabench_core.discovery.hooks import hookimpl\n\n\n@hookimpl\n"
        "def evaluation_finished(result):\n    print(result.scores)\n```"
    )
    for name, function in vars(hooks.Hooks).items():
        if not name.startswith("_"):
            parts.append(f"## {name} {{ #{name} }}\n\n{signature(function, name)}\n\n{doc_of(function)}")
    return "\n\n".join(parts)


def _errors() -> str:
    from primabench_core import errors

    parts = ["# Errors", doc_of(errors)]
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, errors.PrimaBenchError):
            bases = ", ".join(code(base.__name__) for base in value.__bases__)
            parts.append(f"## {name} {{ #{name} }}\n\nInherits from {bases}.\n\n{doc_of(value)}")
    return "\n\n".join(parts)
