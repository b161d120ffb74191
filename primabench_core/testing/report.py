"""What a check says: passed, failed with a reason, failed as expected, or that it does not apply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

from attrs import asdict, field, frozen

from primabench_core.errors import PluginError

Status = Literal["passed", "failed", "expected_failure", "not_applicable"]


class CheckFailure(PluginError):
    """A conformance check found a fault; the message is the reason, the remedy the next thing to do."""


class NotApplicable(Exception):
    """The check has nothing to look at; the message says why."""


@frozen
class CheckRecord:
    """One check of one subject."""

    check: str
    """Name of the check, such as ``order_free``."""
    kind: str
    """Kind of the subject: plugin, metric, task, dataset, preparer, baseline or recipe."""
    subject: str
    """Name of the subject: an entry-point name, or the distribution."""
    status: Status
    reason: str = ""
    """Why it failed or does not apply; of an expected failure the author's reason and what was found."""
    next: str = ""
    """The next thing to type."""

    @property
    def id(self) -> str:
        """``kind.check:subject``, the key of expected failures."""
        return f"{self.kind}.{self.check}:{self.subject}"


def _records(value: Iterable[CheckRecord]) -> tuple[CheckRecord, ...]:
    return tuple(value)


@frozen
class CheckReport:
    """What :func:`~primabench_core.testing.runner.check_distribution` found."""

    distribution: str
    version: str
    records: tuple[CheckRecord, ...] = field(converter=_records)

    @property
    def findings(self) -> tuple[CheckRecord, ...]:
        """The records that failed."""
        return tuple(record for record in self.records if record.status == "failed")

    @property
    def is_sound(self) -> bool:
        """Whether nothing failed."""
        return not self.findings

    def count(self, status: Status) -> int:
        """How many records have this status."""
        return Counter(record.status for record in self.records)[status]

    def find(self, check: str, subject: str = "") -> tuple[CheckRecord, ...]:
        """The records of one check (of one subject)."""
        return tuple(r for r in self.records if r.check == check and subject in ("", r.subject))

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and lists, for JSON."""
        return {
            "distribution": self.distribution,
            "version": self.version,
            "is_sound": self.is_sound,
            "records": [{"id": record.id, **asdict(record)} for record in self.records],
        }
