"""EvalData: ids, named fields and shared coordinates, the one form in which predictions and truth travel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.arrays import as_ids
from primabench_core.contract.plain import family, is_lazy, is_sparse, plain, unencodable
from primabench_core.contract.ragged import Ragged
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError, UnknownNameError, UsageError

if TYPE_CHECKING:
    import anndata
    import pandas as pd
    import xarray as xr

    from primabench_core.contract.contract import Contract

Label = str | int
COORDS = ("classes", "genes")
"""Names that a plain mapping may carry beside fields: what its columns are called."""


class EvalData:
    """Ids + named fields (rows first) + names of columns.

    Fields are numpy arrays, :class:`~primabench_core.contract.ragged.Ragged`, scipy sparse matrices, or lazily opened
    array-likes (zarr, xarray, h5py), which stay unread until they are used. Tensors, series and lists are turned into
    arrays here, on the CPU, bfloat16 and float16 tensors as float32; nothing else is changed. What is wrong with a
    field is said by the contract's checks, all at once, not here.

    Args:
        fields: Arrays by name; the first dimension runs over rows.
        ids: Text, one per row, or None: rows are then numbered.
        coords: Names along columns: ``genes`` (text), ``classes`` (text or integers).

    Raises:
        ContractError: ids are not text, or a field is no array at all.

    Example:
        >>> data = EvalData({"score": [0.1, 0.9]}, ids=["a", "b"])
        >>> data.n, data["score"].tolist(), data.select(["b"]).ids
        (2, [0.1, 0.9], ('b',))
    """

    __slots__ = ("coords", "fields", "ids", "source")

    def __init__(
        self,
        fields: Mapping[str, Any],
        *,
        ids: Any = None,
        coords: Mapping[str, Any] | None = None,
    ) -> None:
        self.ids: tuple[str, ...] | None = None if ids is None else tuple(as_ids(ids))
        self.fields: Mapping[str, Any] = {
            name: value if is_lazy(value) else plain(value, name) for name, value in fields.items()
        }
        self.coords: Mapping[str, tuple[Label, ...]] = {
            name: as_names(value, name) for name, value in (coords or {}).items() if value is not None
        }
        self.source = ""
        """Name of the file that was read, for the wording of errors; empty for data that came otherwise."""

    @classmethod
    def of(cls, data: Any, contract: Contract | None = None) -> EvalData:
        """EvalData out of whatever holds predictions.

        Args:
            data: EvalData, a mapping of arrays (``ids``, ``classes`` and ``genes`` beside the fields), a pandas
                DataFrame, an AnnData, an xarray Dataset; with a contract of one field also a bare array.
            contract: Says which columns of an AnnData are meant, and where a matrix lies.

        Raises:
            UsageError: a path (``pb.evaluate`` and ``Evaluation.update(predictions=…)`` read files), or an object of
                another kind.
        """
        if isinstance(data, EvalData):
            return data
        kind = family(data)
        if kind == "anndata":
            return cls.from_anndata(data, contract=contract)
        if kind == "pandas" and hasattr(data, "columns"):
            return cls.from_pandas(data, contract=contract)
        if kind == "xarray" and hasattr(data, "data_vars"):
            return cls.from_xarray(data)
        if isinstance(data, Mapping):
            if "positions" in data:
                raise UsageError("row numbers are an argument, not a field: positions= of update")
            fields = {k: v for k, v in data.items() if k != "ids" and k not in COORDS}
            return cls(fields, ids=data.get("ids"), coords={k: data[k] for k in COORDS if k in data})
        return cls._of_array(data, contract)

    @classmethod
    def _of_array(cls, data: Any, contract: Contract | None) -> EvalData:
        if isinstance(data, str) or hasattr(data, "__fspath__"):
            raise UsageError(
                f"a path is not a prediction: {str(data)!r}",
                remedy="pb.evaluate and update(predictions=…) read files; elsewhere give a data frame: pandas.read_csv",
            )
        needed = [f.name for f in contract.prediction if not f.optional] if contract else []
        is_array = isinstance(data, list | tuple | np.ndarray | Ragged) or is_sparse(data)
        if len(needed) == 1 and (is_array or hasattr(data, "shape")):
            from primabench_core.contract.convert import index_ids

            ids = index_ids(data.index) if family(data) == "pandas" else None
            return cls({needed[0]: data}, ids=ids)
        raise UsageError(
            f"predictions cannot be a {type(data).__name__}",
            remedy="give a dict of arrays by field name, EvalData, pandas, AnnData or xarray",
        )

    @property
    def n(self) -> int:
        """Number of rows.

        Raises:
            ContractError: ids and fields differ in their numbers of rows.
        """
        counts = {name: rows_of(value, name) for name, value in self.fields.items()}
        n = len(self.ids) if self.ids is not None else next(iter(counts.values()), 0)
        wrong = [Violation(name, f"{n:,} rows", f"{count:,} rows") for name, count in counts.items() if count != n]
        if wrong:
            raise ContractError(wrong, what="The data")
        return n

    def __getitem__(self, name: str) -> Any:
        """The values of a field; a lazily opened one is read.

        Raises:
            UnknownNameError: there is no such field (a KeyError, too).
        """
        if name not in self.fields:
            held = ", ".join(map(repr, list(self.fields)[:20])) or "none"
            beside = "".join(f"; {c} stand in .coords[{c!r}]" for c in self.coords)
            raise UnknownNameError("field", name, self.fields, remedy=f"the fields are {held}; ids in .ids{beside}")
        return plain(self.fields[name], name)

    def __contains__(self, name: object) -> bool:
        return name in self.fields

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def load(self) -> EvalData:
        """The same data with every field read into memory."""
        return self._with({name: self[name] for name in self.fields}, self.ids)

    def select(self, rows: Any) -> EvalData:
        """The rows at these positions, or with these ids, in the order asked for (repeats allowed).

        Args:
            rows: A slice, integer positions (negative ones count from the end), or ids.

        Raises:
            UsageError: an id is not there, a position is out of range, or the data have no ids.
        """
        if isinstance(rows, slice):
            at = np.arange(*rows.indices(self.n))
        else:
            asked = plain(rows, "rows")
            if asked.dtype.kind in "iu" or not asked.size:
                at = np.arange(self.n)[_in_range(asked.astype(np.intp), self.n)]
            else:
                at = self._positions(as_ids(asked))
        ids = None if self.ids is None else tuple(self.ids[i] for i in at)
        return self._with({name: _take(value, at) for name, value in self.fields.items()}, ids)

    def _positions(self, ids: Sequence[str]) -> NDArray[np.intp]:
        if self.ids is None:
            raise UsageError("these data have no ids", remedy="select rows by position")
        place = {text: i for i, text in enumerate(self.ids)}
        missing = [i for i in ids if i not in place]
        if missing:
            raise UsageError(f"{len(missing):,} ids are not in these data, such as {missing[0]!r}")
        return np.fromiter((place[i] for i in ids), np.intp, len(ids))

    def _with(self, fields: Mapping[str, Any], ids: tuple[str, ...] | None) -> EvalData:
        return EvalData(fields, ids=list(ids) if ids is not None else None, coords=self.coords)

    def __eq__(self, other: object) -> bool:
        """Same ids, coordinates, shapes, kinds and values; NaN equals NaN, the width of a dtype does not count."""
        if not isinstance(other, EvalData):
            return NotImplemented
        if self.ids != other.ids or dict(self.coords) != dict(other.coords) or set(self.fields) != set(other.fields):
            return False
        return all(_same(self[name], other[name]) for name in self.fields)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Names, shapes and types only: a truth may be printed without harm."""
        parts = [f"{name}: {_describe(value)}" for name, value in self.fields.items()]
        ids = "no ids" if self.ids is None else f"{len(self.ids):,} ids"
        coords = "".join(f", {len(value):,} {name}" for name, value in self.coords.items())
        return f"EvalData({ids}{coords}; {', '.join(parts)})"

    def to_numpy(self) -> dict[str, Any]:
        """A plain mapping, as :meth:`of` reads it back: fields, and ``ids``, ``genes`` … where there are any."""
        extra: dict[str, Any] = {} if self.ids is None else {"ids": np.asarray(self.ids, object)}
        extra |= {name: list(value) for name, value in self.coords.items()}
        return {**{name: self[name] for name in self.fields}, **extra}

    def to_pandas(self) -> pd.DataFrame:
        """One column a field, ``name_0`` … for 2-D fields; see :func:`primabench_core.contract.convert.to_pandas`."""
        from primabench_core.contract.convert import to_pandas

        return to_pandas(self)

    @classmethod
    def from_pandas(cls, frame: pd.DataFrame, contract: Contract | None = None) -> EvalData:
        """Columns as fields; see :func:`primabench_core.contract.convert.from_pandas`."""
        from primabench_core.contract.convert import from_pandas

        return from_pandas(frame, contract)

    def to_xarray(self) -> xr.Dataset:
        """A Dataset over ``row``; see :func:`primabench_core.contract.convert.to_xarray`."""
        from primabench_core.contract.convert import to_xarray

        return to_xarray(self)

    @classmethod
    def from_xarray(cls, dataset: xr.Dataset) -> EvalData:
        """Variables as fields, unread; see :func:`primabench_core.contract.convert.from_xarray`."""
        from primabench_core.contract.convert import from_xarray

        return from_xarray(dataset)

    def to_anndata(self, main_field: str = "") -> anndata.AnnData:
        """1-D fields in ``obs``, 2-D in ``obsm``; see :func:`primabench_core.contract.convert_anndata.to_anndata`."""
        from primabench_core.contract.convert_anndata import to_anndata

        return to_anndata(self, main_field)

    @classmethod
    def from_anndata(cls, adata: anndata.AnnData, main_field: str = "", contract: Contract | None = None) -> EvalData:
        """Columns of an AnnData; see :func:`primabench_core.contract.convert_anndata.from_anndata`."""
        from primabench_core.contract.convert_anndata import from_anndata

        return from_anndata(adata, main_field, contract)


