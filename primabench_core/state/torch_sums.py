"""Exact sums of tensors where they lie: integer windows of plain torch operations, on any device.

A window scales each column by a power of two, rounds to integers, and adds these as int64: integer addition has one
result, whatever the order in which a device adds. What rounding left over, which is exact too, goes through the next
window until nothing is left. Only the sums of windows cross to the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core.state.windows import product_and_error

if TYPE_CHECKING:
    from primabench_core.state.column_sums import ColumnSums

_ROW_BITS = 12
_ROWS = 1 << _ROW_BITS
"""Rows of a block; its sums of integers below 2^50 stay in 64 bits."""
_ELEMENTS = 1 << 21
"""Numbers of a block, so that buffers stay below 64 MiB."""
_WHOLE_BITS = 62 - _ROW_BITS
_SAFE_LOW, _SAFE_HIGH = 2.0**-480, 2.0**480


def is_tensor(x: Any) -> bool:
    """Whether this is a torch tensor; does not import torch."""
    return type(x).__module__.partition(".")[0] == "torch"


def add_tensor(sums: ColumnSums, x: Any) -> None:
    """Add (n, m) reals, integers of at most 32 bits or booleans to sums of columns.

    Raises:
        ValueError: A value is not finite, or an integer may have no exact float64.
    """
    for block in _blocks(x):
        for whole, exponent in _windows(_wide(block)):
            sums.push(whole.sum(0).cpu().numpy(), exponent, slice(0, sums.m))


def add_tensor_product(sums: ColumnSums, x: Any, y: Any) -> None:
    """Add the exact products of two (n, m) tensors of reals to sums of columns."""
    import torch

    narrow = x.dtype == y.dtype == torch.float32
    for a, b in zip(_blocks(x), _blocks(y), strict=True):
        a, b = _wide(a), _wide(b)
        if narrow:
            add_tensor(sums, a * b)
            continue
        if not bool((torch.isfinite(a) & torch.isfinite(b)).all()):
            raise ValueError("exact products need finite numbers, found NaN or infinity")
        apart = _unsafe(a) | _unsafe(b)
        if bool(apart.any()):  # few: number by number on the host
            columns = apart.nonzero()[:, 1].cpu().numpy()
            sums.add_products(a[apart].cpu().numpy(), b[apart].cpu().numpy(), columns)
            a, b = a.masked_fill(apart, 0.0), b.masked_fill(apart, 0.0)
        for part in product_and_error(a, b):  # operators alone, which tensors have too
            add_tensor(sums, part)


def add_grouped_tensor(sums: ColumnSums, x: Any, codes: Any) -> None:
    """Add (n, m) rows to sums of groups x m columns, each row to its group."""
    import torch

    m = x.shape[1]
    start = 0
    for block in _blocks(x):
        at = codes[start : start + len(block)].to(block.device, torch.int64)
        start += len(block)
        present, home = torch.unique(at, return_inverse=True)
        for whole, exponent in _windows(_wide(block)):
            total = torch.zeros((len(present), m), dtype=torch.int64, device=block.device).index_add_(0, home, whole)
            for group, row in zip(present.tolist(), total.cpu().numpy(), strict=True):
                sums.push(row, exponent, slice(group * m, (group + 1) * m))


def _blocks(x: Any) -> Iterator[Any]:
    rows = max(1, min(_ROWS, _ELEMENTS // max(1, x.shape[1])))
    for start in range(0, len(x), rows):
        yield x[start : start + rows]


def _wide(block: Any) -> Any:
    import torch

    if not block.dtype.is_floating_point and block.dtype == torch.int64:
        raise ValueError("exact sums of tensors take reals and integers of at most 32 bits")
    return block.detach().to(torch.float64)


def _windows(rest: Any) -> Iterator[tuple[Any, Any]]:
    """Integers of each window, (n, m) int64, and the exponents of its units, (m,) int64 of numpy."""
    import torch

    if not bool(torch.isfinite(rest).all()):
        raise ValueError("exact sums need finite numbers, found NaN or infinity")
    while rest.numel():
        top = rest.abs().amax(0)
        if not bool(top.any()):
            return
        shift = torch.where(top > 0, _WHOLE_BITS - torch.frexp(top).exponent, torch.zeros_like(top, dtype=torch.int32))
        whole = _scaled(rest, shift).trunc()  # rounding up could leave the range of float64
        yield whole.to(torch.int64), -shift.cpu().numpy().astype(np.int64)
        rest = rest - _scaled(whole, -shift)


def _scaled(x: Any, shift: Any) -> Any:
    """x·2^shift in steps that each stay in range."""
    import torch

    shift = shift.to(torch.int64)
    half = torch.div(shift, 2, rounding_mode="floor")
    for step in (half, shift - half):
        x = x * ((step + 1023) << 52).view(torch.float64)  # a power of two by its bits: no library rounds it
    return x


def _unsafe(x: Any) -> Any:
    size = x.abs()
    return (size > _SAFE_HIGH) | ((size < _SAFE_LOW) & (size > 0))
