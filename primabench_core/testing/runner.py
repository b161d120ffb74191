"""Runs the checks of a distribution, each in isolation, and holds expected failures to their word."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from attrs import field, frozen

from primabench_core.discovery import names
from primabench_core.errors import PluginError, PrimaBenchError, UnknownNameError, UsageError
from primabench_core.testing.bench import Bench
from primabench_core.testing.report import CheckFailure, CheckRecord, CheckReport, NotApplicable, Status
from primabench_core.testing.subjects import PluginSubject, Subject, find_distribution, subjects_of

if TYPE_CHECKING:
    from primabench_core.testing.catalogue import Check

Progress = Callable[[str, int, int], None]
"""Called as ``progress(check id, done, total)``."""


@frozen
class BoundCheck:
    """A check with its subject, ready to run.

    Calling it runs the check: it returns, or raises ``CheckFailure`` or ``NotApplicable``.
    """

    check: Check = field(repr=False)
    name: str
    """Name of the check."""
    subject: PluginSubject | Subject = field(repr=False)
    expected: str = ""
    """The author's reason for an expected failure, empty if none is expected."""

    @property
    def id(self) -> str:
        """``kind.check:subject``."""
        return f"{self.subject.kind}.{self.name}:{self.subject.name}"

    def __call__(self) -> None:
        """Run the check, whatever is expected of it.

        Raises:
            CheckFailure: it found a fault.
            NotApplicable: there is nothing to look at.
        """
        if isinstance(self.subject, Subject):
            if self.subject.record.status in ("broken", "disabled", "incompatible"):
                raise NotApplicable(f"it is {self.subject.record.status}: {self.subject.record.detail}")
            try:
                self.subject._spec()
            except PluginError as error:
                raise NotApplicable(f"its spec does not load: {error.message}") from error
        try:
            self.check(self.subject)
        except (CheckFailure, NotApplicable):
            raise
        except PrimaBenchError as error:
            raise CheckFailure(error.message, remedy=error.remedy) from error
        except Exception as error:
            raise CheckFailure(f"{type(error).__name__}: {error}") from error

    def record(self) -> CheckRecord:
        """Run the check and say how it went; nothing is raised."""
        status: Status = "passed"
        reason = remedy = ""
        try:
            self()
        except CheckFailure as error:
            status, reason, remedy = "failed", error.message, error.remedy
        except NotApplicable as error:
            status, reason = "not_applicable", str(error)
        if self.expected and status == "failed":
            status, reason = "expected_failure", f"{self.expected} (found: {reason})"
        elif self.expected:
            found = "passed" if status == "passed" else f"did not apply ({reason})"
            status, reason = "failed", f"it was expected to fail ({self.expected}), but it {found}"
            remedy = "take it out of the expected failures"
        return CheckRecord(self.name, self.subject.kind, self.subject.name, status, reason, remedy)


def collect(
    distribution: str, expected_failures: Mapping[str, str] | None = None, *, bench: Bench | None = None
) -> tuple[BoundCheck, ...]:
    """Every check of everything that a distribution declares, not run; reads metadata alone.

    Args:
        distribution: Name of an installed distribution.
        expected_failures: Check id (``kind.check:subject``) to the written reason why it must fail.
        bench: Where data are built.

    Raises:
        UnknownNameError: the distribution is not installed or declares nothing; or an expected failure names no check.
        UsageError: an expected failure has no reason.
    """
    from primabench_core.testing.catalogue import CHECKS, name_of

    name, _ = find_distribution(distribution)
    expected = dict(expected_failures or {})
    bound = tuple(
        BoundCheck(check, name_of(check), subject, "")
        for subject in subjects_of(name, bench or Bench())
        for check in CHECKS[subject.kind]
    )
    known = {b.id for b in bound}
    for key, reason in expected.items():
        if key not in known:
            raise UnknownNameError("check", key, known, remedy=f"primabench check {name} --all")
        if not isinstance(reason, str) or not reason.strip():
            raise UsageError(f"The expected failure {key!r} needs a written reason.")
    return tuple(BoundCheck(b.check, b.name, b.subject, expected.get(b.id, "")) for b in bound)


def check_distribution(
    distribution: str,
    expected_failures: Mapping[str, str] | None = None,
    *,
    progress: Progress | None = None,
) -> CheckReport:
    """Run every check of a distribution.

    Args:
        distribution: Name of an installed distribution that declares entry points of PrimaBench.
        expected_failures: Check id (``kind.check:subject``) to the written reason why it must fail; one that does not
            fail is a finding.
        progress: Told about each check.

    Returns:
        One record a check; ``report.findings`` are those that failed.

    Raises:
        UnknownNameError, UsageError: as :func:`collect`.

    Example:
        >>> check_distribution("primabench-metrics").is_sound  # doctest: +SKIP
        True
    """
    name, version = find_distribution(distribution)
    bound = collect(name, expected_failures)
    records = []
    for done, check in enumerate(bound):
        if progress:
            progress(check.id, done, len(bound))
        records.append(check.record())
    if progress:
        progress("done", len(bound), len(bound))
    return CheckReport(name, version or names.version_of(name), records)
