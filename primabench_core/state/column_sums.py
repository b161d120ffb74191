"""Exact sums of many columns at once, as integers in 32-bit limbs; mergeable by addition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.state.partial_sums import Ints, Partial, run_columns, run_products, sum_columns, takes_runs
from primabench_core.state.partial_sums import sum_products as products_of_runs
from primabench_core.state.torch_sums import add_tensor, add_tensor_product, is_tensor
from primabench_core.state.windows import Floats, product_and_error, round_ratio, unsafe

_LIMB = 32
_MASK = (1 << _LIMB) - 1
_ELEMENTS = 65_536
"""Numbers handled at once: the buffers stay in cache."""
_SLAB = 4_096
"""Columns handled at once."""
_TOP, _BOTTOM = 2.0**900, 2.0**-900
"""Columns of a block outside this range go number by number."""
_FEW = 16
"""Fewer rows are not worth a pass in runs."""
_MOST_ODD = 1 / 64
"""Share of sums without proof from which all numbers go through windows."""


class ColumnSums:
    """One exact sum a column.

    A sum is Σ limb[j]·2^(32·j + low). Limbs are int64 that hold 32 bits and leave room for carries, so that adding is
    integer addition and no order matters; limbs appear as the numbers need them. A column of float32 numbers of usual
    size takes 3 to 5 limbs, the widest possible one 13, a float64 one 70.

    Args:
        m: Columns.

    Example:
        >>> import numpy as np
        >>> ColumnSums(2).add(np.array([[1e100, 1.0], [1.0, 2.0], [-1e100, 3.0]])).values().tolist()
        [1.0, 6.0]
    """

    __slots__ = ("_limbs", "_load", "low", "m")

    def __init__(self, m: int) -> None:
        self.m = m
        self.low = 0
        """Exponent of the lowest limb, a multiple of 32."""
        self._limbs: Ints = np.zeros((2, m), np.int64)
        self._load = 0

    def add(self, matrix: NDArray[Any]) -> ColumnSums:
        """Add (n, m) reals, integers or booleans, row after row; returns itself.

        A tensor of torch is added on its device, to the same bits.

        Raises:
            ValueError: A value is not finite (the sums are then spoilt), or the width is another.
        """
        self._check(matrix)
        if is_tensor(matrix):
            add_tensor(self, matrix)
            return self
        if matrix.dtype.kind in "iu" and matrix.dtype.itemsize > 4:
            high = (matrix >> _LIMB).astype(np.float64)
            self.add(high * 2.0**_LIMB)
            return self.add((matrix & np.array(_MASK, matrix.dtype)).astype(np.float64))
        if len(matrix) >= _FEW and takes_runs(matrix):
            for part, rows, cuts in run_columns(matrix):
                self.take_runs(sum_columns(part, rows, cuts)[0], part, rows, cuts)
        else:
            self._add_windows(matrix)
        return self

    def _add_windows(self, matrix: NDArray[Any]) -> None:
        for columns, blocks in _slabs(matrix):
            window = _Window(self, columns)
            for block in blocks:
                window.add(block)
            window.close()

    def take_runs(self, partial: Partial, x: NDArray[Any], rows: Ints, cuts: Ints) -> None:
        """Add what :func:`~primabench_core.state.partial_sums.sum_columns` found of these rows of ``x``."""
        if partial.share_missing > _MOST_ODD:
            self._add_windows(x[rows])
            return
        for part in partial.parts:
            self._add_windows(part)
        at, columns = partial.odd_numbers(rows, cuts)
        if len(at):
            values = x[at, columns].astype(np.float64)
            if not np.isfinite(values).all():
                raise ValueError("exact sums need finite numbers, found NaN or infinity")
            self.add_numbers(values, columns)

    def take_product_runs(self, partial: Partial, x: NDArray[Any], y: NDArray[Any], rows: Ints, cuts: Ints) -> None:
        """The same of :func:`~primabench_core.state.partial_sums.sum_products`."""
        if partial.share_missing > _MOST_ODD:
            self._add_window_products(x[rows], y[rows])
            return
        for part in partial.parts:
            self._add_windows(part)
        at, columns = partial.odd_numbers(rows, cuts)
        if len(at):
            a, b = x[at, columns].astype(np.float64), y[at, columns].astype(np.float64)
            if not (np.isfinite(a).all() and np.isfinite(b).all()):
                raise ValueError("exact products need finite numbers, found NaN or infinity")
            self.add_products(a, b, columns)

    def add_product(self, x: NDArray[Any], y: NDArray[Any]) -> ColumnSums:
        """Add the exact products of two (n, m) matrices of reals, number by number; returns itself."""
        self._check(x)
        self._check(y)
        if is_tensor(x):
            add_tensor_product(self, x, y)
            return self
        if len(x) >= _FEW and x.dtype == y.dtype == np.float32 and takes_runs(x, y):
            for a, b, rows, cuts in run_products(x, y):
                self.take_product_runs(products_of_runs(a, b, rows, cuts), a, b, rows, cuts)
        else:
            self._add_window_products(x, y)
        return self

    def _add_window_products(self, x: NDArray[Any], y: NDArray[Any]) -> None:
        narrow = x.dtype == np.float32 and y.dtype == np.float32
        for (columns, x_blocks), (_, y_blocks) in zip(_slabs(x), _slabs(y), strict=True):
            window, errors = _Window(self, columns), _Window(self, columns)
            for a, b in zip(x_blocks, y_blocks, strict=True):
                if narrow:
                    window.add(np.multiply(a, b, dtype=np.float64))
                    continue
                a, b = a.astype(np.float64), b.astype(np.float64)
                self._take_out_unsafe(a, b, columns)
                product, error = product_and_error(a, b)
                window.add(product)
                if error.any():
                    errors.add(error)
            window.close()
            errors.close()

    def _take_out_unsafe(self, a: Floats, b: Floats, columns: slice) -> None:
        if not (np.isfinite(a).all() and np.isfinite(b).all()):
            raise ValueError("exact products need finite numbers, found NaN or infinity")
        apart = unsafe(a) | unsafe(b)
        if apart.any():
            self.add_products(a[apart], b[apart], np.nonzero(apart)[1] + columns.start)
            a[apart] = b[apart] = 0.0

    def add_products(self, x: Floats, y: Floats, columns: NDArray[np.intp]) -> None:
        """Add (k,) exact products, each to its column; any finite size of factor."""
        (x, x_exponent), (y, y_exponent) = np.frexp(x), np.frexp(y)
        exponent = x_exponent.astype(np.int64) + y_exponent
        for part in product_and_error(x, y):
            self.add_numbers(part, columns, exponent)

    def add_numbers(self, values: Floats, columns: NDArray[np.intp], scale: Ints | int = 0) -> None:
        """Add (k,) finite numbers values·2^scale, each to its column; columns may repeat."""
        kept = values != 0
        mantissa, exponent = np.frexp(values[kept])
        units = np.ldexp(mantissa, 53).astype(np.int64)
        lowest = exponent.astype(np.int64) - 53 + (scale if isinstance(scale, int) else scale[kept])
        self.push(units, lowest, columns[kept], repeated=True)

    def push(self, units: Ints, exponent: Ints, columns: Any, *, repeated: bool = False) -> None:
        """Add integers units·2^exponent (units below 2^62 in size), each to its column."""
        if not len(units):
            return
        self._reserve(int(exponent.min()), int(exponent.max()) + 64)
        self._load += len(units) if repeated else 1
        if self._load > 1 << 28:
            self._carry()
        if isinstance(columns, slice):
            columns = np.arange(columns.start, columns.stop)
        place, shift = np.divmod(exponent - self.low, _LIMB)
        first = (units & _MASK) << shift
        second = (units >> _LIMB) << shift
        for step, part in enumerate((first & _MASK, (first >> _LIMB) + (second & _MASK), second >> _LIMB)):
            if repeated:
                np.add.at(self._limbs, (place + step, columns), part)
            else:
                self._limbs[place + step, columns] += part

    def push_rows(self, rows: Floats, offsets: Ints, loop: Any) -> None:
        """Add (k, w) finite numbers, each row to w columns from its offset on; offsets may repeat.

        Args:
            rows: (k, w) float64, C order.
            offsets: (k,) first column of each row.
            loop: The compiled loop of that name.
        """
        size = np.abs(rows)
        most = float(size.max(initial=0.0))
        if not most:
            return
        least = float(np.min(size, where=size > 0, initial=np.inf))
        self._reserve(int(np.frexp(least)[1]) - 53, int(np.frexp(most)[1]) - 53 + 64)
        self._load += len(rows)
        if self._load > 1 << 28:
            self._carry()
        loop(rows.view(np.int64), offsets, self.low, self._limbs)

    def _reserve(self, lowest: int, highest: int) -> None:
        """Make room for numbers between 2^lowest and 2^highest, and for 2^48 of them."""
        below = max(0, -(-(self.low - lowest) // _LIMB))
        above = max(0, -(-(highest + 80 - self.low) // _LIMB) - len(self._limbs))
        if below or above:
            if below:
                self._carry()
            self._limbs = np.concatenate(
                [np.zeros((below, self.m), np.int64), self._limbs, np.zeros((above, self.m), np.int64)]
            )
            self.low -= _LIMB * below
            self._carry()

    def _carry(self) -> None:
        """Bring every limb but the highest into [0, 2^32)."""
        for j in range(len(self._limbs) - 1):
            self._limbs[j + 1] += self._limbs[j] >> _LIMB
            self._limbs[j] &= _MASK
        self._load = 1

    def merge(self, other: ColumnSums) -> ColumnSums:
        """Both sums together; neither operand changes. ValueError for another number of columns."""
        if self.m != other.m:
            raise ValueError(f"sums of {self.m} and of {other.m} columns do not merge")
        result, right = self.copy(), other.copy()
        for side, partner in ((result, right), (right, result)):
            side._reserve(partner.low, partner.low + _LIMB * len(partner._limbs) - 80)
            side._carry()
        result._limbs += right._limbs
        result._carry()
        return result

    def copy(self) -> ColumnSums:
        """An independent state with the same sums."""
        twin = ColumnSums(self.m)
        twin.low, twin._limbs, twin._load = self.low, self._limbs.copy(), self._load
        return twin

    def limbs(self) -> Ints:
        """(limbs, m) of the sums, in units of 2^low; each but the last in [0, 2^32). Not to be written to."""
        self._carry()
        return self._limbs

    def integers(self, columns: Ints | None = None) -> list[int]:
        """The exact sums, in units of 2^low; of some columns, or of all."""
        self._carry()
        limbs = self._limbs if columns is None else self._limbs[:, columns]
        words = np.ascontiguousarray(limbs.T).astype("<i8")  # the highest limb keeps its sign in 64 bits
        low = np.ascontiguousarray(words[:, :-1].astype("<u4"))
        raw = np.concatenate([low.view(np.uint8), np.ascontiguousarray(words[:, -1:]).view(np.uint8)], axis=1)
        return [int.from_bytes(row.tobytes(), "little", signed=True) for row in raw]

    def values(self, divisor: int = 1) -> Floats:
        """(m,) the sums over a positive integer, each rounded once to the nearest float64."""
        up, down = 1 << max(0, self.low), divisor << max(0, -self.low)
        return np.array([round_ratio(total * up, down) for total in self.integers()], np.float64).reshape(self.m)

    def to_buffers(self) -> tuple[dict[str, int], dict[str, NDArray[Any]]]:
        """Plain parts: equal sums give equal parts; four bytes a limb and four for the sign."""
        self._carry()
        limbs = self._limbs
        used = np.flatnonzero((limbs != 0).any(axis=1))
        low = self.low + _LIMB * int(used[0]) if len(used) else 0
        limbs = limbs[used[0] :] if len(used) else limbs[:0]
        while len(limbs) > 1 and (limbs[-1] == -(limbs[-2] >> (_LIMB - 1))).all():
            limbs = np.concatenate([limbs[:-2], [limbs[-2] + (limbs[-1] << _LIMB)]])  # the top one was only a sign
        while len(limbs) and (np.abs(limbs[-1]) >> (_LIMB - 1)).any():
            limbs = np.concatenate([limbs[:-1], [limbs[-1] & _MASK, limbs[-1] >> _LIMB]])
        return {"m": self.m, "low": low}, {"limbs": limbs.astype("<i8").astype("<u4")}

    @classmethod
    def from_buffers(cls, meta: dict[str, int], arrays: dict[str, NDArray[Any]]) -> ColumnSums:
        """The state that :meth:`to_buffers` took apart."""
        result, words = cls(meta["m"]), arrays["limbs"].astype(np.int64)
        if len(words):
            words[-1] = words[-1].astype(np.uint32).view(np.int32) if words[-1].flags.c_contiguous else words[-1]
            result.low, result._limbs = meta["low"], np.concatenate([words, np.zeros((1, result.m), np.int64)])
            result._limbs[-1] = result._limbs[-2] >> _LIMB
            result._limbs[-2] &= _MASK
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return ColumnSums.from_buffers, self.to_buffers()

    def _check(self, matrix: NDArray[Any]) -> None:
        if matrix.ndim != 2 or matrix.shape[1] != self.m:
            raise ValueError(f"expected rows of {self.m} numbers, got shape {matrix.shape}")


class _Window:
    """One window a column over many blocks of rows; see :mod:`primabench_core.state.windows`."""

    def __init__(self, sums: ColumnSums, columns: slice) -> None:
        self.sums, self.columns = sums, columns
        width = columns.stop - columns.start
        rows = _rows_of(width)
        self.bits = max(2, (rows - 1).bit_length())
        self.bound = np.zeros(width)
        self.held = np.zeros(width, np.int64)
        self.blocks = 0
        self.wide, self.even, self.met = np.empty((rows, width)), np.empty((rows, width)), np.empty((rows, width), bool)
        self.rest: list[tuple[Floats, NDArray[np.intp]]] = []
        self.rest_size = 0
        self.finer: _Window | None = None

    def add(self, block: NDArray[Any]) -> None:
        n = len(block)
        wide, even, met = self.wide[:n], self.even[:n], self.met[:n]
        wide[:] = block
        top = np.maximum(block.max(axis=0), -block.min(axis=0)) if block.dtype.kind == "f" else np.abs(wide).max(axis=0)
        top = top.astype(np.float64)  # as float32 the bottom would be zero
        if (top > self.bound).any() or not (top >= _BOTTOM).all() or self.blocks == 256:
            top = self._reopen(wide, top)
        np.add(wide, self.shift, out=even)
        np.subtract(even, self.shift, out=even)
        # a product with ones adds fastest, and no order of adding rounds here
        self.held += (np.ones(n) @ even * self.scale).astype(np.int64)
        self.blocks += 1
        count = int(np.count_nonzero(np.not_equal(wide, even, out=met)))
        if count * 16 > wide.size:
            if self.finer is None:
                self.finer = _Window(self.sums, self.columns)
            np.subtract(wide, even, out=even)
            self.finer.add(even)
        elif count:
            rows, at = np.nonzero(met)
            self.rest.append((wide[rows, at] - even[rows, at], at + self.columns.start))
            self.rest_size += count
            if self.rest_size > _ELEMENTS:
                self._settle()

    def _reopen(self, wide: Floats, top: Floats) -> Floats:
        """Start a wider window if this block needs one; numbers too large or small for any go one by one."""
        if not (top < np.inf).all():
            raise ValueError("exact sums need finite numbers, found NaN or infinity")
        odd = (top > _TOP) | ((top < _BOTTOM) & (top > 0))
        if odd.any():
            columns = np.flatnonzero(odd)
            at = np.broadcast_to(columns + self.columns.start, (len(wide), len(columns)))
            self.sums.add_numbers(wide[:, columns].ravel(), at.ravel())
            wide[:, columns] = 0.0
            top = np.where(odd, 0.0, top)
        if self.blocks in (0, 256) or (top > self.bound).any():
            self.close()
            exponent = np.maximum(np.frexp(np.maximum(top, self.bound))[1].astype(np.int64), -900)
            self.bound, self.exponent = np.ldexp(1.0, exponent), exponent + self.bits - 53
            self.shift, self.scale = np.ldexp(1.5, self.exponent + 52), np.ldexp(1.0, -self.exponent)
        return top

    def _settle(self) -> None:
        if self.rest:
            values, columns = (np.concatenate(parts) for parts in zip(*self.rest, strict=True))
            self.rest, self.rest_size = [], 0
            self.sums.add_numbers(values, columns)

    def close(self) -> None:
        """Give what was held to the sums."""
        self._settle()
        if self.finer is not None:
            self.finer.close()
        if self.blocks:
            self.sums.push(self.held, self.exponent, self.columns)
            self.held[:], self.blocks = 0, 0


def _rows_of(width: int) -> int:
    return max(4, min(256, _ELEMENTS // max(1, width)))


def _slabs(matrix: NDArray[Any]) -> Any:
    """Column ranges of a matrix, each with its blocks of rows."""
    n, m = matrix.shape
    for start in range(0, m, _SLAB):
        columns = slice(start, min(m, start + _SLAB))
        rows = _rows_of(columns.stop - columns.start)
        yield columns, (matrix[i : i + rows, columns] for i in range(0, n, rows))
