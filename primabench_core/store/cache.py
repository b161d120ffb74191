"""The folder where fetched data lie: one unit for each (store, dataset, version, content hash), least used goes first.

::

    {cache}/stores/{store}/
        names/{publication}+{slug}@{version}   content hash that this version has in this store
        {content hash}.use                     locked while a process may read the unit; its time is the last use
        {content hash}.lock                    held while something is fetched
        {content hash}/                        a store of its own, laid out like any other, holding what was fetched
            .origin.json                       address and key; no credentials
            .tmp/  .chunks/                    unfinished objects; chunks that were read lazily
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from primabench_core.errors import CorruptDataError, PrimaBenchError, UsageError
from primabench_core.store import plain
from primabench_core.store.address import Address
from primabench_core.store.faults import named
from primabench_core.store.fetching import CACHE_VARIABLE, Wanted, first_bad
from primabench_core.store.location import MANIFEST, PRIVATE, Store, inside, parse_key
from primabench_core.store.manifest import (
    ArtifactEntry,
    Manifest,
    PreparedManifest,
    PrivateManifest,
    read_manifest,
)
from primabench_core.store.settings import setting

LIMIT_VARIABLE = "PRIMABENCH_CACHE_LIMIT"
"""Setting with the size that the cache is held to, such as ``200GB``; unset is no limit."""

ORIGIN, TEMPORARY, CHUNKS = ".origin.json", ".tmp", ".chunks"

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_log = logging.getLogger("primabench.store")
_held: dict[Path, int] = {}


@frozen
class Origin:
    """Where a unit comes from."""

    store: str
    dataset: str
    content_hash: str


@frozen
class Unit:
    """One dataset version of one store, as far as it was fetched."""

    root: Path
    origin: Origin
    size: int
    """Bytes on the disk."""
    used: float
    """Seconds since 1970 of the last use."""
    is_open: bool
    """A process may be reading it."""

    @property
    def store(self) -> Store:
        """The unit as a local store."""
        return Store(self.root)


def cache_root() -> Path:
    """The folder that ``PRIMABENCH_CACHE`` names, or the platform's folder for caches."""
    named_one = setting(CACHE_VARIABLE)
    if named_one:
        return Path(named_one).expanduser().absolute()
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "primabench" / "cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "primabench"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "primabench"


def size_limit() -> int | None:
    """Bytes that the cache may hold, or None.

    Raises:
        UsageError: the setting is no size.
    """
    text = setting(LIMIT_VARIABLE)
    if not text:
        return None
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]I?)?B?", text.upper())
    if not match:
        raise UsageError(f"{LIMIT_VARIABLE}={text}: expected a size", remedy=f"export {LIMIT_VARIABLE}=200GB")
    return int(float(match[1]) * _UNITS[match[2] or ""])


def unit_root(address: Address, content_hash: str) -> Path:
    """Folder of a unit; whether it is there or not."""
    return cache_root() / "stores" / address.name / content_hash[:32]


def name_file(address: Address, key: str) -> Path:
    """File that remembers which content hash a version has in a store."""
    parts = parse_key(key)
    name = f"{parts.publication}+{parts.slug}@{parts.version}"
    return cache_root() / "stores" / address.name / "names" / name


def hold(root: Path) -> None:
    """Say that this process may read a unit from now on, until it ends; nothing evicts the unit meanwhile."""
    path = root.with_name(f"{root.name}.use")
    if path in _held:
        _touch(path)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError:
        try:
            handle = os.open(path, os.O_RDONLY)  # a cache that is read-only for this user
        except OSError:
            return  # nobody can evict from it either
    _lock_shared(handle)
    _held[path] = handle
    _touch(path)


def release(root: Path) -> None:
    """Take back :func:`hold`; for tests and for a command that clears the cache at its end."""
    handle = _held.pop(root.with_name(f"{root.name}.use"), None)
    if handle is not None:
        os.close(handle)


def _touch(path: Path) -> None:
    try:
        os.utime(path)
    except OSError:
        _log.debug("the cache cannot note a use of %s", path.name)


def units() -> list[Unit]:
    """Everything in the cache, least recently used first."""
    found = []
    for mark in sorted((cache_root() / "stores").glob(f"*/*/{ORIGIN}")):
        root = mark.parent
        use = root.with_name(f"{root.name}.use")
        used = use.stat().st_mtime if use.exists() else mark.stat().st_mtime
        found.append(Unit(root, read_origin(root), _size(root), used, _is_open(use)))
    return sorted(found, key=lambda unit: unit.used)


def read_origin(root: Path) -> Origin:
    """Where a unit comes from.

    Raises:
        CorruptDataError: its mark cannot be read.
    """
    try:
        with named("read", root, variable=CACHE_VARIABLE):
            return plain.read(Origin, plain.parse((root / ORIGIN).read_text(encoding="utf-8")))
    except (plain.Misread, UnicodeDecodeError):
        pass
    raise CorruptDataError(f"{root / ORIGIN} is damaged", remedy=f"remove {root} and fetch again")


