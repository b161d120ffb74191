"""Writes all boards as files: one page, JSON and CSV beside it. Equal registry and results give equal bytes."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from primabench_board import public
from primabench_board.site import render_page
from primabench_board.standings import Standings
from primabench_board.tabular import to_csv
from primabench_core.errors import StoreError, UsageError

MANIFEST = "export.json"


def export_files(standings: Standings) -> Iterator[tuple[str, str]]:
    """Relative path and text of every file, one after the other.

    Args:
        standings: From :func:`~primabench_board.standings.compute`.
    """
    overview = public.overview(standings)
    yield "boards.json", to_json(overview)
    for standing, document in zip(standings.boards, overview["boards"], strict=True):
        yield f"boards/{standing.board.id}.json", to_json(document)
        yield f"boards/{standing.board.id}.csv", to_csv(*public.board_table(standings, standing))
    everything = []
    for task in standings.registry.tasks:
        rows = list(public.task_rows(standings, task))
        everything += rows
        document = {"task": task, "lines": public.task_lines(standings, task)}
        yield f"tasks/{task}.json", to_json(document)
        yield f"tasks/{task}.csv", to_csv(public.RESULTS_HEADER, rows)
    yield "results.csv", to_csv(public.RESULTS_HEADER, everything)
    yield "index.html", render_page(standings, overview)


def to_json(value: Any) -> str:
    """JSON with sorted keys, compact enough for many rows: one line for each item of the outermost lists."""
    if not isinstance(value, dict):
        return _compact(value)
    parts = []
    for key in sorted(value):
        item = value[key]
        if isinstance(item, list) and item and isinstance(item[0], dict):
            inner = ",\n  ".join(_compact(one) for one in item)
            parts.append(f" {json.dumps(key)}: [\n  {inner}\n ]")
        else:
            parts.append(f" {json.dumps(key)}: {_compact(item)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def export(standings: Standings, folder: str | Path) -> tuple[Path, ...]:
    """Write all boards.

    Each file is written under another name and renamed, so that a server on the folder never shows half a file. Files
    of an earlier export that are no longer needed are removed; others are never touched.

    Args:
        standings: From :func:`~primabench_board.standings.compute`.
        folder: New, empty, or holding an earlier export.

    Returns:
        Paths of the files; ``index.html`` is the page.

    Raises:
        UsageError: The folder holds something else.
        StoreError: A file cannot be written.
    """
    root = Path(folder)
    before = _earlier(root)
    texts: dict[str, str] = {}
    try:
        if not before:  # an export that is broken off can then be written again
            _write(root / MANIFEST, _manifest({}))
        for name, text in export_files(standings):
            data = text.encode("utf-8")
            texts[name] = hashlib.sha256(data).hexdigest()
            _write(root / name, data)
        _write(root / MANIFEST, _manifest(texts))
        for name in sorted(before - texts.keys()):
            (root / name).unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{error.filename or root} cannot be written: {error.strerror}.") from error
    return tuple(root / name for name in (*sorted(texts), MANIFEST))


def _manifest(files: dict[str, str]) -> bytes:
    document = {"format": "primabench-board-export", "files": files}
    return (json.dumps(document, sort_keys=True, indent=1) + "\n").encode()


def _earlier(root: Path) -> set[str]:
    """Files of an earlier export in the folder."""
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is a file.", remedy="choose a folder")
    if not root.exists() or not any(root.iterdir()):
        return set()
    try:
        manifest = json.loads((root / MANIFEST).read_text(encoding="utf-8"))
        names = manifest["files"].keys() if manifest["format"] == "primabench-board-export" else None
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        names = None
    if names is None:
        raise UsageError(f"{root} holds files that are no export of boards.", remedy="choose a new or empty folder")
    return {name for name in names if _is_inside(name)}


def _is_inside(name: str) -> bool:
    """Whether a name of a manifest is one that an export writes; whoever edits it must not make us delete others."""
    parts = name.split("/")
    return ".." not in parts and (len(parts) == 1 or (len(parts) == 2 and parts[0] in ("boards", "tasks")))


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
