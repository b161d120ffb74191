"""The ledger: submissions in the order they came. It only grows; boards are computed from it and never stored."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Sequence
from typing import Any

import attrs
from attrs import field, frozen
from sqlalchemy import Connection, Table, func, insert, select

from primabench_board import database
from primabench_board.derive import derive_boards
from primabench_board.intake import losses, misfits
from primabench_board.names import ModelName, model_name
from primabench_board.registry import Registry
from primabench_board.result_file import to_document
from primabench_board.submission import Entered, LedgerEntry, Submission, TaskScore
from primabench_board.tables import contacts, names, scores, submissions
from primabench_core.errors import UsageError

MOMENT = "%Y-%m-%dT%H:%M:%SZ"
AHEAD = datetime.timedelta(days=1)
"""What the clock of whoever scored may be ahead."""


class PartialReplacementError(UsageError):
    """A submission would take its model off boards where it is ranked; ``boards`` names them."""

    def __init__(self, name: str, boards: Sequence[str]) -> None:
        super().__init__(
            f"{name} is ranked on {', '.join(boards)}; this submission does not cover every task there, and the latest "
            "one counts: the model would no longer be ranked.",
            remedy="add --accept-partial to replace it all the same",
        )
        self.boards = tuple(boards)


@frozen(kw_only=True)
class Added:
    """What became of a submission.

    Args:
        number: Its position in the ledger.
        name: Name of the model as boards show it.
        counts: Position of the submission that boards take of this model: this one, or one of a later date.
        ranked_on: Boards on which the model is ranked now.
        lost: Boards on which it was ranked before and is no longer.
    """

    number: int
    name: str
    counts: int
    ranked_on: tuple[str, ...]
    lost: tuple[str, ...] = field(default=())


class Ledger:
    """Submissions in a database.

    Args:
        address: Path of an SQLite file, or a URL such as ``postgresql://user@host/boards``.
        create: Whether a ledger is made where there is none.

    Raises:
        UsageError: There is none and none may be made, or the address cannot be one.
        StoreError: The database cannot be reached, or is newer than this package.

    Example:
        >>> ledger = Ledger(":memory:")
        >>> ledger.entries()
        ()
        >>> ledger.close()
    """

    def __init__(self, address: str, *, create: bool = True) -> None:
        self._engine = database.engine_of(str(address))
        try:
            database.prepare(self._engine, create=create)
        except BaseException:
            self._engine.dispose()
            raise

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({self._engine.url.render_as_string(hide_password=True)!r})"

    def entries(self) -> tuple[LedgerEntry, ...]:
        """Every submission, in the order they were added, without owners."""
        with database.transaction(self._engine, writes=False) as connection:
            return _entries(connection)

    def add(
        self,
        submission: Submission,
        registry: Registry,
        *,
        owner: str = "",
        accept_partial: bool = False,
        now: datetime.datetime | None = None,
    ) -> Added:
        """Add a submission.

        Of a name the submission of the latest ``submitted_at`` counts, and of one moment the last that was added:
        results may be added in any order, or by several processes at once, and boards are the same.

        Args:
            submission: From :func:`~primabench_board.result_file.read_result`.
            registry: What boards are derived from.
            owner: Account that submits; by default the owner that the result file names.
            accept_partial: Take a submission that costs its model a rank.
            now: Moment of adding, for the daily cap and against dates to come; by default the clock.

        Returns:
            Where it stands.

        Raises:
            UsageError: The result does not fit the registry (all faults), the name is refused, belongs to somebody else
                or looks like another, the owner is unknown, the date is to come, the daily cap is reached, or the
                ledger has it already.
            PartialReplacementError: It would take its model off boards, and ``accept_partial`` is not set.
        """
        name = model_name(submission.model.name)
        account = _account(submission, owner)
        faults = misfits(submission, registry)
        if faults:
            raise UsageError("\n".join(["The result does not fit the registry:", *(f"  - {f}" for f in faults)]))
        clock = (now or datetime.datetime.now(datetime.UTC)).astimezone(datetime.UTC)
        _check_date(submission, clock)
        moment = clock.strftime(MOMENT)
        digest = hashlib.sha256(to_document(submission).encode()).hexdigest()
        with database.transaction(self._engine, writes=True) as connection:
            _check_cap(connection, account, moment, registry)
            name_id, display = _claim(connection, name, account, moment)
            _check_new(connection, name_id, digest)
            _check_same_truth(connection, submission, registry)
            latest = _latest(connection, name_id)
            before = latest.rows if latest else ()
            is_later = latest is None or submission.submitted_at >= latest.submitted_at
            after = tuple(_entered(score) for score in submission.scores) if is_later else before
            lost, ranked = losses(registry, derive_boards(registry), before, after)
            if lost and not accept_partial:
                raise PartialReplacementError(display, lost)
            number = _write(connection, submission, name_id, account, moment, digest)
        counts = number if is_later or latest is None else latest.number
        return Added(number=number, name=display, counts=counts, ranked_on=ranked, lost=lost)

    def set_contact(self, owner: str, contact: str, notes: str = "") -> None:
        """Keep how an owner is reached; shown nowhere, and replaced by a later call."""
        with database.transaction(self._engine, writes=True) as connection:
            connection.execute(contacts.delete().where(contacts.c.owner == owner))
            connection.execute(insert(contacts).values(owner=owner, contact=contact, notes=notes))


def _account(submission: Submission, owner: str) -> str:
    named = (submission.model.owner or "").strip()
    owner = owner.strip()
    if named and owner and named != owner:
        raise UsageError("The result file names another owner.", remedy="leave --owner out, or score the file again")
    if not (owner or named):
        raise UsageError("Nobody owns the submission: the result file names no owner.", remedy="add --owner NAME")
    return owner or named


def _check_date(submission: Submission, clock: datetime.datetime) -> None:
    """A date to come would keep every later submission of the name from counting, and nothing here is taken back."""
    if submission.submitted_at > (clock + AHEAD).strftime(MOMENT):
        raise UsageError(
            f"The result was submitted at {submission.submitted_at}, which is to come.",
            remedy="correct the clock, or --submitted-at of primabench patient score",
        )


def _check_new(connection: Connection, name_id: int, digest: str) -> None:
    same = (submissions.c.name_id == name_id) & (submissions.c.document_sha256 == digest)
    number = connection.execute(select(func.min(submissions.c.id)).where(same)).scalar()
    if number is not None:
        raise UsageError(f"The ledger has this result already, as submission {number}.")


def _check_cap(connection: Connection, owner: str, moment: str, registry: Registry) -> None:
    cap = registry.rules.daily_cap
    if cap is None:
        return
    mine = (submissions.c.owner == owner) & submissions.c.added_at.startswith(moment[:10])
    done = connection.execute(select(func.count()).select_from(submissions).where(mine)).scalar_one()
    if done >= cap:
        raise UsageError(f"The daily cap of {cap} submissions is reached.", remedy="submit again tomorrow (UTC)")


def _claim(connection: Connection, name: ModelName, owner: str, moment: str) -> tuple[int, str]:
    """Id and spelling of the name; it belongs to whoever uses it first."""
    alike = (
        (names.c.key == name.key) | (names.c.look == name.look) | (names.c.folded_look == name.folded_look)
    )  # at most three rows: each of the three is unique
    found = connection.execute(select(names).where(alike)).all()
    same = [row for row in found if row.key == name.key]
    if same:
        if same[0].owner != owner:
            raise UsageError(f"The name {same[0].display!r} belongs to another account.", remedy="choose another name")
        return same[0].id, same[0].display
    if found:
        raise UsageError(
            f"The name {name.display!a} looks like {found[0].display!a}, which is taken.", remedy="choose another name"
        )
    values = attrs.asdict(name) | {"owner": owner, "first_used": moment}
    return _insert(connection, names, values), name.display


def _check_same_truth(connection: Connection, submission: Submission, registry: Registry) -> None:
    """Scores of a task on other labels or by another probe cannot be compared, so they are not taken."""
    scored = [score for score in submission.scores if score.status == "scored"]
    query = (
        select(scores.c.task_id, scores.c.labels_sha256, scores.c.probe_sha256, func.min(scores.c.submission_id))
        .where(scores.c.status == "scored", scores.c.task_id.in_([score.task for score in scored]))
        .group_by(scores.c.task_id, scores.c.labels_sha256, scores.c.probe_sha256)
    )
    before: dict[str, list[tuple[str, str]]] = {}
    for task, labels, probe, _ in connection.execute(query):
        before.setdefault(task, []).append((labels, probe))
    faults = []
    for score in scored:
        pinned = registry.tasks[score.task].labels_sha256  # results on other labels do not count, whatever their probe
        known = [pair for pair in before.get(score.task, []) if pinned in ("", pair[0])]
        if known and (score.hashes.labels_sha256, score.probe.sha256) not in known:
            what = "labels" if score.hashes.labels_sha256 not in [k[0] for k in known] else "probe"
            faults.append(f"{score.task}: it was scored with another version of the {what} than the results before it")
    if faults:
        raise UsageError(
            "\n".join(["The result cannot be compared with those of the ledger:", *(f"  - {f}" for f in faults)]),
            remedy="a changed task needs a new id; or pin labels_sha256 of the task in the registry",
        )


def _entered(score: TaskScore) -> Entered:
    return Entered(
        task=score.task,
        status=score.status,
        reason=score.reason or "",
        value=score.value,
        low=score.interval.low if score.interval else None,
        high=score.interval.high if score.interval else None,
        labels=score.hashes.labels_sha256 or "",
        record=attrs.asdict(score),
    )


def _write(connection: Connection, submission: Submission, name_id: int, owner: str, moment: str, digest: str) -> int:
    facts = {
        "submission_sha256": submission.submission_sha256,
        "registry_sha256": submission.registry_sha256,
        "synthetic": submission.synthetic,
        "submission": attrs.asdict(submission.submission),
        "versions": dict(submission.versions),
    }
    head = {
        "name_id": name_id,
        "organisation": submission.model.organisation or "",
        "model_family": submission.model.family or "",
        "is_baseline": submission.model.is_baseline,
        "owner": owner,
        "submitted_at": submission.submitted_at,
        "added_at": moment,
        "document_sha256": digest,
        "facts": _json(facts),
    }
    number = _insert(connection, submissions, head)
    rows = [
        {
            "submission_id": number,
            "task_id": row.task,
            "status": row.status,
            "reason": row.reason,
            "score": row.value,
            "low": row.low,
            "high": row.high,
            "labels_sha256": row.labels,
            "probe_sha256": row.record["probe"]["sha256"] or "",
            "record": _json(row.record),
        }
        for row in (_entered(score) for score in submission.scores)
    ]
    connection.execute(insert(scores), rows)
    return number


def _insert(connection: Connection, table: Table, values: dict[str, Any]) -> int:
    """Id of a new row."""
    key = connection.execute(insert(table).values(**values)).inserted_primary_key
    assert key is not None
    return int(key[0])


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


_HEAD = select(submissions, names.c.display, names.c.key).join(names, names.c.id == submissions.c.name_id)


def _entries(connection: Connection) -> tuple[LedgerEntry, ...]:
    rows: dict[int, list[Entered]] = {}
    for row in connection.execute(select(scores).order_by(scores.c.submission_id, scores.c.task_id)):
        rows.setdefault(row.submission_id, []).append(_row(row))
    heads = connection.execute(_HEAD.order_by(submissions.c.id))
    return tuple(_entry(head, rows.get(head.id, [])) for head in heads)


def _latest(connection: Connection, name_id: int) -> LedgerEntry | None:
    newest = (submissions.c.submitted_at.desc(), submissions.c.id.desc())
    head = connection.execute(_HEAD.where(submissions.c.name_id == name_id).order_by(*newest).limit(1)).first()
    if head is None:
        return None
    found = connection.execute(select(scores).where(scores.c.submission_id == head.id).order_by(scores.c.task_id))
    return _entry(head, [_row(row) for row in found])


def _row(row: Any) -> Entered:
    return Entered(
        task=row.task_id,
        status=row.status,
        reason=row.reason,
        value=row.score,
        low=row.low,
        high=row.high,
        labels=row.labels_sha256,
        record=json.loads(row.record),
    )


def _entry(head: Any, rows: list[Entered]) -> LedgerEntry:
    return LedgerEntry(
        number=head.id,
        name=head.display,
        key=head.key,
        organisation=head.organisation,
        model_family=head.model_family,
        is_baseline=bool(head.is_baseline),
        submitted_at=head.submitted_at,
        rows=tuple(sorted(rows, key=lambda r: r.task)),
        facts=json.loads(head.facts),
    )
