"""Puts a built dataset version into another store: everything first, its manifest last, nothing written over."""

from __future__ import annotations

import os
import shutil
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

from primabench_core.errors import CorruptDataError, PrimaBenchError, VersionExistsError
from primabench_core.store.address import Address
from primabench_core.store.faults import PRIVATE, named
from primabench_core.store.location import MANIFEST, SALT, Store, inside
from primabench_core.store.location import PRIVATE as PRIVATE_FOLDER
from primabench_core.store.lock import exclusive
from primabench_core.store.manifest import (
    ArtifactEntry,
    Manifest,
    PreparedManifest,
    PrivateManifest,
    read_manifest,
)
from primabench_core.store.mirror import version_path
from primabench_core.store.remote import ObjectExistsError, Remote
from primabench_core.store.staging import staging
from primabench_core.store.writing import Progress

THREADS = 4
"""Objects that are sent at a time; each is in memory meanwhile."""

StorePath = str | os.PathLike[str]


def publish(folder: StorePath, store: StorePath, progress: Progress | None = None, *, private: bool = True) -> Manifest:
    """Copy a built version, its splits and its private part to another store.

    Every object is compared with its SHA-256 on the way. The manifest is created last, and only if it is not there,
    so that nothing reads as a dataset before all of it has arrived. An interrupted call can be repeated: objects that
    arrived are compared and kept.

    Args:
        folder: The version's folder in a local store, ``…/output/{slug}/v{version}``.
        store: ``gs://``, ``s3://``, a folder, or a zip file that does not exist yet.
        progress: Called as ``progress(step, bytes done, bytes in all)``.
        private: Send the private part too. Who may read ``…/private/`` is for the rights of the bucket to say.

    Returns:
        The manifest that was published.

    Raises:
        VersionExistsError: the version is there, or objects of another build of it are.
        CorruptDataError: a stored object is not what the manifest says; nothing was published.
        StoreError: the store refuses, or can only be read.

    Example:
        >>> publish("store/doe_2020/output/x/v1.0.0", "gs://bucket/benchmarks")  # doctest: +SKIP
    """
    source = Path(folder)
    manifest = read_manifest(Manifest, source / MANIFEST)
    items = list(_items(source, manifest, private))
    count = _Count(progress, f"publishing {manifest.dataset}", sum(item[2] for item in items))
    address = Address.of(store)
    if address.kind == "file":
        _to_folder(source, Store.at(store), manifest, items, count)
    elif address.kind == "zip":
        _to_zip(source, Path(address.url.removeprefix("zip::")), manifest, items, count)
    else:
        _to_remote(source, Remote(address), manifest, items, count)
    return manifest


Item = tuple[str, str, int, bool]
"""Path below the version, SHA-256 (empty for manifests and the salt), bytes, whether it is private."""


class _Count:
    def __init__(self, progress: Progress | None, label: str, total: int) -> None:
        self._progress, self._label, self._total = progress, label, total
        self._done, self._lock = 0, threading.Lock()

    def add(self, size: int) -> None:
        with self._lock:
            self._done += size
            if self._progress:
                self._progress(self._label, self._done, self._total)


def _items(version: Path, manifest: Manifest, private: bool) -> Iterator[Item]:
    """Everything below a version but its manifest; inner manifests behind the objects that they name."""
    yield from _objects(version, "", manifest.artifacts, False)
    sealed = version / PRIVATE_FOLDER
    if private and manifest.solution_root:
        yield from _objects(
            sealed, PRIVATE_FOLDER, read_manifest(PrivateManifest, sealed / MANIFEST, private=True).artifacts, True
        )
        yield f"{PRIVATE_FOLDER}/{SALT}", "", 32, True
        yield from _manifest(version, PRIVATE_FOLDER, True)
    for mark in sorted(version.glob(f"*-p*/{MANIFEST}")):
        name = mark.parent.name
        half = f"{PRIVATE_FOLDER}/{name}"
        if private:
            answers = read_manifest(PrivateManifest, version / half / MANIFEST, private=True)
            yield from _objects(version / half, half, answers.artifacts, True)
            yield from _manifest(version, half, True)
        yield from _objects(mark.parent, name, read_manifest(PreparedManifest, mark).artifacts, False)
        yield from _manifest(version, name, False)


