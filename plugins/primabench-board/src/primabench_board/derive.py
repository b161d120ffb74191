"""Boards that follow from a registry: of each modality, and in it of each area and each category."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from attrs import frozen

from primabench_core.errors import UsageError

if TYPE_CHECKING:
    from primabench_board.registry import OpenBoard, Registry

Kind = Literal["modality", "area", "category"]


@frozen(kw_only=True)
class Board:
    """A set of tasks of one modality that models are ranked over.

    Args:
        id: ``<slice>-<modality>``, or the modality's id.
        kind: What the slice is.
        slice: Id of the modality, area or category.
        modality: Id of the modality.
        tasks: Ids of its tasks, in the order of the registry.
    """

    id: str
    kind: Kind
    slice: str
    modality: str
    tasks: tuple[str, ...]


def make_board(registry: Registry, kind: Kind, slice_id: str, tasks: tuple[str, ...]) -> Board:
    """A board over some tasks.

    Raises:
        UsageError: There are no tasks, or they are of several modalities: scores on different kinds of measurement are
            never ranked together.
    """
    modalities = sorted({registry.modality_of(task) for task in tasks})
    if len(modalities) != 1:
        found = ", ".join(modalities) or "no task"
        raise UsageError(f"A board has tasks of exactly one modality; {slice_id} has {found}.")
    modality = modalities[0]
    identity = modality if kind == "modality" else f"{slice_id}-{modality}"
    return Board(id=identity, kind=kind, slice=slice_id, modality=modality, tasks=tasks)


def derive_boards(registry: Registry) -> tuple[Board, ...]:
    """All boards: for each modality its own, those of its areas, those of its categories, in the order of the registry.

    Example:
        >>> from primabench_board.registry import parse_registry
        >>> registry = parse_registry('''
        ... name: small
        ... datasets: [{id: d001, modality: bulk-rna}]
        ... tasks: [{id: t001, dataset: d001, area: dermatology, category: severity, metric: pearson}]
        ... ''')
        >>> [board.id for board in derive_boards(registry)]
        ['bulk-rna', 'dermatology-bulk-rna', 'severity-bulk-rna']
    """
    found = []
    for modality in registry.modalities:
        tasks = [t for t in registry.tasks.values() if registry.modality_of(t.id) == modality]
        if not tasks:
            continue
        found.append(make_board(registry, "modality", modality, tuple(t.id for t in tasks)))
        for area in registry.areas:
            chosen = tuple(t.id for t in tasks if t.area == area)
            found += [make_board(registry, "area", area, chosen)] if chosen else []
        for category in registry.categories:
            chosen = tuple(t.id for t in tasks if t.category == category)
            found += [make_board(registry, "category", category, chosen)] if chosen else []
    return tuple(found)


def open_id(board: OpenBoard) -> str:
    """Id that an open board will have once it has tasks."""
    return f"{board.area}-{board.modality}" if board.area else board.modality


def open_boards(registry: Registry) -> tuple[OpenBoard, ...]:
    """Open boards that no task covers yet; one drops out as soon as there is a task."""
    covered = {board.id for board in derive_boards(registry)}
    return tuple(board for board in registry.open_boards if open_id(board) not in covered)


def board_ids(registry: Registry) -> Iterator[tuple[str, str]]:
    """Id of every board and open board with what it is, to find ids that fall together."""
    for board in derive_boards(registry):
        yield board.id.lower(), f"the {board.kind} {board.slice}"
    for place in open_boards(registry):
        yield open_id(place).lower(), f"the open board of {place.area or place.modality}"
