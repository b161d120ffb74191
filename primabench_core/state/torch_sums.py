"""Exact sums of tensors where they lie: integer windows of plain torch operations, on any device.

A window scales each column by a power of two, rounds to integers, and adds these as int64: integer addition has one
result, whatever the order in which a device adds. What rounding left over, which is exact too, goes through the next
window. The largest number of a column fixes all of its windows, so that nothing is read from the device until their
sums cross to the host, in one copy; numbers that reach below the last window go the longer way, block by block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core.state.windows import product_and_error

if TYPE_CHECKING:
    from primabench_core.state.column_moments import ColumnMoments
    from primabench_core.state.column_sums import ColumnSums

_ROW_BITS = 12
_ROWS = 1 << _ROW_BITS
"""Rows of a block on the longer way; its sums of integers below 2^50 stay in 64 bits."""
_ELEMENTS = 1 << 21
"""Numbers of a block on the CPU, so that buffers stay below 64 MiB."""
_DEVICE_ELEMENTS = 1 << 23
"""Numbers of a block elsewhere, where starting an operation costs more than its buffers."""
_CELLS = 1 << 23
"""Sums of groups and columns that are kept on a device at once."""
_WHOLE_BITS = 62 - _ROW_BITS
_SAFE_LOW, _SAFE_HIGH = 2.0**-480, 2.0**480
_NOT_FINITE = "exact sums need finite numbers, found NaN or infinity"


def is_tensor(x: Any) -> bool:
    """Whether this is a torch tensor; does not import torch."""
    return type(x).__module__.partition(".")[0] == "torch"


def add_tensor(sums: ColumnSums, x: Any) -> None:
    """Add (n, m) reals, integers of at most 32 bits or booleans to sums of columns.

    Raises:
        ValueError: A value is not finite, or an integer may have no exact float64.
    """
    _refuse_long(x)
    if not x.numel():
        return
    windows = Windows(_exponent(_largest(x)), len(x), _depth(x))
    for block in _blocks(x):
        windows.add(_wide(block))
    if not windows.close(sums):
        _add_slowly(sums, x)


def add_tensor_product(sums: ColumnSums, x: Any, y: Any) -> None:
    """Add the exact products of two (n, m) tensors of reals to sums of columns."""
    import torch

    if not x.numel():
        return
    exponent = _exponent(_largest(x)) + _exponent(_largest(y))
    windows = Windows(exponent, len(x), 3)
    if x.dtype == y.dtype == torch.float32:
        for a, b in zip(_blocks(x), _blocks(y), strict=True):
            windows.add(_wide(a) * _wide(b))
        whole = windows.close(sums)
    else:
        errors = Windows(exponent - 52, len(x), 3)
        unsafe = torch.zeros((), dtype=torch.bool, device=x.device)
        for a, b in zip(_blocks(x), _blocks(y), strict=True):
            a, b = _wide(a), _wide(b)
            unsafe |= (_unsafe(a) | _unsafe(b)).any()
            product, error = product_and_error(a, b)  # operators alone, which tensors have too
            windows.add(product)
            errors.add(error)
        windows.left |= unsafe
        whole = close_together([(windows, sums), (errors, sums)])
    if not whole:
        _add_products_slowly(sums, x, y)


def add_grouped_tensor(sums: ColumnSums, x: Any, codes: Any) -> None:
    """Add (n, m) rows to sums of groups x m columns, each row to its group."""
    m = x.shape[1]
    _refuse_long(x)
    if not x.numel():
        return
    groups = sums.m // m
    if sums.m <= _CELLS:
        windows = Windows(_exponent(_largest(x)), len(x), _depth(x), groups=groups)
        start = 0
        for block in _blocks(x):
            at = _codes_on(codes[start : start + len(block)], block.device)
            start += len(block)
            windows.add(_wide(block), at)
        if windows.close(sums):
            return
    _add_groups_slowly(sums, x, codes)


def add_tensor_moments(moments: ColumnMoments, x: Any, y: Any) -> tuple[Any, ...]:
    """Add x, y, xx, yy, xy of two (n, m) tensors of reals.

    Returns:
        (m,) float64 of numpy: smallest and largest x, smallest and largest y.
    """
    import torch

    low_x, high_x, low_y, high_y = ranges = [
        f(s, 0).to(torch.float64) for s in (x, y) for f in (torch.amin, torch.amax)
    ]
    sums = moments.sums
    if x.dtype == y.dtype == torch.float32:
        ex, ey = (_exponent(torch.maximum(-low, high)) for low, high in ((low_x, high_x), (low_y, high_y)))
        n = len(x)
        windows = {
            "x": Windows(ex, n, 2),
            "y": Windows(ey, n, 2),
            "xx": Windows(ex + ex, n, 3),
            "yy": Windows(ey + ey, n, 3),
            "xy": Windows(ex + ey, n, 3),
        }
        for a, b in zip(_blocks(x), _blocks(y), strict=True):
            a, b = _wide(a), _wide(b)
            for name, terms in (("x", a), ("y", b)):
                windows[name].add(terms)
            for name, left, right in (("xx", a, a), ("yy", b, b), ("xy", a, b)):
                windows[name].add(left * right)
        found = [part.view(torch.int64) for part in ranges]
        whole = close_together([(windows[name], sums[name]) for name in windows], found)
        if whole:
            return tuple(whole[1].view(np.float64).reshape(4, -1))
    for name, side in (("x", x), ("y", y)):
        add_tensor(sums[name], side)
    for name, left, right in (("xx", x, x), ("yy", y, y), ("xy", x, y)):
        add_tensor_product(sums[name], left, right)
    return tuple(torch.stack(ranges).cpu().numpy())


class Windows:
    """Sums of columns in windows that are fixed beforehand; they stay on the device until they are closed.

    Args:
        exponent: (m,) e, with all numbers of a column below 2^e.
        rows: How many rows will come at most.
        depth: Windows, one below the other.
        groups: With it, (groups, m) sums.
    """

    def __init__(self, exponent: Any, rows: int, depth: int, *, groups: int = 0) -> None:
        import torch

        self.bits = min(_WHOLE_BITS, 62 - rows.bit_length())
        self.shifts = [self.bits - exponent + step * self.bits for step in range(depth)]
        self._powers = [(powers(shift), powers(-shift)) for shift in self.shifts]
        m, device = len(exponent), exponent.device
        self.held = torch.zeros((depth, groups, m) if groups else (depth, m), dtype=torch.int64, device=device)
        self.left = torch.zeros((), dtype=torch.bool, device=device)
        """Whether a number has bits below the last window, or is not finite."""

    def add(self, rest: Any, codes: Any = None) -> None:
        """Add (k, m) float64 numbers, with the group of each row where there are groups."""
        import torch

        for step, (up, down) in enumerate(self._powers):
            whole = (rest * up[0] * up[1]).trunc()  # rounding up could leave the range of float64
            units = whole.to(torch.int64)
            if codes is None:
                self.held[step] += units.sum(0)
            else:
                self.held[step].index_add_(0, codes, units)
            rest = rest - whole * down[0] * down[1]
        self.left |= ~(rest == 0).all()  # NaN is not 0 either

    def close(self, sums: ColumnSums) -> bool:
        """Give all to these sums; False, and nothing given, if some bits are missing."""
        return bool(close_together([(self, sums)]))


def close_together(pairs: list[tuple[Windows, ColumnSums]], more: list[Any] | None = None) -> Any:
    """Bring windows to the host in one copy and add them to their sums, and ``more`` int64 numbers along.

    Returns:
        Falsy, and nothing is added, if bits of one of them are missing; else (True, the numbers of ``more``).
    """
    import torch

    parts = [torch.stack([w.left for w, _ in pairs]).to(torch.int64)]
    for windows, _ in pairs:
        parts += [windows.held.reshape(-1), torch.stack(windows.shifts).reshape(-1).to(torch.int64)]
    parts += [part.reshape(-1) for part in more or ()]
    raw = torch.cat(parts).cpu().numpy()  # the one copy
    if raw[: len(pairs)].any():
        return None
    at = len(pairs)
    for windows, sums in pairs:
        depth, m = len(windows.shifts), len(windows.shifts[0])
        held = raw[at : at + windows.held.numel()].reshape(depth, -1)
        at += held.size
        shifts = raw[at : at + depth * m].reshape(depth, m)
        at += shifts.size
        for units, shift in zip(held, shifts, strict=True):
            sums.push(units, -np.tile(shift, len(units) // m), slice(0, sums.m))
    return True, raw[at:].copy()


def _depth(x: Any) -> int:
    """Windows that hold the bits of usual numbers of this type."""
    return 3 if x.dtype.itemsize == 8 else 2


def _largest(x: Any) -> Any:
    """(m,) float64: the largest magnitude of each column, NaN where there is one."""
    import torch

    low, high = x.detach().to(torch.uint8 if x.dtype == torch.bool else x.dtype).aminmax(dim=0)
    return torch.maximum(-low.to(torch.float64), high.to(torch.float64))


def _exponent(top: Any) -> Any:
    """(m,) int64 e with top < 2^e; of what is not finite any."""
    import torch

    return torch.frexp(torch.where(torch.isfinite(top), top, torch.ones_like(top))).exponent.to(torch.int64)


def _blocks(x: Any, rows: int | None = None) -> Iterator[Any]:
    most = _ELEMENTS if x.device.type == "cpu" or rows else _DEVICE_ELEMENTS
    step = max(1, min(rows or len(x), most // max(1, x.shape[1])))
    for start in range(0, len(x), step):
        yield x[start : start + step]


def _refuse_long(x: Any) -> None:
    import torch

    if not x.dtype.is_floating_point and x.dtype == torch.int64:
        raise ValueError("exact sums of tensors take reals and integers of at most 32 bits")


def _wide(block: Any) -> Any:
    import torch

    return block.detach().to(torch.float64)


def _codes_on(codes: Any, device: Any) -> Any:
    import torch

    return torch.as_tensor(codes).to(device, torch.int64)


def powers(shift: Any) -> tuple[Any, Any]:
    """Two float64 powers of two whose product is 2^shift; each stays in range, where the product may not."""
    import torch

    shift = shift.to(torch.int64)
    half = torch.div(shift, 2, rounding_mode="floor")
    return tuple(((step + 1023) << 52).view(torch.float64) for step in (half, shift - half))  # type: ignore[return-value]


def _scaled(x: Any, shift: Any) -> Any:
    """x·2^shift; by the bits of powers of two, so that no library rounds it."""
    first, second = powers(shift)
    return x * first * second


def _unsafe(x: Any) -> Any:
    size = x.abs()
    return ~(size <= _SAFE_HIGH) | ((size < _SAFE_LOW) & (size > 0))


# -- the longer way: windows opened block by block until nothing is left -----------------------------------------------


def _add_slowly(sums: ColumnSums, x: Any) -> None:
    for block in _blocks(x, _ROWS):
        for whole, exponent in _windows(_wide(block)):
            sums.push(whole.sum(0).cpu().numpy(), exponent, slice(0, sums.m))


def _add_products_slowly(sums: ColumnSums, x: Any, y: Any) -> None:
    import torch

    narrow = x.dtype == y.dtype == torch.float32
    for a, b in zip(_blocks(x, _ROWS), _blocks(y, _ROWS), strict=True):
        a, b = _wide(a), _wide(b)
        if narrow:
            _add_slowly(sums, a * b)
            continue
        if not bool((torch.isfinite(a) & torch.isfinite(b)).all()):
            raise ValueError("exact products need finite numbers, found NaN or infinity")
        apart = _unsafe(a) | _unsafe(b)
        if bool(apart.any()):  # few: number by number on the host
            columns = apart.nonzero()[:, 1].cpu().numpy()
            sums.add_products(a[apart].cpu().numpy(), b[apart].cpu().numpy(), columns)
            a, b = a.masked_fill(apart, 0.0), b.masked_fill(apart, 0.0)
        for part in product_and_error(a, b):
            _add_slowly(sums, part)


def _add_groups_slowly(sums: ColumnSums, x: Any, codes: Any) -> None:
    import torch

    m = x.shape[1]
    start = 0
    for block in _blocks(x, _ROWS):
        at = _codes_on(codes[start : start + len(block)], block.device)
        start += len(block)
        present, home = torch.unique(at, return_inverse=True)
        for whole, exponent in _windows(_wide(block)):
            total = torch.zeros((len(present), m), dtype=torch.int64, device=block.device).index_add_(0, home, whole)
            for group, row in zip(present.tolist(), total.cpu().numpy(), strict=True):
                sums.push(row, exponent, slice(group * m, (group + 1) * m))


def _windows(rest: Any) -> Iterator[tuple[Any, Any]]:
    """Integers of each window, (n, m) int64, and the exponents of its units, (m,) int64 of numpy."""
    import torch

    if not bool(torch.isfinite(rest).all()):
        raise ValueError(_NOT_FINITE)
    while rest.numel():
        top = rest.abs().amax(0)
        if not bool(top.any()):
            return
        shift = torch.where(top > 0, _WHOLE_BITS - torch.frexp(top).exponent, torch.zeros_like(top, dtype=torch.int32))
        whole = _scaled(rest, shift).trunc()
        yield whole.to(torch.int64), -shift.cpu().numpy().astype(np.int64)
        rest = rest - _scaled(whole, -shift)
