"""Counter-based draws: resample ``i`` of seed ``s`` is the same everywhere, whoever draws it and in which order.

Philox keyed by (seed, draw) gives raw words; words become positions by multiply and shift. No generator stream of
numpy is relied on, so draws can be split freely over threads and machines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from primabench_core.errors import UsageError
from primabench_core.statistics.inputs import labels, same_length


def random_words(seed: int, draw: int, count: int) -> NDArray[np.uint64]:
    """(count,) uint64 of Philox-4x64 with this key."""
    words: NDArray[np.uint64] = np.random.Philox(key=np.array([seed, draw], np.uint64)).random_raw(count)
    return words


def draw_below(seed: int, draw: int, count: int, below: int) -> NDArray[np.int64]:
    """(count,) positions in ``range(below)``, with replacement.

    Args:
        seed: 0 to 2**64 - 1.
        draw: Which resample.
        count: How many positions.
        below: At most 2**32.

    Example:
        >>> draw_below(0, 0, 3, 10).max() < 10
        np.True_
    """
    positions: NDArray[np.int64] = draws_below(seed, range(draw, draw + 1), count, below)[0]
    return positions


def draws_below(seed: int, draws: range, count: int, below: int | NDArray[np.int64]) -> NDArray[np.int64]:
    """(draws, count) positions in ``range(below)``: row i is :func:`draw_below` of draw ``draws[i]``.

    ``below`` may be (count,), a bound for each place.

    One generator is keyed anew for each draw, which costs a tenth of making one.
    """
    width = -(-count // 2)
    words = np.empty((len(draws), width), np.uint64)
    generator, zeros = np.random.Philox(key=np.zeros(2, np.uint64)), np.zeros(4, np.uint64)
    for row, draw in zip(words, draws, strict=True):
        generator.state = {
            "bit_generator": "Philox",
            "state": {"counter": zeros, "key": np.array([seed, draw], np.uint64)},
            "buffer": zeros,
            "buffer_pos": 4,  # nothing is left of the draw before
            "has_uint32": 0,
            "uinteger": 0,
        }
        row[:] = generator.random_raw(width)
    halves = words.astype("<u8", copy=False).view("<u4")[:, :count]
    found = np.empty(halves.shape, np.uint64)
    np.multiply(halves, np.asarray(below, np.uint64), out=found, dtype=np.uint64)
    found >>= np.uint64(32)
    return found.view(np.int64)


def block_of(ids: Iterable[str], blocks: int = 256) -> NDArray[np.int64]:
    """The block of each unit, by SHA-256 of its id: the same in any order and on any machine.

    Args:
        ids: Ids as text.
        blocks: Number of blocks.
    """
    heads = [int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") for name in ids]
    return np.array([head % blocks for head in heads], dtype=np.int64)


@frozen(eq=False)
class Resampling:
    """A plan: which rows belong together, and inside which strata they are drawn.

    Made by :meth:`of`. :meth:`positions` gives the rows of one draw.
    """

    order: NDArray[np.int64]
    """(n,) rows, group after group, strata one after another."""
    starts: NDArray[np.int64]
    """(groups + 1,) where each group begins in ``order``."""
    strata: NDArray[np.int64]
    """(strata + 1,) where each stratum begins among the groups."""
    single: bool
    """Each group is one row."""

    @classmethod
    def of(
        cls, n: int, *, unit: ArrayLike | None = None, strata: ArrayLike | None = None, blocks: int | None = None
    ) -> Resampling:
        """A plan over ``n`` rows.

        Args:
            n: Rows, in canonical order.
            unit: (n,) label of the independent unit of each row (donor, patient …); by default each row.
            strata: (n,) label of the stratum; groups are drawn inside their stratum.
            blocks: Draw this many hashed blocks of units in place of units; needs ``unit`` as text ids.

        Raises:
            UsageError: Lengths differ, or a unit lies in two strata.
        """
        rows = np.arange(n)
        groups = rows if unit is None else _codes(unit, "unit", rows)
        if blocks is not None:
            if unit is None:
                raise UsageError("unit: blocks need the id of each row's unit")
            groups = block_of([str(name) for name in labels(unit, "unit").tolist()], blocks)
        layers = np.zeros(n, np.int64) if strata is None else _codes(strata, "strata", rows)
        if blocks is not None and strata is not None:  # a block is cut where a stratum ends
            groups = np.unique(np.stack([layers, groups]), axis=1, return_inverse=True)[1].reshape(-1)
        order = np.lexsort((rows, groups, layers)).astype(np.int64)
        cuts = np.flatnonzero((np.diff(groups[order]) != 0) | (np.diff(layers[order]) != 0)) + 1
        starts = np.concatenate([[0], cuts, [n]]) if n else np.zeros(1, np.int64)
        if len(starts) - 1 != len(np.unique(groups)):
            raise UsageError("strata: a unit lies in more than one stratum, so it cannot be drawn inside one")
        heads = layers[order][starts[:-1]]
        edges = np.concatenate([[0], np.flatnonzero(np.diff(heads)) + 1, [len(heads)]])
        return cls(order, starts, edges, len(starts) - 1 == n)

    @property
    def n_groups(self) -> int:
        """Groups that are drawn from."""
        return len(self.starts) - 1

    def positions(self, seed: int, draw: int) -> NDArray[np.int64]:
        """Rows of one draw, repeats included."""
        parts, used = [], 0
        words = random_words(seed, draw, -(-self.n_groups // 2)).astype("<u8").view("<u4").astype(np.uint64)
        for low, high in zip(self.strata[:-1].tolist(), self.strata[1:].tolist(), strict=True):
            size = high - low
            chosen = (words[used : used + size] * np.uint64(size)) >> np.uint64(32)
            parts.append(chosen.astype(np.int64) + low)
            used += size
        groups = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        if self.single:
            return self.order[groups]
        sizes = self.starts[groups + 1] - self.starts[groups]
        offsets = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows: NDArray[np.int64] = self.order[np.repeat(self.starts[groups], sizes) + offsets]
        return rows


def _codes(value: ArrayLike, name: str, rows: NDArray[np.intp]) -> NDArray[np.int64]:
    array = labels(value, name)
    same_length(rows=rows, **{name: array})
    return np.unique(array, return_inverse=True)[1].astype(np.int64)
