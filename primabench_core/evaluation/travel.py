"""Plain forms in which states and errors travel between processes: no pickle, no class of ours.

A state becomes one run of bytes: a JSON head that holds everything small and says where each array lies, then the
bytes of the arrays. An error becomes a mapping of text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from primabench_core import errors
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError, DistributedError, PrimaBenchError

_ALIGN = 16
"""Arrays begin at multiples of this, so that they can be used where they lie."""


def pack(value: Any) -> bytearray:
    """Nested mappings (text keys), lists, tuples, sets of text, plain scalars, bytes and numeric arrays as bytes.

    Raises:
        TypeError: something else is among them, such as an array of objects.

    Example:
        >>> import numpy as np
        >>> unpack(pack({"a": np.arange(3), "b": [1, None]}))
        {'a': array([0, 1, 2]), 'b': [1, None]}
    """
    arrays: list[np.ndarray[Any, Any]] = []
    offset = 0

    def plain(item: Any) -> Any:
        nonlocal offset
        if item is None or isinstance(item, bool | str | int | float):
            return item
        if isinstance(item, np.generic):
            return item.item()
        if isinstance(item, bytes | bytearray):
            return {"b": plain(np.frombuffer(item, np.uint8))}
        if isinstance(item, np.ndarray):
            if item.dtype.hasobject:
                raise TypeError("an array of objects does not travel")
            arrays.append(np.ascontiguousarray(item))
            start, offset = offset, -(-(offset + item.nbytes) // _ALIGN) * _ALIGN
            return {"a": [item.dtype.str, list(item.shape), start]}
        if isinstance(item, Mapping):
            return {"m": [[_text(key), plain(inner)] for key, inner in item.items()]}
        if isinstance(item, list | tuple):
            return {"l" if isinstance(item, list) else "t": [plain(inner) for inner in item]}
        if isinstance(item, set | frozenset):
            return {"s": sorted(map(_text, item))}
        raise TypeError(f"a {type(item).__name__} does not travel")

    head = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    body = -(-(8 + len(head)) // _ALIGN) * _ALIGN
    whole = bytearray(body + offset)
    whole[:8] = len(head).to_bytes(8, "little")
    whole[8 : 8 + len(head)] = head
    for array in arrays:
        whole[body : body + array.nbytes] = array.reshape(-1).view(np.uint8).data
        body += -(-array.nbytes // _ALIGN) * _ALIGN
    return whole


def unpack(whole: Any) -> Any:
    """What :func:`pack` took; the arrays are views into these bytes."""
    raw = np.frombuffer(whole, np.uint8)
    size = int.from_bytes(raw[:8].tobytes(), "little")
    body = raw[-(-(8 + size) // _ALIGN) * _ALIGN :]

    def rich(item: Any) -> Any:
        if not isinstance(item, dict):
            return item
        ((kind, inner),) = item.items()
        if kind == "a":
            dtype, shape, start = np.dtype(inner[0]), inner[1], inner[2]
            count = int(np.prod(shape)) * dtype.itemsize
            return body[start : start + count].view(dtype).reshape(shape)
        if kind == "b":
            return rich(inner).tobytes()
        if kind == "m":
            return {key: rich(value) for key, value in inner}
        parts = [rich(value) for value in inner]
        return parts if kind == "l" else tuple(parts) if kind == "t" else set(parts)

    return rich(json.loads(raw[8 : 8 + size].tobytes().decode("utf-8", "surrogatepass")))


def _text(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a {type(key).__name__} as a key does not travel")
    return key


def error_to_plain(error: BaseException) -> dict[str, Any]:
    """An error as text. Words of a foreign exception are left out, because they may quote a solution."""
    if isinstance(error, ContractError):
        told = {name: getattr(error, name, "") for name in ("message", "remedy")}
        violations = [
            {n: getattr(v, n) for n in ("field", "expected", "found", "count", "remedy", "noun")} | {"ids": list(v.ids)}
            for v in error.violations
        ]
        return {"kind": type(error).__name__, **told, "violations": violations}
    if isinstance(error, PrimaBenchError):
        return {"kind": type(error).__name__, "message": error.message, "remedy": error.remedy}
    if isinstance(error, OSError) and error.strerror:
        return {"kind": "DistributedError", "message": f"the operating system says: {error.strerror}", "remedy": ""}
    from primabench_core.evaluation.scoring import describe

    said = describe(error, private=True) if isinstance(error, Exception) else type(error).__name__
    return {"kind": "DistributedError", "message": f"it raised {said}", "remedy": ""}


def error_from_plain(told: Mapping[str, Any]) -> PrimaBenchError:
    """The error that :func:`error_to_plain` told of, of the same class with the same message."""
    kind = getattr(errors, str(told["kind"]), DistributedError)
    if not (isinstance(kind, type) and issubclass(kind, PrimaBenchError)):
        kind = DistributedError
    error: PrimaBenchError = kind.__new__(kind)
    PrimaBenchError.__init__(error, str(told["message"]), remedy=str(told["remedy"]))
    if isinstance(error, ContractError):
        error.violations = tuple(Violation(**{**v, "ids": tuple(v["ids"])}) for v in told.get("violations", ()))
    return error
