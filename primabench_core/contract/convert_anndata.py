"""EvalData to and from AnnData."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core.contract.checkers import column_names
from primabench_core.contract.evaldata import COORDS, EvalData
from primabench_core.contract.plain import is_sparse
from primabench_core.contract.ragged import Ragged
from primabench_core.errors import UsageError

if TYPE_CHECKING:
    import anndata

    from primabench_core.contract.contract import Contract

_KEY = "primabench_coords"
"""Where coordinates other than genes travel in ``uns``."""


def to_anndata(data: EvalData, main_field: str = "") -> anndata.AnnData:
    """1-D fields in ``obs``, ``main_field`` in ``X``, other 2-D fields in ``obsm``; genes are ``var_names``.

    Raises:
        UsageError: a ragged field, or a main field that is not a matrix.
    """
    import anndata
    import pandas as pd

    values = {name: data[name] for name in data.fields}
    for name, value in values.items():
        if isinstance(value, Ragged):
            raise UsageError(f"AnnData cannot hold the ragged field {name!r}", remedy="use to_xarray()")
    if main_field and (main_field not in values or values[main_field].ndim != 2):
        raise UsageError(f"{main_field!r} is no 2-D field of these data, so it cannot be X")
    index = pd.Index(list(data.ids) if data.ids is not None else [str(i) for i in range(data.n)], dtype=object)
    flat = {name: value for name, value in values.items() if value.ndim == 1}
    wide = {name: value for name, value in values.items() if value.ndim > 1 and name != main_field}
    genes = data.coords.get("genes") if main_field or "genes" in data.coords else None
    var = pd.DataFrame(index=pd.Index(list(genes or ()), dtype=object)) if genes else None
    adata = anndata.AnnData(values.get(main_field), obs=pd.DataFrame(flat, index=index), var=var, obsm=wide)
    coords = {k: np.asarray(v) for k, v in data.coords.items() if k != "genes"}
    if coords:
        adata.uns[_KEY] = coords
    return adata


def from_anndata(adata: anndata.AnnData, main_field: str = "", contract: Contract | None = None) -> EvalData:
    """Fields out of ``obs`` (1-D), ``obsm``, ``layers`` and, for the main field, ``X`` (2-D).

    Ids are the index (``obs_names``), always: AnnData turns row numbers into text, so a default index cannot be told
    from real ids. Genes are ``var_names``.

    With a contract only its fields (and those it ignores) are taken, because an AnnData carries much that is no
    prediction; if one that is needed is absent, everything is taken, so that the checks can say what there was. The
    one matrix field that lies in neither ``obsm`` nor ``layers`` is ``X``.

    Args:
        adata: The container.
        main_field: Name of the field that ``X`` holds; without it (and without contract) ``X`` is left out.
        contract: The contract of the prediction.
    """
    held: dict[str, Any] = {str(name): adata.obs[name] for name in adata.obs.columns}
    held |= {str(name): value for name, value in adata.layers.items()}
    held |= {str(name): value for name, value in adata.obsm.items()}
    if contract is not None and not main_field:
        main_field = _main_field(contract, held)
    if main_field and adata.X is not None:
        held[main_field] = adata.X
    if contract is not None:
        named = {f.name for f in contract.prediction} | set(contract.ignored)
        if all(f.name in held or f.optional for f in contract.prediction):
            held = {name: value for name, value in held.items() if name in named}
    genes_used = any(_is_wide(v, adata.n_vars) for n, v in held.items() if n in adata.layers or n == main_field)
    coords = {k: v for k, v in dict(adata.uns.get(_KEY, {})).items() if k in COORDS}
    if adata.n_vars and (genes_used or contract is None):
        coords["genes"] = list(map(str, adata.var_names))
    return EvalData({n: _read(v) for n, v in held.items()}, ids=adata.obs_names, coords=coords)


def _main_field(contract: Contract, held: dict[str, Any]) -> str:
    absent = [f for f in contract.prediction if f.name not in held and column_names(f) == "genes"]
    return absent[0].name if len(absent) == 1 else ""


def _is_wide(value: Any, width: int) -> bool:
    return getattr(value, "ndim", 0) == 2 and value.shape[1] == width


def _read(value: Any) -> Any:
    """Backed matrices are read here: the file may be closed before they are used."""
    if isinstance(value, np.ndarray) or is_sparse(value) or not hasattr(value, "to_memory"):
        return value
    return value.to_memory()
