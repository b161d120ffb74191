"""From whatever holds values to numpy: the content is read, moved to the CPU, and not changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.ragged import Ragged
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError

SHOWN = 5
"""How many ids a violation lists."""


_TENSORS = "a tensor that numpy can hold"
UTF8 = "text that UTF-8 can encode"
HALF_PAIR = "half a surrogate pair"


class UntypedText(np.ndarray[Any, np.dtype[Any]]):
    """Text of a file without types, in which ``"1"`` may mean the class 1: decided by the classes of the truth."""


def family(value: object) -> str:
    """Top-level package of an object's class: ``torch``, ``pandas``, ``numpy`` and so on."""
    return type(value).__module__.partition(".")[0]


def is_sparse(value: object) -> bool:
    """Whether this is a scipy sparse matrix or array."""
    return hasattr(value, "tocsr") and hasattr(value, "nnz")


def is_lazy(value: object) -> bool:
    """Whether this is an array-like whose values are read when sliced (zarr, h5py, an xarray or stored variable)."""
    known = isinstance(value, np.ndarray | np.generic | list | tuple | Ragged) or is_sparse(value)
    eager = family(value) in ("torch", "pandas", "pyarrow", "polars", "jax", "jaxlib", "cupy")
    return not known and not eager and all(hasattr(value, name) for name in ("shape", "dtype", "__getitem__"))


def plain(value: Any, field: str = "value") -> Any:
    """The same content as a numpy array, a :class:`Ragged`, or a scipy sparse matrix; no number is changed.

    Args:
        value: numpy, torch (any device), pandas, pyarrow, xarray, a list, or anything with ``__array__``.
        field: Name for the message.

    Returns:
        A numpy array (text as it came, missing entries as None in an object array), Ragged or sparse.

    Raises:
        ContractError: the value holds no array.

    Example:
        >>> plain(["a", None]).tolist()
        ['a', None]
    """
    if type(value) in (np.ndarray, UntypedText) or isinstance(value, Ragged) or is_sparse(value):
        return value
    if isinstance(value, np.ma.MaskedArray):
        return _masked(value)
    if isinstance(value, list | tuple):
        return _from_sequence(value, field)
    kind = family(value)
    if kind == "torch":
        return from_tensor(value, field)
    if kind == "pandas":
        return _from_pandas(value)
    if kind == "pyarrow":
        return _from_arrow(value)
    if kind == "polars":
        return _from_sequence(value.to_list(), field) if value.null_count() else plain(value.to_numpy(), field)
    if is_lazy(value):
        read = value[tuple(slice(None) for _ in value.shape)] if value.shape else value[()]
        return read if is_sparse(read) or isinstance(read, Ragged) else np.asarray(read)
    if hasattr(value, "__array__"):
        return np.asarray(value)
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        raise refused(field, "an array with one entry per row", f"{type(value).__name__} {short(value)}")
    return _from_sequence(list(value), field)


def from_tensor(tensor: Any, field: str = "value") -> NDArray[Any]:
    """The values of a torch tensor on the CPU; half precision as float32, because numpy has no bfloat16.

    Raises:
        ContractError: a tensor that numpy cannot hold: without values (meta), nested, float8, quantised.
    """
    if getattr(tensor, "is_nested", False) or getattr(tensor, "is_meta", False):
        found = "a nested tensor" if tensor.is_nested else "a meta tensor, which has no values"
        raise refused(field, _TENSORS, found)
    try:
        tensor = tensor.detach()
        if str(tensor.layout) != "torch.strided":
            tensor = tensor.to_dense()
        if str(tensor.dtype) in ("torch.bfloat16", "torch.float16"):
            tensor = tensor.float()
        array: NDArray[Any] = tensor.cpu().resolve_conj().resolve_neg().numpy()
    except (RuntimeError, TypeError) as error:  # NotImplementedError is a RuntimeError
        raise refused(field, _TENSORS, f"a tensor of {tensor.dtype}", remedy="cast it: .float()") from error
    return array


def unencodable(texts: Sequence[Any]) -> list[int]:
    """Places of text that UTF-8 cannot encode (half a surrogate pair); what is not text is passed over.

    Example:
        >>> unencodable(["a", chr(0xD800), None])
        [1]
    """
    try:
        "".join(texts).encode()
    except (UnicodeEncodeError, TypeError):
        return [i for i, text in enumerate(texts) if isinstance(text, str) and not encodes(text)]
    return []


