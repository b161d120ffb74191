"""YAML as a registry needs it: safe, no key twice, no aliases."""

from __future__ import annotations

from typing import Any

import yaml  # type: ignore[import-untyped]

LARGEST = 4_000_000
"""Most characters of a registry file."""


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses a key that stands twice (YAML keeps the last) and references, which can swell without end."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.constructor.ConstructorError(None, None, "aliases (*name) are not read here", mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                problem = f"the key {key!r} is not text; put it in quotes"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands twice", key_node.start_mark
                )
            seen.add(key)
        made: dict[Any, Any] = super().construct_mapping(node, deep)
        return made


def read_document(text: str, faults: list[str]) -> dict[str, Any] | None:
    """The mapping that a text holds; None with a fault where there is none."""
    if len(text) > LARGEST:
        faults.append(f"it is longer than {LARGEST:,} characters")
        return None
    try:
        document = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        faults.append(f"{where}{getattr(error, 'problem', None) or 'it is not YAML'}")
        return None
    except (ValueError, RecursionError) as error:  # an impossible date, a number that is none, nesting without end
        faults.append(f"it cannot be read: {type(error).__name__}: {error}")
        return None
    if not isinstance(document, dict):
        faults.append(f"it must be a mapping with the keys datasets and tasks, found {type(document).__name__}")
        return None
    return document
