"""Ranks of all boards: a pure function of the registry and the submissions. Nothing here is ever stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from attrs import field, frozen

from primabench_board.derive import Board, derive_boards
from primabench_board.intake import counts
from primabench_board.registry import Registry
from primabench_board.submission import Entered, LedgerEntry
from primabench_board.uncertainty import Cell, mean, rank_intervals, ranks

SKILL = "mean over families of the mean over tasks of max(0, (score - chance) / (1 - chance))"
"""The formula of the column of skill."""


@frozen(kw_only=True)
class RankedModel:
    """A line of a board.

    Args:
        entry: Place of the submission in :attr:`Standings.models`.
        rank: Competition rank; equal order means equal rank.
        families: One cell for each family, in the order of the board.
        order: What it is ranked by: the mean of the family cells, or the only one.
        span: Best and worst rank that the intervals leave open.
        skill: As :data:`SKILL` says, where the registry asks for it; it never ranks.
        clipped: Tasks whose skill would be below zero.
    """

    entry: int
    rank: int
    families: tuple[Cell, ...]
    order: Cell
    span: tuple[int, int] | None
    skill: float | None = None
    clipped: int = 0


@frozen(kw_only=True)
class UnrankedModel:
    """A model that does not cover a board. ``missing`` holds each task with its status and reason."""

    entry: int
    covered: int
    missing: tuple[tuple[str, str, str], ...]


@frozen(kw_only=True)
class BoardStanding:
    """A board with its lines: ranked ones by rank, then by name; the others by coverage, then by name."""

    board: Board
    families: tuple[tuple[str, tuple[str, ...]], ...]
    ranked: tuple[RankedModel, ...]
    unranked: tuple[UnrankedModel, ...]

    @property
    def has_mean(self) -> bool:
        """Whether several families are on it, so that a mean of unlike metrics orders it."""
        return len(self.families) > 1


@frozen(kw_only=True)
class TaskLine:
    """A model in the table of a task; ``rank`` is None where it has no score."""

    entry: int
    rank: int | None
    status: str
    reason: str
    cell: Cell | None
    row: Entered = field(repr=False)


@frozen(kw_only=True)
class Standings:
    """Everything that pages, files and the terminal show.

    Args:
        registry: As given.
        models: Latest submission of each model, by name.
        submitted: Number of submissions of each, in the same order.
        boards: One for each board that follows from the registry.
        tasks: Lines of each task, by id.
    """

    registry: Registry
    models: tuple[LedgerEntry, ...]
    submitted: tuple[int, ...]
    boards: tuple[BoardStanding, ...]
    tasks: Mapping[str, tuple[TaskLine, ...]]


def compute(registry: Registry, entries: Sequence[LedgerEntry]) -> Standings:
    """Ranks of all boards.

    Args:
        registry: Tasks and their words.
        entries: Submissions in any order; of each name the one with the latest ``submitted_at`` counts, and of one
            moment the one with the highest number.

    Returns:
        The same value for the same registry and submissions, whatever their order.
    """
    latest: dict[str, LedgerEntry] = {}
    for entry in entries:
        if entry.key not in latest or latest[entry.key].moment < entry.moment:
            latest[entry.key] = entry
    models = tuple(sorted(latest.values(), key=lambda e: (e.name.casefold(), e.name, e.number)))
    often = Counter(entry.key for entry in entries)
    rows: dict[str, list[tuple[int, Entered]]] = {task: [] for task in registry.tasks}
    for place, model in enumerate(models):
        for row in model.rows:
            if row.task in rows:  # a task may have been retired since
                rows[row.task].append((place, row))
    tables = {task: _task_lines(registry, found) for task, found in rows.items()}
    cells = {task: {line.entry: line.cell for line in lines if line.cell is not None} for task, lines in tables.items()}
    gaps = {task: {line.entry: line for line in lines if line.cell is None} for task, lines in tables.items()}
    return Standings(
        registry=registry,
        models=models,
        submitted=tuple(often[model.key] for model in models),
        boards=tuple(_standing(registry, board, models, cells, gaps) for board in derive_boards(registry)),
        tasks=tables,
    )


def _task_lines(registry: Registry, rows: Sequence[tuple[int, Entered]]) -> tuple[TaskLine, ...]:
    found: list[tuple[int, Entered, Cell | None, str, str]] = []
    for place, row in rows:
        if counts(registry, row):
            found.append((place, row, _cell(registry, row), "scored", ""))
        elif row.status == "scored":
            found.append((place, row, None, "outdated", "scored_on_other_labels"))
        else:
            found.append((place, row, None, row.status, row.reason))
    places = iter(ranks([cell.value for _, _, cell, _, _ in found if cell is not None]))
    lines = [
        TaskLine(entry=e, rank=next(places) if cell is not None else None, status=s, reason=r, cell=cell, row=row)
        for e, row, cell, s, r in found
    ]
    return tuple(sorted(lines, key=lambda line: (line.rank is None, line.rank or 0, line.entry)))


def _cell(registry: Registry, row: Entered) -> Cell:
    decimals = registry.rules.decimals

    def shown(value: float | None) -> float | None:
        return value if value is None or decimals is None else round(value, decimals) + 0.0  # no -0.0

    value = shown(row.value)
    if value is None:
        raise ValueError(f"{row.task}: a scored row without a score")
    return Cell(value, shown(row.low), shown(row.high))


def _standing(
    registry: Registry,
    board: Board,
    models: Sequence[LedgerEntry],
    cells: Mapping[str, Mapping[int, Cell]],
    gaps: Mapping[str, Mapping[int, TaskLine]],
) -> BoardStanding:
    by_family: dict[str, list[str]] = {}
    for task in board.tasks:
        by_family.setdefault(registry.tasks[task].category, []).append(task)
    families = tuple((c, tuple(by_family[c])) for c in registry.categories if c in by_family)
    full, partly = [], []
    for place in range(len(models)):
        done = sum(place in cells[task] for task in board.tasks)
        if done == len(board.tasks):
            full.append(place)
        elif done or any(place in gaps[task] for task in board.tasks):
            partly.append(_unranked(board, place, done, cells, gaps))
    return BoardStanding(
        board=board,
        families=families,
        ranked=_ranked(registry, families, full, cells),
        unranked=tuple(sorted(partly, key=lambda m: (-m.covered, m.entry))),
    )


def _unranked(
    board: Board,
    place: int,
    done: int,
    cells: Mapping[str, Mapping[int, Cell]],
    gaps: Mapping[str, Mapping[int, TaskLine]],
) -> UnrankedModel:
    missing = []
    for task in board.tasks:
        if place not in cells[task]:
            line = gaps[task].get(place)
            missing.append((task, line.status, line.reason) if line else (task, "absent", "not_submitted"))
    return UnrankedModel(entry=place, covered=done, missing=tuple(missing))


def _ranked(
    registry: Registry,
    families: Sequence[tuple[str, tuple[str, ...]]],
    full: Sequence[int],
    cells: Mapping[str, Mapping[int, Cell]],
) -> tuple[RankedModel, ...]:
    columns = [tuple(mean([cells[task][place] for task in tasks]) for _, tasks in families) for place in full]
    orders = [mean(row) for row in columns]
    places, spans = ranks([order.value for order in orders]), rank_intervals(orders)
    lines = []
    for number, place in enumerate(full):
        skill, clipped = _skill(registry, families, place, cells) if registry.rules.skill else (None, 0)
        lines.append(
            RankedModel(
                entry=place,
                rank=places[number],
                families=columns[number],
                order=orders[number],
                span=spans[number],
                skill=skill,
                clipped=clipped,
            )
        )
    return tuple(sorted(lines, key=lambda line: (line.rank, line.entry)))


def _skill(
    registry: Registry,
    families: Sequence[tuple[str, tuple[str, ...]]],
    place: int,
    cells: Mapping[str, Mapping[int, Cell]],
) -> tuple[float, int]:
    found, clipped = [], 0
    for category, tasks in families:
        chance = registry.metric_of(category).chance
        raw = [(cells[task][place].value - chance) / (1 - chance) for task in tasks]
        clipped += sum(value < 0 for value in raw)
        found.append(mean([Cell(max(0.0, value)) for value in raw]))
    return mean(found).value, clipped
