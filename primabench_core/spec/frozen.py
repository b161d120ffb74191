"""An immutable, hashable, picklable mapping, for the values that plugins declare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

V = TypeVar("V")


class FrozenMapping(Mapping[str, V], Generic[V]):
    """A mapping that cannot change (``types.MappingProxyType`` neither hashes nor pickles).

    Example:
        >>> FrozenMapping({"average": "macro"})["average"]
        'macro'
    """

    __slots__ = ("_items",)
    _items: dict[str, V]

    def __init__(self, items: Mapping[str, V] | Iterable[tuple[str, V]] = ()) -> None:
        object.__setattr__(self, "_items", dict(items))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a FrozenMapping cannot change")

    def __getitem__(self, key: str) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset((key, _hash(value)) for key, value in self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)

    def __reduce__(self) -> tuple[object, ...]:
        return FrozenMapping, (self._items,)


def _hash(value: object) -> int:
    """Equal for equal values (1 and 1.0 are equal); one number for all that have no hash, such as arrays."""
    if isinstance(value, Mapping):
        value = FrozenMapping(value)
    elif isinstance(value, tuple):
        value = tuple(map(_hash, value))
    try:
        return hash(value)
    except TypeError:
        return 0


# Converters of attrs fields. Not `tuple` or `FrozenMapping` themselves: type checkers cannot solve the type variable of
# a generic converter, and every plugin author's strict run would report each spec as an error.


def as_texts(items: Iterable[str]) -> tuple[str, ...]:
    """Any texts as a tuple."""
    return tuple(items)


def as_mapping(items: Mapping[str, Any]) -> FrozenMapping[Any]:
    """A mapping that no longer changes."""
    return FrozenMapping(items)
