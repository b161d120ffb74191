"""What a curator passes through before a dataset version leaves the house: licence, clean code, then publishing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from primabench_core.discovery.origin import checkout_of
from primabench_core.errors import PrimaBenchError, UsageError
from primabench_core.spec.dataset import RecipeSpec
from primabench_core.store.location import Store
from primabench_core.store.manifest import Manifest, read_manifest
from primabench_core.store.prepare import require_built
from primabench_core.store.publish import publish
from primabench_core.store.writing import Progress


def push(
    key: str,
    to: str | os.PathLike[str],
    store: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    *,
    private: bool = True,
) -> Manifest:
    """Publish a built version to another store, if its licence and its code allow it.

    Args:
        key: ``publication/slug@version`` of a version in the local store.
        to: ``gs://``, ``s3://``, a folder, or a zip file that does not exist yet.
        store: The local store; by default ``PRIMABENCH_STORE``.
        progress: Called as ``progress(step, bytes done, bytes in all)``.
        private: Send the private part too.

    Raises:
        MissingDataError: it is not built.
        UsageError: a licence is missing or forbids it, or it was built, or would be pushed, from changed files.
        VersionExistsError: the version is there.
        StoreError: the store refuses.

    Example:
        >>> push("doe_2020_journal/x@1.0.0", "gs://bucket/benchmarks")  # doctest: +SKIP
    """
    place = Store.at(store)
    require_built(place, key)
    manifest = read_manifest(Manifest, place.manifest(key))
    check_licence(manifest)
    check_code(manifest)
    return publish(place.version(key), to, progress, private=private)


def check_licence(manifest: Manifest) -> None:
    """Refuse a dataset whose licence is not stated, or forbids passing it on.

    Raises:
        UsageError: the card or a source has no licence, or the recipe says that a source may not be passed on.
    """
    bare = next((source.name for source in manifest.sources if not source.licence.strip()), None)
    if bare is not None or not manifest.licence.strip():
        what = "its card" if bare is None else f"source {bare!r}"
        raise UsageError(
            f"{manifest.dataset} has no licence: {what} states none",
            remedy="find out the terms, put them on the card and the sources of the recipe, and build again",
        )
    spec = _recipe(manifest.dataset)
    kept = next((source for source in spec.sources if not source.redistribute), None) if spec else None
    if kept is not None:
        raise UsageError(
            f"{manifest.dataset} may not be passed on: source {kept.name!r} is under {kept.licence}",
            remedy="whoever needs it builds it: primabench build " + manifest.dataset,
        )


def _recipe(key: str) -> RecipeSpec | None:
    from primabench_core.discovery import names, registry

    return registry.load("recipe", key) if key in names.names("recipe") else None


def check_code(manifest: Manifest) -> None:
    """Refuse a version that was not built from committed files, or whose recipe was changed since.

    Raises:
        UsageError: a working copy has changes.
    """
    recipe = manifest.recipe
    remedy = "commit the changes, remove the version from the local store, build it again, then push"
    if recipe.commit.endswith("-dirty"):
        raise UsageError(
            f"{manifest.dataset} was built from files of {recipe.distribution} that are not committed "
            f"({recipe.commit.removesuffix('-dirty')[:12]} and changes)",
            remedy=remedy,
        )
    folder = checkout_of(recipe.distribution)
    changed = _changed(folder) if folder else ()
    if folder and changed:
        raise UsageError(
            f"the working copy {folder} of {recipe.distribution} has {len(changed)} changed files: {changed[0]} …",
            remedy=remedy,
        )


def _changed(folder: Path) -> tuple[str, ...]:
    """Files that git knows as changed or does not know at all; none where the folder is no repository."""
    if not shutil.which("git"):
        raise PrimaBenchError("push compares the working copy with its last commit, and git is not installed")
    command = ["git", "-C", str(folder), "status", "--porcelain"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return tuple(line[3:] for line in answer.stdout.splitlines()) if answer.returncode == 0 else ()
