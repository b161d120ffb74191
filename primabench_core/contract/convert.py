"""EvalData to and from pandas and xarray."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core.contract.checkers import column_names
from primabench_core.contract.evaldata import COORDS, EvalData
from primabench_core.contract.plain import is_sparse, objects, plain
from primabench_core.contract.ragged import Ragged
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError, UsageError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from primabench_core.contract.contract import Contract
    from primabench_core.contract.fields import Field

ID_COLUMNS = ("ids", "id")
"""Columns of a table that hold ids, in the order they are looked for."""

_NUMBERED = re.compile(r"(.+)_(\d+)")


def to_pandas(data: EvalData) -> pd.DataFrame:
    """One column per 1-D field, ``name_0`` … per 2-D field; ids are the index (named ``ids``).

    Names of columns (genes, classes) travel in ``frame.attrs["coords"]``.

    Raises:
        UsageError: a ragged field, which a table cannot hold.
    """
    import pandas as pd

    columns: dict[str, Any] = {}
    for name in data.fields:
        value = data[name]
        if isinstance(value, Ragged):
            raise UsageError(f"a table cannot hold the ragged field {name!r}", remedy="use to_xarray()")
        value = value.toarray() if is_sparse(value) else value
        if value.ndim == 1:
            columns[name] = value
        else:
            columns |= {f"{name}_{j}": value[:, j] for j in range(value.shape[1])}
    index = pd.Index(list(data.ids), dtype=object, name="ids") if data.ids is not None else pd.RangeIndex(data.n)
    frame = pd.DataFrame(columns, index=index)
    if data.coords:
        frame.attrs["coords"] = {name: list(value) for name, value in data.coords.items()}
    return frame


def from_pandas(frame: pd.DataFrame, contract: Contract | None = None) -> EvalData:
    """Columns as fields; ``name_0``, ``name_1`` … together as the 2-D field ``name``.

    Where the contract names the columns of a field, their names may stand instead: ``probability_B cell`` ….

    Ids are the column ``ids``, else ``id`` (unless the contract has a field of that name), else the index. An index
    0, 1, 2 … means that rows have no ids; any other index of numbers is refused, because it cannot be told whether
    ids or row numbers are meant. Categories are read as their text.

    Args:
        frame: The table.
        contract: Says which numbered columns belong together; without it all numeric ones do.

    Raises:
        ContractError: ids that are not text, columns that occur twice, gaps in numbered columns.

    Example:
        >>> import pandas as pd
        >>> from_pandas(pd.DataFrame({"ids": ["a"], "score": [0.5]})).ids
        ('a',)
    """
    names = [str(c) for c in frame.columns]
    refuse_twins(names)
    fields = {f.name for f in contract.prediction} if contract else set()
    ids: Any = None
    column = next((c for c in ID_COLUMNS if c in names and c not in fields), "")
    ids = frame.iloc[:, names.index(column)] if column else index_ids(frame.index)
    columns = {n: frame.iloc[:, i] for i, n in enumerate(names) if n != column}
    coords = {k: v for k, v in dict(frame.attrs.get("coords", {})).items() if k in COORDS}
    columns, coords = join_named(columns, contract, coords)
    return EvalData(join_columns(columns, contract), ids=ids, coords=coords)


def index_ids(index: Any) -> Any:
    """The ids that an index of pandas gives; None for row numbers 0, 1, 2 and so on.

    Raises:
        ContractError: an index of several levels or other numbers.
    """
    if getattr(index, "nlevels", 1) > 1:
        raise ContractError([Violation("ids", "one index level of text ids", f"{index.nlevels} levels")])
    if getattr(index.dtype, "kind", "O") in "iu":
        if np.array_equal(np.asarray(index), np.arange(len(index))):
            return None
        remedy = "set the text ids as index, or reset_index(drop=True) if rows have no ids"
        raise ContractError([Violation("ids", "text ids as index", "an index of numbers", remedy=remedy)])
    return index


def refuse_twins(names: list[str]) -> None:
    """Refuse a table with two columns of one name.

    Raises:
        ContractError: naming every such column.
    """
    twins = sorted({n for n in names if names.count(n) > 1}) if len(set(names)) < len(names) else []
    if twins:
        raise ContractError([Violation(n, "one column", "several of this name") for n in twins])


def field_of(name: str, contract: Contract) -> Field | None:
    """The field that a column of a table holds or is a part of: as ``embedding_3`` or ``probability_alpha`` are."""
    fields = {f.name: f for f in contract.prediction}
    if name in fields or name in contract.ignored:
        return fields.get(name)
    base, _, number = name.rpartition("_")
    if number.isdigit() and base in fields and fields[base].dims != 1 and not fields[base].is_ragged:
        return fields[base]
    parts = [f for f in contract.prediction if f.dims == 2 and column_names(f) and name.startswith(f"{f.name}_")]
    return max(parts, key=lambda f: len(f.name), default=None)


def join_named(
    columns: Mapping[str, Any], contract: Contract | None, coords: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Columns that end in the name of a class (or gene), ``probability_alpha`` …, as one 2-D field with named columns.

    Left as they are: columns of a field of which some are numbered (numbers are places, and names beside them could
    mean anything), and of one that comes whole.

    Args:
        columns: 1-D columns by name.
        contract: Says which fields have names along their columns; without it nothing is put together.
        coords: Names along columns that are there already; those of the columns must be the same.

    Returns:
        The columns, and the coordinates with the names found.
    """
    found, named = dict(columns), dict(coords or {})
    groups: dict[str, dict[str, str]] = {}
    for name in columns if contract is not None else ():
        field = field_of(name, contract)  # type: ignore[arg-type]
        if field is not None and field.name != name and column_names(field) and field.dims == 2:
            groups.setdefault(field.name, {})[name[len(field.name) + 1 :]] = name
    for base, members in groups.items():
        coord = column_names(contract.find(base))  # type: ignore[union-attr]
        order = [str(c) for c in named.get(coord, members)]
        if base in columns or any(m.isdigit() for m in members) or set(order) != set(members):
            continue
        held = [plain(columns[members[m]]) for m in order]
        if {getattr(column, "shape", ()) for column in held} != {(len(held[0]),)}:
            continue
        named[coord] = order
        found[base] = stack_columns(held)
        for name in members.values():
            del found[name]
    return found, named


