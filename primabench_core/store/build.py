"""Builds a dataset version: a recipe's artifacts, staged beside the target, the manifest last, then one rename."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import evolve

from primabench_core.discovery.origin import checkout_of
from primabench_core.errors import CorruptDataError, PluginError, VersionExistsError
from primabench_core.spec.dataset import DatasetKey, DatasetSpec, RecipeSpec
from primabench_core.store import sources as source_files
from primabench_core.store.artifact import Artifact
from primabench_core.store.faults import plugin_code
from primabench_core.store.hashing import dataset_hash
from primabench_core.store.location import MANIFEST, Store, parse_key
from primabench_core.store.lock import exclusive
from primabench_core.store.manifest import (
    FORMAT,
    ArtifactEntry,
    Manifest,
    RecipeRecord,
    SourceRecord,
    read_manifest,
    write_manifest,
)
from primabench_core.store.pins import Pins
from primabench_core.store.staging import staging
from primabench_core.store.writing import Layout, Progress, write_all

_log = logging.getLogger("primabench.store")


class BuildContext:
    """What a recipe's ``build(context)`` function is given.

    Attributes:
        spec: The recipe's own declaration.
        key: Key of the dataset that is built.
        workdir: An empty folder for anything temporary; removed after the build.

    Example:
        A recipe reads its sources through the context, so that each is checked and recorded::

            def build(context: BuildContext) -> list[Artifact]:
                table = read_my_format(context.source("cells"))
                labelled = EvalData({"expression": table.x, "label": table.y}, ids=table.ids)
                return [Artifact(view="labelled", data=labelled, private=True), ...]
    """

    def __init__(
        self,
        spec: RecipeSpec,
        workdir: Path,
        given: Mapping[str, Path] | None = None,
        *,
        pins: Pins | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.spec, self.workdir = spec, workdir
        self.key: DatasetKey = parse_key(spec.dataset)
        self._given = dict(given or {})
        self._pins, self._progress = pins, progress
        self._found: dict[str, tuple[Path, SourceRecord]] = {}

    def source(self, name: str) -> Path:
        """Path of a source's bytes, with its SHA-256 checked against the one that is declared or pinned.

        A file of an installed package is found without importing that package; a source with an address is
        downloaded into ``workdir``, and its checksum is recorded if none was known; a source that the user brings is
        a folder.

        Args:
            name: ``Source.name`` of one of the recipe's sources.

        Raises:
            StoreError: the source cannot be had.
            CorruptDataError: it is not the file that the recipe was written for; both checksums are named.
            MissingPluginError: the package that carries it is not installed.
        """
        if name not in self._found:
            path, record, told = source_files.obtain(
                self.spec, name, self.workdir, self._given, self._pins, self._progress
            )
            if told:
                _log.warning("%s", told)
            self._found[name] = (path, record)
        return self._found[name][0]

    def records(self) -> list[SourceRecord]:
        """Every declared source with its checksum, in the order of the recipe; reads those not asked for yet."""
        for source in self.spec.sources:
            self.source(source.name)
        return [self._found[source.name][1] for source in self.spec.sources]


def build_dataset(
    key: str,
    store: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    *,
    sources: Mapping[str, str | os.PathLike[str]] | None = None,
    exist_ok: bool = False,
    layout: Layout | None = None,
    audit: Callable[[list[str]], object] | None = None,
) -> Manifest:
    """Run the recipe of a dataset, put the result into the store, and prepare the splits of every task that uses it.

    Nothing reads as a dataset before all of it is on the disk; what an interrupted build leaves is removed by the
    next one. Two processes that build the same version take turns.

    Args:
        key: ``publication/slug@version`` of an installed recipe.
        store: Folder to build into; by default ``PRIMABENCH_STORE``, then the user's data folder.
        progress: Called as ``progress(step, done, total)``.
        sources: Copies of sources at hand, by name, in place of a download.
        exist_ok: Return the manifest of a version that is there already, instead of refusing.
        layout: Sizes of chunks and shards, threads; the content hash does not depend on them.
        audit: Called with the findings of the recipe's leak audit, as sentences, where the recipe has one.

    Returns:
        The public manifest.

    Raises:
        VersionExistsError: the version is there; it is never written over.
        UnknownNameError: no recipe of that name is installed.
        MissingPluginError: a distribution that the recipe needs is not installed.
        CorruptDataError: a source or the result is not what is pinned; both hashes are named.
        StoreError: a source cannot be had, or the disk refuses.

    Example:
        >>> build_dataset("wolf_2018_genome_biology/pbmc68k_reduced@1.0.0").synthetic  # doctest: +SKIP
        False
    """
    from primabench_core.discovery import registry
    from primabench_core.store.prepare import prepare_all

    spec: RecipeSpec = registry.load("recipe", key)
    card: DatasetSpec = registry.load("dataset", key)  # "distribution:key" names both
    owner = registry.distribution_of("recipe", key)
    place = Store.at(store)
    with exclusive(place.lock(spec.dataset)):
        if place.version(spec.dataset).exists():
            if exist_ok and place.has(spec.dataset):
                return read_manifest(Manifest, place.manifest(spec.dataset))
            raise _refusal(place, spec.dataset)
        manifest = _build(place, spec, card, owner, sources or {}, layout or Layout(), progress, audit)
    for task, failure in prepare_all(spec.dataset, store=place.root, progress=progress).items():
        _log.warning("%s is built, but task %s cannot use it: %s", spec.dataset, task, failure)
    return manifest


def hash_of_build(key: str) -> str:
    """The content hash that the recipe of a dataset reaches now, whatever its card pins; nothing is kept.

    Raises:
        UnknownNameError, MissingPluginError, CorruptDataError, StoreError: as :func:`build_dataset`.

    Example:
        >>> len(hash_of_build("wolf_2018_genome_biology/pbmc68k_reduced@1.0.0"))  # doctest: +SKIP
        64
    """
    from primabench_core.discovery import registry

    spec: RecipeSpec = registry.load("recipe", key)
    card = evolve(registry.load("dataset", key), content_hash="")
    with TemporaryDirectory(prefix="primabench-hash-") as folder:
        manifest = _build(Store.at(folder), spec, card, registry.distribution_of("recipe", key), {}, Layout(), None)
    return manifest.content_hash


def _build(
    place: Store,
    spec: RecipeSpec,
    card: DatasetSpec,
    owner: tuple[str, str],
    given: Mapping[str, str | os.PathLike[str]],
    layout: Layout,
    progress: Progress | None,
    audit: Callable[[list[str]], object] | None = None,
) -> Manifest:
    """Stage, fill, compare, publish; the caller holds the lock and has seen that the version is not there."""
    from primabench_core.discovery import registry

    distribution, version = owner
    packages = source_files.check_requirements(spec, distribution, given)
    function = registry.resolve(spec.build, owner=distribution)
    with staging(place.dataset(spec.dataset), place.staging_prefix(spec.dataset)) as stage:
        pins = Pins(spec, place.dataset(spec.dataset), checkout=checkout_of(distribution) is not None)
        paths = {name: Path(path) for name, path in given.items()}
        context = BuildContext(spec, stage.work, paths, pins=pins, progress=progress)
        _say(progress, "running the recipe", 0, 1)
        artifacts = _run(function, context, distribution)
        records = context.records()
        recipe = source_files.recipe_record(spec, distribution, version, packages)
        public, solution = write_all(stage.result, spec.dataset, artifacts, records, layout, progress)
        manifest = _manifest(card, spec, recipe, records, public, solution)
        _compare(card, manifest)
        write_manifest(manifest, stage.result / MANIFEST)
        findings = _audit(spec, artifacts, distribution) if audit and spec.audit else []
        stage.publish(place.version(spec.dataset))
    if audit and findings:
        audit(findings)
    return manifest


def _audit(spec: RecipeSpec, artifacts: list[Artifact], distribution: str) -> list[str]:
    from primabench_core.discovery import registry

    look: Callable[[RecipeSpec, list[Artifact]], Iterable[str]] = registry.resolve(spec.audit, owner=distribution)
    with plugin_code(f"the leak audit of {spec.dataset}", distribution):
        return [str(line) for line in look(spec, artifacts)]


def _say(progress: Progress | None, step: str, done: int, total: int) -> None:
    if progress is not None:
        progress(step, done, total)


def _refusal(place: Store, key: str) -> VersionExistsError:
    folder = place.version(key)
    if place.has(key):
        return VersionExistsError(
            f"{key} is in the store already ({folder}), and a version is never written over",
            remedy="give changed data a new version; to build this one elsewhere, point PRIMABENCH_STORE there",
        )
    return VersionExistsError(
        f"{folder} exists but has no {MANIFEST}, so it is no dataset; it is not written over either",
        remedy="look at what lies there and remove that folder, then build again",
    )


def _run(function: Callable[[BuildContext], Iterable[Artifact]], context: BuildContext, owner: str) -> list[Artifact]:
    """Let the recipe work, and check what it returns."""
    key, tell = context.spec.dataset, f"tell the authors of {owner}"
    with plugin_code(f"the recipe of {key}", owner, private=not all(s.public for s in context.spec.sources)):
        found = list(function(context))
    strange = next((item for item in found if not isinstance(item, Artifact)), None)
    if strange is not None or not found:
        what = f"returned {type(strange).__name__}" if found else "returned nothing"
        raise PluginError(
            f"the recipe of {key} ({owner}) {what}; expected primabench_core.store.artifact.Artifact values",
            remedy=tell,
        )
    paths = [item.path for item in found]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice:
        raise PluginError(f"the recipe of {key} ({owner}) returned {twice} twice", remedy=tell)
    for item in found:
        repeated = [name for name, count in Counter(item.data.ids or ()).items() if count > 1]
        if repeated:
            raise PluginError(
                f"the recipe of {key} ({owner}) gave the id {repeated[0]!r} to several rows of {item.path}",
                remedy=tell,
            )
    return found


def _manifest(
    card: DatasetSpec,
    spec: RecipeSpec,
    recipe: RecipeRecord,
    records: list[SourceRecord],
    public: list[ArtifactEntry],
    solution: bytes | None,
) -> Manifest:
    entries = [(e.view, e.split, e.name, bytes.fromhex(e.root)) for e in public]
    return Manifest(
        format=FORMAT,
        dataset=spec.dataset,
        content_hash=dataset_hash(entries, solution),
        solution_root=solution.hex() if solution else "",
        title=card.title,
        publication=card.publication,
        doi=card.doi,
        origin=card.origin,
        licence=card.licence,
        synthetic=card.is_synthetic,
        curator=spec.curator,
        history=spec.history,
        recipe=recipe,
        sources=tuple(records),
        artifacts=tuple(public),
    )


def _compare(card: DatasetSpec, manifest: Manifest) -> None:
    if card.content_hash and card.content_hash != manifest.content_hash:
        raise CorruptDataError(
            f"the build of {card.key} did not reach its content hash: expected {card.content_hash}, "
            f"got {manifest.content_hash}",
            remedy="the recipe, a source or a reading library changed: give a published dataset a new version; where "
            "nobody has the old one, pin the new hash (DatasetSpec.content_hash; primabench check DISTRIBUTION --pin)",
        )
