"""Everything that this distribution declares keeps the promises of PrimaBench."""

from __future__ import annotations

from typing import Any

from primabench_core.testing import parametrize_with_checks


@parametrize_with_checks("primabench-task-protein")
def test_conformance(check: Any) -> None:
    check()
