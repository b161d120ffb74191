"""Predictions from a file: .csv, .tsv, .parquet, .npz, .h5ad, .zarr. Never a pickle."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.arrays import whole_numbers
from primabench_core.contract.contract import Contract
from primabench_core.contract.convert import field_of, join_columns, join_named, refuse_twins
from primabench_core.contract.evaldata import COORDS, EvalData
from primabench_core.contract.fields import Field
from primabench_core.contract.plain import UntypedText, objects, plain, row_names
from primabench_core.contract.violations import Violation
from primabench_core.errors import (
    ContractError,
    CorruptDataError,
    MissingDataError,
    MissingPluginError,
    PrimaBenchError,
    StoreError,
    UsageError,
)
from primabench_core.store.ignoring import keep_fields, leave_out, no_column

SUFFIXES = (".zarr", ".h5ad", ".parquet", ".csv", ".tsv", ".npz")
"""Files that can be read."""

ID_COLUMNS = ("ids", "id", "index", "", "__index_level_0__")
"""Columns that hold ids, in the order they are looked for: by name, a column without a name, the index of pandas.
Without any of them, and without a named index in a .parquet file, the first column of text counts if the contract does
not name it: ids must match those of the truth anyway, so that a wrong guess is refused with the ids shown."""

MISSING_CELLS = frozenset({"", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "<NA>"})
"""Cells of a number column that are missing values."""

_READ_FAULTS = (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, EOFError, zipfile.BadZipFile)
"""What libraries raise on bytes that are not what the suffix says."""


def read_predictions(
    path: str | Path,
    contract: Contract,
    mapping: Mapping[str, str] | None = None,
    *,
    classes: Mapping[str, Sequence[str | int]] | None = None,
    ignore: Sequence[str] = (),
) -> EvalData:
    """Read a prediction file; what is wrong with its content is left to the contract's checks, or named here.

    ============== =============================================================================================
    .csv .tsv      a header line; columns are fields, ``name_0`` … a 2-D one (or ``name_CLASS`` …, where the contract
                   gives its columns names); ids from ``ids``, ``id``, ``index``, a
                   column without a name, else a first column that the contract does not name; every id as it stands
                   (``001`` stays ``001``)
    .parquet       the same, typed, and the index of pandas whatever its name; lists are rows of a 2-D (or ragged)
                   field
    .npz           arrays by name, beside ``ids``, ``genes``, ``classes``
    .h5ad          AnnData, see :func:`primabench_core.contract.convert_anndata.from_anndata`
    .zarr          written by PrimaBench (unread until used), by AnnData, or by xarray
    ============== =============================================================================================

    Text tables have no types: where ``"1"`` may be the class 1, the classes of the truth decide. Without ``classes``
    the decision is left to the check of the labels, which knows them.

    Args:
        path: The file (a folder for .zarr).
        contract: Fields of the prediction. Columns that it does not name are kept, and refused by the check.
        mapping: Column of the file by field (``{"label": "predicted_type"}``); ``ids`` (or ``id``, where no field is
            called so) names the column of ids.
        classes: Classes of the truth by label field.
        ignore: Columns to leave out; ``"*"`` is every one that is neither ids nor a field.

    Raises:
        MissingDataError: no such file.
        UsageError: a suffix that is not read, a folder in place of a file, a mapping or ``ignore`` that names nothing
            there is.
        CorruptDataError: bytes that are not what the suffix says; truncated or empty files.
        StoreError: the file cannot be opened.
        MissingPluginError: a library that the suffix needs is not installed.
        ContractError: columns that occur twice, rows of different lengths, ids that are not text, pickled objects.

    Example:
        >>> read_predictions("predictions.csv", contract, {"label": "cell_type"})  # doctest: +SKIP
    """
    path, contract = Path(path), contract.written
    suffix = path.suffix.lower()
    _check_place(path, suffix)
    columns = _checked_mapping(mapping or {}, contract)
    data = with_label_types(_guarded(path, suffix, contract, columns, tuple(ignore)), contract, classes or {})
    data.source = path.name
    return data


def _guarded(path: Path, suffix: str, contract: Contract, mapping: dict[str, str], ignore: tuple[str, ...]) -> EvalData:
    """Run the reader of a suffix; whatever its library raises becomes an error that names the file."""
    readers: dict[str, Callable[[Path, Contract, dict[str, str], tuple[str, ...]], EvalData]] = {
        ".csv": _read_text,
        ".tsv": _read_text,
        ".parquet": _read_parquet,
        ".npz": _read_npz,
        ".h5ad": _read_h5ad,
        ".zarr": _read_zarr,
    }
    try:
        return readers[suffix](path, contract, mapping, ignore)
    except PrimaBenchError:
        raise
    except PermissionError as error:
        raise StoreError(f"{path} cannot be opened: {error.strerror}", remedy="check who may read it") from error
    except MemoryError as error:
        raise StoreError(f"{path} does not fit into memory", remedy="feed it in parts: Evaluation.update") from error
    except _READ_FAULTS as error:
        reason = f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else 'no detail'}"
        fault = CorruptDataError(f"{path} cannot be read as {suffix}: {reason}", remedy="write the predictions again")
        raise fault from error


def with_label_types(data: EvalData, contract: Contract, classes: Mapping[str, Sequence[str | int]]) -> EvalData:
    """Labels of a text table as integers where the classes are integers.

    A field with a vocabulary of its own is settled by it. An open one becomes integers if every cell writes one.
    A field whose classes are those of the truth waits for ``classes``.
    """
    fields = dict(data.fields)
    if not any(isinstance(value, UntypedText) for value in fields.values()):
        return data
    for field in contract.prediction:
        value = fields.get(field.name)
        if not isinstance(value, UntypedText):
            continue
        known = field.vocabulary if isinstance(field.vocabulary, tuple) else classes.get(field.name)
        if known is None and field.vocabulary == "truth":
            continue
        numbers = whole_numbers(value) if known is None or (known and not isinstance(known[0], str)) else None
        fields[field.name] = np.asarray(value) if numbers is None else numbers
    return EvalData(fields, ids=None if data.ids is None else list(data.ids), coords=data.coords)


def _check_place(path: Path, suffix: str) -> None:
    if suffix not in SUFFIXES:
        pickles = " (pickles are never read)" if suffix in (".pkl", ".pickle", ".pt", ".pth", ".joblib", ".npy") else ""
        known = ", ".join(SUFFIXES)
        raise UsageError(f"{path.name!r} is no prediction file{pickles}; known suffixes: {known}", remedy="convert it")
    try:
        exists, is_folder = path.exists(), path.is_dir()
    except OSError as error:
        raise StoreError(f"{path} cannot be opened: {error.strerror}") from error
    if not exists:
        raise MissingDataError(f"no such file: {path}", remedy="check the path")
    if is_folder and suffix != ".zarr":
        raise UsageError(f"{path} is a folder, not a {suffix} file", remedy="name the file inside it")
    if not is_folder and suffix == ".zarr":
        raise UsageError(f"{path} is a file; a .zarr store is a folder", remedy="unpack it")
    if not is_folder and not path.stat().st_size:
        raise CorruptDataError(f"{path} is empty (0 bytes)", remedy="write the predictions again")


def _checked_mapping(mapping: Mapping[str, str], contract: Contract) -> dict[str, str]:
    """The mapping with the ids under their one name."""
    fields = {f.name for f in contract.prediction}
    found = dict(mapping)
    if "id" in found and "id" not in fields:
        if "ids" in found:
            raise UsageError("the mapping names the column of ids twice, as 'id' and as 'ids'", remedy="give one")
        found["ids"] = found.pop("id")
    names = {"ids", *COORDS, *fields}
    unknown = sorted(set(found) - names)
    if unknown:
        raise UsageError(
            f"the mapping names {unknown[0]!r}, which is no field of the contract ({', '.join(sorted(names))})",
            remedy="write it as field=column",
        )
    return found


def _read_text(path: Path, contract: Contract, mapping: dict[str, str], ignore: tuple[str, ...]) -> EvalData:
    from primabench_core.store.delimited import read_columns

    cells = read_columns(path, "\t" if path.suffix.lower() == ".tsv" else ",")
    held = leave_out({name: objects(column) for name, column in cells.items()}, ignore, mapping, path)
    columns, ids = _split_ids(held, contract, mapping, path)
    columns = keep_fields(_rename(columns, contract, mapping, path, held), ignore, contract)
    names = None if ids is None else ids.tolist()
    fields: dict[str, Any] = {}
    for name, column in columns.items():
        fields[name] = _typed(column, field_of(name, contract), names)
    fields, coords = join_named(fields, contract)
    return EvalData(join_columns(fields, contract), ids=names, coords=coords)


def _typed(column: NDArray[Any], field: Field | None, ids: list[str] | None) -> NDArray[Any]:
    """Cells of one field: labels stay text, numbers are read, missing ones become NaN or None for the check to name."""
    if field is None or field.kind == "text":
        return column
    if field.kind == "label":
        missing = np.fromiter((cell == "" for cell in column), np.bool_, len(column))
        if missing.any():
            column = column.copy()
            column[missing] = None
            return column
        return column.view(UntypedText)
    try:
        if any("_" in cell for cell in column):  # Python reads 1_000
            raise ValueError
        return np.fromiter(map(float, column), np.float64, len(column))
    except ValueError:
        numbers = [_number(cell) for cell in column]
    bad = [i for i, number in enumerate(numbers) if number is None]
    if bad:
        found = f"text ({column[bad[0]]!r})"
        raise ContractError([Violation(field.name, "real numbers", found, row_names(bad, ids), len(bad))])
    return np.asarray(numbers, np.float64)


def _number(cell: str) -> float | None:
    if cell.strip() in MISSING_CELLS:
        return float("nan")
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def _split_ids(
    columns: dict[str, Any], contract: Contract, mapping: dict[str, str], path: Path, index: str = ""
) -> tuple[dict[str, Any], Any]:
    """The columns without that of the ids, and the ids (None if there is no such column).

    Args:
        columns: Every column, in the order of the file.
        contract: Its fields are no ids.
        mapping: Columns by field; the entry of the ids is taken out.
        path: For messages.
        index: Column that the file itself names as its index; empty if it does not.
    """
    wanted = mapping.pop("ids", None)
    if wanted is not None and wanted not in columns:
        raise no_column(wanted, "read 'ids' from", columns, path)
    name = wanted if wanted is not None else _id_column(columns, contract, set(mapping.values()), index)
    if name is None:
        return columns, None
    return {other: column for other, column in columns.items() if other != name}, columns[name]


def _id_column(columns: Mapping[str, Any], contract: Contract, taken: set[str], index: str) -> str | None:
    fields = {f.name for f in contract.prediction}
    named = [*ID_COLUMNS[:2], *([index] if index else []), *ID_COLUMNS[2:]]
    found = next((c for c in named if c in columns and c not in fields | taken), None)
    if found is not None:
        return found
    first = next(iter(columns), None)
    if first is None or first in fields | taken | {*COORDS, *contract.ignored}:
        return None
    base, _, number = first.rpartition("_")
    is_part = number.isdigit() and base in fields | taken
    if is_part or get_close_matches(first, fields, n=1, cutoff=0.75) or not _is_text(columns[first]):
        return None  # a part of a wide field, a field with a slip of the pen, or numbers
    return first


def _is_text(column: Any) -> bool:
    held = plain(column)
    return isinstance(held, np.ndarray) and held.ndim == 1 and held.dtype.kind in "OUT"


def _rename(
    columns: dict[str, Any],
    contract: Contract,
    mapping: Mapping[str, str],
    path: Path,
    held: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Columns under the names of their fields; ``embedding=z`` also renames ``z_0``, ``z_1`` and so on.

    ``held`` are all columns of the file, that of the ids included, for messages.
    """
    moved: dict[str, str] = {}
    for field, column in mapping.items():
        numbered = [c for c in columns if c.rpartition("_")[0] == column and c.rpartition("_")[2].isdigit()]
        if column not in columns and not numbered:
            raise no_column(column, f"read {field!r} from", columns if held is None else held, path)
        moved |= {field + old[len(column) :]: old for old in ([column] if column in columns else numbered)}
    renamed = {name: value for name, value in columns.items() if name not in moved.values()}
    clash = sorted(set(moved) & set(renamed))
    if clash:
        raise UsageError(
            f"{path.name} has a column {clash[0]!r} of its own, and the mapping calls {moved[clash[0]]!r} so too",
            remedy="leave out one of them",
        )
    return {**renamed, **{name: columns[old] for name, old in moved.items()}}


