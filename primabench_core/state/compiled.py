"""Finds the compiled loops. Without numba (extra ``fast``) numpy does the same work: slower, to the same bit."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SWITCH = "PRIMABENCH_COMPILED"
"""Environment variable; ``0`` leaves the compiled loops out."""
_CACHE = "PRIMABENCH_CACHE"


@cache
def kernels(along: str = "columns") -> Any:
    """The module of compiled loops along columns or rows, or None.

    A loop is compiled when it is first asked for (seconds), or loaded as it was compiled before.
    """
    if os.environ.get(SWITCH, "1") == "0" or find_spec("numba") is None:
        return None
    return import_module("primabench_core.state.kernels" + ("" if along == "columns" else "_rows"))


@cache
def compile_options() -> dict[str, Any]:
    """Options of every compiled loop; machine code is kept in a folder of ours, if one can be written."""
    options: dict[str, Any] = {"nogil": True, "boundscheck": False, "fastmath": False}
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return options
    if os.access(folder, os.W_OK):
        config: Any = import_module("numba").config
        if not config.CACHE_DIR:  # somebody's own choice stands
            config.CACHE_DIR = str(folder)
        options["cache"] = True
    return options


def cache_folder() -> Path:
    """Where machine code is kept: ``PRIMABENCH_CACHE``, else the user's cache folder."""
    if os.environ.get(_CACHE):
        return Path(os.environ[_CACHE]) / "compiled"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "primabench" / "compiled"
