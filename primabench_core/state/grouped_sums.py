"""Exact sums of columns for each group of rows: pseudobulk profiles that no order and no sharding changes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.sparse_rows import SparseRows
from primabench_core.state.column_sums import ColumnSums
from primabench_core.state.compiled import kernels
from primabench_core.state.partial_sums import Ints, runs_of, sum_columns, sum_sparse, takes_runs
from primabench_core.state.quotients import quotients
from primabench_core.state.torch_sums import add_grouped_tensor, is_tensor
from primabench_core.state.windows import Floats, round_ratio

_ROWS_BYTES, _RESULT_BYTES = 1 << 25, 1 << 24
"""Copied rows and results of runs that are held at once."""
_TERMS = 1 << 18
"""Weighted numbers handled at once."""
_PUSHED = 1 << 15
"""Numbers put into limbs at once: they stay in cache."""


class GroupedSums:
    """Exact sums of m columns for each of g groups, and how many rows each group has; mergeable by addition.

    Args:
        groups: Number of groups.
        m: Columns.

    Example:
        >>> import numpy as np
        >>> x = np.array([[1e100, 1.0], [2.0, 3.0], [-1e100, 5.0]])
        >>> state = GroupedSums(2, 2).add(x, np.array([1, 0, 1]))
        >>> state.values().tolist(), state.means().tolist()
        ([[2.0, 3.0], [0.0, 6.0]], [[2.0, 3.0], [0.0, 3.0]])
    """

    __slots__ = ("counts", "groups", "m", "sums")

    def __init__(self, groups: int, m: int) -> None:
        self.groups, self.m = groups, m
        self.counts: Ints = np.zeros(groups, np.int64)
        self.sums = ColumnSums(groups * m)

    def add(self, matrix: NDArray[Any] | SparseRows, codes: Ints, weights: NDArray[Any] | None = None) -> GroupedSums:
        """Add (n, m) rows, each to its group; returns itself.

        Args:
            matrix: float32, float64, integers of at most 32 bits or booleans; or sparse rows.
            codes: (n,) group of each row, in ``range(groups)``; -1 leaves a row of an array out.
            weights: (n,) numbers that multiply the rows, exactly; counts stay numbers of rows.

        Raises:
            ValueError: The shapes do not fit, a code is out of range, or a value is not finite.
        """
        if is_tensor(matrix):
            return self._add_tensor(matrix, codes, weights)
        if isinstance(matrix, SparseRows):
            return self._add_sparse(matrix, np.asarray(codes), weights)
        codes = np.asarray(codes)
        if matrix.ndim != 2 or matrix.shape[1] != self.m or codes.shape != (len(matrix),):
            raise ValueError(
                f"expected rows of {self.m} numbers and a code for each, got {matrix.shape}, {codes.shape}"
            )
        if len(codes) and not -1 <= int(codes.min()) <= int(codes.max()) < self.groups:
            raise ValueError(f"codes of groups are in range({self.groups}), or -1")
        if not takes_runs(matrix):
            if matrix.dtype.kind not in "biu" or matrix.dtype.itemsize > 4:
                raise ValueError(f"grouped sums take reals and integers of at most 32 bits, not {matrix.dtype}")
            matrix = matrix.astype(np.float64)
        order = np.argsort(codes, kind="stable").astype(np.int64)
        if len(codes) and codes[order[0]] < 0:
            order = order[codes[order] >= 0]
        lengths = np.bincount(codes[order], minlength=self.groups)
        self.counts = self.counts + lengths
        if weights is not None:
            if len(order) < len(codes):
                kept = np.sort(order)
                matrix, weights, codes = matrix[kept], np.asarray(weights)[kept], codes[kept]
            self._add_weighted(matrix, np.asarray(weights), codes)
            return self
        for block, rows, cuts, group in self._blocks(matrix, order, lengths):
            partial, _ = sum_columns(block, rows, cuts)
            for part in partial.parts:
                self._push(part, group)
            at, columns = partial.odd_numbers(rows, cuts)
            if len(at):
                values = block[at, columns].astype(np.float64)
                if not np.isfinite(values).all():
                    raise ValueError("exact sums need finite numbers, found NaN or infinity")
                home = np.repeat(group[partial.odd[0]], np.diff(cuts)[partial.odd[0]])
                self.sums.add_numbers(values, home * self.m + columns)
        return self

    def _add_tensor(self, matrix: Any, codes: Any, weights: Any) -> GroupedSums:
        """A tensor of torch, added on its device to the same bits."""
        if weights is not None:
            raise ValueError("weights are for arrays of numpy")
        if matrix.ndim != 2 or matrix.shape[1] != self.m or tuple(codes.shape) != (len(matrix),):
            raise ValueError(f"expected rows of {self.m} numbers and a code for each, got {tuple(matrix.shape)}")
        here = codes.cpu().numpy() if is_tensor(codes) else np.asarray(codes)
        if len(here) and not 0 <= int(here.min()) <= int(here.max()) < self.groups:
            raise ValueError(f"codes of groups are in range({self.groups})")
        if not is_tensor(codes):
            import torch

            codes = torch.from_numpy(here.astype(np.int64))
        add_grouped_tensor(self.sums, matrix, codes)
        self.counts = self.counts + np.bincount(here, minlength=self.groups)
        return self

    def _add_sparse(self, matrix: SparseRows, codes: Ints, weights: Any) -> GroupedSums:
        """Sparse rows: zeros add nothing, so that float32 numbers are added as they are held."""
        if kernels() is None or weights is not None or matrix.dtype != np.float32 or matrix.width != self.m:
            for start, piece in matrix.pieces():
                here = slice(start, start + len(piece))
                self.add(piece, codes[here], None if weights is None else weights[here])
            return self
        if codes.shape != (len(matrix),) or (len(codes) and not -1 <= codes.min() <= codes.max() < self.groups):
            raise ValueError(f"expected a code in range({self.groups}), or -1, for each of {len(matrix)} rows")
        if not np.isfinite(matrix.data).all():
            raise ValueError("exact sums need finite numbers, found NaN or infinity")
        order = np.argsort(codes, kind="stable").astype(np.int64)
        order = order[codes[order] >= 0]
        lengths = np.bincount(codes[order], minlength=self.groups)
        self.counts = self.counts + lengths
        cuts, group = runs_of(lengths)
        most = max(1, _RESULT_BYTES // (24 * max(1, self.m)))
        for start in range(0, len(group), most):
            part, home = cuts[start : start + most + 1], group[start : start + most]
            rows, ends = order[part[0] : part[-1]], part - part[0]
            partial = sum_sparse(matrix, rows, ends)
            self._push(partial.parts[0], home)
            at, columns = partial.odd_numbers(rows, ends)
            if len(at):
                values = matrix[at].csr()[np.arange(len(at)), columns].astype(np.float64)
                self.sums.add_numbers(
                    values, np.repeat(home[partial.odd[0]], np.diff(ends)[partial.odd[0]]) * self.m + columns
                )
        return self

    def _blocks(self, matrix: NDArray[Any], order: Ints, lengths: Ints) -> Any:
        """Rows sorted by group in parts of bounded memory: matrix, rows, ends of runs, group of each run."""
        cuts, group = runs_of(lengths)
        most = max(1, _RESULT_BYTES // (24 * max(1, self.m)))
        if not matrix.flags.c_contiguous:
            most = min(most, max(1, _ROWS_BYTES // (256 * matrix.itemsize * max(1, self.m))))
        for start in range(0, len(group), most):
            part = cuts[start : start + most + 1]
            rows, ends = order[part[0] : part[-1]], part - part[0]
            if matrix.flags.c_contiguous:
                yield matrix, rows, ends, group[start : start + most]
            else:
                yield np.ascontiguousarray(matrix[rows]), np.arange(len(rows)), ends, group[start : start + most]

    def _push(self, part: Floats, group: Ints) -> None:
        """Add (runs, m) exact numbers, each run to its group; groups ascend."""
        compiled = kernels()
        if compiled is not None:
            self.sums.push_rows(part, group * self.m, compiled.push_rows())
            return
        turn = np.arange(len(group)) - np.searchsorted(group, group)  # which of the runs of its group a run is
        step = max(1, _PUSHED // max(1, self.m))
        columns = np.arange(self.m)
        for k in range(int(turn.max(initial=-1)) + 1):
            chosen = np.flatnonzero(turn == k)  # groups that occur once, so that no column does twice
            for start in range(0, len(chosen), step):
                runs = chosen[start : start + step]
                mantissa, exponent = np.frexp(part[runs].ravel())
                units = np.ldexp(mantissa, 53).astype(np.int64)
                lowest = np.where(units == 0, self.sums.low, exponent.astype(np.int64) - 53)
                self.sums.push(units, lowest, (group[runs, None] * self.m + columns).ravel())

    def _add_weighted(self, matrix: NDArray[Any], weights: NDArray[Any], codes: Ints) -> None:
        if weights.shape != codes.shape:
            raise ValueError(f"expected {len(codes)} weights, got shape {weights.shape}")
        rows = max(1, _TERMS // max(1, self.m))
        columns = np.arange(self.m)
        for start in range(0, len(codes), rows):
            block = matrix[start : start + rows].astype(np.float64)
            factor = np.broadcast_to(weights[start : start + rows, None].astype(np.float64), block.shape)
            if not (np.isfinite(block).all() and np.isfinite(factor).all()):
                raise ValueError("exact products need finite numbers, found NaN or infinity")
            at = codes[start : start + rows, None] * self.m + columns
            self.sums.add_products(block.ravel(), factor.ravel(), at.ravel())

    def values(self) -> Floats:
        """(groups, m) float64 sums, each rounded once."""
        return self.sums.values().reshape(self.groups, self.m)

    def means(self) -> Floats:
        """(groups, m) float64 sums over the number of rows, each rounded once; NaN for a group without rows."""
        if not self.groups or not self.m:
            return np.zeros((self.groups, self.m))
        divisors = np.repeat(np.maximum(self.counts, 1), self.m)
        result, certain = quotients(self.sums.limbs(), self.sums.low, divisors)
        doubtful = np.flatnonzero(~certain)
        if len(doubtful):
            low = self.sums.low
            up, down = 1 << max(0, low), 1 << max(0, -low)
            totals = zip(self.sums.integers(doubtful), divisors[doubtful].tolist(), strict=True)
            result[doubtful] = [round_ratio(total * up, count * down) for total, count in totals]
        result = result.reshape(self.groups, self.m)
        result[self.counts == 0] = np.nan
        return result

    def merge(self, other: GroupedSums) -> GroupedSums:
        """Both sets of rows together; neither operand changes. ValueError for other groups or columns."""
        if (self.groups, self.m) != (other.groups, other.m):
            raise ValueError(f"sums of {(self.groups, self.m)} and {(other.groups, other.m)} do not merge")
        result = GroupedSums(self.groups, self.m)
        result.counts, result.sums = self.counts + other.counts, self.sums.merge(other.sums)
        return result

    def to_buffers(self) -> tuple[dict[str, int], dict[str, NDArray[Any]]]:
        """Plain parts: equal sums give equal parts."""
        meta, arrays = self.sums.to_buffers()
        return {"groups": self.groups, "m": self.m, "low": meta["low"]}, {**arrays, "counts": self.counts}

    @classmethod
    def from_buffers(cls, meta: dict[str, int], arrays: dict[str, NDArray[Any]]) -> GroupedSums:
        """The state that :meth:`to_buffers` took apart."""
        result = cls(meta["groups"], meta["m"])
        result.counts = arrays["counts"].copy()
        part = {"m": meta["groups"] * meta["m"], "low": meta["low"]}
        result.sums = ColumnSums.from_buffers(part, {"limbs": arrays["limbs"]})
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return GroupedSums.from_buffers, self.to_buffers()
