"""A scored submission, as a result file tells it and as the ledger keeps it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen


@frozen(kw_only=True)
class Model:
    """Who was scored. ``owner`` is a lock on the name and is never shown."""

    name: str
    organisation: str | None
    owner: str | None
    family: str | None
    is_baseline: bool


@frozen(kw_only=True)
class Warned:
    """A warning about the submitted file."""

    code: str
    message: str


@frozen(kw_only=True)
class SubmittedFile:
    """What is known of the submitted file."""

    format: str
    bytes: int
    rows: int
    width: Mapping[str, int]
    warnings: tuple[Warned, ...]


@frozen(kw_only=True)
class Interval:
    """A percentile bootstrap interval over independent units; no ends where too few draws had a score."""

    low: float | None
    high: float | None
    level: float
    method: str
    draws: int
    dropped: int
    unit: str
    n_units: int


@frozen(kw_only=True)
class Folds:
    """How the task is cut."""

    kind: str
    n: int
    grouped: bool
    stratified: bool


@frozen(kw_only=True)
class Probe:
    """What was fitted; ``chosen`` holds the penalty of each fold. Its names may be None where nothing was fitted."""

    id: str | None
    sha256: str | None
    chosen: Mapping[str, float]


@frozen(kw_only=True)
class Hashes:
    """Hashes of the labels (salted) and of the vectors."""

    labels_sha256: str | None
    embedding_sha256: str | None


@frozen(kw_only=True)
class TaskScore:
    """What came out of one task; see the format in the README of primabench-task-patient."""

    dataset: str
    task: str
    metric: str
    status: str
    reason: str | None
    detail: str | None
    value: float | None
    pooled: float | None
    fold_mean: float | None
    pooled_centered: float | None
    per_fold: Mapping[str, float | None]
    flags: tuple[str, ...]
    interval: Interval | None
    n: int | None
    n_units: int | None
    class_counts: Mapping[str, int] | None
    classes_left_out: tuple[str, ...]
    resolvable: bool | None
    chance: float
    width: int | None
    folds: Folds
    probe: Probe
    hashes: Hashes


@frozen(kw_only=True)
class Submission:
    """One result file: a model, and what it scored in every task of a registry."""

    format: str
    schema_version: int
    model: Model
    submitted_at: str
    submission_sha256: str
    submission: SubmittedFile
    registry_sha256: str
    synthetic: bool
    complete: bool
    counts: Mapping[str, int]
    scores: tuple[TaskScore, ...]
    versions: Mapping[str, str]


@frozen(kw_only=True)
class Entered:
    """A row of a submission in the ledger: what boards are computed from.

    Args:
        task: Id of the task.
        status: ``scored``, ``skipped`` or ``failed``.
        reason: Code, empty where scored.
        value: The score, or None.
        low: Lower end of the interval, or None.
        high: Upper end of the interval, or None.
        labels: Salted hash of the labels, empty where unknown.
        record: Everything that the result file says of this task, as plain values.
    """

    task: str
    status: str
    reason: str
    value: float | None
    low: float | None
    high: float | None
    labels: str
    record: Mapping[str, Any] = field(eq=False, repr=False)


@frozen(kw_only=True)
class LedgerEntry:
    """A submission in the ledger, without its owner.

    Args:
        number: Position in the ledger, from 1.
        name: The name as it was first spelled.
        key: What names are compared by.
        organisation: As the result file says; may be empty.
        model_family: As the result file says; may be empty.
        is_baseline: Whether it is a baseline.
        submitted_at: UTC, as the result file says.
        rows: One for each task of the file.
        facts: Hashes, versions and the submitted file's size, as plain values.
    """

    number: int
    name: str
    key: str
    organisation: str
    model_family: str
    is_baseline: bool
    submitted_at: str
    rows: tuple[Entered, ...]
    facts: Mapping[str, Any] = field(eq=False, repr=False)

    @property
    def moment(self) -> tuple[str, int]:
        """What submissions of one name go by: the later one counts."""
        return self.submitted_at, self.number


def is_utc(text: str) -> bool:
    """Whether a text is a moment in UTC exactly like ``2026-11-29T19:30:00Z``: moments are compared as texts."""
    form = "%Y-%m-%dT%H:%M:%SZ"
    try:
        found = datetime.datetime.strptime(text, form)
    except ValueError:
        return False
    return f"{found.isoformat()}Z" == text