def _objects(base: Path, folder: str, entries: tuple[ArtifactEntry, ...], private: bool) -> Iterator[Item]:
    before = f"{folder}/" if folder else ""
    for entry in entries:
        inside(base, entry.path)
        for stored in entry.objects:
            yield f"{before}{entry.path}/{stored.path}", stored.sha256, stored.size, private


def _manifest(version: Path, folder: str, private: bool) -> Iterator[Item]:
    path = f"{folder}/{MANIFEST}"
    with named("read", version / path, private=private):
        yield path, "", (version / path).stat().st_size, private


def _read(version: Path, item: Item) -> bytes:
    """Bytes of an object, compared with its manifest."""
    path, digest, _, private = item
    with named("read", version / path, private=private):
        data = (version / path).read_bytes()
    if digest and sha256(data).hexdigest() != digest:
        raise CorruptDataError(
            f"{PRIVATE if private else version / path} is not what its manifest describes; nothing was published",
            remedy="primabench verify --dataset NAME; then build the dataset again",
        )
    return data


def _exists(manifest: Manifest, where: str) -> VersionExistsError:
    return VersionExistsError(
        f"{manifest.dataset} is in {where} already, and a version is never written over",
        remedy="give changed data a new version",
    )


def _to_remote(version: Path, remote: Remote, manifest: Manifest, items: list[Item], count: _Count) -> None:
    base = version_path(manifest.dataset)
    if remote.has(f"{base}/{MANIFEST}"):
        raise _exists(manifest, remote.address.url)

    def send(item: Item) -> None:
        data = _read(version, item)
        _create(remote, f"{base}/{item[0]}", data, item[3])
        count.add(item[2])

    with ThreadPoolExecutor(THREADS) as pool:
        jobs = [pool.submit(send, item) for item in items if not item[0].endswith(f"/{MANIFEST}")]
        try:
            for job in jobs:
                job.result()
        except PrimaBenchError:
            pool.shutdown(cancel_futures=True)
            raise
    for item in items:
        if item[0].endswith(f"/{MANIFEST}"):
            send(item)
    try:
        remote.create(f"{base}/{MANIFEST}", (version / MANIFEST).read_bytes())
    except ObjectExistsError:  # another publisher was faster
        raise _exists(manifest, remote.address.url) from None


def _create(remote: Remote, path: str, data: bytes, private: bool) -> None:
    """Create an object; one that is there with the same bytes was left by an interrupted call."""
    try:
        remote.create(path, data, private=private)
        return
    except ObjectExistsError:
        pass
    if remote.read(path, private=private) != data:
        raise VersionExistsError(
            f"{PRIVATE if private else remote.url(path)} is there with other bytes, of another build of this version",
            remedy="look at what lies there; remove it if no manifest stands beside it, or take a new version",
        )


def _to_folder(version: Path, store: Store, manifest: Manifest, items: list[Item], count: _Count) -> None:
    key = manifest.dataset
    with exclusive(store.lock(key)):
        if store.version(key).exists():
            raise _exists(manifest, str(store.root))
        with staging(store.dataset(key), store.staging_prefix(key)) as stage:
            for item in items:
                target = stage.result / item[0]
                if item[3] and not (stage.result / PRIVATE_FOLDER).exists():
                    (stage.result / PRIVATE_FOLDER).mkdir(mode=0o700)
                data = _read(version, item)
                with named("write", target, private=item[3]):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(data)
                count.add(item[2])
            shutil.copyfile(version / MANIFEST, stage.result / MANIFEST)
            stage.publish(store.version(key))


def _to_zip(version: Path, target: Path, manifest: Manifest, items: list[Item], count: _Count) -> None:
    """A zip of the store's layout, without compression: what is in it is compressed already."""
    if target.exists():
        raise VersionExistsError(f"{target} exists; it is not written over", remedy="choose another name")
    base, part = version_path(manifest.dataset), target.with_name(f".{target.name}.part")
    fixed = (1980, 1, 1, 0, 0, 0)  # the same version gives the same zip
    try:
        with named("write", target), zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            for item in items:
                archive.writestr(zipfile.ZipInfo(f"{base}/{item[0]}", fixed), _read(version, item))
                count.add(item[2])
            archive.writestr(zipfile.ZipInfo(f"{base}/{MANIFEST}", fixed), (version / MANIFEST).read_bytes())
        if any(item[3] for item in items):
            part.chmod(0o600)
        with named("write", target):
            part.rename(target)
    finally:
        part.unlink(missing_ok=True)
