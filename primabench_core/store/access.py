"""What users and the runner open: paths of splits, the splits themselves, and (for the runner alone) the solution."""

from __future__ import annotations

import os
from pathlib import Path

from primabench_core.advice import TEST_ONLY
from primabench_core.contract.evaldata import EvalData
from primabench_core.errors import CorruptDataError, MissingDataError, UsageError
from primabench_core.store import cache
from primabench_core.store.chunks import origin_of, remote_chunks
from primabench_core.store.faults import PRIVATE, named
from primabench_core.store.location import MANIFEST, SALT, inside, prepared_name
from primabench_core.store.location import PRIVATE as PRIVATE_FOLDER
from primabench_core.store.manifest import Manifest, PreparedManifest, PrivateManifest, read_manifest
from primabench_core.store.mirror import Mirror, complete, complete_solution, reach
from primabench_core.store.prepare import TOLD, find_preparer, prepare, require_built, require_pinned
from primabench_core.store.verify import verify_dataset
from primabench_core.store.writing import Progress
from primabench_core.store.zarr_io import open_lazy, stored_attributes

StorePath = str | os.PathLike[str] | None

__all__ = [
    "dataset_content_hash",
    "dataset_manifest",
    "fetch_data",
    "fetch_test",
    "fetch_train",
    "load",
    "open_solution",
    "public_names",
    "resolve_dataset",
    "solution_salt",
    "verify_dataset",
]


def resolve_dataset(task: str, dataset: str | None = None) -> str:
    """The key that a task and an optional dataset name mean.

    Raises:
        UnknownNameError: there is no such task, or no preparer for this dataset.
    """
    from primabench_core.discovery import registry

    key = dataset if dataset is not None else registry.load("task", task).default_dataset
    return find_preparer(task, key)[0].dataset


def fetch_data(
    task: str,
    dataset: str | None = None,
    store: StorePath = None,
    *,
    lazy: bool = False,
    progress: Progress | None = None,
) -> tuple[Path, Path]:
    """Paths of the train and test splits of a task; the solution is never among them.

    From a remote store both splits are brought into the cache first (:mod:`primabench_core.store.cache`), each object
    compared with its SHA-256. What is there already is not asked for again.

    Args:
        task: Name of the task.
        dataset: ``publication/slug@version``; by default the task's own.
        store: Folder, ``gs://``, ``s3://``, ``https://`` or zip file; by default ``PRIMABENCH_STORE``, then the user's
            data folder.
        lazy: Bring metadata only. Chunks are then brought when they are read, and kept.
        progress: Called as ``progress(step, bytes done, bytes in all)``.

    Returns:
        ``(train, test)``, to be opened with :func:`load`. An unsupervised task returns the same path twice.

    Raises:
        MissingDataError: the dataset is not built (the remedy builds it), or it has no training data (also a
            KeyError; use :func:`fetch_test`).
        UnknownNameError: no such task or dataset.
        CorruptDataError: a fetched object is not the one that was published; it is named.
        StoreError: the store cannot be read, or splits are not made yet and it cannot be written to.

    Example:
        >>> train_path, test_path = fetch_data(task="cell_type_annotation")  # doctest: +SKIP
    """
    folder, manifest = _splits(task, dataset, store, ("train", "test"), lazy, progress)
    train, test = (_split_path(folder, manifest, name) for name in ("train", "test"))
    return train, test


