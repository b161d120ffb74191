"""Where a distribution was installed from, and the line that installs it anew."""

from __future__ import annotations

import json
import shlex
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse


def direct_url(distribution: str) -> dict[str, Any]:
    """What pip noted of an install that came from no index (PEP 610); empty for others."""
    try:
        text = metadata.distribution(distribution).read_text("direct_url.json")
        found: dict[str, Any] = json.loads(text) if text else {}
    except (metadata.PackageNotFoundError, json.JSONDecodeError):
        return {}
    return found


def checkout_of(distribution: str) -> Path | None:
    """The working copy that a distribution is installed from in editable form, if it is."""
    origin = direct_url(distribution)
    folder = unquote(urlparse(origin.get("url", "")).path) if origin.get("dir_info", {}).get("editable") else ""
    return Path(folder) if folder and Path(folder).is_dir() else None


def renewal(distribution: str) -> str:
    """The line that brings an installed distribution up to date: its metadata from its folder, or a newer release.

    Example:
        >>> renewal("primabench-task-of-nobody")
        'pip install --upgrade primabench-task-of-nobody'
    """
    folder = checkout_of(distribution)
    if folder is not None:
        return f"pip install -e {shlex.quote(str(folder))}"
    return f"pip install --upgrade {distribution}"


def correction(distribution: str, group: str, name: str, target: str) -> str:
    """What to do about an entry point whose target is not there.

    Args:
        distribution: Who declares it.
        group: Entry-point group.
        name: Name of the entry point.
        target: What it names, as the installed metadata say.

    Returns:
        The line of :func:`renewal`; where the working copy itself still names the target, which installing anew would
        not mend, that one of the two has to be corrected first.

    Example:
        >>> correction("primabench-task-of-nobody", "primabench.metrics", "x", "nobody:X")
        'pip install --upgrade primabench-task-of-nobody'
    """
    folder = checkout_of(distribution)
    if folder is None or _declared(folder, group, name) != target:
        return renewal(distribution)
    module, _, attribute = target.partition(":")
    file = folder / "pyproject.toml"
    return f"define {attribute} in {module}, or correct {name!r} in {file} and {renewal(distribution)}"


def _declared(folder: Path, group: str, name: str) -> str:
    """What the project file of a working copy says now; empty if it does not."""
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        found = project["entry-points"][group][name]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return str(found).replace(" ", "")
