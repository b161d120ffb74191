"""The conformance kit that plugin authors run: named checks, a runner for a whole distribution, fixtures for tests.

::

    from primabench_core.testing import parametrize_with_checks

    @parametrize_with_checks("primabench-task-mine")
    def test_conformance(check):
        check()

``primabench check DISTRIBUTION`` runs the same on the command line. Nothing here is loaded by pytest on its own: a
test module asks for it. The fixtures stand in :mod:`primabench_core.testing.fixtures`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from primabench_core.testing.catalogue import CHECKS as CHECKS
    from primabench_core.testing.parametrize import parametrize_with_checks as parametrize_with_checks
    from primabench_core.testing.report import CheckFailure as CheckFailure
    from primabench_core.testing.report import CheckRecord as CheckRecord
    from primabench_core.testing.report import CheckReport as CheckReport
    from primabench_core.testing.report import NotApplicable as NotApplicable
    from primabench_core.testing.runner import check_distribution as check_distribution
    from primabench_core.testing.runner import collect as collect
    from primabench_core.testing.subjects import subject_of as subject_of

_HOMES = {
    "CHECKS": "catalogue",
    "CheckFailure": "report",
    "CheckRecord": "report",
    "CheckReport": "report",
    "NotApplicable": "report",
    "check_distribution": "runner",
    "collect": "runner",
    "parametrize_with_checks": "parametrize",
    "subject_of": "subjects",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'primabench_core.testing' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"primabench_core.testing.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
