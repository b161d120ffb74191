"""What a dataset version says about itself, and strict reading and writing of it.

Two manifests: the public one beside the public views, and one inside the private folder that alone names what lies
there. Both are canonical JSON, so that the same build writes the same bytes. No time stands in them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from attrs import frozen

from primabench_core.errors import CorruptDataError, MissingDataError, UsageError
from primabench_core.store import plain
from primabench_core.store.faults import PRIVATE, named
from primabench_core.store.hashing import canonical_json
from primabench_core.store.location import all_inside, inside, parse_key, refuse_climbing

FORMAT = 1
"""Version of the manifests' own form."""


@frozen
class StoredObject:
    """One stored file."""

    path: str
    """Below the artifact, with forward slashes."""
    sha256: str
    size: int
    """Bytes."""


@frozen(kw_only=True)
class ArtifactEntry:
    """One artifact as it is stored."""

    view: str
    split: str
    """Empty where the artifact belongs to no split."""
    name: str
    path: str
    """Below the folder of the manifest."""
    n: int
    """Rows."""
    root: str
    """Artifact root of content hash v1, hexadecimal."""
    objects: tuple[StoredObject, ...]
    """Every file of the artifact, sorted by path."""


@frozen(kw_only=True)
class SourceRecord:
    """A source as it was read."""

    name: str
    url: str
    package: str
    sha256: str
    size: int
    licence: str
    public: bool
    stands_for: str = ""
    """SHA-256 of the declared file that this one is another encoding of; empty if it is the declared file."""


@frozen(kw_only=True)
class RecipeRecord:
    """The code that built the dataset."""

    version: str
    distribution: str
    distribution_version: str
    commit: str
    """Of the recipe's repository, ``-dirty`` behind it if files were changed; empty if not known."""
    packages: Mapping[str, str]
    """Versions of the distributions that the recipe needs."""


@frozen(kw_only=True)
class Manifest:
    """The public manifest of a dataset version."""

    format: int
    dataset: str
    content_hash: str
    """Content hash v1 over all artifacts, hexadecimal."""
    solution_root: str
    """Salted root of everything private, hexadecimal; empty if nothing is private."""
    title: str
    publication: str
    doi: str
    origin: str
    licence: str
    synthetic: bool
    curator: str
    history: tuple[str, ...]
    recipe: RecipeRecord
    sources: tuple[SourceRecord, ...]
    artifacts: tuple[ArtifactEntry, ...]
    """What anyone may read."""


@frozen(kw_only=True, repr=False)
class PrivateManifest:
    """Manifest of a private folder, or of the private half of a task's splits."""

    format: int
    dataset: str
    root: str
    """Digest over the private artifacts, unsalted, hexadecimal."""
    artifacts: tuple[ArtifactEntry, ...]


@frozen(kw_only=True)
class PreparedManifest:
    """Manifest of the public half of a task's splits."""

    format: int
    dataset: str
    content_hash: str
    """Of the dataset version that they were made from."""
    task: str
    preparer_version: str
    distribution: str
    """Where the preparer comes from."""
    unsupervised: bool
    """Train and test are the same data."""
    artifacts: tuple[ArtifactEntry, ...]
    """``data`` of split ``train`` (if there is training data) and ``test``."""

    def split(self, name: str) -> ArtifactEntry | None:
        """The entry of a split, or None; ``train`` of an unsupervised task is its test data."""
        wanted = "test" if self.unsupervised and name == "train" else name
        return next((entry for entry in self.artifacts if entry.split == wanted), None)


M = TypeVar("M", Manifest, PrivateManifest, PreparedManifest)


def write_manifest(value: Manifest | PrivateManifest | PreparedManifest, path: Path) -> None:
    """Write canonical JSON and see it through to the disk."""
    data = canonical_json(plain.write(value)) + b"\n"
    with path.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def read_manifest(kind: type[M], path: Path, *, private: bool = False) -> M:
    """Read and check a manifest.

    Args:
        kind: Which of the three.
        path: Where it lies.
        private: Errors must not show the path.

    Raises:
        MissingDataError: there is none.
        CorruptDataError: it is truncated, of another form, or names a path outside its folder.
        StoreError: it cannot be read.
    """
    place = PRIVATE if private else str(path)
    try:
        with named("read", path, private=private):
            data = path.read_bytes()
    except OSError as error:
        if isinstance(error.__cause__, FileNotFoundError) or not path.exists():
            again = (
                "primabench verify --dataset NAME names what is missing; then remove that version and build it again"
            )
            raise MissingDataError(f"no manifest at {place}", remedy=again) from None
        raise
    return parse_manifest(kind, data, place, folder=path.parent, private=private)


def parse_manifest(kind: type[M], data: bytes, place: str, *, folder: Path | None = None, private: bool = False) -> M:
    """Check the bytes of a manifest.

    Args:
        kind: Which of the three.
        data: Its bytes.
        place: Where they come from, for messages.
        folder: Where it lies, so that links that lead out of it are found.
        private: Errors must not show what is in it.

    Raises:
        CorruptDataError: it is truncated, of another form, or names a path outside its folder.
    """
    fault: str
    try:
        value = plain.read(kind, _this_format(plain.parse(data.decode("utf-8"))))
        parse_key(value.dataset)
        for entry in value.artifacts:
            _check_paths(entry, folder)
        return value
    except UnicodeDecodeError as error:
        fault = f"not UTF-8 text (byte {error.start})"
    except (plain.Misread, CorruptDataError, UsageError) as error:
        fault = error.message if isinstance(error, CorruptDataError | UsageError) else str(error)
    if private:
        fault = "it does not have the form of a manifest"
    raise CorruptDataError(
        f"manifest {place} cannot be read: {fault}",
        remedy="remove that version's folder and build the dataset again",
    )


def _this_format(value: Any) -> Any:
    if isinstance(value, dict) and value.get("format") != FORMAT:
        raise plain.Misread(f"$.format: expected {FORMAT}, found {value.get('format')!r}")
    return value


def _check_paths(entry: ArtifactEntry, folder: Path | None) -> None:
    if folder is not None:
        all_inside(inside(folder, entry.path), (stored.path for stored in entry.objects))
        return
    refuse_climbing(entry.path)
    for stored in entry.objects:
        refuse_climbing(stored.path)
