"""One page that holds everything: style, script and data are inside it, and it fetches nothing.

The script reads the data from an inert JSON block and makes every node with ``textContent``; a Content-Security-Policy
names the script by its SHA-256, so that no other can run whatever stands in a name.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

from primabench_board.public import resolvable
from primabench_board.standings import RankedModel, Standings, TaskLine
from primabench_board.uncertainty import Cell

SCRIPTS = ("dom.js", "route.js", "marks.js", "table.js", "boards.js", "tasks.js", "prose.js", "start.js")


def render_page(standings: Standings, overview: dict[str, Any]) -> str:
    """The page ``index.html``.

    Args:
        standings: From :func:`~primabench_board.standings.compute`.
        overview: The public document of the same standings.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_read("page.html.j2"))
    page: str = template.render(
        title=overview["title"],
        organisation=overview["organisation"]["name"],
        synthetic=overview["synthetic"],
        boards=[{"id": b["id"], "title": b["title"]} for b in overview["boards"]],
        style=Markup(_read("style.css")),
        script=Markup(script),
        script_hash=digest,
        data=Markup(_inert(_data(standings, overview))),
    )
    return page


@cache
def _script() -> str:
    body = "\n".join(_read(name) for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{body}}})();\n'


@cache
def _read(name: str) -> str:
    return files("primabench_board").joinpath("page", name).read_text(encoding="utf-8")


def _inert(value: Any) -> str:
    """JSON that cannot end the block it stands in."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _data(standings: Standings, overview: dict[str, Any]) -> dict[str, Any]:
    """The overview, with the many rows as short lists; models are places in the list of models."""
    kept = (
        "title", "synthetic", "organisation", "as_of", "registry_sha256", "submissions", "rules", "skill",
        "modalities", "areas", "open", "datasets",
    )  # fmt: skip
    data = {key: overview[key] for key in kept}
    data["metrics"] = {m["name"]: m for m in overview["metrics"]}
    data["categories"] = overview["categories"]
    data["models"] = [
        [m["shown"], m["organisation"], m["family"], m["is_baseline"], m["submitted_at"], m["submissions"]]
        for m in overview["models"]
    ]
    data["tasks"] = [
        {key: t[key] for key in ("id", "title", "dataset", "modality", "area", "category", "metric", "boards")}
        | {"rows": [_task_row(standings, line) for line in standings.tasks[t["id"]]]}
        for t in overview["tasks"]
    ]
    data["boards"] = [
        {key: b[key] for key in ("id", "kind", "slice", "modality", "title", "tasks", "families")}
        | {
            "ranked": [_ranked_row(line) for line in standing.ranked],
            "unranked": [[u.entry, u.covered, u.missing] for u in standing.unranked],
        }
        for b, standing in zip(overview["boards"], standings.boards, strict=True)
    ]
    return data


def _ranked_row(line: RankedModel) -> list[Any]:
    """Place, rank, rank interval, order, skill, clipped, then three numbers for each family."""
    cells = [end for cell in line.families for end in _ends(cell)]
    return [line.entry, line.rank, *(line.span or (None, None)), line.order.value, line.skill, line.clipped, *cells]


def _task_row(standings: Standings, line: TaskLine) -> list[Any]:
    """Place, rank, status, reason, three numbers, n, units, whether resolvable, flags."""
    record = line.row.record
    ends = _ends(line.cell) if line.cell else (None, None, None)
    flags = [flag for flag in record.get("flags", ()) if flag != "interval_without_refit"]
    seen = (record.get("n"), record.get("n_units"), resolvable(standings, line))
    return [line.entry, line.rank, line.status, line.reason, *ends, *seen, flags]


def _ends(cell: Cell) -> tuple[float, float | None, float | None]:
    return cell.value, cell.low, cell.high