def join_columns(columns: Mapping[str, Any], contract: Contract | None) -> dict[str, Any]:
    """Fields out of the columns of a table: ``name_0``, ``name_1`` … become one 2-D field.

    Args:
        columns: 1-D columns by name.
        contract: With it, only its fields of two dimensions are put together; without it, all numeric groups.

    Raises:
        ContractError: a group with a gap.
    """
    wide = None if contract is None else {f.name for f in contract.prediction if f.dims != 1 and not f.is_ragged}
    groups: dict[str, dict[int, str]] = {}
    for name in columns:
        match = _NUMBERED.fullmatch(name)
        base = match[1] if match else ""
        if match and base not in columns and str(int(match[2])) == match[2] and (wide is None or base in wide):
            groups.setdefault(base, {})[int(match[2])] = name
    fields: dict[str, Any] = {}
    for base, members in list(groups.items()):
        missing = sorted(set(range(max(members) + 1)) - set(members))
        numeric = wide is not None or all(
            getattr(plain(columns[m]), "dtype", np.dtype("O")).kind in "biuf" for m in members.values()
        )
        if missing and wide is not None:
            found = f"no {', '.join(f'{base}_{m}' for m in missing[:5])}"
            raise ContractError([Violation(base, f"columns {base}_0 to {base}_{max(members)}", found)])
        if missing or not numeric:
            del groups[base]
    grouped = {name: base for base, members in groups.items() for name in members.values()}
    for name, value in columns.items():
        if name not in grouped:
            fields[name] = value
        elif grouped[name] not in fields:
            members = groups[grouped[name]]
            fields[grouped[name]] = stack_columns([plain(columns[members[i]]) for i in range(len(members))])
    return fields


def stack_columns(columns: Iterable[Any]) -> Any:
    """Columns side by side; a column of text keeps its text, so that the checks can name it."""
    held = list(columns)
    if any(c.dtype.kind not in "biuf" for c in held):
        return np.stack([c.astype(object) for c in held], axis=1)
    return np.stack(held, axis=1)


