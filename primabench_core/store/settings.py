"""Settings from the environment and from a project's ``.env`` file; the environment wins.

The file is looked for in the working directory and its parents, up to the first folder that holds ``.git`` or
``pyproject.toml``. Only names that PrimaBench knows are read, and nothing is put into ``os.environ``: child processes
do not inherit what a file says, and no listing of the environment shows it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from primabench_core.errors import StoreError, UsageError

OFFLINE = "PRIMABENCH_OFFLINE"
"""``1`` forbids any connection."""

_ALIAS = "HMAC_BOTO_PRIMA_MENTE_BENCHMARK"
_PREFIXES = ("PRIMABENCH_", f"{_ALIAS}_")
_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$")
_MARKS = (".git", "pyproject.toml")

_read: dict[Path, tuple[tuple[int, int], dict[str, str]]] = {}


def setting(name: str) -> str:
    """Value of a setting, without surrounding blanks; empty if it is not set.

    Example:
        >>> setting("PRIMABENCH_NOT_A_SETTING")
        ''
    """
    found = os.environ.get(name)
    if found is None and name.startswith(_PREFIXES):
        found = _from_file().get(name)
    return (found or "").strip()


def aliased(name: str, alias: str) -> str:
    """Value of a setting that has two names.

    Raises:
        UsageError: both are set and differ; the values are not shown.
    """
    first, second = setting(name), setting(alias)
    if first and second and first != second:
        raise UsageError(
            f"{name} and {alias} are both set, and differ", remedy=f"unset one of them: {alias} is an alias"
        )
    return first or second


def s3_setting(part: str) -> str:
    """``PRIMABENCH_S3_<part>``, or what the alias of a Prima-Bench installation says."""
    return aliased(f"PRIMABENCH_S3_{part}", f"{_ALIAS}_{part}")


def offline() -> bool:
    """Whether no connection may be made."""
    return setting(OFFLINE) not in ("", "0")


def _from_file() -> dict[str, str]:
    path = _find()
    if path is None:
        return {}
    try:
        state = path.stat()
        stamp = (state.st_mtime_ns, state.st_size)
        if path not in _read or _read[path][0] != stamp:
            _read[path] = (stamp, parse_env(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"cannot read {path}: {type(error).__name__}", remedy="make it a readable text file") from None
    return _read[path][1]


def _find() -> Path | None:
    try:
        here = Path.cwd()
    except OSError:  # the working directory was removed
        return None
    for folder in (here, *here.parents):
        if (folder / ".env").is_file():
            return folder / ".env"
        if any((folder / mark).exists() for mark in _MARKS):
            return None
    return None


def parse_env(text: str) -> dict[str, str]:
    r"""Settings in the text of a ``.env`` file: ``NAME=value`` lines, ``#`` comments, quotes kept out of values.

    Only names of PrimaBench are taken. Nothing is expanded or run.

    Example:
        >>> parse_env('# mine\nexport PRIMABENCH_STORE="gs://bucket/x"  # shared\nOTHER=1')
        {'PRIMABENCH_STORE': 'gs://bucket/x'}
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        if match and match[1].startswith(_PREFIXES):
            found[match[1]] = _value(match[2])
    return found


def _value(text: str) -> str:
    if text[:1] in ("'", '"'):
        end = text.find(text[0], 1)
        if end > 0:
            return text[1:end]
    return re.split(r"(?:^|\s)#", text, maxsplit=1)[0].strip()
