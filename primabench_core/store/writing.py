"""Writes artifacts below a folder and describes what was written; private ones into a folder of their own."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import frozen

from primabench_core.store.artifact import Artifact
from primabench_core.store.content import content_root
from primabench_core.store.faults import named
from primabench_core.store.hashing import entries_root, file_sha256, salted_root
from primabench_core.store.location import MANIFEST, PRIVATE, SALT
from primabench_core.store.manifest import (
    FORMAT,
    ArtifactEntry,
    PrivateManifest,
    SourceRecord,
    StoredObject,
    write_manifest,
)
from primabench_core.store.sources import salt_of
from primabench_core.store.zarr_io import CHUNK_BYTES, SHARD_BYTES, write

Progress = Callable[[str, int, int], None]
"""Called as ``progress(step, done, total)``."""


@frozen(kw_only=True)
class Layout:
    """How bytes are stored and hashed; none of it changes a content hash."""

    chunk_bytes: int = CHUNK_BYTES
    """Unit of reading."""
    shard_bytes: int = SHARD_BYTES
    """Size of a file before compression."""
    compress: bool = True
    """Whether chunks are compressed with zstd."""
    checksum: bool = True
    """Whether each chunk carries a checksum."""
    threads: int = 1
    """Threads that hash."""


def write_all(
    folder: Path,
    key: str,
    artifacts: Sequence[Artifact],
    sources: list[SourceRecord],
    layout: Layout,
    progress: Progress | None = None,
) -> tuple[list[ArtifactEntry], bytes | None]:
    """Write the artifacts of a dataset version.

    Args:
        folder: Empty folder that becomes the version.
        key: Key of the dataset.
        artifacts: What the recipe returned.
        sources: Sources that were read; they decide the salt.
        layout: Chunks, shards, threads.
        progress: Told about each artifact; private ones stay nameless.

    Returns:
        Entries of the public artifacts, sorted, and the salted root of the private ones (None if there are none).
    """
    public: list[ArtifactEntry] = []
    hidden: list[ArtifactEntry] = []
    private = folder / PRIVATE
    if any(artifact.is_private for artifact in artifacts):
        with named("write", private, private=True):
            make_private(private)
    for done, artifact in enumerate(sorted(artifacts, key=lambda a: a.path)):
        if progress:
            shown = "the private part" if artifact.is_private else artifact.path
            progress(f"writing {shown}", done, len(artifacts))
        if artifact.is_private:
            hidden.append(write_entry(private, artifact, layout))
        else:
            public.append(write_entry(folder, artifact, layout))
    if not hidden:
        return public, None
    root = private_root(hidden)
    salt = salt_of(sources) or secrets.token_bytes(32)
    sealed = PrivateManifest(format=FORMAT, dataset=key, root=root.hex(), artifacts=tuple(hidden))
    with named("write", private, private=True):
        (private / SALT).write_bytes(salt)
        write_manifest(sealed, private / MANIFEST)
    return public, salted_root(salt, root)


def make_private(folder: Path) -> None:
    """A folder that nobody but its owner may look into."""
    folder.mkdir(mode=0o700, parents=True)
    folder.chmod(0o700)  # mkdir's mode is narrowed by the process, never widened


def private_root(entries: Sequence[ArtifactEntry]) -> bytes:
    """Digest over private artifacts, before the salt."""
    return entries_root((e.view, e.split, e.name, bytes.fromhex(e.root)) for e in entries)


def write_entry(folder: Path, artifact: Artifact, layout: Layout, path: str | None = None) -> ArtifactEntry:
    """Write one artifact and describe it.

    Args:
        folder: Where its manifest will lie.
        artifact: What to write.
        layout: Chunks, shards, threads.
        path: Below ``folder``; by default the artifact's own.
    """
    path = path or artifact.path
    target = folder / path
    with named("write", target, private=artifact.is_private):
        target.parent.mkdir(parents=True, exist_ok=True)
        write(
            artifact.data,
            target,
            attributes=artifact.attributes,
            columns=artifact.columns,
            chunk_bytes=layout.chunk_bytes,
            shard_bytes=layout.shard_bytes,
            compress=layout.compress,
            checksum=layout.checksum,
            private=artifact.is_private,
        )
        objects = describe_objects(target)
    root = content_root(artifact.data, attributes=artifact.attributes, columns=artifact.columns, threads=layout.threads)
    return ArtifactEntry(
        view=artifact.view,
        split=artifact.split,
        name=artifact.name,
        path=path,
        n=artifact.data.n,
        root=root.hex(),
        objects=tuple(objects),
    )


def describe_objects(folder: Path) -> list[StoredObject]:
    """Every file below a folder with its SHA-256 and size, sorted by path."""
    files = sorted((p.relative_to(folder).as_posix(), p) for p in folder.rglob("*") if p.is_file())
    return [StoredObject(name, file_sha256(p), p.stat().st_size) for name, p in files]
