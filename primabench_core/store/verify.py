"""Recomputes every hash of a stored dataset and names the first object that is not what its manifest says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from primabench_core.errors import PrimaBenchError, StoreError
from primabench_core.spec.dataset import DatasetSpec
from primabench_core.store.content import content_root
from primabench_core.store.faults import PRIVATE, named
from primabench_core.store.hashing import dataset_hash, file_sha256, salted_root
from primabench_core.store.location import MANIFEST, SALT, Store, inside
from primabench_core.store.manifest import (
    ArtifactEntry,
    Manifest,
    PreparedManifest,
    PrivateManifest,
    read_manifest,
)
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

    Args:
        key: ``publication/slug@version``.
        store: Folder of the store; by default ``PRIMABENCH_STORE``.
        progress: Called as ``progress(step, done, total)``, once an artifact.
        objects: Compare every stored file with its SHA-256 and size; a file that no manifest names is a fault too.
        content: Recompute content hash v1 from the stored values.
        threads: Threads that hash.

    Returns:
        One check a kind and artifact, in a fixed order. Private parts are checked without being named.

    Raises:
        MissingDataError: the dataset is not built.
        CorruptDataError: its manifest cannot be read.

    Example:
        >>> verify_dataset("wolf_2018_genome_biology/pbmc68k_reduced@1.0.0").passed  # doctest: +SKIP
        True
    """
    from primabench_core.store.prepare import require_built

    place = Store.at(store)
    require_built(place, key)
    manifest = read_manifest(Manifest, place.manifest(key))
    checks: list[Check] = []
    parts = list(_parts(place, key, manifest, checks))
    for done, part in enumerate(parts):
        if progress:
            progress(f"verifying {part.label}", done, len(parts))
        if objects:
            checks.append(_check_objects(part))
        if content:
            checks.append(_check_content(part, threads))
    checks.append(_check_salt(place, key, manifest))
    checks.append(_check_dataset(manifest))
    checks.append(_check_pin(key, manifest))
    if progress:
        progress("done", len(parts), len(parts))
    return DatasetReport(dataset=key, checks=tuple(checks))


def _parts(place: Store, key: str, manifest: Manifest, checks: list[Check]) -> Iterator[_Part]:
    version, private = place.version(key), place.private(key)
    for entry in manifest.artifacts:
        yield _Part(entry.path, version, entry, False)
    if manifest.solution_root:
        yield from _sealed("private part", private, checks)
    for folder in sorted(p.parent for p in version.glob(f"*-p*/{MANIFEST}")):
        try:
            splits = read_manifest(PreparedManifest, folder / MANIFEST)
        except StoreError as error:
            checks.append(Check(f"manifest {folder.name}", "failed", error.message))
            continue
        for entry in splits.artifacts:
            yield _Part(f"{folder.name}/{entry.path}", folder, entry, False)
        yield from _sealed(f"private part of {folder.name}", private / folder.name, checks)


def _sealed(label: str, folder: Path, checks: list[Check]) -> Iterator[_Part]:
    try:
        sealed = read_manifest(PrivateManifest, folder / MANIFEST, private=True)
    except StoreError as error:
        checks.append(Check(f"manifest {label}", "failed", error.message))
        return
    for number, entry in enumerate(sealed.artifacts, 1):
        yield _Part(f"{label}, {number} of {len(sealed.artifacts)}", folder, entry, True)
    agrees = private_root(sealed.artifacts).hex() == sealed.root
    checks.append(_judge(f"manifest {label}", agrees, "its root does not follow from its entries"))


def _judge(name: str, agrees: bool, fault: str) -> Check:
    return Check(name, "passed") if agrees else Check(name, "failed", fault)


def _check_objects(part: _Part) -> Check:
    name = f"objects {part.label}"
    folder = inside(part.base, part.entry.path)

    def fault(path: str, what: str) -> Check:
        return Check(name, "failed", what if part.private else f"{part.entry.path}/{path}: {what}")

    try:
        with named("read", folder, private=part.private):
            present = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
            for stored in part.entry.objects:
                if stored.path not in present:
                    return fault(stored.path, "is missing")
                path = inside(folder, stored.path)
                if path.stat().st_size != stored.size:
                    return fault(stored.path, f"expected {stored.size} bytes, found {path.stat().st_size}")
                if file_sha256(path) != stored.sha256:
                    return fault(stored.path, f"SHA-256 is not the recorded {stored.sha256}")
            stray = sorted(present - {stored.path for stored in part.entry.objects})
            if stray:
                return fault(stray[0], "no manifest names this file")
    except PrimaBenchError as error:
        return Check(name, "failed", error.message)
    size = sum(stored.size for stored in part.entry.objects)
    return Check(name, "passed", "" if part.private else f"{len(part.entry.objects)} files, {size:,} bytes")


def _check_content(part: _Part, threads: int) -> Check:
    name = f"content {part.label}"
    folder = inside(part.base, part.entry.path)
    try:
        attributes, columns = stored_attributes(folder, private=part.private)
        data = open_lazy(folder, private=part.private)
        root = content_root(data, attributes=attributes, columns=columns, threads=threads).hex()
    except PrimaBenchError as error:
        return Check(name, "failed", error.message)
    shown = "" if part.private else f": expected {part.entry.root}, found {root}"
    return _judge(name, root == part.entry.root, f"the values are not those that were stored{shown}")


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
