"""Gives cells without types; whole batches or donors are the folds that probes are scored on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_task_singlecell.preparers.cells import COLUMNS, read_cells
from primabench_task_singlecell.preparers.integration import as_sparse, normalised, scored_genes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from primabench_core.store.prepare import DatasetReader, Splits


def prepare_by_batch(data: DatasetReader) -> Splits:
    """Batches are domains, groups and folds."""
    return _prepared(data, "batch")


def prepare_by_donor(data: DatasetReader) -> Splits:
    """Donors are domains, groups and folds."""
    return _prepared(data, "donor")


def _prepared(data: DatasetReader, name: str) -> Splits:
    """Splits of cells.

    Raises:
        CorruptDataError: the cells have no such field, or all are of one domain.
    """
    from primabench_core.store.prepare import Splits

    cells = read_cells(data)
    if name not in cells.censored.fields:
        raise CorruptDataError(f"The censored view has no field {name!r}; it holds {sorted(cells.censored.fields)}.")
    domain = np.asarray(cells.censored[name][:], object)
    if len(set(domain)) < 2:
        raise CorruptDataError("All cells are of one domain: labels cannot be transferred.")
    sides = {"domain": domain, "fold": domain, "group": domain}
    public = cells.public(cells.censored)
    kept = {key: value for key, value in public.fields.items() if key in ("expression", "counts", "label")}
    answers = cells.answers(cells.solution.select(list(cells.censored.ids or ())))
    columns = {key: "genes" for key in (*COLUMNS, "counts") if key in kept}
    return Splits(
        train=None,
        test=EvalData({**kept, **sides}, ids=public.ids, coords=public.coords),
        solution=EvalData({**answers.fields, **sides}, ids=answers.ids, coords=answers.coords),
        columns=columns,
    )


def prepare_by_species(data: DatasetReader) -> Splits:
    """Species are domains, donors are groups and folds; only cells of types that every species has are given.

    Genes stand as ``species:gene``. ``all_counts`` holds all of them, ``expression`` log-normalised values of the 2,000
    of each species that vary most inside its donors; a cell has zeros for the genes of other species.

    Raises:
        CorruptDataError: a field is missing, there is one species, or no two types are common to all.
    """
    from primabench_core.store.prepare import Splits

    cells = read_cells(data)
    absent = [name for name in ("species", "donor", "counts") if name not in cells.censored.fields]
    if absent:
        raise CorruptDataError(
            f"The censored view has no field {absent[0]!r}; it holds {sorted(cells.censored.fields)}."
        )
    ids = [str(i) for i in cells.censored.ids or ()]
    species = np.asarray(cells.censored["species"][:], object)
    label = np.asarray([cells.types[i] for i in ids], object)
    found = [set(label[species == name]) for name in sorted(set(species))]
    shared = set.intersection(*found)
    if len(found) < 2 or len(shared) < 2:
        raise CorruptDataError(
            f"{len(found)} species have {len(shared)} types in common: labels cannot be transferred."
        )
    kept = np.flatnonzero([kind in shared for kind in label])
    donor = np.asarray(cells.censored["donor"][:], object)[kept]
    sides = {"domain": species[kept], "fold": donor, "group": donor}
    counts = as_sparse(cells.censored["counts"])[kept]
    genes = tuple(cells.censored.coords["genes"])
    chosen, expression = _variable(counts, genes, species[kept], donor)
    names = {"genes": tuple(genes[g] for g in chosen), "classes": tuple(sorted(shared))}
    hidden = np.full(len(kept), None, object)
    chosen_ids = [ids[i] for i in kept]
    return Splits(
        train=None,
        test=EvalData(
            {"all_counts": counts, "expression": expression, "label": hidden, **sides},
            ids=chosen_ids,
            coords={**names, "all_genes": genes},
        ),
        solution=EvalData({"label": label[kept], **sides}, ids=chosen_ids, coords={"classes": names["classes"]}),
        columns={"all_counts": "all_genes", "expression": "genes"},
    )


def _variable(
    counts: Any, genes: tuple[str, ...], species: NDArray[Any], donor: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Columns of the variable genes of every species, and log-normalised values of all cells in them."""
    whole = normalised(counts)
    owner = np.asarray([name.partition(":")[0] for name in genes], object)
    chosen = []
    for name in sorted(set(species)):
        rows, columns = np.flatnonzero(species == name), np.flatnonzero(owner == name)
        chosen.append(columns[scored_genes(whole[rows][:, columns], donor[rows])])
    columns = np.sort(np.concatenate(chosen))
    return columns, np.asarray(whole[:, columns].toarray(), np.float32)