def _read_parquet(path: Path, contract: Contract, mapping: dict[str, str], ignore: tuple[str, ...]) -> EvalData:
    table = _library("pyarrow.parquet", "pyarrow").ParquetFile(path).read()
    refuse_twins(list(table.column_names))
    held = leave_out({n: table.column(n) for n in table.column_names}, ignore, mapping, path)
    columns, ids = _split_ids(held, contract, mapping, path, _pandas_index(table.schema.metadata))
    columns = keep_fields(_rename(columns, contract, mapping, path, held), ignore, contract)
    columns, coords = join_named({name: plain(column, name) for name, column in columns.items()}, contract)
    return EvalData(join_columns(columns, contract), ids=ids, coords=coords)


def _pandas_index(metadata: Mapping[bytes, bytes] | None) -> str:
    """Column that pandas wrote its index to; empty for row numbers, several levels, or a file of another writer."""
    try:
        found = json.loads((metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
    except (ValueError, AttributeError):  # whoever wrote this, it says nothing about an index
        return ""
    return found[0] if len(found) == 1 and isinstance(found[0], str) else ""


def _read_npz(path: Path, contract: Contract, mapping: dict[str, str], ignore: tuple[str, ...]) -> EvalData:
    arrays: dict[str, Any] = {}
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        if not hasattr(archive, "files"):
            raise CorruptDataError(f"{path} is a single array, not an archive of named ones", remedy="use numpy.savez")
        for name in leave_out(dict.fromkeys(archive.files), ignore, mapping, path):
            try:
                arrays[name] = archive[name]
            except ValueError as error:
                if "pickle" not in str(error).lower():
                    raise
                remedy = "save text as numpy text (numpy.asarray(x, dtype=str)), numbers as numbers"
                found = Violation(
                    name, "numbers or text", "pickled Python objects, which are never loaded", remedy=remedy
                )
                raise ContractError([found], what=f"The file {path}") from error
    arrays = {n: a for n, a in arrays.items() if a.ndim or n in keep_fields({n: a}, ignore, contract)}
    single = [Violation(name, "one entry a row", "a single value") for name, array in arrays.items() if not array.ndim]
    if single:
        raise ContractError(single, what=f"The file {path}", remedy="save arrays whose first dimension is the row")
    coords = {name: arrays.pop(mapping.pop(name, name)) for name in COORDS if mapping.get(name, name) in arrays}
    columns, ids = _split_ids(arrays, contract, mapping, path)
    columns = keep_fields(_rename(columns, contract, mapping, path, arrays), ignore, contract)
    columns, coords = join_named(columns, contract, coords)
    return EvalData(join_columns(columns, contract), ids=ids, coords=coords)


def _read_h5ad(path: Path, contract: Contract, mapping: dict[str, str], ignore: tuple[str, ...]) -> EvalData:
    adata = _library("anndata", "anndata").read_h5ad(path)
    return _of_anndata(adata, path, contract, mapping, ignore)


def _of_anndata(
    adata: Any, path: Path, contract: Contract, mapping: dict[str, str], ignore: tuple[str, ...]
) -> EvalData:
    columns = {str(c) for c in adata.obs.columns} | set(adata.obsm) | set(adata.layers)
    columns = set(leave_out(dict.fromkeys(sorted(columns)), ignore, mapping, path))
    for place in (adata.obs, adata.obsm, adata.layers):  # of what is not ignored only fields are read
        for name in {*ignore} & {*place}:
            del place[name]
    main = next((field for field, column in mapping.items() if column == "X" and "X" not in columns), "")
    ids_column = mapping.pop("ids", None)
    if ids_column is not None:
        if ids_column not in adata.obs.columns:
            raise no_column(ids_column, "read 'ids' from", dict.fromkeys(sorted(columns)), path)
        adata.obs_names = adata.obs[ids_column].to_numpy(dtype=object)
    for field, column in mapping.items():
        if field == main:
            continue
        place = next((p for p in (adata.obs, adata.obsm, adata.layers) if column in p), None)
        if place is None:
            raise no_column(column, f"read {field!r} from", dict.fromkeys(sorted(columns)), path)
        place[field] = place[column]
        if field != column:
            del place[column]
    return EvalData.from_anndata(adata, main, contract)


def _read_zarr(path: Path, contract: Contract, mapping: dict[str, str], ignore: tuple[str, ...]) -> EvalData:
    import zarr

    attributes = dict(zarr.open_group(path, mode="r").attrs)
    if attributes.get("encoding-type") == "anndata":
        return _of_anndata(_library("anndata", "anndata").read_zarr(path), path, contract, mapping, ignore)
    if "primabench" in attributes or any(str(key).startswith("primabench") for key in attributes):
        from primabench_core.store.zarr_io import open_lazy

        data = open_lazy(path)
    else:
        import xarray

        data = EvalData.from_xarray(xarray.open_zarr(path, chunks=None))
    fields = leave_out(data.fields, ignore, mapping, path)
    held, ids = _split_ids(fields, contract, mapping, path) if "ids" in mapping else (fields, data.ids)
    ids = ids if ids is None or isinstance(ids, tuple) else plain(ids, "ids")
    held = keep_fields(_rename(held, contract, mapping, path, fields), ignore, contract)
    return EvalData(held, ids=ids, coords=data.coords)


def _library(module: str, distribution: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingPluginError(
            f"reading this file needs {distribution}, which is not installed",
            remedy='pip install "primabench-core[files]"',
        ) from error
