"""From whatever holds numbers or text to one canonical array; what cannot be meant is refused, nothing is guessed.

Numbers: float16 and bfloat16 become float32, integers and bools float64, float32 and float64 stay. Labels: int64, or
an object array of text. Ids: a list of text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.plain import (
    HALF_PAIR,
    SHOWN,
    UTF8,
    is_sparse,
    objects,
    plain,
    refused,
    short,
    unencodable,
)
from primabench_core.contract.ragged import Ragged
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError

LABELS = "integers or text"
IDS = "text ids"
NUMBERS = "real numbers"


def as_numeric(value: Any, field: str = "value", ids: Sequence[str] | None = None) -> NDArray[Any]:
    """Real numbers as float32 or float64, same shape; NaN and infinities pass (the contract's checks see to them).

    Args:
        value: Anything :func:`plain` reads; sparse matrices become dense.
        field: Name for the message.
        ids: Ids of the rows, to name missing entries.

    Returns:
        float32 (from float16, bfloat16, float32) or float64 (from float64, integers, bools), native byte order.

    Raises:
        ContractError: text, objects, complex numbers, dates, or more than 64 bits.

    Example:
        >>> as_numeric([1, 2]).dtype, as_numeric(np.float16([0.5])).dtype
        (dtype('float64'), dtype('float32'))
    """
    array = plain(value, field)
    if is_sparse(array):
        return dense(array, field)
    if isinstance(array, Ragged):
        raise refused(field, NUMBERS, "rows of varying length")
    kind, name = array.dtype.kind, array.dtype.name
    if kind in "biu":
        return np.asarray(array, np.float64)
    if name in ("float16", "bfloat16"):
        return np.asarray(array.astype(np.float32))
    if name in ("float32", "float64"):
        return np.asarray(array, array.dtype.newbyteorder("="))
    if kind == "O" and array.size:
        missing = _missing_rows(array)
        if missing:
            raise refused(field, NUMBERS, "missing entries", missing, ids)
        if all(isinstance(v, bool | int | float | np.number) for v in array.flat):
            raise refused(
                field, NUMBERS, "numbers as Python objects", remedy=f"give numpy float64: {field}.astype(float)"
            )
    elif kind == "O":
        return np.empty(array.shape, np.float64)
    raise refused(field, NUMBERS, _what(array), remedy="convert to numbers before" if kind in "OUST" else "")


def dense(matrix: Any, field: str = "value") -> NDArray[Any]:
    """A sparse matrix as a dense float array; duplicate entries are summed in float64, explicit zeros are zeros."""
    csr = matrix.tocsr()
    if csr.data.dtype.kind not in "biuf" or csr.data.dtype.itemsize > 8:
        raise refused(field, NUMBERS, _what(csr.data))
    if csr.has_canonical_format:
        return as_numeric(csr.toarray(), field)
    single = csr.data.dtype.itemsize <= 4 and csr.data.dtype.kind == "f"
    wide = csr.astype(np.float64)  # a copy: the caller's matrix keeps its order and duplicates
    wide.sum_duplicates()
    return np.asarray(wide.toarray(), np.float32 if single else np.float64)


def as_labels(
    value: Any, field: str = "label", ids: Sequence[str] | None = None, *, nullable: bool = False
) -> NDArray[Any]:
    """Class labels as int64, or as an object array of text.

    Args:
        value: Anything :func:`plain` reads.
        field: Name for the message.
        ids: Ids of the rows, to name the bad ones.
        nullable: Let missing entries pass, as None in an object array.

    Returns:
        (n,) int64, or object with ``str`` (and None if ``nullable``).

    Raises:
        ContractError: real numbers, missing entries, blanks, bytes, or text mixed with numbers.

    Example:
        >>> as_labels(["T", "B"]).tolist(), as_labels([True, False]).tolist()
        (['T', 'B'], [1, 0])
    """
    array = plain(value, field)
    if isinstance(array, Ragged) or is_sparse(array):
        raise refused(field, LABELS, "a sparse matrix" if is_sparse(array) else "rows of varying length")
    kind = array.dtype.kind
    if kind in "iub":
        if kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
            raise refused(field, "integers below 2^63", "larger ones")
        return np.asarray(array, np.int64)
    if not array.size:
        return np.empty(array.shape, np.int64)
    if kind in "UT":
        array = array.astype(object)
    if array.dtype.kind == "O":
        return _object_labels(array, field, ids, nullable)
    if kind == "f" and np.isnan(array).any() and not nullable:
        raise refused(
            field, LABELS, "missing entries (NaN)", np.flatnonzero(np.isnan(array).reshape(len(array), -1).any(1)), ids
        )
    if kind == "f" and nullable and _whole_or_nan(array):  # pandas turns integers with a gap into floats
        held = array.astype(object)
        held[~np.isnan(array)] = array[~np.isnan(array)].astype(np.int64)
        held[np.isnan(array)] = None
        return np.asarray(held)
    remedy = "if they are class numbers, cast: .astype(int); scores belong in a score field" if kind == "f" else ""
    raise refused(field, LABELS, _what(array), remedy=remedy)


def _whole_or_nan(array: NDArray[Any]) -> bool:
    real = array[~np.isnan(array)]
    return bool(np.all(np.isfinite(real)) and np.all(real == np.floor(real)) and np.all(np.abs(real) < 2**53))


def _object_labels(array: NDArray[Any], field: str, ids: Sequence[str] | None, nullable: bool) -> NDArray[Any]:
    if is_good_text(array.ravel().tolist()):
        return array
    missing = _missing_rows(array)
    if missing and not nullable:
        raise refused(field, LABELS, "missing entries", missing, ids)
    held = array if not missing else np.delete(array.ravel(), missing)
    kinds = set(map(type, held.flat))
    if kinds and all(issubclass(k, str) for k in kinds):
        blank = [i for i, v in enumerate(array.flat) if v is not None and isinstance(v, str) and not v.strip()]
        if blank:
            raise refused(field, "text that is not blank", "blank text", blank, ids)
        if broken := unencodable(array.ravel().tolist()):
            raise refused(field, UTF8, HALF_PAIR, broken, ids)
        exact = (
            array
            if kinds == {str} and not missing
            else objects([str(v) if isinstance(v, str) else None for v in array])
        )
        return exact.reshape(array.shape)
    if kinds and all(issubclass(k, bool | int | np.integer | np.bool_) for k in kinds):
        if any(not -(2**63) <= int(v) < 2**63 for v in held.flat):
            raise refused(field, "integers below 2^63", "larger ones")
        if not missing:
            return np.asarray([int(v) for v in array.flat], np.int64).reshape(array.shape)
        gone = set(missing)
        return objects([None if i in gone else int(v) for i, v in enumerate(array.flat)])
    if not kinds:
        return objects([None] * len(array))
    if all(issubclass(k, float | np.floating | int | np.integer) for k in kinds):
        raise refused(field, LABELS, "real numbers", remedy="cast class numbers to int")
    names = sorted({k.__name__ for k in kinds})
    raise refused(field, LABELS, f"a mixture of {' and '.join(names)}" if len(names) > 1 else f"{names[0]} objects")


def is_good_text(entries: list[Any]) -> bool:
    """Whether every entry is text that may be a label; few names over many rows are looked at once each.

    Example:
        >>> is_good_text(["a", "b", "a"]), is_good_text(["a", " "]), is_good_text(["a", 1])
        (True, False, False)
    """
    if not set(map(type, entries)) <= {str}:
        return False
    distinct = list(set(entries))
    return all(map(str.strip, distinct)) and not unencodable(distinct)


def whole_numbers(text: NDArray[Any]) -> NDArray[np.int64] | None:
    """Text that writes integers in their one usual form, as int64; None if any entry does not.

    Example:
        >>> whole_numbers(np.array(["1", "-2"], object)), whole_numbers(np.array(["01"], object))
        (array([ 1, -2]), None)
    """
    usual = (isinstance(v, str) and len(v) <= 20 and v.isascii() and v.removeprefix("-").isdigit() for v in text.flat)
    if not all(usual):
        return None
    numbers = [int(v) for v in text.flat]
    if any(str(n) != v or not -(2**63) <= n < 2**63 for n, v in zip(numbers, text.flat, strict=True)):
        return None
    return np.asarray(numbers, np.int64).reshape(text.shape)


def as_ids(value: Any, field: str = "ids") -> list[str]:
    """Row ids as a list of text, exactly as given: no stripping, no folding, no conversion of numbers.

    Raises:
        ContractError: numbers, bytes, missing entries, text that UTF-8 cannot encode, or more than one dimension.

    Example:
        >>> as_ids(np.array(["001", "b "])).copy()
        ['001', 'b ']
    """
    if type(value) is list and set(map(type, value)) <= {str}:
        return _encodable(value, field)
    if isinstance(value, str):
        raise refused(field, IDS, f"one text {short(value)}", remedy="give a list of ids")
    array = plain(value, field)
    if isinstance(array, Ragged) or is_sparse(array) or array.ndim != 1:
        raise refused(
            field, "one id per row", "a matrix" if is_sparse(array) else f"shape {getattr(array, 'shape', 'ragged')}"
        )
    if not len(array):
        return []
    if array.dtype.kind in "UT":
        return _encodable(array.tolist(), field)
    if array.dtype.kind in "iu":
        raise refused(field, IDS, "integers", remedy="pass positions= for row numbers, or the ids as text")
    if array.dtype.kind != "O":
        raise refused(field, IDS, _what(array), remedy="pass the ids as text")
    bad = [i for i, v in enumerate(array) if not isinstance(v, str)]
    if bad:
        missing = _missing_rows(array)
        found = "missing entries" if missing else f"{type(array[bad[0]]).__name__} objects"
        rows = missing or bad
        remedy = "pass positions= for row numbers, or the ids as text"
        raise ContractError(
            [Violation(field, IDS, found, [f"row {i}" for i in rows[:SHOWN]], len(rows), "" if missing else remedy)]
        )
    return _encodable([str(v) for v in array], field)


def _encodable(texts: list[str], field: str) -> list[str]:
    if broken := unencodable(texts):
        raise refused(field, UTF8, HALF_PAIR, broken)
    return texts


def _missing_rows(array: NDArray[Any]) -> list[int]:
    """Rows with None, NaN, NaT or pandas' NA (the only objects that do not equal themselves, or say so)."""
    width = max(array.size // len(array), 1) if len(array) else 1
    found = (i // width for i, v in enumerate(array.flat) if v is None or _is_missing(v))
    return sorted(set(found))


def _is_missing(value: object) -> bool:
    if isinstance(value, str | bytes | int):
        return False
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64) and bool(value != value)


def _what(array: NDArray[Any]) -> str:
    names = {
        "U": "text", "T": "text", "S": "bytes", "c": "complex numbers", "M": "dates", "m": "time spans",
        "V": "records", "b": "bools", "i": "integers", "u": "integers", "f": "real numbers",
    }  # fmt: skip
    kind = array.dtype.kind
    if kind == "f" and array.dtype.itemsize > 8:
        return f"{array.dtype.name} numbers (more than 64 bits)"
    if kind == "O":
        kinds = sorted({type(v).__name__ for v in array.flat})
        return "text" if kinds == ["str"] else f"objects of type {', '.join(kinds[:SHOWN])}"
    return names.get(kind, array.dtype.name)
