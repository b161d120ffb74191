"""Small text files, written whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from primabench_core.errors import ResultError


def write_text(path: Path, text: str, *, overwrite: bool = False) -> Path:
    """Write UTF-8 to a temporary name in the same folder, flush it to the disk, rename it.

    Raises:
        ResultError: There is a file already, or the folder is absent or cannot be written.
    """
    if path.exists() and not overwrite:
        raise ResultError(f"{path} exists already", remedy="choose another name, or pass overwrite=True")
    staged = path.with_name(f".{path.name}.{token_hex(4)}.tmp")
    try:
        with staged.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        staged.replace(path)
    except OSError as error:
        why = "its folder does not exist" if not path.parent.is_dir() else error.strerror or str(error)
        raise ResultError(f"{path} cannot be written: {why}") from error
    finally:
        with suppress(OSError):  # gone after the rename, which is how it should be
            staged.unlink(missing_ok=True)
    return path


def read_bytes(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        ResultError: The file is absent or unreadable.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        why = "there is no such file" if not path.exists() else error.strerror or str(error)
        raise ResultError(f"{path} cannot be read: {why}") from error