def as_names(value: Any, noun: str) -> tuple[Label, ...]:
    """Names along columns as a tuple; text as given, integers as int.

    Raises:
        ContractError: other types, or missing entries.
    """
    if isinstance(value, tuple) and {type(v) for v in value} <= {str} and not unencodable(value):
        return value
    array = plain(value, noun)
    if not getattr(array, "size", 0):
        return ()
    if array.dtype.kind in "iu" and noun == "classes":
        return tuple(int(v) for v in array)
    return tuple(as_ids(array, noun))


def rows_of(value: Any, name: str = "value") -> int:
    """Number of rows of a field, without reading it.

    Raises:
        ContractError: a scalar.
    """
    if isinstance(value, Ragged):
        return len(value)
    shape = value.shape
    if not shape:
        raise ContractError([Violation(name, "one entry per row", "a single value")])
    return int(shape[0])


def _in_range(at: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    if at.size and (at.min() < -n or at.max() >= n):
        raise UsageError(f"positions must lie below {n:,}, got {int(at.max())}")
    return at


def _take(value: Any, at: NDArray[np.intp]) -> Any:
    if is_lazy(value):
        if len(at) and at[-1] - at[0] == len(at) - 1 and (np.diff(at) == 1).all():
            return plain(value[int(at[0]) : int(at[-1]) + 1])
        value = plain(value)
    return value.take(at) if isinstance(value, Ragged) else value.tocsr()[at] if is_sparse(value) else value[at]


def _describe(value: Any) -> str:
    if isinstance(value, Ragged):
        return repr(value)
    kind = "text" if getattr(value.dtype, "kind", "") in "OUT" else str(value.dtype)
    return f"{kind} {tuple(value.shape)}" + (" sparse" if is_sparse(value) else " unread" if is_lazy(value) else "")


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, Ragged) or isinstance(right, Ragged):
        both = isinstance(left, Ragged) and isinstance(right, Ragged)
        return both and np.array_equal(left.counts, right.counts) and _same_entries(left.values, right.values)
    if is_sparse(left) or is_sparse(right):
        left, right = (v.toarray() if is_sparse(v) else v for v in (left, right))
    kinds = [
        "text" if a.dtype.kind in "OUT" else "real" if a.dtype.kind == "f" else a.dtype.kind for a in (left, right)
    ]
    if left.shape != right.shape or kinds[0] != kinds[1]:
        return False
    if kinds[0] == "text":
        return bool(left.astype(object).tolist() == right.astype(object).tolist())
    return bool(np.array_equal(left, right, equal_nan=kinds[0] == "real"))


def _same_entries(left: NDArray[Any], right: NDArray[Any]) -> bool:
    if not left.size and not right.size:
        return True  # the width of no entries means nothing
    return _same(left, right)
