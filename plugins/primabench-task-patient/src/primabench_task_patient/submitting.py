"""The submitter's side: open the inputs, embed each data set, write the one file."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core import MissingPluginError, UsageError
from primabench_core.spec import PreparerSpec
from primabench_task_patient.scoring.inputs import expression_path, list_inputs, open_table
from primabench_task_patient.scoring.registry import RegistryError

PRIMO = "scienta_lab_2026_hugging_face/primo_inputs@1.0.0"
"""Inputs of PRIMO; the recipe is in primabench-recipes."""
Floats = NDArray[np.float64]


@frozen(eq=False)
class Cohort:
    """One data set as a model sees it."""

    id: str
    samples: tuple[str, ...]
    genes: tuple[str, ...]
    counts: Floats
    """(samples, genes) float64 raw counts."""

    @property
    def log_cpm(self) -> Floats:
        """(samples, genes) log2(CPM + 1)."""
        return log_cpm(self.counts)


def log_cpm(counts: Any) -> Floats:
    """log2 of counts per million plus one; a sample without any count stays 0.

    Args:
        counts: (samples, genes) counts, dense or sparse.

    Example:
        >>> log_cpm([[1, 0], [0, 0]])[0].round(2).tolist()
        [19.93, 0.0]
    """
    dense = np.asarray(counts.toarray() if hasattr(counts, "toarray") else counts, np.float64)
    total = dense.sum(axis=1, keepdims=True)
    found: Floats = np.log2(dense / np.where(total > 0, total, 1.0) * 1e6 + 1.0)
    return found


def open_inputs(source: str | Path, *, store: str | Path | None = None) -> Iterator[Cohort]:
    """Data sets of a folder in PRIMO's layout, or of a dataset in the store, one after another.

    Args:
        source: A folder with ``datasets.yaml``, or a key such as :data:`PRIMO` that was built.
        store: Where built datasets are; by default ``PRIMABENCH_STORE``.

    Raises:
        RegistryError: the folder is not what its list says.
        MissingDataError: the dataset is not in the store.
    """
    if not Path(source).is_dir() and "@" in str(source):
        yield from _from_store(str(source), store)
        return
    folder = Path(source)
    for entry in list_inputs(folder):
        name = str(entry.get("id", entry.get("dataset_id")))
        yield _read(name, expression_path(folder, name, entry))


def embed_all(cohorts: Iterable[Cohort], embed: Callable[[Cohort], Any]) -> dict[str, tuple[tuple[str, ...], Floats]]:
    """Samples and vectors by data set.

    Args:
        cohorts: As :func:`open_inputs` gives them.
        embed: Called with a cohort, returns (samples, width) numbers: the only thing that a model changes.

    Raises:
        UsageError: the matrix has another number of rows than the cohort has samples.
    """
    found = {}
    for cohort in cohorts:
        vectors = np.asarray(embed(cohort), np.float64)
        if vectors.ndim != 2 or len(vectors) != len(cohort.samples) or not vectors.shape[1]:
            raise UsageError(
                f"{cohort.id}: expected a vector for each of {len(cohort.samples)} samples, got shape {vectors.shape}"
            )
        found[cohort.id] = (cohort.samples, vectors)
    return found


def write_submission(path: str | Path, embeddings: Mapping[str, tuple[Sequence[str], Any]]) -> Path:
    """Write the one file of a submission; narrower data sets are padded with blanks.

    Args:
        path: .csv, .tsv, .parquet or .npz.
        embeddings: (samples, (samples, width) numbers) by data set.

    Raises:
        UsageError: another suffix.
        MissingPluginError: .parquet without pyarrow.
    """
    path = Path(path)
    matrices = {name: np.asarray(vectors, np.float64) for name, (_, vectors) in embeddings.items()}
    width = max(matrix.shape[1] for matrix in matrices.values())
    datasets = [name for name, (samples, _) in embeddings.items() for _ in samples]
    samples = [str(sample) for names, _ in embeddings.values() for sample in names]
    values = np.full((len(samples), width), np.nan)
    start = 0
    for matrix in matrices.values():
        values[start : start + len(matrix), : matrix.shape[1]] = matrix
        start += len(matrix)
    if path.suffix == ".npz":
        np.savez_compressed(path, dataset_ids=np.asarray(datasets), sample_ids=np.asarray(samples), embeddings=values)
    elif path.suffix == ".parquet":
        _write_parquet(path, datasets, samples, values)
    elif path.suffix in (".csv", ".tsv"):
        with path.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",", lineterminator="\n")
            lines.writerow(["dataset_id", "sample_id", *(f"e{i}" for i in range(width))])
            for dataset, sample, row in zip(datasets, samples, values.tolist(), strict=True):
                lines.writerow([dataset, sample, *("" if value != value else repr(value) for value in row)])
    else:
        raise UsageError(f"{path.name}: a submission is .csv, .tsv, .parquet or .npz")
    return path


def _write_parquet(path: Path, datasets: list[str], samples: list[str], values: Floats) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingPluginError(
            "Writing .parquet needs pyarrow.", remedy='pip install "primabench-task-patient[parquet]"'
        ) from None
    columns = {f"e{i}": pa.array(values[:, i], from_pandas=True) for i in range(values.shape[1])}
    pq.write_table(pa.table({"dataset_id": datasets, "sample_id": samples, **columns}), path)


def _read(name: str, path: Path) -> Cohort:
    if not path.is_file():
        raise RegistryError(f"{path} is absent", remedy="fetch the inputs, or correct datasets.yaml")
    if path.suffix == ".h5ad":
        try:
            import anndata
        except ImportError:
            raise MissingPluginError(
                "Reading .h5ad needs anndata.", remedy='pip install "primabench-task-patient[h5ad]"'
            ) from None
        read = anndata.read_h5ad(path)
        dense = np.asarray(read.X.toarray() if hasattr(read.X, "toarray") else read.X, np.float64)
        return Cohort(name, tuple(map(str, read.obs_names)), tuple(map(str, read.var_names)), dense)
    with open_table(path) as lines:
        genes = tuple(next(lines)[1:])
        rows = [line for line in lines if line]
        counts = np.asarray([[float(cell) for cell in line[1:]] for line in rows], np.float64)
        if counts.shape != (len(rows), len(genes)):
            raise RegistryError(f"{path} has {counts.shape} counts for {len(genes)} genes of {len(rows)} samples")
    return Cohort(name, tuple(line[0] for line in rows), genes, counts)


def _from_store(key: str, store: str | Path | None) -> Iterator[Cohort]:
    from primabench_core.store.location import Store
    from primabench_core.store.prepare import DatasetReader, require_built

    place = Store.at(store)
    require_built(place, key)
    spec = PreparerSpec(task="patient_representation", dataset=key, prepare="")
    data = DatasetReader(place, spec, "primabench-task-patient")
    for view, name, split in data.artifacts():
        if view == "inputs" and not split:
            found = data.artifact(view, name)
            counts: Any = found["counts"]
            dense = np.asarray(counts.toarray() if hasattr(counts, "toarray") else counts, np.float64)
            samples = tuple(str(i) for i in found.ids or ())
            yield Cohort(name, samples, tuple(str(g) for g in found.coords["genes"]), dense)
