"""A device that is none: tensors on the CPU that say that they are on a GPU, and write down every look of the host."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch.overrides import TorchFunctionMode  # noqa: E402

GPU = torch.device("cuda", 0)
LOOKS = {
    "cpu", "numpy", "item", "tolist", "__bool__", "__int__", "__float__", "__index__", "__contains__", "nonzero",
    "unique", "_unique2", "masked_select", "bincount", "__array__", "equal", "allclose", "argwhere",
}  # fmt: skip


class There(torch.Tensor):
    """A tensor that says that it is on a GPU."""


There.__module__ = "torch.there"  # no tensor type of a framework is known by name


class Pretend(TorchFunctionMode):
    """While it is active, what is made for a GPU says that it is there.

    ``looks`` are the reads of the host, each with its bytes; ``forbidden`` makes them fail.
    """

    def __init__(self) -> None:
        super().__init__()
        self.looks: list[tuple[str, int]] = []
        self.forbidden = False

    def put(self, values: Any) -> Any:
        """These values on the device."""
        return torch.from_numpy(np.array(values)).as_subclass(There)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        there = [a for a in _flat((*args, *kwargs.values())) if isinstance(a, There)]
        if there and func == torch.Tensor.is_cpu.__get__:
            return False
        if there and func == torch.Tensor.device.__get__:
            return GPU
        if name == "device" or isinstance(func, type):
            return func(*args, **kwargs)
        goal = [a for a in (*args[1:], kwargs.get("device")) if isinstance(a, torch.device | str)]
        goal = [torch.device(d) for d in goal if not isinstance(d, str) or d.split(":")[0] in ("cpu", "cuda")]
        sent = any(d.type == "cuda" for d in goal)
        home = name == "to" and any(d.type == "cpu" for d in goal)
        if there and (name in LOOKS or home or (name == "__getitem__" and _is_mask(args[1]))):
            size = sum(t.as_subclass(torch.Tensor).numel() * t.as_subclass(torch.Tensor).element_size() for t in there)
            self.looks.append((name, size))
            if self.forbidden:
                raise AssertionError(f"{name}: the host looks at {size} bytes of a device")
        if there and name not in ("__getitem__", "__setitem__", "copy_", "cpu"):
            strays = [a for a in _flat((*args, *kwargs.values())) if _is_home(a)]
            assert not strays, f"{name}: tensors of two devices meet"
        args, kwargs = _bare(args, sent), {k: _bare(v, sent) for k, v in kwargs.items()}
        found = func(*args, **kwargs)
        stays = (there or sent) and name not in ("cpu", "numpy") and not home
        return _marked(found) if stays else found


def _flat(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _flat(value)
        else:
            yield value


def _is_home(value: Any) -> bool:
    return type(value) in (torch.Tensor, torch.nn.Parameter) and value.dim() > 0


def _is_mask(index: Any) -> bool:
    return any(isinstance(i, torch.Tensor) and i.dtype == torch.bool for i in _flat([index]))


def _bare(value: Any, sent: bool) -> Any:
    if isinstance(value, There):
        return value.as_subclass(torch.Tensor)
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(_bare(v, sent) for v in value)
    if sent and isinstance(value, torch.device | str):
        return torch.device("cpu") if str(value).startswith("cuda") else value
    return value


def _marked(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.as_subclass(There)
    if isinstance(value, tuple):
        marked = [_marked(v) for v in value]
        return tuple(marked) if type(value) is tuple else type(value)(marked)
    return [_marked(v) for v in value] if isinstance(value, list) else value


@pytest.fixture
def gpu(monkeypatch):
    """The pretended device; it has no pinned memory, whatever else this machine has."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with Pretend() as there:
        yield there
