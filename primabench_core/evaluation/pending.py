"""Batches whose numbers lie on a device: they wait there, so that no update waits for the device.

An update looks at what a tensor says of itself (shape, type) and copies it on its device. What needs its numbers comes
later, for all batches together: the checks, the places, the reduction. That is at ``compute()``, or when 256 MiB wait.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from primabench_core.contract.checkers import FieldChecker, LabelChecker, NumberChecker
from primabench_core.state.torch_rows import OnDevice

LIMIT = 1 << 28
"""Bytes that may wait."""
_MOST = 1 << 16
"""Batches that may wait."""
_REALS = ("torch.float32", "torch.float64", "torch.float16", "torch.bfloat16")
_WHOLE = ("torch.int64", "torch.int32", "torch.int16", "torch.int8", "torch.uint8", "torch.bool")


def is_elsewhere(value: Any) -> bool:
    """Whether this is a tensor that does not lie on the CPU."""
    return getattr(value, "is_cpu", True) is False


@frozen(eq=False)
class Batch:
    """One update, on its device."""

    where: Any
    """Positions: a slice, or int64 as an array or as a tensor that nobody has read."""
    n: int
    columns: Mapping[str, Any]
    """Tensors, n rows each."""
    home: Mapping[str, Any] = field(factory=dict)
    """Copies on the host that are under way, of fields of which every row is hashed."""


class Pending:
    """The batches that wait, all of them of one device and with the same fields."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.bytes = 0

    def __bool__(self) -> bool:
        return bool(self.batches)

    def add(self, where: Any, n: int, columns: Mapping[str, Any], *, hashed: Collection[str] = ()) -> None:
        """Take a batch; nothing is kept of the caller's tensors.

        Args:
            where: As :attr:`Batch.where`.
            n: Rows.
            columns: From :func:`fitting`.
            hashed: Fields that the host has to read row by row: their copies start now and run beside the device.
        """
        size = sum(t.numel() * t.element_size() for t in columns.values())
        own = dict(columns)
        if size <= LIMIT:  # a larger one is reduced before this update returns
            own = {name: tensor.clone() for name, tensor in columns.items()}
        home = {name: _on_the_way(own[name]) for name in hashed}
        where = where.clone() if hasattr(where, "is_cpu") else where.copy() if isinstance(where, np.ndarray) else where
        self.batches.append(Batch(where, n, own, home))
        self.bytes += size

    @property
    def is_full(self) -> bool:
        """Whether enough waits that it should be reduced now."""
        return self.bytes > LIMIT or len(self.batches) >= _MOST

    def take(self) -> list[Batch]:
        """The batches; none wait any more."""
        batches, self.batches, self.bytes = self.batches, [], 0
        return batches


def fitting(checker: FieldChecker, value: Any, device: Any) -> Any:
    """A tensor on a device in a type that is kept, or None: then the host reads the value, and says what is wrong.

    Args:
        checker: What the field must be; of the tensor only shape and type are looked at.
        value: What the caller gave.
        device: Where to bring it; None for where it is.
    """
    if not isinstance(checker, LabelChecker | NumberChecker):
        return None
    tensor = _as_tensor(value, device)
    if tensor is None or not tensor.ndim or not tensor.numel():
        return None
    kind = str(tensor.dtype)
    if isinstance(checker, LabelChecker):
        good = tensor.ndim == 1 and kind in _WHOLE and checker.vocabulary.kind is not str
        return tensor if good else None
    if kind not in _REALS + _WHOLE or tensor.ndim not in checker.dims:
        return None
    if tensor.ndim == 2 and checker.width is None:
        checker.width = int(tensor.shape[1])
    if tensor.ndim == 2 and tensor.shape[1] != checker.width:
        return None
    if kind in _REALS[2:]:
        return tensor.float()
    return tensor.double() if kind in _WHOLE else tensor


def _as_tensor(value: Any, device: Any) -> Any:
    if type(value) is np.ndarray and device is not None:
        if value.dtype.kind not in "fiub" or value.dtype.char in "gHILQ" or not value.dtype.isnative:
            return None
        import torch

        return torch.from_numpy(value if value.flags.writeable else value.copy()).to(device, non_blocking=True)
    if not hasattr(value, "is_cpu") or getattr(value, "is_nested", False) or getattr(value, "is_meta", False):
        return None
    if str(value.layout) != "torch.strided" or value.is_conj() or value.is_neg():
        return None
    value = value.detach()
    return value if device is None else value.to(device, non_blocking=True)


def clean(checker: FieldChecker, rows: Any) -> bool:
    """Whether all numbers of a tensor are finite and in range; False where only the host can say."""
    if not isinstance(checker, NumberChecker) or not checker.is_plain:
        return False
    low, high = (end.double() for end in rows.aminmax())  # the largest float64 is infinite as float32
    least, most = checker.bounds
    return bool((low >= least) & (high <= most))


def gathered(batches: Sequence[Batch]) -> Batch:
    """All batches as one, still on the device."""
    if len(batches) == 1:
        return batches[0]
    import torch

    columns = {}
    for name in batches[0].columns:
        parts = [b.columns[name] for b in batches]
        kinds = {p.dtype for p in parts}
        if len(kinds) > 1:
            wide = torch.int64 if all(not k.is_floating_point for k in kinds) else torch.float64
            parts = [p.to(wide) for p in parts]
        columns[name] = torch.cat(parts)
    home = {name: [b.home[name] for b in batches] for name in batches[0].home}
    return Batch(_joined([b.where for b in batches]), sum(b.n for b in batches), columns, home)


def _joined(places: Sequence[Any]) -> Any:
    """Positions one after the other; a tensor only where one of them is."""
    there = next((p for p in places if hasattr(p, "is_cpu")), None)
    if there is None:
        return np.concatenate([_numbers(p) for p in places])
    import torch

    return torch.cat([p if hasattr(p, "is_cpu") else torch.from_numpy(_numbers(p)).to(there.device) for p in places])


def _numbers(where: slice | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.arange(where.start, where.stop, where.step or 1) if isinstance(where, slice) else where


def brought_home(tensor: Any) -> NDArray[Any]:
    """The numbers of a tensor on the host: this waits for the device."""
    home: NDArray[Any] = tensor.cpu().numpy()
    return home


def as_rows(batch: Batch, name: str) -> OnDevice:
    """A field of which rows are not kept, for the state that reduces it."""
    home = batch.home.get(name)
    if home is None:
        return OnDevice(batch.columns[name])
    arrived = [_arrived(part) for part in (home if isinstance(home, list) else [home])]
    return OnDevice(batch.columns[name], arrived[0] if len(arrived) == 1 else np.concatenate(arrived))


def _on_the_way(tensor: Any) -> tuple[Any, Any]:
    """A copy on the host that is being made, and what tells that it is there."""
    import torch

    if tensor.device.type != "cuda" or not torch.cuda.is_available():
        return tensor.cpu(), None
    home = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    home.copy_(tensor, non_blocking=True)
    event: Any = torch.cuda.Event()  # type: ignore[no-untyped-call]
    event.record(torch.cuda.current_stream(tensor.device))
    return home, event


def _arrived(part: tuple[Any, Any]) -> NDArray[Any]:
    home, event = part
    if event is not None:
        event.synchronize()
    numbers: NDArray[Any] = home.numpy()
    return numbers
