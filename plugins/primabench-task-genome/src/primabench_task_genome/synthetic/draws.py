"""Whole numbers from raw Philox words, fixed by its definition and not by a generator's methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


class Draws:
    """A stream of whole numbers.

    Example:
        >>> draws = Draws(1)
        >>> 0 <= draws.below(6) < 6
        True
    """

    def __init__(self, stream: int) -> None:
        self._words = np.random.Philox(key=np.asarray([stream, 0], np.uint64))

    def below(self, n: int) -> int:
        """One of ``range(n)``."""
        return (int(self._words.random_raw()) * n) >> 64

    def one_of(self, items: Sequence[T]) -> T:
        """One of some items."""
        return items[self.below(len(items))]

    def dna(self, n: int) -> str:
        """``n`` bases."""
        return "".join(self.one_of("ACGT") for _ in range(n))

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in a drawn order."""
        keys = [(self.below(1 << 62), i) for i in range(len(items))]
        return [items[i] for _, i in sorted(keys)]
