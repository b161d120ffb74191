"""Whether a submission fits a registry, and what it would change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from primabench_board.derive import Board
from primabench_board.lookalike import unseen
from primabench_board.registry import Registry
from primabench_board.submission import Entered, Submission
from primabench_core.errors import close_names

LONGEST_NOTE = 120
"""Most code points of an organisation or a family of models."""


def misfits(submission: Submission, registry: Registry) -> list[str]:
    """Everything in which a submission contradicts the registry; empty where it fits."""
    faults = []
    if submission.synthetic != registry.synthetic:
        faults.append(
            "it was scored on synthetic data, which boards do not take"
            if submission.synthetic
            else "the registry is of synthetic data, the result is not"
        )
    for what in ("organisation", "family"):
        text = getattr(submission.model, what) or ""
        if unseen(text):
            faults.append(f"the {what} of the model has characters that draw nothing or turn the text")
        if len(text) > LONGEST_NOTE:
            faults.append(f"the {what} of the model has {len(text)} characters, at most {LONGEST_NOTE} are allowed")
    for score in submission.scores:
        task = registry.tasks.get(score.task)
        if task is None:
            close = close_names(score.task, sorted(registry.tasks))
            faults.append(f"{score.task}: no such task" + (f"; did you mean {close[0]}?" if close else ""))
            continue
        for key, found, expected in (
            ("dataset", score.dataset, task.dataset),
            ("metric", score.metric, task.metric),
            ("probe", score.probe.id, registry.rules.probe),
        ):
            if found != expected and found is not None:  # without a fit there is no probe to name
                faults.append(f"{score.task}: the {key} is {found}, the registry says {expected}")
        is_pinned = score.status == "scored" and task.labels_sha256
        if is_pinned and score.hashes.labels_sha256 != task.labels_sha256:
            faults.append(f"{score.task}: it was scored on other labels than the registry pins")
    return faults


def counts(registry: Registry, row: Entered) -> bool:
    """Whether a row is a score of the registry's task: scored, and on the labels that the registry pins, if it does."""
    task = registry.tasks.get(row.task)
    if task is None or row.status != "scored":
        return False
    return not task.labels_sha256 or row.labels == task.labels_sha256


def covered(registry: Registry, rows: Iterable[Entered]) -> set[str]:
    """Tasks that some rows count for."""
    return {row.task for row in rows if counts(registry, row)}


def losses(
    registry: Registry, boards: Sequence[Board], before: Iterable[Entered], after: Iterable[Entered]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Boards that a model loses its rank on, and those on which it is ranked afterwards."""
    had, has = covered(registry, before), covered(registry, after)
    ranked = tuple(board.id for board in boards if has.issuperset(board.tasks))
    lost = tuple(b.id for b in boards if had.issuperset(b.tasks) and not has.issuperset(b.tasks))
    return lost, ranked
