"""A dataset version of a remote store, mirrored in the cache as far as it was asked for.

A mirror is a local store: preparers, the runner and readers work on it without knowing. What it needs is brought
first, by :class:`Mirror`; nothing that is here already asks the network.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from attrs import field, frozen

from primabench_core.errors import CorruptDataError, MissingDataError, StoreError
from primabench_core.spec.dataset import PreparerSpec
from primabench_core.store import cache
from primabench_core.store.address import Address
from primabench_core.store.faults import PRIVATE, named
from primabench_core.store.fetching import CACHE_VARIABLE, Wanted, fetch_objects, is_here, put_file
from primabench_core.store.hashing import canonical_json, dataset_hash, salted_root
from primabench_core.store.location import MANIFEST, SALT, Store, parse_key, prepared_name
from primabench_core.store.location import PRIVATE as PRIVATE_FOLDER
from primabench_core.store.lock import exclusive
from primabench_core.store.manifest import (
    ArtifactEntry,
    Manifest,
    PreparedManifest,
    PrivateManifest,
    parse_manifest,
    read_manifest,
)
from primabench_core.store.plain import write
from primabench_core.store.remote import Remote
from primabench_core.store.writing import Progress, make_private

MANIFEST_BYTES = 256 << 20
"""More than a manifest of 1e5 objects takes; what is larger is none."""

_STALE = 6 * 3600.0
"""Seconds after which an unfinished object was left by a process that died."""

StorePath = str | os.PathLike[str] | None
M = TypeVar("M", Manifest, PrivateManifest, PreparedManifest)


def reach(key: str, store: StorePath = None) -> Store:
    """The store that is named, as a local one: itself, or the mirror of a version of a remote one.

    Raises:
        MissingDataError: the remote store has no such version.
        CorruptDataError: its manifest is damaged, or another one than before.
        StoreError: the store or the cache cannot be used.
    """
    address = Address.of(store)
    return Store.at(store) if address.is_local else Mirror.open(address, key)


def complete(
    place: Store, spec: PreparerSpec, *splits: str, lazy: bool = False, progress: Progress | None = None
) -> None:
    """Bring public splits of a task, where the store is a mirror; with nothing to bring, nothing happens."""
    if isinstance(place, Mirror):
        place.bring_splits(spec, splits, lazy=lazy, progress=progress)


def complete_solution(place: Store, spec: PreparerSpec) -> None:
    """Bring the answers of a task, where the store is a mirror. Only the runner asks for them."""
    if isinstance(place, Mirror):
        place.bring_solution(spec)


@frozen
class Mirror(Store):
    """A unit of the cache with the store that fills it."""

    key: str = ""
    remote: Remote = field(default=None, repr=False, eq=False)  # always given by open()
    _prefix: list[str] = field(factory=list, repr=False, eq=False)

    @classmethod
    def open(cls, address: Address, key: str) -> Mirror:
        """The mirror of a version, with its manifest here; see :func:`reach`."""
        remote = Remote(address)
        known = _known_hash(address, key)
        if known:
            root = cache.unit_root(address, known)
            cache.hold(root)
            here = cls(root, key, remote)
            if here.has(key):
                return here
        prefix, data = _first_manifest(remote, key)
        manifest = parse_manifest(Manifest, data, remote.url(_join(prefix, MANIFEST)))
        _check(manifest, key, remote)
        if known and manifest.content_hash != known:
            raise CorruptDataError(
                f"{key} in {address.url} was changed: its content hash was {known} and is {manifest.content_hash}; "
                "a published version never changes",
                remedy=f"ask who publishes it; to take the new one: primabench cache clear --dataset {key}",
            )
        root = cache.unit_root(address, manifest.content_hash)
        cache.hold(root)
        mirror = cls(root, key, remote, [prefix])
        mirror._begin(manifest.content_hash, data)
        return mirror

    def _begin(self, content_hash: str, data: bytes) -> None:
        origin = cache.Origin(self.remote.address.url, self.key, content_hash)
        temporary = self._temporary()
        put_file(self.root / cache.ORIGIN, canonical_json(write(origin)), temporary)
        put_file(self.manifest(self.key), data, temporary)
        put_file(cache.name_file(self.remote.address, self.key), content_hash.encode(), temporary)

    def _temporary(self) -> Path:
        """Folder for unfinished objects; answers may lie there for a moment."""
        folder = self.root / cache.TEMPORARY
        with named("write to the cache", self.root, variable=CACHE_VARIABLE):
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o700)
            for part in folder.glob("*.part"):
                if time.time() - part.stat().st_mtime > _STALE:
                    part.unlink(missing_ok=True)
        return folder

    def bring_splits(
        self, spec: PreparerSpec, splits: Sequence[str], *, lazy: bool = False, progress: Progress | None = None
    ) -> None:
        """Bring public splits of a task; where the store has none, bring what its preparer needs.

        Args:
            spec: The preparer.
            splits: ``train``, ``test``.
            lazy: Metadata only; chunks come when they are read.
            progress: Called as ``progress(step, bytes done, bytes in all)``.
        """
        name = prepared_name(spec.task, spec.version)
        manifest = self._manifest_here(PreparedManifest, name)
        if manifest is None:
            if not (self.version(self.key) / name / MANIFEST).exists():
                self.bring_everything(progress)
            return
        if (
            manifest.task != spec.task
            or manifest.content_hash != read_manifest(Manifest, self.manifest(self.key)).content_hash
        ):
            raise CorruptDataError(
                f"the splits of task {spec.task!r} in {self.remote.address.url} were not made from {self.key} as it is",
                remedy="ask who publishes them; a local build prepares its own",
            )
        entries = [entry for split in splits if (entry := manifest.split(split))]
        self._bring(name, entries, False, f"fetching {spec.task}", lazy=lazy, progress=progress)

    def bring_solution(self, spec: PreparerSpec, progress: Progress | None = None) -> None:
        """Bring the answers of a task into the private folder of the mirror."""
        name = prepared_name(spec.task, spec.version)
        sealed = f"{PRIVATE_FOLDER}/{name}"
        if self._manifest_here(PreparedManifest, name) is None:
            self.bring_everything(progress)
            return
        self._private_folder()
        manifest = self._manifest_here(PrivateManifest, sealed)
        if manifest is None:
            raise MissingDataError(
                f"{self.remote.address.url} gives no answers of {self.key} for task {spec.task!r}",
                remedy="who scores needs the right to read the private part of that store; or build the dataset",
            )
        self._bring(sealed, list(manifest.artifacts), True, "fetching the private part", progress=progress)

    def bring_salt(self) -> None:
        """Bring the bytes that salt digests of the truth, and see that they belong to the public manifest."""
        folder = self.private(self.key)
        if (folder / SALT).is_file():
            return
        self._private_folder()
        sealed = self._manifest_here(PrivateManifest, PRIVATE_FOLDER)
        if sealed is None:
            raise MissingDataError(
                f"{self.remote.address.url} gives no private part of {self.key}",
                remedy="who scores needs the right to read it; or build the dataset",
            )
        salt = self.remote.read(self._path(f"{PRIVATE_FOLDER}/{SALT}"), private=True, limit=1 << 10)
        public = read_manifest(Manifest, self.manifest(self.key))
        if len(salt) != 32 or salted_root(salt, bytes.fromhex(sealed.root)).hex() != public.solution_root:
            raise CorruptDataError(
                f"{PRIVATE} in {self.remote.address.url} is not the one that belongs to the manifest of {self.key}",
                remedy="that copy is damaged; use another store or build the dataset",
            )
        put_file(folder / SALT, salt, self._temporary(), private=True)

    def bring_public(self, progress: Progress | None = None) -> None:
        """Bring all public views."""
        manifest = read_manifest(Manifest, self.manifest(self.key))
        self._bring("", list(manifest.artifacts), False, f"fetching {self.key}", progress=progress)

    def bring_everything(self, progress: Progress | None = None) -> None:
        """Bring all views, private ones included: what a preparer may read."""
        self.bring_public(progress)
        if not read_manifest(Manifest, self.manifest(self.key)).solution_root:
            return
        self._private_folder()
        self.bring_salt()
        sealed = self._manifest_here(PrivateManifest, PRIVATE_FOLDER)
        if sealed is not None:
            self._bring(PRIVATE_FOLDER, list(sealed.artifacts), True, "fetching the private part", progress=progress)

    def published(self) -> list[PreparerSpec]:
        """Installed preparers whose splits the store has."""
        from primabench_core.discovery import names, registry

        mine = [name for name in names.names("preparer") if name.partition("|")[2] == self.key]
        specs: list[PreparerSpec] = [registry.load("preparer", name) for name in mine]
        return [s for s in specs if self._manifest_here(PreparedManifest, prepared_name(s.task, s.version)) is not None]

    def wanted(self, folder: str, entries: Sequence[ArtifactEntry], private: bool) -> list[Wanted]:
        """Objects of artifacts, with their places here and there."""
        base = self.version(self.key) / folder
        return [
            Wanted(
                self._path(_join(folder, f"{entry.path}/{stored.path}")),
                base / entry.path / stored.path,
                stored.sha256,
                stored.size,
                private,
            )
            for entry in entries
            for stored in entry.objects
        ]

    def _bring(
        self,
        folder: str,
        entries: Sequence[ArtifactEntry],
        private: bool,
        label: str,
        *,
        lazy: bool = False,
        progress: Progress | None = None,
    ) -> None:
        items = self.wanted(folder, entries, private)
        self.bring_objects([i for i in items if i.path.endswith("zarr.json")] if lazy else items, progress, label)

    def bring_objects(self, items: Sequence[Wanted], progress: Progress | None = None, label: str = "fetching") -> None:
        """Bring objects that are not here, one process at a time."""
        if all(is_here(item) for item in items):
            return
        with exclusive(self.root.with_name(f"{self.root.name}.lock"), variable=CACHE_VARIABLE):
            absent = [item for item in items if not is_here(item)]  # another process may have been faster
            cache.make_room(sum(item.size for item in absent), keep=self.root)
            fetch_objects(self.remote, absent, self._temporary(), progress, label)

    def _manifest_here(self, kind: type[M], folder: str) -> M | None:
        """A manifest below the version, fetched if it is not here; None if the store has none."""
        private = kind is PrivateManifest
        path = self.version(self.key) / folder / MANIFEST
        if not path.exists():
            try:
                data = self.remote.read(self._path(_join(folder, MANIFEST)), limit=MANIFEST_BYTES, private=private)
            except MissingDataError:
                return None
            shown = PRIVATE if private else self.remote.url(self._path(_join(folder, MANIFEST)))
            found = parse_manifest(kind, data, shown, private=private)
            if found.dataset != self.key:
                raise CorruptDataError(f"the manifest {shown} is that of another dataset", remedy="use another store")
            put_file(path, data, self._temporary(), private=private)
            return found
        return read_manifest(kind, path, private=private)

    def _private_folder(self) -> None:
        folder = self.private(self.key)
        with named("write to the cache", folder, private=True, variable=CACHE_VARIABLE):
            if not folder.exists():
                make_private(folder)
            elif stat.S_IMODE(folder.stat().st_mode) & 0o077:
                folder.chmod(0o700)

    def _path(self, inner: str) -> str:
        """Address of something below the version, below the store."""
        if not self._prefix:
            zipped = self.remote.address.kind == "zip"
            self._prefix.append(_zip_prefix(self.remote, self.key) if zipped else version_path(self.key))
        return _join(self._prefix[0], inner)


def version_path(key: str) -> str:
    """Folder of a version below the root of any store."""
    parts = parse_key(key)
    return f"{parts.publication}/output/{parts.slug}/v{parts.version}"


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _known_hash(address: Address, key: str) -> str:
    path = cache.name_file(address, key)
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"cannot read {path}: {type(error).__name__}", remedy="primabench cache clear") from None


def _first_manifest(remote: Remote, key: str) -> tuple[str, bytes]:
    prefix = _zip_prefix(remote, key) if remote.address.kind == "zip" else version_path(key)
    fault: MissingDataError
    try:
        return prefix, remote.read(_join(prefix, MANIFEST), limit=MANIFEST_BYTES)
    except MissingDataError as error:
        fault = error
    raise MissingDataError(
        f"{key} is not in the store {remote.address.url}: {fault.message}",
        remedy=f"check PRIMABENCH_STORE and the version; if the store has moved, point PRIMABENCH_STORE at its new "
        f"address; or build it: primabench build {key} --store FOLDER",
    )


def _zip_prefix(remote: Remote, key: str) -> str:
    """A zip holds a store, one version with its folder, or just what is in that folder."""
    for prefix in (version_path(key), f"v{parse_key(key).version}", ""):
        if remote.has(_join(prefix, MANIFEST)):
            return prefix
    return version_path(key)


def _check(manifest: Manifest, key: str, remote: Remote) -> None:
    """A manifest that came over a network must be about this dataset and follow from its own entries."""
    from primabench_core.discovery import names, registry

    where, again = f"{key} in {remote.address.url}", "that copy is damaged; use another store or build the dataset"
    if manifest.dataset != key:
        raise CorruptDataError(f"the manifest of {where} is that of {manifest.dataset}", remedy=again)
    entries = [(e.view, e.split, e.name, bytes.fromhex(e.root)) for e in manifest.artifacts]
    solution = bytes.fromhex(manifest.solution_root) if manifest.solution_root else None
    if dataset_hash(entries, solution) != manifest.content_hash:
        raise CorruptDataError(f"the content hash of {where} does not follow from its manifest", remedy=again)
    pinned = registry.load("dataset", key).content_hash if key in names.names("dataset") else ""
    if pinned and pinned != manifest.content_hash:
        raise CorruptDataError(
            f"{where} is not the dataset that its card pins: expected {pinned}, found {manifest.content_hash}",
            remedy=again,
        )
