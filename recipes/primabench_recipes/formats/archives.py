"""Members of tar and zip archives, read without unpacking anything to the disk."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from primabench_core import CorruptDataError

_LARGEST = 256 << 20
"""Bytes of one member at most: what recipes read from archives are small text files."""


def read_members(path: Path, pattern: str) -> Iterator[tuple[PurePosixPath, str]]:
    """Text of each member whose path ends like the pattern, sorted by path.

    Args:
        path: A tar (plain, gzip, bzip2, xz) or zip file.
        pattern: As for :meth:`pathlib.PurePath.match`, such as ``ref/*``.

    Raises:
        CorruptDataError: it is no archive, is truncated, holds no such member, or one that is larger than expected.
    """
    try:
        found = sorted(_zip(path, pattern) if zipfile.is_zipfile(path) else _tar(path, pattern))
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError) as error:
        if isinstance(error, CorruptDataError):
            raise
        raise CorruptDataError(f"{path.name} cannot be unpacked: {error}", remedy="get the file again") from error
    if not found:
        raise CorruptDataError(f"{path.name} holds no {pattern}")
    for name, data in found:
        yield PurePosixPath(name), data.decode("utf-8")


def _tar(path: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile() and PurePosixPath(member.name).match(pattern):
                _check(path, member.name, member.size)
                stream = archive.extractfile(member)
                yield member.name, stream.read() if stream else b""


def _zip(path: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if not member.is_dir() and PurePosixPath(member.filename).match(pattern):
                _check(path, member.filename, member.file_size)
                yield member.filename, archive.read(member)


def _check(path: Path, name: str, size: int) -> None:
    if size > _LARGEST:
        raise CorruptDataError(f"{path.name}: {name} unpacks to {size:,} bytes, more than any file of this kind has")
