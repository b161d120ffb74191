"""All pairs of cells in one pass: exact nearest neighbours and mean distances to groups, in blocks of fixed memory.

A matrix product gives the squared distances of a block of cells to all cells, first in single precision. What it finds
is a screen: candidates for the nearest neighbours with a bound on their rounding, and sums of distances. The distances
of candidates are then taken anew from differences in float64, one coordinate after the other, so that they do not
depend on blocks, threads or device, and equal ones are put in the order of the cells. A cell whose screen cannot be
trusted (more candidates than were kept, or distances much smaller than the way to the middle) is screened again in
double precision, and if that does not do either, by differences to all cells. So is every cell where the device is set
to multiply in less than single precision, which is found by trying.

Points that lie on a device are scanned there: indices and distances of neighbours and the sums come to the host, and
no coordinates. On all devices neighbours have the same bits; sums of distances, of single-precision numbers in another
order, agree to about 1e-7.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

T = TypeVar("T")
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK_BYTES = {"cpu": 1 << 24, "cuda": 1 << 31}
"""Size of the block of distances that a thread holds at once."""
SMALL = 2_048
"""Up to so many cells the screen is in double precision from the start: nothing is saved by less."""
SPARE = 24
"""Candidates beyond k: room for those that rounding cannot tell from the k-th neighbour."""
TRIED = 4
"""Cells on which the precision of a product is looked at."""
STRIDE = 16
"""Columns that share one place in the first look for candidates."""
NOISE = 2e-5
"""Rounding of a squared distance over the square of a mean distance, above which the sums of a cell are taken anew.
Errors of single pairs have either sign: what is left in a mean over a hundred cells is about 1e-6, in the mean over all
cells less than 1e-7."""


@frozen(eq=False)
class Neighbours:
    """The k nearest other cells of each cell, nearest first; equal distances in the order of the cells."""

    index: NDArray[np.int32]
    """(n, k) int32 positions."""
    distance: Floats | None
    """(n, k) float64 Euclidean distances, or to the nearest of them alone; None for a graph that came without."""
    library: str = ""
    """What found them, if they are approximate; empty for exact ones."""

    @property
    def k(self) -> int:
        """Neighbours of each cell."""
        return int(self.index.shape[1])

    def first(self, k: int) -> Neighbours:
        """The k nearest of them."""
        known = self.distance is not None and self.distance.shape[1] >= k
        distance = self.distance[:, :k] if known and self.distance is not None else None
        return Neighbours(self.index[:, :k], distance, self.library)


@frozen(eq=False)
class Scan:
    """What one pass over all pairs leaves."""

    neighbours: Neighbours
    sums: Floats
    """(n, groups) float64: summed distances of each cell to the cells of each group, itself left out."""
    retaken: tuple[int, int]
    """Cells that needed double precision, and cells that needed differences to all others."""


def scan(
    points: Floats | torch.Tensor,
    k: int,
    *,
    groups: Ints | None = None,
    ranks: Ints | None = None,
    lengths: int | None = None,
    device: str | torch.device = "cpu",
    screen: str = "",
    only: Ints | None = None,
) -> Scan:
    """Find the k nearest neighbours of each cell, and sum its distances to each group.

    Args:
        points: (n, width) float64, finite; or a tensor, of float32 too, which is scanned where it is.
        k: Neighbours, at most n - 1 are given.
        groups: (n,) codes from 0 without gaps; None for no sums.
        ranks: (n,) a permutation: the order of equal distances; by default that of the rows.
        lengths: Of so many nearest ones distances are given; by default of all k. They are the larger part of memory.
        device: A torch device for an array.
        screen: ``float32`` or ``float64`` to begin with; by default the number of cells decides.
        only: Rows that are asked for; by default all.

    Returns:
        Neighbours and sums, the same for any block size; neighbours to the bit on any device.

    Example:
        >>> found = scan(np.asarray([[0.0], [1.0], [3.0]]), 1, groups=np.asarray([0, 0, 1]))
        >>> found.neighbours.index.ravel().tolist(), found.sums.tolist()
        ([1, 0, 1], [[1.0, 3.0], [1.0, 2.0], [5.0, 0.0]])
    """
    import torch

    n = len(points)
    codes = np.zeros(n, np.int64) if groups is None else groups
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    given: Any = points if hasattr(points, "is_cpu") else on_device(points, device)
    middled, unit = _in_the_middle(given)
    del given
    device = middled.device
    home = torch.as_tensor(order, device=device)
    placed = middled.index_select(0, home)
    rank = np.arange(n) if ranks is None else ranks
    work = _Work(
        placed,
        placed.T.contiguous(),
        torch.as_tensor(rank[order], device=device),
        home,
        sizes,
        min(k, max(n - 1, 0)),
        min(k if lengths is None else lengths, k, max(n - 1, 0)),
        groups is not None,
    )
    del middled
    precision = screen or ("float64" if n <= SMALL else "float32")
    index, squares, sums = work.empty()
    rows = torch.arange(n, device=device)
    if only is not None:
        back = np.empty_like(order)
        back[order] = np.arange(n)
        rows = torch.as_tensor(np.sort(back[only]), device=device)
    retaken = []
    for dtype in (torch.float32, torch.float64) if precision == "float32" else (torch.float64,):
        rows = work.screened(rows, dtype, index, squares, sums)
        retaken.append(len(rows))
    work.by_differences(rows, index, squares, sums)
    near, distance, totals = (part.cpu().numpy() for part in (index, squares, sums))
    if only is not None:
        near, distance, totals = near[only], distance[only], totals[only]
    np.ldexp(np.sqrt(distance, out=distance), unit, out=distance)  # in place: these are the largest arrays there are
    np.ldexp(totals, unit, out=totals)
    return Scan(Neighbours(near, distance), totals, (retaken[0] if len(retaken) > 1 else 0, retaken[-1]))


def on_device(values: NDArray[Any], device: str | torch.device) -> torch.Tensor:
    """An array as a tensor there; torch wants one that may be written to, though nobody does."""
    import torch

    return torch.as_tensor(values if values.flags.writeable else values.copy(), device=device)


def _in_the_middle(points: torch.Tensor) -> tuple[torch.Tensor, int]:
    """The points around their median, and the e of the 2^e that they were divided by so that none exceeds 1.

    All steps are exact or rounded once, so that the bits are those of any device.
    """
    first = _exponent(points)
    scaled = points.detach().double() * 1.0  # an array of its own: the rest is done in it
    _divide(scaled, first)
    n = len(scaled)
    if scaled.numel():
        for column in scaled.T:
            column -= (column.kthvalue((n + 1) // 2).values + column.kthvalue(n // 2 + 1).values) / 2
    second = _exponent(scaled)
    _divide(scaled, second)
    return scaled, first + second


def _exponent(points: torch.Tensor) -> int:
    """The e of the 2^e above all numbers."""
    if not points.numel():
        return 0
    low, high = (float(end) for end in points.aminmax())
    return math.frexp(max(-low, high))[1]


def _divide(points: torch.Tensor, e: int) -> None:
    """Divide by 2^e, in place."""
    half = max(-e - 1000, 0)  # 2^-e of tiny numbers is beyond float64
    points.mul_(2.0 ** (-e - half))
    if half:
        points.mul_(2.0**half)


@frozen(eq=False)
class _Work:
    """Cells in the order of their groups, on the device, and what is asked of them."""

    points: torch.Tensor
    """(n, width) float64, around their median, none larger than 1."""
    coordinates: torch.Tensor
    """The same, (width, n)."""
    ranks: torch.Tensor
    home: torch.Tensor
    """(n,) the row that each cell has outside."""
    sizes: Ints
    k: int
    lengths: int
    summed: bool

    @property
    def n(self) -> int:
        return len(self.points)

    def empty(self) -> tuple[Any, Any, Any]:
        """Neighbours, their squared distances and sums, still to be filled; rows and neighbours as they are outside."""
        import torch

        device = self.points.device
        index = torch.zeros((self.n, self.k), dtype=torch.int32, device=device)
        squares = torch.zeros((self.n, self.lengths), dtype=torch.float64, device=device)
        sums = torch.zeros((self.n, len(self.sizes) if self.summed else 0), dtype=torch.float64, device=device)
        return index, squares, sums

    def segments(self) -> list[tuple[int, int]]:
        stops = np.cumsum(self.sizes).tolist()
        return list(zip([0, *stops[:-1]], stops, strict=True))

    def screened(self, rows: Any, dtype: Any, index: Any, squares: Any, sums: Any) -> Any:
        """Fill in these rows by products; gives the rows of which the result cannot be trusted."""
        import torch

        if not len(rows) or (not self.k and not self.summed):
            return rows[:0]
        look = _Screen.of(self.points, dtype, self.k)
        middle = torch.stack([look.squares[i:j].mean() for i, j in self.segments()])
        step = max(1, _block_bytes(rows) // (look.right.shape[1] * look.right.element_size()))
        if dtype is torch.float32 and not look.is_as_exact_as_said(rows[:step]):
            return rows

        def fill(block: Any) -> Any:
            """Fill in a block; gives the rows of it that cannot be trusted."""
            distances = look.block(block)
            good = torch.ones(len(block), dtype=torch.bool, device=rows.device)
            if self.k:
                candidates, good = look.candidates(distances, block)
                near, squares[self.home[block]] = self.nearest(block, candidates)
                index[self.home[block]] = self.home[near].to(torch.int32)
            if self.summed:
                found = self.summed_up(distances, block)
                sums[self.home[block]] = found
                good &= self.trusted(found, block, torch.finfo(dtype).eps, look.squares[block], middle)
            return block[~good]

        return torch.cat(_spread(fill, rows.split(step)))

    def nearest(self, block: Any, candidates: Any) -> tuple[Any, Any]:
        """The k nearest of the candidates by exact distance, equal ones by rank; squared distances of the first."""
        ranked = candidates.gather(1, self.ranks[candidates].argsort(1))
        exact = self.exact(block, ranked)
        near, at = exact.sort(dim=1, stable=True)
        return ranked.gather(1, at[:, : self.k]), near[:, : self.lengths]

    def exact(self, block: Any, columns: Any) -> Any:
        """(rows, m) squared distances to these columns, coordinate after coordinate: the same bits anywhere."""
        import torch

        shape = columns.shape if columns is not None else (len(block), self.n)
        total = torch.zeros(shape, dtype=torch.float64, device=block.device)
        for values in self.coordinates:
            gap = (values[columns] if columns is not None else values[None]) - values[block][:, None]
            total += gap.mul_(gap)
        return total

    def summed_up(self, distances: Any, block: Any) -> Any:
        """(rows, groups) sums of distances, from squared ones, which are used up."""
        import torch

        here = torch.arange(len(block), device=block.device)
        distances[here, block] = 0.0
        distances.clamp_(min=0).sqrt_()
        return torch.stack([distances[:, i:j].sum(1) for i, j in self.segments()], dim=1).to(torch.float64)

    def trusted(self, sums: Any, block: Any, eps: float, squares: Any, middle: Any) -> Any:
        """Whether rounding is small beside the mean distance of each row to every group.

        ``squares`` are |x|² of the rows, ``middle`` the mean |y|² of each group.
        """
        import torch

        device = block.device
        starts = torch.as_tensor(np.cumsum(self.sizes), device=device)
        own = torch.searchsorted(starts, block, right=True)
        others = torch.as_tensor(self.sizes, dtype=torch.float64, device=device).repeat(len(block), 1)
        others[torch.arange(len(block), device=device), own] -= 1
        means = torch.where(others > 0, sums / others.clamp(min=1), torch.inf)
        noise = eps * (squares[:, None] + middle[None])
        return (noise <= NOISE * means * means).all(1)

    def by_differences(self, rows: Any, index: Any, squares: Any, sums: Any) -> None:
        """Fill in these rows by exact distances to all cells."""
        import torch

        if not len(rows):
            return
        by_rank = self.ranks.argsort()
        step = max(1, _block_bytes(rows) // (8 * max(self.n, 1)))

        def fill(block: Any) -> None:
            exact = self.exact(block, None)
            if self.summed:
                sums[self.home[block]] = self.summed_up(exact.clone(), block)
            if self.k:
                exact[torch.arange(len(block), device=block.device), block] = torch.inf
                near, at = exact[:, by_rank].sort(dim=1, stable=True)
                index[self.home[block]] = self.home[by_rank[at[:, : self.k]]].to(torch.int32)
                squares[self.home[block]] = near[:, : self.lengths]

        _spread(fill, rows.split(step))


def _block_bytes(rows: torch.Tensor) -> int:
    return BLOCK_BYTES["cpu" if rows.device.type == "cpu" else "cuda"]


def _spread(work: Callable[[Any], T], blocks: Sequence[Any]) -> list[T]:
    """The work on every block, each on one thread, as many at a time as torch would use.

    Blocks fill rows of their own. Threads inside of single operations would wait for each other at each of the many
    small ones, and for very long where other programs want the cores.
    """
    import torch

    before = torch.get_num_threads()
    many = min(before, len(blocks)) if blocks and blocks[0].device.type == "cpu" else 1
    try:
        torch.set_num_threads(1)
        if many < 2:
            return [work(block) for block in blocks]
        with ThreadPoolExecutor(many, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            return list(pool.map(work, blocks))
    finally:
        torch.set_num_threads(before)


@frozen(eq=False)
class _Screen:
    """Squared distances by one product, |x|² - 2x·y + |y|², in one precision."""

    left: torch.Tensor
    right: torch.Tensor
    """(width + 2, columns); columns beyond the cells are infinitely far."""
    squares: torch.Tensor
    """(n,) float64 |x|²."""
    k: int
    width: int
    stride: int
    bound: float
    """Rounding of a squared distance is at most this times |x|² + |y|²."""

    @classmethod
    def of(cls, points: Any, dtype: Any, k: int) -> _Screen:
        import torch

        n, d = points.shape
        kept = min(k + SPARE, max(n - 1, 1))
        stride = max(1, min(STRIDE, n // (4 * kept)))
        columns = -(-n // stride) * stride
        squares = (points * points).sum(1)
        right = torch.zeros((d + 2, columns), dtype=dtype, device=points.device)
        right[:d, :n], right[d], right[d + 1] = points.T.to(dtype), 1.0, torch.inf
        right[d + 1, :n] = squares.to(dtype)
        ones = torch.ones((n, 1), dtype=dtype, device=points.device)
        left = torch.hstack([-2.0 * points.to(dtype), squares[:, None].to(dtype), ones])
        return cls(left, right, squares, k, kept, stride, (d + 6) * torch.finfo(dtype).eps)

    def block(self, rows: Any) -> Any:
        """(rows, columns) squared distances; possibly a little below 0."""
        return self.left[rows] @ self.right

    def is_as_exact_as_said(self, rows: Any) -> bool:
        """Whether a product of the size that will be used keeps the bound, looked at on a few of these rows."""
        n = len(self.squares)
        found = self.left[rows] @ self.right
        some = rows[:TRIED]
        exact = self.left[some].double() @ self.right[:, :n].double()
        gap = (found[:TRIED, :n].double() - exact).abs_()
        return bool((gap <= self.bound * (self.squares[some][:, None] + self.squares[None])).all())

    def candidates(self, distances: Any, rows: Any) -> tuple[Any, Any]:
        """(rows, width) columns that hold the k nearest, and for each row whether they are sure to.

        Columns are dealt over places; the places with the smallest minima hold at least so many near columns.
        """
        import torch

        b, n = len(rows), len(self.squares)
        distances[torch.arange(b, device=rows.device), rows] = torch.inf
        places = distances.shape[1] // self.stride
        if self.stride > 1:
            minima = distances.view(b, self.stride, places).amin(1)
            lowest, place = minima.topk(self.width, largest=False, sorted=False)
            beyond = lowest.amax(1).to(torch.float64)
            steps = torch.arange(self.stride, device=rows.device) * places
            columns = (place[:, None, :] + steps[None, :, None]).reshape(b, -1)
            value, at = distances.gather(1, columns).topk(self.width, largest=False)
            found = columns.gather(1, at)
        else:
            value, found = distances.topk(self.width, largest=False)
            beyond = torch.full((b,), torch.inf, dtype=torch.float64, device=rows.device)
        value = value.to(torch.float64)
        # |y|² <= 2|x|² + 2d²: so far the k nearest are at most, and so large their rough distances at most
        slack = 3.0 * self.bound * self.squares[rows]
        limit = (value[:, self.k - 1] + slack) / (1.0 - 2.0 * self.bound)
        rough = limit + slack + 2.0 * self.bound * limit
        enough = value[:, -1] > rough if self.width < n - 1 else torch.ones_like(beyond, dtype=torch.bool)
        return found, enough & (beyond > rough)
