"""Everything that this distribution declares passes the kit's checks."""

from __future__ import annotations

from typing import Any

from primabench_core.testing import parametrize_with_checks


@parametrize_with_checks("primabench-task-perturbation")
def test_check(check: Any) -> None:
    check()
