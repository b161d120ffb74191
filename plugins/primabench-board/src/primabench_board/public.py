"""What of registry and standings is public, as plain values: no owner, no message to a submitter, no path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from primabench_board.derive import open_boards, open_id
from primabench_board.metrics import METRICS
from primabench_board.names import SUFFIX
from primabench_board.registry import OpenBoard, Registry
from primabench_board.standings import SKILL, BoardStanding, RankedModel, Standings, TaskLine
from primabench_board.submission import LedgerEntry
from primabench_board.uncertainty import Cell

FORMAT = "primabench-boards"
SCHEMA_VERSION = 1

Plain = dict[str, Any]


def shown_name(entry: LedgerEntry) -> str:
    """Name of a model as it is shown; a baseline says that it is one."""
    return f"{entry.name} {SUFFIX}" if entry.is_baseline else entry.name


def board_title(registry: Registry, standing: BoardStanding) -> str:
    """Title of a board: that of its slice."""
    words = {"modality": registry.modalities, "area": registry.areas, "category": registry.categories}
    return words[standing.board.kind][standing.board.slice].title


def overview(standings: Standings) -> Plain:
    """The document ``boards.json``: registry, models and boards."""
    registry = standings.registry
    used = {c.metric for c in registry.categories.values()}
    return {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "name": registry.name,
        "title": registry.title,
        "synthetic": registry.synthetic,
        "organisation": attrs.asdict(registry.organisation),
        "as_of": max((m.submitted_at for m in standings.models), default=None),
        "registry_sha256": registry.sha256,
        "submissions": sum(standings.submitted),
        "rules": attrs.asdict(registry.rules),
        "skill": {"formula": SKILL, "ranks": False} if registry.rules.skill else None,
        "metrics": [attrs.asdict(METRICS[name]) for name in sorted(used)],
        "modalities": [_word(e) for e in registry.modalities.values()],
        "areas": [_word(e) for e in registry.areas.values()],
        "categories": [_word(e) | {"metric": e.metric} for e in registry.categories.values()],
        "datasets": [attrs.asdict(d) for d in registry.datasets.values()],
        "tasks": tasks(standings),
        "models": [_model(e, n) for e, n in zip(standings.models, standings.submitted, strict=True)],
        "boards": [board(standings, b) for b in standings.boards],
        "open": [_open(registry, o) for o in open_boards(registry)],
    }


def _word(entry: Any) -> Plain:
    return {"id": entry.id, "title": entry.title, "about": entry.about}


def _open(registry: Registry, place: OpenBoard) -> Plain:
    title = registry.areas[place.area].title if place.area else registry.modalities[place.modality].title
    return {"id": open_id(place), "modality": place.modality, "area": place.area, "title": title}


def tasks(standings: Standings) -> list[Plain]:
    """Every task with its modality and the boards that it is on."""
    registry = standings.registry
    return [
        attrs.asdict(task)
        | {
            "title": task.title or task.id,
            "modality": registry.modality_of(task.id),
            "boards": [b.board.id for b in standings.boards if task.id in b.board.tasks],
        }
        for task in registry.tasks.values()
    ]


def _model(entry: LedgerEntry, submitted: int) -> Plain:
    facts = dict(entry.facts)
    facts["submission"] = {k: v for k, v in facts.get("submission", {}).items() if k != "warnings"}
    return {
        "name": entry.name,
        "shown": shown_name(entry),
        "organisation": entry.organisation,
        "family": entry.model_family,
        "is_baseline": entry.is_baseline,
        "submitted_at": entry.submitted_at,
        "submission": entry.number,
        "submissions": submitted,
        "facts": facts,
    }


def board(standings: Standings, standing: BoardStanding) -> Plain:
    """One board with its lines."""
    registry = standings.registry
    names = [shown_name(entry) for entry in standings.models]
    return {
        "id": standing.board.id,
        "kind": standing.board.kind,
        "slice": standing.board.slice,
        "modality": standing.board.modality,
        "title": board_title(registry, standing),
        "tasks": list(standing.board.tasks),
        "families": [
            {
                "category": category,
                "title": registry.categories[category].title,
                "metric": registry.categories[category].metric,
                "tasks": list(members),
                "not_resolvable": [task for task in members if _is_weak(standings, task)],
            }
            for category, members in standing.families
        ],
        "mean": "orders the rows only: it blends unlike metrics" if standing.has_mean else None,
        "ranked": [_ranked(line, names) for line in standing.ranked],
        "unranked": [
            {
                "model": names[line.entry],
                "covered": line.covered,
                "missing": [{"task": t, "status": s, "reason": r} for t, s, r in line.missing],
            }
            for line in standing.unranked
        ],
    }


def _ranked(line: RankedModel, names: list[str]) -> Plain:
    found: Plain = {
        "model": names[line.entry],
        "rank": line.rank,
        "rank_interval": list(line.span) if line.span else None,
        "families": [cell(c) for c in line.families],
        "mean": cell(line.order) if len(line.families) > 1 else None,
    }
    if line.skill is not None:
        found["skill"] = {"value": line.skill, "clipped": line.clipped}
    return found


def cell(found: Cell) -> Plain:
    """A score with its interval."""
    return {"value": found.value, "low": found.low, "high": found.high}


def task_lines(standings: Standings, task: str) -> list[Plain]:
    """The table of a task: every model with what the probe said of it."""
    return [_line(standings, line) for line in standings.tasks[task]]


def _line(standings: Standings, line: TaskLine) -> Plain:
    entry = standings.models[line.entry]
    # `detail` speaks to the submitter and may name samples; the rest of the record holds no sample
    record = {key: value for key, value in line.row.record.items() if key != "detail"}
    decimals = standings.registry.rules.decimals
    if decimals is not None:
        record = {key: _rounded(value, decimals) if key not in _KEPT else value for key, value in record.items()}
    return {
        "model": shown_name(entry),
        "rank": line.rank,
        "status": line.status,
        "reason": line.reason or None,
        "score": cell(line.cell) if line.cell else None,
        "resolvable": resolvable(standings, line),
        "submission": entry.number,
        "submitted_at": entry.submitted_at,
        "record": record,
    }


def resolvable(standings: Standings, line: TaskLine) -> bool | None:
    """Whether a score rests on enough units to mean something: the probe's word, and the registry's minimum."""
    record, minimum = line.row.record, standings.registry.tasks[line.row.task].minimum_n
    units = record.get("n_units") or record.get("n")
    if line.cell is None or units is None:
        return None
    if minimum is not None and units < minimum:
        return False
    said: bool | None = record.get("resolvable")
    return said


def _is_weak(standings: Standings, task: str) -> bool:
    """Whether a score of the task rests on too few units, so that a board must not be read without saying so."""
    return any(resolvable(standings, line) is False for line in standings.tasks[task])


_KEPT = ("probe", "chance", "hashes", "folds")


def _rounded(value: Any, decimals: int) -> Any:
    """Floats rounded, at any depth: a record must not tell what the board rounds away."""
    if isinstance(value, float):
        return round(value, decimals) + 0.0
    if isinstance(value, Mapping):
        return {key: _rounded(item, decimals) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item, decimals) for item in value]
    return value


BOARD_HEADER = ("rank", "rank_low", "rank_high", "model", "organisation", "is_baseline", "submitted_at")


def board_table(standings: Standings, standing: BoardStanding) -> tuple[list[str], Iterable[list[Any]]]:
    """Header and rows of a board for a spreadsheet: ranked models, then the others with blank ranks."""
    registry = standings.registry
    header = list(BOARD_HEADER)
    for category, _ in standing.families:
        name = f"{category} ({registry.categories[category].metric})"
        header += [name, f"{name} low", f"{name} high"]
    header += ["mean (ordering only)"] if standing.has_mean else []
    header += [f"skill = {SKILL}"] if registry.rules.skill else []
    header += ["tasks covered", "tasks"]
    total = len(standing.board.tasks)
    blanks = len(header) - len(BOARD_HEADER) - 2

    def who(place: int) -> list[Any]:
        entry = standings.models[place]
        return [shown_name(entry), entry.organisation, entry.is_baseline, entry.submitted_at]

    def rows() -> Iterable[list[Any]]:
        for line in standing.ranked:
            cells = [end for c in line.families for end in (c.value, c.low, c.high)]
            mean = [line.order.value] if standing.has_mean else []
            skill = [line.skill] if registry.rules.skill else []
            span = line.span or (None, None)
            yield [line.rank, *span, *who(line.entry), *cells, *mean, *skill, total, total]
        for left in standing.unranked:
            yield [None, None, None, *who(left.entry), *[None] * blanks, left.covered, total]

    return header, rows()


RESULTS_HEADER = (
    "task_id", "model_name", "score", "low", "high", "rank", "status", "reason", "n", "n_units", "fold_mean",
    "resolvable", "is_baseline", "submitted_at",
)  # fmt: skip


def task_rows(standings: Standings, task: str) -> Iterable[list[Any]]:
    """Rows of a task under :data:`RESULTS_HEADER`; skipped and failed ones have blank scores."""
    for line in standings.tasks[task]:
        entry, record, score = standings.models[line.entry], line.row.record, line.cell
        decimals = standings.registry.rules.decimals
        fold_mean = record.get("fold_mean")
        yield [
            task,
            shown_name(entry),
            *((score.value, score.low, score.high) if score else (None, None, None)),
            line.rank,
            line.status,
            line.reason,
            record.get("n"),
            record.get("n_units"),
            _rounded(fold_mean, decimals) if decimals is not None else fold_mean,
            resolvable(standings, line),
            entry.is_baseline,
            entry.submitted_at,
        ]