def encodes(text: str) -> bool:
    """Whether UTF-8 can encode this text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _from_pandas(value: Any) -> Any:
    if hasattr(value, "columns"):  # a frame of numeric columns is a matrix
        return np.asarray(value.to_numpy())
    if str(value.dtype) == "category":
        held = value.array if hasattr(value, "array") else value
        return take_categories(np.asarray(held.codes), plain(held.categories))
    if isinstance(value.dtype, np.dtype):
        return np.asarray(value)
    missing = np.asarray(value.isna())
    if not missing.any() and getattr(value.dtype, "kind", "O") in "biuf":
        return np.asarray(value.to_numpy(dtype=getattr(value.dtype, "numpy_dtype", None)))
    array = np.array(value.to_numpy(dtype=object), dtype=object)
    array[missing] = None
    return array


def take_categories(codes: NDArray[Any], categories: NDArray[Any]) -> NDArray[Any]:
    """Categories by code; the missing code -1 becomes None."""
    if len(codes) and codes.min() < 0:
        array = np.empty(len(codes), object)
        array[codes >= 0] = categories[codes[codes >= 0]]
        return array
    return np.asarray(categories[codes])


def _from_arrow(value: Any) -> Any:
    if hasattr(value, "combine_chunks"):
        value = value.combine_chunks()
    if str(value.type).startswith("dictionary"):
        value = value.dictionary_decode()
    if value.null_count or not str(value.type).startswith(("int", "uint", "float", "double", "halffloat", "bool")):
        return _from_sequence(value.to_pylist(), "value")
    return value.to_numpy(zero_copy_only=False)


def _masked(value: Any) -> NDArray[Any]:
    if not np.ma.getmaskarray(value).any():
        return np.asarray(value.data)
    array = value.data.astype(object)
    array[np.ma.getmaskarray(value)] = None
    return np.asarray(array)


def objects(items: Sequence[Any]) -> NDArray[Any]:
    """A 1-D object array, whatever the items are."""
    array = np.empty(len(items), object)
    array[:] = items
    return array


def _from_sequence(items: Sequence[Any], field: str) -> Any:
    """An array of a list; numpy alone would turn [1, "a"] into text and [1, None] into objects of any shape."""
    kinds = set(map(type, items))
    if not kinds:
        return np.empty(0)
    if all(issubclass(k, str | bytes) for k in kinds):
        return objects(items)
    if all(issubclass(k, bool | int | float | complex | np.number | np.bool_) for k in kinds):
        return _from_numbers(items, kinds)
    if any(hasattr(k, "__len__") and not issubclass(k, str | bytes) for k in kinds):
        return _from_rows([plain(i, field) if hasattr(i, "__len__") else i for i in items], field)
    return objects(items)


def _from_numbers(items: Sequence[Any], kinds: set[type]) -> NDArray[Any]:
    array = np.asarray(items)
    if array.dtype == object or (
        array.dtype.kind == "f" and not any(issubclass(k, float | np.floating) for k in kinds)
    ):
        return objects(items)  # integers beyond 64 bits: numpy gives objects, or silently floats
    return array


def _from_rows(rows: list[Any], field: str) -> Any:
    shapes = {np.shape(row) for row in rows if not isinstance(row, Ragged)}
    if shapes == {()} and len({getattr(r, "dtype", None) for r in rows}) == 1:
        return np.stack(rows)  # a list of scalar tensors
    if any(len(shape) == 2 for shape in shapes):
        try:
            return Ragged.of(rows)
        except ValueError as error:
            raise refused(field, "one list of entries per row", str(error)) from error
    if len(shapes) == 1 and len(next(iter(shapes))) == 1:
        return np.stack(rows)
    found = sorted({shape[0] if len(shape) == 1 else -1 for shape in shapes})
    bad = next((i for i, row in enumerate(rows) if np.shape(row) != np.shape(rows[0])), 0)
    lengths = ", ".join(str(f) if f >= 0 else "not a row" for f in found[:SHOWN])
    raise refused(field, "rows of equal length", f"lengths {lengths}", ids=[f"row {bad}"])


def row_names(rows: Sequence[int] | NDArray[Any], ids: Sequence[str] | None) -> list[str]:
    """The first few rows by id, or by number where rows have no ids."""
    return [ids[int(i)] if ids is not None and int(i) < len(ids) else f"row {int(i)}" for i in rows[:SHOWN]]


def short(value: object) -> str:
    """The repr, cut for a message."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "…"


def refused(
    field: str,
    expected: str,
    found: str,
    rows: Sequence[int] | NDArray[Any] = (),
    row_ids: Sequence[str] | None = None,
    *,
    ids: Sequence[str] = (),
    remedy: str = "",
) -> ContractError:
    """The error of one violation; ``rows`` are named by ``row_ids``, or by number."""
    shown = list(ids) or row_names(rows, row_ids)
    return ContractError([Violation(field, expected, found, shown, len(rows) or len(ids), remedy)])