def fetch_train(
    task: str,
    dataset: str | None = None,
    store: StorePath = None,
    *,
    lazy: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Path of the train split alone; see :func:`fetch_data`.

    Raises:
        MissingDataError: the dataset is not built, or it has no training data.

    Example:
        >>> train_path = fetch_train("cell_type_annotation")  # doctest: +SKIP
    """
    return _split_path(*_splits(task, dataset, store, ("train",), lazy, progress), "train")


def fetch_test(
    task: str,
    dataset: str | None = None,
    store: StorePath = None,
    *,
    lazy: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Path of the test split, also where there is no training data; see :func:`fetch_data`.

    Example:
        >>> test_path = fetch_test("clustering")  # doctest: +SKIP
    """
    return _split_path(*_splits(task, dataset, store, ("test",), lazy, progress), "test")


def _splits(
    task: str, dataset: str | None, store: StorePath, splits: tuple[str, ...], lazy: bool, progress: Progress | None
) -> tuple[Path, PreparedManifest]:
    key = resolve_dataset(task, dataset)
    place = reach(key, store)
    complete(place, find_preparer(task, key)[0], *splits, lazy=lazy, progress=progress)
    manifest = prepare(task, key, place.root)
    return place.version(key) / prepared_name(manifest.task, manifest.preparer_version), manifest


def _split_path(folder: Path, manifest: PreparedManifest, split: str) -> Path:
    entry = manifest.split(split)
    if entry is None:
        raise MissingDataError(
            f"task {manifest.task!r} on {manifest.dataset} is test-only: there is no {split} split",
            remedy=TEST_ONLY.text(task=manifest.task, dataset=manifest.dataset),
        )
    path = inside(folder, entry.path)
    if not path.is_dir():
        raise CorruptDataError(
            f"the {split} split of {manifest.dataset} for task {manifest.task!r} is missing: no folder {path}",
            remedy=f"remove {folder} and fetch again",
        )
    return path


def load(path: str | os.PathLike[str], task: str | None = None, split: str | None = None) -> EvalData:
    """Open a split lazily: metadata are read now, values when they are sliced.

    Args:
        path: A path that :func:`fetch_data` or :func:`fetch_test` returned.
        task: Name of the task; refused if the path belongs to another one.
        split: ``"train"`` or ``"test"``; refused if the path is another split.

    Returns:
        Ids, fields and coordinates.

    Raises:
        MissingDataError: nothing is there, or it is not a split.
        UsageError: it belongs to another task, or is another split.
        CorruptDataError: its metadata cannot be read.

    Example:
        >>> test = load(test_path, task="cell_type_annotation", split="test")  # doctest: +SKIP
    """
    from primabench_core.discovery.names import bare

    where = Path(path)
    if PRIVATE_FOLDER in where.absolute().parts or PRIVATE_FOLDER in where.resolve().parts:
        raise UsageError(
            "that path lies in the private part of a dataset, which load() never opens",
            remedy="pb.fetch_data(task=…) gives the paths of train and test",
        )
    folder = where.parent.parent
    if "-p" not in folder.name or not (folder / MANIFEST).is_file():
        raise MissingDataError(f"{where} is not a split of a task", remedy="pb.fetch_data(task=…) gives such paths")
    manifest = read_manifest(PreparedManifest, folder / MANIFEST)
    here = where.resolve()
    found = next((e.split for e in manifest.artifacts if inside(folder, e.path).resolve() == here), None)
    if found is None:
        raise MissingDataError(f"{where} is not a split of a task", remedy="pb.fetch_data(task=…) gives such paths")
    if task is not None and bare(task) != manifest.task:
        raise UsageError(
            f"{where} belongs to task {manifest.task!r}, not {task!r}", remedy=f"pb.fetch_data(task={task!r})"
        )
    if split is not None and manifest.split(split) is not manifest.split(found):
        raise UsageError(f"{where} is the {found} split, not {split!r}", remedy=f"pb.load(path, split={found!r})")
    origin = origin_of(where)
    if origin is None:
        return open_lazy(where)
    cache.hold(origin)
    entry = next(e for e in manifest.artifacts if e.split == found)
    return open_lazy(where, chunks=remote_chunks(origin, where, entry), trusted=True)


def open_solution(task: str, key: str, store: StorePath = None) -> EvalData:
    """The answers of a task's test units, read into memory. Only the runner calls this.

    Nothing of what is returned knows where it came from, and no error of this function says so.

    Raises:
        MissingDataError: the dataset is not built.
        CorruptDataError: stored bytes are damaged.
        StoreError: they cannot be read.
    """
    return open_lazy(_answers(task, key, store), private=True).load()


def public_names(task: str, key: str, store: StorePath = None) -> frozenset[str]:
    """Names in the answers that stand in a public split too, so that a result may carry them; as text.

    Raises:
        As :func:`open_solution`.
    """
    attributes, _ = stored_attributes(_answers(task, key, store), private=True)
    return frozenset(attributes.get(TOLD, ()))


def _answers(task: str, key: str, store: StorePath) -> Path:
    """Where the answers of a task lie; what they are is checked, where they are is never said."""
    place = reach(key, store)
    spec, _ = find_preparer(task, key)
    complete_solution(place, spec)
    prepare(task, key, place.root, answers=True)
    folder = place.private(key) / prepared_name(spec.task, spec.version)
    manifest = read_manifest(PrivateManifest, folder / MANIFEST, private=True)
    return inside(folder, manifest.artifacts[0].path)


def solution_salt(key: str, store: StorePath = None) -> bytes:
    """The 32 bytes that salt digests of a dataset's truth; empty if the dataset keeps nothing private.

    Raises:
        CorruptDataError: they are damaged.
        StoreError: they cannot be read.
    """
    place = reach(key, store)
    if not dataset_manifest(key, store).solution_root:
        return b""
    if isinstance(place, Mirror):
        place.bring_salt()
    with named("read", PRIVATE, private=True):
        salt = (place.private(key) / SALT).read_bytes()
    if len(salt) != 32:
        raise CorruptDataError(f"{PRIVATE} is damaged: {key}", remedy=f"primabench verify --dataset {key}")
    return salt


def dataset_manifest(key: str, store: StorePath = None) -> Manifest:
    """The public manifest of a built dataset.

    Raises:
        MissingDataError: it is not built.
        CorruptDataError: it cannot be read, or is not what the dataset's card pins.
    """
    place = reach(key, store)
    require_built(place, key)
    manifest = read_manifest(Manifest, place.manifest(key))
    if manifest.dataset != key:
        raise CorruptDataError(
            f"the manifest in {place.version(key)} is that of {manifest.dataset}", remedy="build the dataset again"
        )
    require_pinned(place, key, manifest)
    return manifest


def dataset_content_hash(key: str, store: StorePath = None) -> str:
    """Content hash of a built dataset, 64 hexadecimal digits; see :func:`dataset_manifest` for errors."""
    return dataset_manifest(key, store).content_hash
