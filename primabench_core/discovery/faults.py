"""Why plugin code could not be used, as words and as an error that names the next command."""

from __future__ import annotations

import importlib.util
import re
import traceback
from collections.abc import Iterable
from pathlib import PurePath

from primabench_core.discovery import names
from primabench_core.discovery.origin import renewal
from primabench_core.errors import MissingPluginError, PluginError

_DISTRIBUTIONS = {
    "Bio": "biopython",
    "PIL": "pillow",
    "cv2": "opencv-python-headless",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "umap": "umap-learn",
    "vl_convert": "vl-convert-python",
    "yaml": "pyyaml",
}
"""Distributions whose import name differs by more than ``-`` and ``_``; nothing tells this for one that is absent."""

_REQUIREMENT = re.compile(r"\s*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)")
_EXTRA = re.compile(r"extra\s*==\s*['\"](?P<extra>[^'\"]+)['\"]")
_LONGEST = 300


def describe(error: BaseException) -> str:
    """One line: type, message, and the place in the plugin's code that raised it."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001  (the __str__ of a foreign error may fail in any way)
        text = "its message cannot be printed"
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + "…"
    line = f"{type(error).__name__}: {text}" if text else type(error).__name__
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_foreign(frame.filename)]
    return f"{line} ({PurePath(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else line


def _is_foreign(filename: str) -> bool:
    return (
        not filename.startswith("<")
        and not PurePath(filename).match("primabench_core/discovery/*.py")
        and (PurePath(filename).parent.name != "importlib")
    )


def missing_library(error: BaseException, module: str) -> str:
    """Import name of a library that is absent, empty if the failure is another one.

    Args:
        error: What importing raised.
        module: The module that was asked for; what is missing inside its own package is no optional library.
    """
    if not isinstance(error, ModuleNotFoundError) or not error.name or "." in error.name:
        return ""  # a missing submodule means a library that is there in the wrong version
    if error.name == module.partition(".")[0]:
        return ""
    try:
        return "" if importlib.util.find_spec(error.name) else error.name
    except (ImportError, ValueError):
        return error.name


def is_vanished(error: BaseException, module: str) -> bool:
    """Whether the module that was asked for, or a package that holds it, is not there."""
    return (
        isinstance(error, ModuleNotFoundError)
        and bool(error.name)
        and (module == error.name or module.startswith(f"{error.name}."))
    )


def install_line(library: str, owner: str = "", requires: Iterable[str] = ()) -> str:
    """The command that installs a library.

    Args:
        library: Import name.
        owner: Distribution that needs it; if one of its extras brings the library, the line names that extra.
        requires: Distributions that the caller declares as needed; those not installed are named.

    Example:
        >>> install_line("sklearn")
        'pip install scikit-learn'
    """
    wanted = _DISTRIBUTIONS.get(library, library.replace("_", "-"))
    absent = [name for name in requires if not names.version_of(_bare(name))]
    if absent:
        return "pip install " + " ".join(absent if all(_bare(n) == n for n in absent) else [f'"{n}"' for n in absent])
    for requirement in names.requirements_of(owner):
        extra = _EXTRA.search(requirement)
        if names.normalise(_bare(requirement)) == names.normalise(wanted) and extra:
            return f'pip install "{owner}[{extra["extra"]}]"'
    return f"pip install {wanted}"


def _bare(requirement: str) -> str:
    match = _REQUIREMENT.match(requirement)
    return match["name"] if match else requirement


def as_plugin_error(
    error: BaseException, what: str, module: str, *, owner: str = "", requires: Iterable[str] = ()
) -> PluginError:
    """The error to raise for a failure inside plugin code.

    Args:
        error: The failure.
        what: What was being used, as the subject of a sentence.
        module: The module that was asked for.
        owner: Distribution it belongs to, empty if unknown.
        requires: Distributions that are declared as needed.

    Returns:
        :class:`MissingPluginError` for a library that is not installed, else :class:`PluginError`; an error of these
        kinds that plugin code raised itself stays as it is.
    """
    if isinstance(error, PluginError):
        return error
    library = missing_library(error, module)
    if library:
        return MissingPluginError(
            f"{what} needs {library!r}, which is not installed.", remedy=install_line(library, owner, requires)
        )
    if is_vanished(error, module):
        remedy = f"pip install --force-reinstall --no-deps {owner}" if owner else "check the reference"
        return PluginError(f"{what} cannot be used: there is no module {module!r}.", remedy=remedy)
    remedy = renewal(owner) if owner else ""
    return PluginError(f"{what} cannot be used: {describe(error)}.", remedy=remedy)