def _size(root: Path) -> int:
    total = 0
    for folder, _, files in os.walk(root):
        for name in files:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118  (1e5 objects: Path is slow)
            except FileNotFoundError:  # evicted or renamed meanwhile
                continue
    return total


def make_room(needed: int, keep: Path | None = None) -> None:
    """Evict least recently used units, and then chunks, until ``needed`` more bytes fit the limit.

    Nothing that a process may be reading is evicted, so the limit can be passed; a log line says so.
    """
    limit = size_limit()
    if limit is None:
        return
    present = units()
    excess = sum(unit.size for unit in present) + needed - limit
    for unit in present:
        if excess <= 0:
            return
        if unit.root != keep and not unit.is_open and remove(unit):
            excess -= unit.size
    chunks = sorted(_chunks(present), key=lambda item: item[0])
    for _, size, path in chunks:  # a reader that misses one fetches it again
        if excess <= 0:
            return
        path.unlink(missing_ok=True)
        excess -= size
    if excess > 0:
        _log.warning("the cache passes %s by %d bytes: everything in it is in use", LIMIT_VARIABLE, excess)


def _chunks(present: list[Unit]) -> Iterator[tuple[float, int, Path]]:
    for unit in present:
        for path in (unit.root / CHUNKS).glob("*/*"):
            try:
                state = path.stat()
            except FileNotFoundError:
                continue
            yield state.st_mtime, state.st_size, path


def remove(unit: Unit) -> bool:
    """Remove a unit unless a process may be reading it; says whether it did."""
    use = unit.root.with_name(f"{unit.root.name}.use")
    with named("remove", unit.root, variable=CACHE_VARIABLE):
        handle = os.open(use, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if not _try_exclusive(handle):
                return False
            trash = unit.root.with_name(f".trash-{secrets.token_hex(8)}")
            unit.root.rename(trash)  # in one step: nobody sees half of a unit
        finally:
            os.close(handle)
        shutil.rmtree(trash, ignore_errors=True)
    return True


def clear(dataset: str | None = None, store: str | None = None) -> tuple[list[Unit], list[Unit]]:
    """Remove units, all of them or those of one dataset or store.

    Returns:
        The removed ones, and those that were left because a process may be reading them.
    """
    removed, left = [], []
    address = Address.of(store) if store else None
    for unit in units():
        if (dataset and unit.origin.dataset != dataset) or (address and unit.origin.store != address.url):
            continue
        if remove(unit):
            name_file(Address.of(unit.origin.store), unit.origin.dataset).unlink(missing_ok=True)
            removed.append(unit)
        else:
            left.append(unit)
    for trash in (cache_root() / "stores").glob("*/.trash-*"):  # of a process that was killed
        shutil.rmtree(trash, ignore_errors=True)
    return removed, left


def objects_of(unit: Unit) -> list[Wanted]:
    """Every object that manifests in a unit name, whether it was fetched or not."""
    place, key = unit.store, unit.origin.dataset
    version, private = place.version(key), place.private(key)
    found = _objects(version, read_manifest(Manifest, version / MANIFEST).artifacts, False)
    for mark in sorted(version.glob(f"*-p*/{MANIFEST}")):
        found += _objects(mark.parent, read_manifest(PreparedManifest, mark).artifacts, False)
    for mark in sorted([*private.glob(MANIFEST), *private.glob(f"*-p*/{MANIFEST}")]):
        found += _objects(mark.parent, read_manifest(PrivateManifest, mark, private=True).artifacts, True)
    return found


def _objects(folder: Path, entries: tuple[ArtifactEntry, ...], private: bool) -> list[Wanted]:
    return [
        Wanted("", inside(folder, entry.path) / stored.path, stored.sha256, stored.size, private)
        for entry in entries
        for stored in entry.objects
    ]


def verify(unit: Unit) -> str:
    """The first object of a unit that is damaged, or empty."""
    try:
        bad = first_bad(objects_of(unit))
    except PrimaBenchError as error:
        return error.message
    if bad is None:
        return ""
    return f"an object of the {PRIVATE} part" if bad.private else str(bad.target.relative_to(unit.root))


def age(unit: Unit) -> float:
    """Seconds since the last use."""
    return max(0.0, time.time() - unit.used)


def _is_open(use: Path) -> bool:
    try:
        handle = os.open(use, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _try_exclusive(handle)
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    # Windows knows no shared locks here; each reader locks one byte of its own, and removing wants all of them
    _BYTES = 4096

    def _lock_shared(handle: int) -> None:
        os.lseek(handle, os.getpid() % _BYTES, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            _log.debug("another reader holds this byte, which protects the unit as well")

    def _try_exclusive(handle: int) -> bool:
        os.lseek(handle, 0, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, _BYTES)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _lock_shared(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_SH)

    def _try_exclusive(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
