"""Rows of wide fields that lie on a device: what is kept of each row, found where the row is.

The same bits as :mod:`~primabench_core.state.row_errors` and :mod:`~primabench_core.state.check_digests` give on the
host. Functions here read nothing from the device; their callers do, once for many rows.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.state.check_digests import _keys
from primabench_core.state.row_errors import Error
from primabench_core.state.torch_sums import _blocks, _exponent, _scaled, _wide

_HALF = 0xFFFFFFFF
_WIDEST = 1 << 20
"""Numbers of a row up to which windows leave room for their sums."""
_DEPTH = 3
_KEPT_BYTES = 1 << 32
_copies: dict[tuple[int, str], Any] = {}


@frozen(eq=False)
class OnDevice:
    """Rows on a device, and the same rows on the host where something there has to read every one of them."""

    rows: Any
    """(k, m) tensor, float32 or float64."""
    host: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def at_home(self) -> NDArray[Any]:
        """The rows on the host."""
        home: NDArray[Any] = self.rows.cpu().numpy() if self.host is None else self.host
        return home


def rows_on(array: NDArray[Any], where: Any, device: Any) -> Any:
    """Rows of an array on a device: of a copy that stays there, or, of an array above 4 GiB, sent for this once."""
    import torch

    if array.nbytes > _KEPT_BYTES:
        return torch.from_numpy(np.array(array[where], order="C")).to(device)
    return kept_on(array, device)[where]


def kept_on(array: NDArray[Any], device: Any) -> Any:
    """An array on a device; it stays there as long as the array lives."""
    import torch

    key = (id(array), str(device))
    if key not in _copies:
        # torch warns of an array that is read-only, so a copy is sent
        _copies[key] = torch.from_numpy(np.array(array, order="C")).to(device)
        weakref.finalize(array, _copies.pop, key, None)
    return _copies[key]


def check_digests_on_device(rows: Any) -> Any:
    """(k, 2) int64 tensor: the bits of :func:`~primabench_core.state.check_digests.check_digests`."""
    import torch

    keys = torch.from_numpy(_keys(rows.shape[1]).astype(np.int64)).to(rows.device)
    found = []
    for block in _blocks(rows):
        bits = (_wide(block) + 0.0).view(torch.int64)
        high, low = (bits >> 32) & _HALF, bits & _HALF
        lanes = [
            (((high + keys[2 * lane]) & _HALF) * ((low + keys[2 * lane + 1]) & _HALF)).sum(1)  # modulo 2^64
            for lane in (0, 1)
        ]
        found.append(torch.stack(lanes, 1))
    return torch.cat(found)


def row_errors_on_device(x: Any, y: Any, kind: Error) -> tuple[Any, Any]:
    """Σ(x−y)² or Σ|x−y| of each row, exact and rounded once.

    Args:
        x: (k, m) tensor of float32 or float64, k and m above 0.
        y: Likewise.
        kind: ``squared_error`` or ``absolute_error``.

    Returns:
        (k,) float64 tensor, and a boolean one: whether a row is beyond what is computed here.
    """
    import torch

    found, odd = [], torch.full((), x.shape[1] >= _WIDEST, dtype=torch.bool, device=x.device)
    for a, b in zip(_blocks(x), _blocks(y), strict=True):
        terms = _wide(a) - _wide(b)
        terms = terms * terms if kind == "squared_error" else terms.abs()
        sums, apart = _row_sums(terms)
        found.append(sums)
        odd |= apart
    return torch.cat(found), odd


def _row_sums(rest: Any) -> tuple[Any, Any]:
    """Sums of rows of numbers that are not negative, each rounded once; and whether one of them is not to be trusted.

    Three windows of ``bits`` each make an integer; its highest 62 bits, the lowest of which says whether anything
    follows, round as the whole would.
    """
    import torch

    bits = min(50, 62 - rest.shape[1].bit_length())
    exponent = _exponent(rest.amax(1))
    odd = (exponent.abs() > 900).any()
    held = []
    for step in range(_DEPTH):
        shift = (bits - exponent + step * bits)[:, None]
        whole = _scaled(rest, shift).trunc()
        held.append(whole.to(torch.int64).sum(1))
        rest = rest - _scaled(whole, -shift)
    odd |= ~(rest == 0).all()
    first, second, third = held
    second = second + (third >> bits)
    third = third & ((1 << bits) - 1)
    first = first + (second >> bits)
    second = second & ((1 << bits) - 1)
    room = (62 - torch.frexp(first.to(torch.float64)).exponent.to(torch.int64)).clamp(0, bits)
    low = bits - room
    follows = ((second & ((torch.ones_like(low) << low) - 1)) | third) != 0
    top = (first << room) | (second >> low) | follows.to(torch.int64)
    return _scaled(top.to(torch.float64), exponent - bits - room), odd
