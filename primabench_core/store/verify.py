"""Recomputes every hash of a stored dataset and names the first object that is not what its manifest says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

from attrs import frozen

from primabench_core.errors import CorruptDataError, PrimaBenchError, StoreError
from primabench_core.spec.dataset import DatasetSpec
from primabench_core.store.content import content_root
from primabench_core.store.faults import PRIVATE, named
from primabench_core.store.hashing import dataset_hash, file_sha256, salted_root
from primabench_core.store.location import MANIFEST, SALT, Store, inside
from primabench_core.store.location import PRIVATE as PRIVATE_FOLDER
from primabench_core.store.manifest import (
    ArtifactEntry,
    Manifest,
    PreparedManifest,
    PrivateManifest,
    StoredObject,
    read_manifest,
)
from primabench_core.store.mirror import Mirror, reach
from primabench_core.store.writing import Progress, private_root
from primabench_core.store.zarr_io import open_lazy, stored_attributes


@frozen
class Check:
    """One thing that was looked at."""

    name: str
    status: str
    """``passed``, ``failed`` or ``skipped``."""
    detail: str = ""


@frozen(kw_only=True)
class DatasetReport:
    """What verifying a dataset found."""

    dataset: str
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether everything agrees."""
        return all(check.status != "failed" for check in self.checks)

    @property
    def first_bad(self) -> str:
        """The first thing that does not agree, empty if all do."""
        return next((f"{c.name}: {c.detail}" for c in self.checks if c.status == "failed"), "")


@frozen
class _Part:
    """One artifact that has to be checked."""

    label: str
    base: Path
    entry: ArtifactEntry
    private: bool


def verify_dataset(
    key: str,
    store: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    *,
    objects: bool = True,
    content: bool = True,
    threads: int = 1,
) -> DatasetReport:
    """Recompute object hashes and content hashes of a dataset and of its prepared splits.

    Of a remote store all that the caller may read is brought into the cache first, each object compared with its
    SHA-256; then the cached copy is verified like a local one.

    Args:
        key: ``publication/slug@version``.
        store: The store; by default ``PRIMABENCH_STORE``.
        progress: Called as ``progress(step, done, total)``: bytes of stored objects that were looked at.
        objects: Compare every stored file with its SHA-256 and size; a file that no manifest names is a fault too.
        content: Recompute content hash v1 from the stored values.
        threads: Threads that hash: files, and leaves of arrays.

    Returns:
        One check a kind and artifact, in a fixed order. Private parts are checked without being named.

    Raises:
        MissingDataError: the dataset is not built.
        CorruptDataError: its manifest cannot be read, or an object of a remote store is damaged.

    Example:
        >>> verify_dataset("wolf_2018_genome_biology/pbmc68k_reduced@1.0.0").passed  # doctest: +SKIP
        True
    """
    from primabench_core.store.prepare import require_built

    place = reach(key, store)
    require_built(place, key)
    manifest = read_manifest(Manifest, place.manifest(key))
    checks: list[Check] = []
    hidden = _bring(place, checks, progress) if isinstance(place, Mirror) else True
    parts = list(_parts(place, key, manifest, checks, hidden))
    meter = _Meter(progress, sum(_size(part) for part in parts) * (objects + content))
    with ThreadPoolExecutor(max(1, threads)) as pool:
        for part in parts:
            meter.label = f"verifying {part.label}"
            if objects:
                checks.append(_check_objects(part, pool, meter))
            if content:
                checks.append(_check_content(part, threads, meter))
    checks += _check_strays(place, key, manifest, hidden)
    if hidden:
        checks.append(_check_salt(place, key, manifest))
    checks.append(_check_dataset(manifest))
    checks.append(_check_pin(key, manifest))
    meter.finish()
    return DatasetReport(dataset=key, checks=tuple(checks))


