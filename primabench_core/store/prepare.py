"""Splits of a task: a preparer turns a dataset's artifacts into train, test and solution, once per preparer version."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from hashlib import sha256
from importlib import resources
from pathlib import Path

from primabench_core.contract.evaldata import EvalData
from primabench_core.errors import CorruptDataError, MissingDataError, PluginError, PrimaBenchError, UnknownNameError
from primabench_core.spec.dataset import DatasetKey, PreparerSpec
from primabench_core.spec.task import TaskSpec
from primabench_core.store.artifact import SOLUTION_VIEW, Artifact
from primabench_core.store.faults import PRIVATE, named, plugin_code
from primabench_core.store.location import MANIFEST, Store, inside, parse_key, prepared_name
from primabench_core.store.lock import exclusive
from primabench_core.store.manifest import (
    FORMAT,
    ArtifactEntry,
    Manifest,
    PreparedManifest,
    PrivateManifest,
    read_manifest,
    write_manifest,
)
from primabench_core.store.splits import Splits, check_splits, told_names
from primabench_core.store.staging import publish, staging
from primabench_core.store.writing import Layout, Progress, make_private, private_root, write_entry
from primabench_core.store.zarr_io import open_lazy

__all__ = ["DatasetReader", "Splits", "find_preparer", "prepare", "prepare_all", "read_id_list", "require_built"]

TOLD = "told"
"""Attribute of stored answers: names in them that a public split holds too."""


class DatasetReader:
    """A dataset version as a preparer sees it, private views included.

    Attributes:
        key: Key of the dataset.
        manifest: Its public manifest.
        spec: The preparer's own declaration.
    """

    def __init__(self, store: Store, spec: PreparerSpec, owner: str = "") -> None:
        self._store, self._owner = store, owner or "the preparer's distribution"
        self.spec = spec
        self.key: DatasetKey = parse_key(spec.dataset)
        self.manifest: Manifest = read_manifest(Manifest, store.manifest(self.key))
        self._private: PrivateManifest | None = None
        if self.manifest.solution_root:
            self._private = read_manifest(PrivateManifest, store.private(self.key) / MANIFEST, private=True)

    def artifact(self, view: str, name: str = "data", split: str = "") -> EvalData:
        """Open an artifact; fields stay in the store until they are sliced or selected.

        Args:
            view: ``labelled``, ``censored``, ``solution`` …
            name: Name within the view.
            split: Where the source published splits.

        Raises:
            MissingDataError: the dataset has no such artifact.
        """
        for entry, private in self._entries():
            if (entry.view, entry.name, entry.split) == (view, name, split):
                base = self._store.private(self.key) if private else self._store.version(self.key)
                return open_lazy(inside(base, entry.path), private=private)
        raise MissingDataError(
            f"{self.key} has no artifact {name!r} in view {view!r}" + (f", split {split!r}" if split else ""),
            remedy=f"compare what the preparer of {self._owner} asks for with what the recipe returns",
        )

    def artifacts(self) -> tuple[tuple[str, str, str], ...]:
        """(view, name, split) of every artifact, private ones included."""
        return tuple(sorted((entry.view, entry.name, entry.split) for entry, _ in self._entries()))

    def _entries(self) -> list[tuple[ArtifactEntry, bool]]:
        hidden = self._private.artifacts if self._private else ()
        return [*((e, False) for e in self.manifest.artifacts), *((e, True) for e in hidden)]

    def id_list(self) -> dict[str, tuple[str, ...]]:
        """The frozen id list of the preparer: split -> ids, in the order of the file.

        The file has one ``id<TAB>split`` a line. Its SHA-256 is checked before it is used.

        Raises:
            PluginError: the preparer declares none, it is absent, malformed, or names an id twice.
            CorruptDataError: its checksum is not the declared one.
        """
        return read_id_list(self.spec, self._owner)


def read_id_list(spec: PreparerSpec, owner: str) -> dict[str, tuple[str, ...]]:
    """Read and check the frozen id list that a preparer declares; see :meth:`DatasetReader.id_list`."""
    what = f"the id list of preparer {spec.task}|{spec.dataset} ({owner})"
    tell = f"tell the authors of {owner}"
    package, _, inside_package = spec.id_list.partition(":")
    if not inside_package or not spec.id_list_sha256:
        raise PluginError(f"{what} is not declared: id_list is package:path and needs id_list_sha256", remedy=tell)
    try:
        data = resources.files(package).joinpath(*inside_package.split("/")).read_bytes()
    except (OSError, ModuleNotFoundError) as error:
        raise PluginError(f"{what} cannot be read: {error}", remedy=f"reinstall {owner}") from error
    digest = sha256(data).hexdigest()
    if digest != spec.id_list_sha256:
        raise CorruptDataError(
            f"{what} was changed: expected SHA-256 {spec.id_list_sha256}, found {digest}",
            remedy=f"reinstall {owner}; if the list is yours and unpublished: primabench check {owner} --pin",
        )
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for number, line in enumerate(data.decode("utf-8").splitlines(), 1):
        name, tab, split = line.partition("\t")
        if not tab or not name or not split or "\t" in split:
            raise PluginError(f"{what}: line {number} is not id<TAB>split", remedy=tell)
        if name in seen:
            raise PluginError(f"{what}: line {number} names the id {name!r} a second time", remedy=tell)
        seen.add(name)
        found.setdefault(split, []).append(name)
    return {split: tuple(ids) for split, ids in found.items()}


def prepare(
    task: str,
    key: str,
    store: str | Path | None = None,
    *,
    layout: Layout | None = None,
    answers: bool = False,
) -> PreparedManifest:
    """Make the splits of a task from a built dataset, unless they are there; see the module.

    A half whose manifest is gone counts as not there, and is made again: it is derived, so nothing is lost.

    Args:
        task: Name of the task.
        key: ``publication/slug@version``.
        store: The store.
        layout: Chunks, shards, threads.
        answers: The answers have to be there too, and not only what anyone may read.

    Raises:
        UnknownNameError: no preparer joins this task and this dataset.
        MissingDataError: the dataset is not built.
        CorruptDataError: it is not what its card pins.
        PluginError: the preparer failed, or what it returned breaks the rules of :class:`Splits`.
        StoreError: the disk refuses.
    """
    from primabench_core.discovery import registry

    spec, owner = find_preparer(task, key)
    task_spec: TaskSpec = registry.load("task", task)
    place = Store.at(store)
    folder = place.prepared(spec.dataset, spec.task, spec.version)
    require_built(place, spec.dataset)
    require_pinned(place, spec.dataset, read_manifest(Manifest, place.manifest(spec.dataset)))
    sealed = place.private(spec.dataset) / folder.name / MANIFEST

    def is_there() -> bool:
        with named("read", PRIVATE, private=True):
            return (folder / MANIFEST).is_file() and (not answers or sealed.is_file())

    if is_there():
        return read_manifest(PreparedManifest, folder / MANIFEST)
    with exclusive(place.lock(spec.dataset)):
        if is_there():  # another process was faster
            return read_manifest(PreparedManifest, folder / MANIFEST)
        reader = DatasetReader(place, spec, owner)
        function: Callable[[DatasetReader], Splits] = registry.resolve(spec.prepare, owner=owner)
        what = f"the preparer of {spec.task} for {spec.dataset}"
        with plugin_code(what, owner):
            splits = function(reader)
            splits = _in_memory(splits) if isinstance(splits, Splits) else splits
        check_splits(splits, task_spec, what, owner)
        _store_answers(splits, spec, place, layout or Layout())
        if (folder / MANIFEST).is_file():  # only the answers were gone
            return read_manifest(PreparedManifest, folder / MANIFEST)
        return _store_splits(splits, spec, task_spec, owner, reader.manifest, place, layout or Layout())


def find_preparer(task: str, key: str) -> tuple[PreparerSpec, str]:
    """The preparer that joins a task and a dataset, and its distribution.

    Raises:
        UnknownNameError: there is no such task, or the dataset is not one of the task's.
    """
    from primabench_core.discovery import names, registry

    registry.load("task", task)  # an unknown task is the better message
    parse_key(key)
    bare = names.bare(task)
    try:
        return registry.load("preparer", f"{bare}|{key}"), registry.distribution_of("preparer", f"{bare}|{key}")[0]
    except UnknownNameError:
        known = [name.partition("|")[2] for name in names.names("preparer") if name.startswith(f"{bare}|")]
        raise UnknownNameError(
            f"dataset of task {bare!r}", key, known, remedy=f"primabench list datasets --task {bare}"
        ) from None


def require_built(place: Store, key: str) -> None:
    """Refuse a dataset that is not in the store, with the line that brings it there.

    Raises:
        MissingDataError: it is not built.
    """
    from primabench_core.discovery import names

    if place.has(key):
        return
    if key in names.names("recipe"):
        remedy = f"primabench build {key}"
    else:
        remedy = "install the distribution that carries its recipe: pip install primabench-recipes"
    raise MissingDataError(f"{key} is not in the store {place.root}", remedy=remedy)


def require_pinned(place: Store, key: str, manifest: Manifest) -> None:
    """Refuse a dataset that was built by another state of its plugin than the one that is installed.

    Raises:
        CorruptDataError: its card pins another content hash; both are named.
    """
    from primabench_core.discovery import names, registry

    if key not in names.names("dataset"):
        return
    pinned = registry.load("dataset", key).content_hash
    if pinned and pinned != manifest.content_hash:
        owner = registry.distribution_of("dataset", key)[0]
        raise CorruptDataError(
            f"{key} in the store has content hash {manifest.content_hash}, but its card in {owner} pins {pinned}",
            remedy=f"install the version of {owner} that it was built with; or, if it is your own and unpublished, "
            f"remove {place.version(key)} and build it again",
        )


def prepare_all(
    key: str, store: str | Path | None = None, progress: Progress | None = None
) -> dict[str, PrimaBenchError]:
    """Prepare a dataset for every installed task that uses it; the failure of one does not stop the others.

    Returns:
        The failures, by task.
    """
    from primabench_core.discovery import names

    tasks = [task for name in names.names("preparer") for task, _, k in [name.partition("|")] if k == key]
    failures: dict[str, PrimaBenchError] = {}
    for done, task in enumerate(tasks):
        if progress:
            progress(f"preparing {task}", done, len(tasks))
        try:
            prepare(task, key, store)
        except PrimaBenchError as error:
            failures[task] = error
    if progress:
        progress("done", len(tasks), len(tasks))
    return failures


def _in_memory(splits: Splits) -> Splits:
    train = None if splits.train is None else splits.train.load()
    return Splits(train=train, test=splits.test.load(), solution=splits.solution.load(), columns=splits.columns)


def _store_answers(splits: Splits, spec: PreparerSpec, place: Store, layout: Layout) -> None:
    """Write the private half. It goes first: only the public manifest makes splits count."""
    folder, name = place.private(spec.dataset), prepared_name(spec.task, spec.version)
    columns = _known(splits, splits.solution)
    told = {TOLD: sorted(told_names(splits))}
    answers = Artifact(view=SOLUTION_VIEW, name="solution", data=splits.solution, columns=columns, attributes=told)
    with named("write", folder, private=True):
        if not folder.exists():
            make_private(folder)
        with staging(folder, f".staging-{name}-", private=True) as stage:
            half = stage.result / "half"
            make_private(half)
            entry = write_entry(half, answers, layout, "solution.zarr")
            root = private_root([entry]).hex()
            sealed = PrivateManifest(format=FORMAT, dataset=spec.dataset, root=root, artifacts=(entry,))
            write_manifest(sealed, half / MANIFEST)
            if (folder / name).exists():  # a process died before it wrote the public half
                shutil.rmtree(folder / name)
            publish(half, folder / name, private=True)


def _store_splits(
    splits: Splits,
    spec: PreparerSpec,
    task: TaskSpec,
    owner: str,
    dataset: Manifest,
    place: Store,
    layout: Layout,
) -> PreparedManifest:
    """Write the public half, its manifest last."""
    name = prepared_name(spec.task, spec.version)
    with staging(place.version(spec.dataset), f".staging-{name}-") as stage:
        entries = []
        for split, data in (("train", splits.train), ("test", splits.test)):
            if data is not None:
                part = Artifact(view="split", split=split, data=data, columns=_known(splits, data))
                entries.append(write_entry(stage.result, part, layout, f"{split}/data.zarr"))
        manifest = PreparedManifest(
            format=FORMAT,
            dataset=spec.dataset,
            content_hash=dataset.content_hash,
            task=spec.task,
            preparer_version=spec.version,
            distribution=owner,
            unsupervised=not task.supervised,
            artifacts=tuple(entries),
        )
        write_manifest(manifest, stage.result / MANIFEST)
        target = place.version(spec.dataset) / name
        if target.exists():  # its manifest is gone, so it is no splits
            with named("replace", target):
                shutil.rmtree(target)
        stage.publish(target)
    return manifest


def _known(splits: Splits, data: EvalData) -> dict[str, str]:
    return {name: coord for name, coord in splits.columns.items() if name in data.fields}
