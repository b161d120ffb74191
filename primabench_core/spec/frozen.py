"""An immutable, hashable, picklable mapping, for the values that plugins declare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

V = TypeVar("V")


class FrozenMapping(Mapping[str, V], Generic[V]):
    """A mapping that cannot change (``types.MappingProxyType`` neither hashes nor pickles).

    Example:
        >>> FrozenMapping({"average": "macro"})["average"]
        'macro'
    """

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, V] | Iterable[tuple[str, V]] = ()) -> None:
        object.__setattr__(self, "_items", dict(items))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a FrozenMapping cannot change")

    def __getitem__(self, key: str) -> V:
        return self._items[key]  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset((key, repr(value)) for key, value in self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)

    def __reduce__(self) -> tuple[object, ...]:
        return FrozenMapping, (self._items,)