class _Meter:
    """Bytes that were looked at."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done, self.label = progress, total, 0, ""

    def add(self, size: float) -> None:
        self._done = min(self._total, self._done + int(size))
        if self._progress:
            self._progress(self.label, self._done, self._total)

    def finish(self) -> None:
        if self._progress:
            self._progress("done", self._total, self._total)


def _size(part: _Part) -> int:
    return sum(stored.size for stored in part.entry.objects)


def _bring(mirror: Mirror, checks: list[Check], progress: Progress | None) -> bool:
    """Bring a remote version; says whether its private part may be read."""
    mirror.bring_public(progress)
    specs = mirror.published()
    for spec in specs:
        mirror.bring_splits(spec, ("train", "test"), progress=progress)
    try:
        mirror.bring_everything(progress)
        for spec in specs:
            mirror.bring_solution(spec, progress)
    except CorruptDataError:
        raise
    except StoreError as error:
        checks.append(Check("private part", "skipped", error.message))
        return False
    return True


_DERIVED = "these splits are made again when they are fetched"


def _parts(place: Store, key: str, manifest: Manifest, checks: list[Check], hidden: bool) -> Iterator[_Part]:
    version, private = place.version(key), place.private(key)
    for entry in manifest.artifacts:
        yield _Part(entry.path, version, entry, False)
    if manifest.solution_root and hidden:
        yield from _sealed("private part", private, checks)
    for folder in sorted(p for p in version.glob("*-p*") if p.is_dir() and not p.name.startswith(".")):
        try:
            splits = read_manifest(PreparedManifest, folder / MANIFEST)
        except StoreError as error:
            checks.append(Check(f"manifest {folder.name}", "failed", f"{error.message}; {_DERIVED}"))
            continue
        for entry in splits.artifacts:
            yield _Part(f"{folder.name}/{entry.path}", folder, entry, False)
        if hidden:
            yield from _sealed(f"private part of {folder.name}", private / folder.name, checks, f"; {_DERIVED}")


def _sealed(label: str, folder: Path, checks: list[Check], hint: str = "") -> Iterator[_Part]:
    try:
        sealed = read_manifest(PrivateManifest, folder / MANIFEST, private=True)
    except StoreError as error:
        checks.append(Check(f"manifest {label}", "failed", error.message + hint))
        return
    for number, entry in enumerate(sealed.artifacts, 1):
        yield _Part(f"{label}, {number} of {len(sealed.artifacts)}", folder, entry, True)
    agrees = private_root(sealed.artifacts).hex() == sealed.root
    checks.append(_judge(f"manifest {label}", agrees, "its root does not follow from its entries"))


def _judge(name: str, agrees: bool, fault: str) -> Check:
    return Check(name, "passed") if agrees else Check(name, "failed", fault)


def _check_objects(part: _Part, pool: Executor, meter: _Meter) -> Check:
    name = f"objects {part.label}"
    folder = inside(part.base, part.entry.path)

    def look(stored: StoredObject) -> str:
        path = inside(folder, stored.path)
        size = path.stat().st_size
        if size != stored.size:
            return f"expected {stored.size} bytes, found {size}"
        return "" if file_sha256(path) == stored.sha256 else f"SHA-256 is not the recorded {stored.sha256}"

    def fault(path: str, what: str) -> Check:
        return Check(name, "failed", what if part.private else f"{part.entry.path}/{path}: {what}")

    try:
        with named("read", folder, private=part.private):
            present = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
            absent = next((stored.path for stored in part.entry.objects if stored.path not in present), None)
            if absent is not None:
                return fault(absent, "is missing")
            for stored, found in zip(part.entry.objects, pool.map(look, part.entry.objects), strict=True):
                meter.add(stored.size)
                if found:
                    return fault(stored.path, found)
            stray = sorted(present - {stored.path for stored in part.entry.objects})
            if stray:
                return fault(stray[0], "no manifest names this file")
    except PrimaBenchError as error:
        return Check(name, "failed", error.message)
    return Check(name, "passed", "" if part.private else f"{len(part.entry.objects)} files, {_size(part):,} bytes")


def _check_content(part: _Part, threads: int, meter: _Meter) -> Check:
    name = f"content {part.label}"
    folder, size = inside(part.base, part.entry.path), _size(part)
    try:
        attributes, columns = stored_attributes(folder, private=part.private)
        data = open_lazy(folder, private=part.private)
        root = content_root(
            data,
            attributes=attributes,
            columns=columns,
            threads=threads,
            advance=lambda share: meter.add(share * size),
        ).hex()
    except PrimaBenchError as error:
        return Check(name, "failed", error.message)
    shown = "" if part.private else f": expected {part.entry.root}, found {root}"
    return _judge(name, root == part.entry.root, f"the values are not those that were stored{shown}")


def _check_strays(place: Store, key: str, manifest: Manifest, hidden: bool) -> Iterator[Check]:
    """Whatever lies in the version's folder and belongs to nothing; answers of splits that have no public half."""
    version, private = place.version(key), place.private(key)
    known = {MANIFEST, PRIVATE_FOLDER, *(entry.path.partition("/")[0] for entry in manifest.artifacts)}
    with named("read", version):
        names = sorted(path.name for path in version.iterdir())
    splits = {name for name in names if "-p" in name and (version / name).is_dir()}
    strays = [name for name in names if name not in known | splits and not name.startswith(".")]
    yield _judge("folder of the version", not strays, f"{', '.join(strays)}: no manifest names this")
    if not hidden or not manifest.solution_root:
        return
    with named("read", PRIVATE, private=True):
        halves = {p.name for p in private.glob("*-p*") if not p.name.startswith(".")} if private.is_dir() else set()
    alone = sorted(halves - splits)
    fault = f"{', '.join(alone)}: the public half is gone; {_DERIVED}"
    yield _judge("both halves of prepared splits", not alone, fault)


def _check_salt(place: Store, key: str, manifest: Manifest) -> Check:
    name = "salted solution root"
    if not manifest.solution_root:
        return Check(name, "skipped", "nothing is private")
    try:
        sealed = read_manifest(PrivateManifest, place.private(key) / MANIFEST, private=True)
        with named("read", PRIVATE, private=True):
            salt = (place.private(key) / SALT).read_bytes()
    except StoreError as error:
        return Check(name, "failed", error.message)
    agrees = len(salt) == 32 and salted_root(salt, bytes.fromhex(sealed.root)).hex() == manifest.solution_root
    return _judge(name, agrees, f"{PRIVATE} is not the one that the manifest was written for")


def _check_dataset(manifest: Manifest) -> Check:
    entries = [(e.view, e.split, e.name, bytes.fromhex(e.root)) for e in manifest.artifacts]
    solution = bytes.fromhex(manifest.solution_root) if manifest.solution_root else None
    found = dataset_hash(entries, solution)
    return _judge(
        "dataset content hash", found == manifest.content_hash, f"expected {manifest.content_hash}, found {found}"
    )


def _check_pin(key: str, manifest: Manifest) -> Check:
    from primabench_core.discovery import names, registry

    name = "pinned content hash"
    if key not in names.names("dataset"):
        return Check(name, "skipped", "no installed distribution declares this dataset")
    card: DatasetSpec = registry.load("dataset", key)
    if not card.content_hash:
        return Check(name, "skipped", "its card pins none")
    fault = f"the card says {card.content_hash}, the store has {manifest.content_hash}"
    return _judge(name, card.content_hash == manifest.content_hash, fault)