def to_xarray(data: EvalData) -> xr.Dataset:
    """A Dataset over ``row``, with the ids as its index.

    Columns run over ``genes`` and ``classes`` where these coordinates fit, else over ``{field}_column``. Ragged fields
    are CF contiguous ragged arrays: ``{field}`` over ``{field}_entry``, and ``{field}_count`` over ``row`` with the
    attribute ``sample_dimension``.
    """
    import xarray as xr

    variables: dict[str, Any] = {}
    for name in data.fields:
        value = data[name]
        if isinstance(value, Ragged):
            variables[name] = ((f"{name}_entry", f"{name}_part"), value.values)
            variables[f"{name}_count"] = (("row",), value.counts, {"sample_dimension": f"{name}_entry"})
            continue
        value = value.toarray() if is_sparse(value) else value
        dims: tuple[str, ...] = ("row",)
        if value.ndim > 1:
            fits = [c for c in data.coords if len(data.coords[c]) == value.shape[1]]
            dims = ("row", _best(name, fits) or f"{name}_column", *(f"{name}_{i}" for i in range(2, value.ndim)))
        variables[name] = (dims, value)
    coords: dict[str, Any] = {} if data.ids is None else {"row": objects(data.ids)}
    coords |= {c: (c, _name_array(value)) for c, value in data.coords.items()}
    return xr.Dataset(variables, coords=coords)


def _best(name: str, fits: list[str]) -> str:
    wanted = "classes" if "prob" in name else "genes"
    return wanted if wanted in fits else fits[0] if len(fits) == 1 else ""


def _name_array(names: tuple[Any, ...]) -> Any:
    return np.asarray(names, np.int64) if names and not isinstance(names[0], str) else objects(names)


def from_xarray(dataset: xr.Dataset) -> EvalData:
    """Variables as fields; values stay unread until they are used.

    Rows run over the dimension ``row``, else over the first dimension that all variables share. Ids are the text
    coordinate ``ids`` or ``id``, else that of the row dimension; an index 0, 1, 2 … means that rows have no ids.
    Variables that a ``sample_dimension`` count belongs to are read as ragged fields.

    Raises:
        ContractError: variables without a common first dimension, or ids that are not text.
    """
    counts = {v.attrs["sample_dimension"]: n for n, v in dataset.variables.items() if "sample_dimension" in v.attrs}
    names = [str(n) for n in dataset.data_vars if n not in counts.values()]
    flat = [n for n in names if not dataset[n].dims or dataset[n].dims[0] not in counts]
    row = _row_dimension(dataset, flat, list(counts.values()))
    fields: dict[str, Any] = {}
    for name in names:
        variable = dataset[name].variable
        if variable.dims and variable.dims[0] in counts:
            fields[name] = Ragged(
                np.asarray(variable.values), np.asarray(dataset[counts[variable.dims[0]]].values, np.int64)
            )
        elif variable.dims[:1] == (row,):
            fields[name] = variable
        else:
            fields[name] = variable.transpose(row, ...) if row in variable.dims else variable
    ids: Any = None
    for candidate in ("ids", "id", row):
        if candidate in dataset.coords and dataset[candidate].dims == (row,):
            values = np.asarray(dataset[candidate].values)
            ids = None if values.dtype.kind in "iu" and np.array_equal(values, np.arange(len(values))) else values
            break
    known = [str(c) for c in dataset.coords if dataset[c].dims == (c,) and c != row and (c in COORDS)]
    return EvalData(fields, ids=ids, coords={c: np.asarray(dataset[c].values) for c in known})


def _row_dimension(dataset: xr.Dataset, flat: list[str], counts: list[Any]) -> str:
    if "row" in dataset.dims:
        return "row"
    shared = [set(dataset[n].dims) for n in [*flat, *counts]]
    if not shared:
        return "row"
    common = set.intersection(*shared)
    first = [str(d) for d in dataset[[*flat, *counts][0]].dims if d in common]
    if not first:
        raise ContractError([Violation("row", "a dimension that all variables share", "none")])
    return first[0]
