"""Where a distribution was installed from, and the line that installs it anew."""

from __future__ import annotations

import json
import shlex
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
