"""Where things lie in a store. The one place that knows the layout.

::

    {store}/{publication}/output/{slug}/v{version}/
        manifest.json                        written last; a folder without it is no dataset
        {view}/[{split}/]{artifact}.zarr     what anyone may read
        {task}-p{preparer version}/          splits of a task, derived, with a manifest of their own
            train/data.zarr  test/data.zarr
        private/                             mode 0700: everything that holds an answer, the salt, its own manifest
            {view}/[{split}/]{artifact}.zarr
            {task}-p{preparer version}/solution.zarr
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from attrs import frozen

from primabench_core.errors import CorruptDataError, StoreError, UsageError
from primabench_core.spec.dataset import DatasetKey
from primabench_core.store.address import ENVIRONMENT as ENVIRONMENT
from primabench_core.store.address import Address

MANIFEST, PRIVATE, SALT = "manifest.json", "private", "salt"

_ORDINARY = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*/)*[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_VIEW = re.compile(r"[a-z][a-z0-9_]*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def parse_key(key: str | DatasetKey) -> DatasetKey:
    """The parts of a dataset key.

    Raises:
        UsageError: the text is no key (so nothing that climbs out of the store passes).
    """
    if isinstance(key, DatasetKey):
        return key
    try:
        return DatasetKey.parse(key)
    except (ValueError, TypeError) as error:
        raise UsageError(f"Not a dataset: {error}", remedy="primabench list datasets") from None


def view_name(name: str) -> str:
    """A name that may be a view; ``private`` is not, and no view can look like a task's folder."""
    if not _VIEW.fullmatch(name) or name == PRIVATE:
        raise UsageError(f"view {name!r}: expected lower-case letters, digits and _, other than {PRIVATE!r}")
    return name


def part_name(name: str, noun: str = "name") -> str:
    """A name that may be one part of a path."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{noun} {name!r}: expected letters, digits, '_', '-' and '.', beginning with a letter or digit"
        )
    return name


def plain_path(relative: str) -> PurePosixPath:
    """A path that a manifest names, which cannot climb out as far as its text tells.

    Raises:
        CorruptDataError: it is absolute or climbs out.
    """
    refuse_climbing(relative)
    return PurePosixPath(relative)


def refuse_climbing(relative: str) -> None:
    """Refuse a path of a manifest that is absolute or climbs out, as far as its text tells.

    Raises:
        CorruptDataError: it does.
    """
    if _ORDINARY.fullmatch(relative):  # what we write; the rest costs ten times as much to look at
        return
    pure = PurePosixPath(relative)
    climbs = pure.is_absolute() or ".." in pure.parts or "\\" in relative or ":" in relative or "\0" in relative
    if climbs or not pure.parts:
        raise _leads_out(relative)


def inside(root: Path, relative: str) -> Path:
    """A path that a manifest names, below the folder of that manifest.

    Raises:
        CorruptDataError: it is absolute, climbs out, or a link leads out.
    """
    path = root / plain_path(relative)
    if not path.resolve().is_relative_to(root.resolve()):
        raise _leads_out(relative)
    return path


def all_inside(root: Path, relatives: Iterable[str]) -> None:
    """As :func:`inside` for many paths: each folder is resolved once, so that 1e5 of them take a second.

    Raises:
        CorruptDataError: one is absolute, climbs out, or a link leads out.
    """
    resolved = root.resolve()
    text = str(root)
    folders: dict[str, bool] = {}
    for relative in relatives:
        refuse_climbing(relative)
        parent = relative.rpartition("/")[0]
        if parent not in folders:
            folders[parent] = (root / parent).resolve().is_relative_to(resolved)
        path = f"{text}{os.sep}{relative}"
        is_link = os.path.islink(path)  # noqa: PTH114  (a Path for each object costs more than the question)
        if not folders[parent] or (is_link and not Path(path).resolve().is_relative_to(resolved)):
            raise _leads_out(relative)


def _leads_out(relative: str) -> CorruptDataError:
    return CorruptDataError(
        f"a manifest names the path {relative!r}, which leads out of its dataset",
        remedy="do not use this copy; build or fetch the dataset again",
    )


def default_root() -> Path:
    """The store that is used when none is named: the platform's folder for a user's data."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return base / "primabench"


@frozen
class Store:
    """A store on a local disk.

    Example:
        >>> store = Store(Path("/data"))
        >>> store.version("wolf_2018_genome_biology/pbmc68k_reduced@1.0.0").as_posix()
        '/data/wolf_2018_genome_biology/output/pbmc68k_reduced/v1.0.0'
    """

    root: Path

    @classmethod
    def at(cls, store: str | os.PathLike[str] | None = None) -> Store:
        """The store that an argument, ``PRIMABENCH_STORE`` or the default names, in this order.

        Raises:
            StoreError: it is a file, or no folder of this machine.
        """
        address = Address.of(store)
        if not address.is_local:
            raise StoreError(
                f"{address.url} is a remote store, and this step works in a folder",
                remedy=f"give a folder, such as ~/primabench (or set {ENVIRONMENT} to it); then publish the result",
            )
        root = Path(address.url).expanduser() if address.url else default_root()
        root = root.absolute()
        if root.exists() and not root.is_dir():
            raise StoreError(f"the store {root} is a file, not a folder", remedy=f"set {ENVIRONMENT} to a folder")
        return cls(root)

    def dataset(self, key: str | DatasetKey) -> Path:
        """Folder of all versions of a dataset."""
        parts = parse_key(key)
        return self.root / parts.publication / "output" / parts.slug

    def version(self, key: str | DatasetKey) -> Path:
        """Folder of one version."""
        return self.dataset(key) / f"v{parse_key(key).version}"

    def manifest(self, key: str | DatasetKey) -> Path:
        """Manifest of one version; it is written last."""
        return self.version(key) / MANIFEST

    def lock(self, key: str | DatasetKey) -> Path:
        """Lock file of one version."""
        return self.dataset(key) / f".v{parse_key(key).version}.lock"

    def staging_prefix(self, key: str | DatasetKey) -> str:
        """How the names of unfinished builds of this version begin, beside the version's folder."""
        return f".staging-v{parse_key(key).version}-"

    def private(self, key: str | DatasetKey) -> Path:
        """Folder of everything that holds an answer."""
        return self.version(key) / PRIVATE

    def prepared(self, key: str | DatasetKey, task: str, preparer_version: str) -> Path:
        """Folder of a task's splits."""
        return self.version(key) / prepared_name(task, preparer_version)

    def has(self, key: str | DatasetKey) -> bool:
        """Whether the version is built."""
        return self.manifest(key).is_file()


def prepared_name(task: str, preparer_version: str) -> str:
    """Name of the folder of a task's splits; the hyphen keeps it apart from views."""
    return f"{part_name(task, 'task')}-p{part_name(preparer_version, 'preparer version')}"
