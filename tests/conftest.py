"""The order in which files of tests are dealt out to processes; and no test fails for being slow."""

from __future__ import annotations

import hypothesis
import pytest

hypothesis.settings.register_profile("primabench", deadline=None)  # a busy machine is no fault
hypothesis.settings.load_profile("primabench")

LONG = (
    "testing/test_tutorial.py",
    "distributed/test_ranks.py",
    "testing/test_wrong_plugins.py",
    "evaluation/test_same_bits.py",
    "test_conformance.py",
    "primabench-task-patient/tests/test_task.py",
)
"""Files that take longest. A long file that begins last leaves the other processors idle."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, and each file's tests in their own order."""
    items.sort(key=lambda item: next((i for i, name in enumerate(LONG) if name in item.path.as_posix()), len(LONG)))
