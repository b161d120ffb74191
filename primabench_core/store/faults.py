"""Turns faults of the file system into errors that name the place and the remedy."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from primabench_core.errors import PluginError, PrimaBenchError, StoreError

PRIVATE = "the private part of the dataset"
"""How messages call what they must not point at."""

_REMEDIES = {
    errno.ENOSPC: "free some space, or point {variable} at a larger disk",
    errno.EDQUOT: "free some of your quota, or point {variable} at another disk",
    errno.EACCES: "point {variable} at a folder that you may write to",
    errno.EPERM: "point {variable} at a folder that you may write to",
    errno.EROFS: "the disk is read-only: point {variable} at a folder that you may write to",
    errno.ENOTDIR: "a file stands where a folder should be: move it, or point {variable} elsewhere",
    errno.EEXIST: "a file stands where a folder should be: move it, or point {variable} elsewhere",
    errno.ENAMETOOLONG: "choose a shorter path for {variable}",
}


@contextmanager
def named(
    action: str,
    place: Path | str,
    *,
    private: bool = False,
    remedy: str = "",
    variable: str = "PRIMABENCH_STORE",
) -> Iterator[None]:
    """Give an ``OSError`` raised inside a name and a remedy.

    Args:
        action: What was tried, such as ``"write"``.
        place: Where; never shown when ``private``.
        private: The place belongs to the solution: neither it nor the original error (which names it) is shown.
        remedy: The next thing to do, where the kind of fault does not say it better.
        variable: Setting that names the folder.

    Raises:
        StoreError: in place of any other OSError.
    """
    try:
        yield
    except PrimaBenchError:
        raise
    except OSError as error:
        hint = _REMEDIES.get(error.errno or 0, remedy) or "look whether the disk is mounted and {variable} is right"
        hint = hint.replace("{variable}", variable)
        reason = error.strerror or type(error).__name__
        shown = PRIVATE if private else place
        fault = StoreError(f"cannot {action} {shown}: {reason}", remedy=hint)
        raise fault from (None if private else error)


@contextmanager
def plugin_code(what: str, owner: str, *, private: bool = True) -> Iterator[None]:
    """Run a plugin's function and let its failure name the plugin and the line, not the data.

    Args:
        what: What runs, such as ``"the recipe of …"``.
        owner: Distribution that it comes from.
        private: It handles answers: neither the text of its error nor the error itself is passed on.

    Raises:
        PluginError: in place of any error but PrimaBench's own.
    """
    try:
        yield
    except PrimaBenchError:
        raise
    except Exception as error:  # noqa: BLE001  (a plugin may raise anything; it is raised again with its name)
        frames = traceback.extract_tb(error.__traceback__)
        line = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""
        detail = "" if private else f": {error}"
        fault = PluginError(
            f"{what} failed ({owner}): {type(error).__name__}{line}{detail}",
            remedy=f"tell the authors of {owner}; primabench doctor lists versions",
        )
        raise fault from (None if private else error)
