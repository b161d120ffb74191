"""Turns the list of cohorts and their files into one public artifact a cohort; there is nothing to hide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.formats.cells import as_counts, names, open_cells
from primabench_recipes.scienta_lab_2026_hugging_face.primo_inputs.card import COHORTS

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext


def build(context: BuildContext) -> list[Artifact]:
    """One artifact a cohort: ``counts`` (samples, genes) CSR float32, coordinate ``genes``.

    Raises:
        CorruptDataError: cohorts, shapes or kinds of gene ids are not those of ``datasets.yaml``, or values no counts.
    """
    from primabench_core.store.artifact import Artifact

    listed = read_list(context.source("datasets.yaml"))
    if set(listed) != set(COHORTS):
        raise CorruptDataError(f"datasets.yaml lists {sorted(listed)}, expected {', '.join(COHORTS)}")
    found = []
    for name in COHORTS:
        data, described = read_cohort(context.source(f"{name}.h5ad"), name), listed[name]
        shape = (described.get("n_samples"), described.get("n_genes"))
        if shape != (data.n, len(data.coords["genes"])):
            raise CorruptDataError(
                f"{name}: the file has {data.n} x {len(data.coords['genes'])}, the list says {shape}"
            )
        said = {"counts": "reads a gene", "gene_id_type": str(described.get("gene_id_type", ""))}
        found.append(Artifact(view="inputs", name=name, data=data, attributes=said, columns={"counts": "genes"}))
    return found


def read_list(path: Path) -> dict[str, dict[str, Any]]:
    """What ``datasets.yaml`` says about each cohort: a list of mappings, or one below the name ``datasets``.

    Raises:
        CorruptDataError: it is of another form.
    """
    import yaml  # type: ignore[import-untyped]

    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise CorruptDataError(f"{path.name} is no YAML: {error}") from None
    entries = found.get("datasets") if isinstance(found, dict) else found
    if not isinstance(entries, list) or not all(
        isinstance(e, dict) and ("id" in e or "dataset_id" in e) for e in entries
    ):
        raise CorruptDataError(f"{path.name} is no list of data sets with an id each")
    return {str(entry.get("id", entry.get("dataset_id"))): entry for entry in entries}


def read_cohort(path: Path, name: str) -> EvalData:
    """Counts of one cohort; nothing but counts, sample ids and gene ids is taken over."""
    samples = open_cells(path)
    return EvalData(
        {"counts": as_counts(samples.X, f"X of {name}")},
        ids=list(names(samples.obs_names, "samples")),
        coords={"genes": names(samples.var_names, "genes")},
    )
