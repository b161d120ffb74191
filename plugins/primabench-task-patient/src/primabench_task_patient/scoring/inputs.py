"""The public side: which samples each data set has. No label is needed, none is read."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

from primabench_core import MissingPluginError, PrimaBenchError
from primabench_task_patient.scoring.registry import RegistryError, is_plain
from primabench_task_patient.submission.faults import some

FILE, SAMPLES = "datasets.yaml", "samples.txt"


def read_inputs(folder: str | Path) -> dict[str, tuple[str, ...]]:
    """Ids of the samples by data set, out of a folder in PRIMO's layout.

    ``datasets.yaml`` lists data sets (``id`` or ``dataset_id``, ``path``, ``n_samples``); ids come from
    ``<id>/samples.txt`` (one a line) where there is one, else from the expression file: .h5ad, or .csv and .tsv
    (also .gz) with samples in rows.

    Raises:
        RegistryError: a file is absent or is not what the list says.
        MissingPluginError: .h5ad without anndata.
    """
    folder = Path(folder)
    found = {}
    for entry in list_inputs(folder):
        name = str(entry.get("id", entry.get("dataset_id")))
        listed = folder / name / SAMPLES
        path = expression_path(folder, name, entry)
        samples = read_samples(listed) if listed.is_file() else _samples_of(path)
        said = entry.get("n_samples")
        if said is not None and said != len(samples):
            raise RegistryError(f"{folder / FILE} says that {name} has {said} samples; there are {len(samples)}")
        found[name] = samples
    return found


def list_inputs(folder: Path) -> list[Mapping[str, Any]]:
    """Entries of ``datasets.yaml``: a list, or one below the name ``datasets``.

    Raises:
        RegistryError: it is absent or of another form.
    """
    import yaml  # type: ignore[import-untyped]

    try:
        found = yaml.safe_load((folder / FILE).read_text(encoding="utf-8"))
    except OSError as error:
        raise RegistryError(f"{folder / FILE} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RegistryError(f"{folder / FILE} is no YAML: {error}") from None
    entries = found.get("datasets") if isinstance(found, dict) else found
    if not isinstance(entries, list) or not all(isinstance(e, dict) and {"id", "dataset_id"} & set(e) for e in entries):
        raise RegistryError(f"{folder / FILE} is no list of data sets with an id each")
    names = [entry.get("id", entry.get("dataset_id")) for entry in entries]
    odd = [name for name in names if not isinstance(name, str) or not is_plain(name)]
    if odd:  # YAML reads 001 as a number, and an id names a folder
        raise RegistryError(f"{folder / FILE}: an id is text of letters, digits, '_', '-' and '.', got {some(odd)}")
    if len(set(names)) < len(names):
        raise RegistryError(f"{folder / FILE} lists a data set twice")
    return entries


def expression_path(folder: Path, name: str, entry: Mapping[str, Any]) -> Path:
    """Where the expression of a data set lies; it may not lie outside of the folder.

    Raises:
        RegistryError: the list leads out of the folder.
    """
    path = folder / str(entry.get("path", f"{name}/expression.h5ad"))
    path = path / "expression.h5ad" if path.is_dir() else path
    if not path.resolve().is_relative_to(folder.resolve()):
        raise RegistryError(f"{folder / FILE}: the path of {name} leads out of the folder")
    return path


def read_samples(path: Path) -> tuple[str, ...]:
    """Ids, one a line; empty lines are skipped.

    Raises:
        RegistryError: the file is absent, empty, or names a sample twice.
    """
    try:
        names = tuple(line for line in path.read_text(encoding="utf-8-sig").splitlines() if line)
    except OSError as error:
        raise RegistryError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise RegistryError(f"{path} is not UTF-8 text", remedy="save it as UTF-8, one id a line") from None
    return _distinct(names, path)


def _samples_of(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        raise RegistryError(f"{path} is absent", remedy="fetch the inputs, or correct datasets.yaml")
    if path.suffix == ".h5ad":
        try:
            import anndata
        except ImportError:
            raise MissingPluginError(
                "Reading .h5ad needs anndata.", remedy='pip install "primabench-task-patient[h5ad]"'
            ) from None
        return _distinct(tuple(str(name) for name in anndata.read_h5ad(path, backed="r").obs_names), path)
    with open_table(path) as lines:
        next(lines, None)
        return _distinct(tuple(line[0] for line in lines if line), path)


@contextmanager
def open_table(path: Path) -> Iterator[Iterator[list[str]]]:
    """Lines of a .csv or .tsv, also .gz, as lists of cells.

    Raises:
        RegistryError: what is read of them, or made of them inside the block, is no table.
    """
    with ExitStack() as stack:
        if path.suffix == ".gz":
            file: TextIO = stack.enter_context(gzip.open(path, "rt", encoding="utf-8", newline=""))
        else:
            file = stack.enter_context(path.open(encoding="utf-8", newline=""))
        try:
            yield csv.reader(file, delimiter="\t" if path.name.removesuffix(".gz").endswith(".tsv") else ",")
        except (ValueError, EOFError, OSError, StopIteration, csv.Error, zlib.error) as error:
            if isinstance(error, PrimaBenchError):
                raise
            raise RegistryError(f"{path} is no table of samples and genes: {error or 'it is empty'}") from None


def _distinct(names: tuple[str, ...], path: Path) -> tuple[str, ...]:
    if not names or len(set(names)) < len(names):
        raise RegistryError(f"{path} {'names a sample twice' if names else 'names no sample'}")
    return names
