"""A result over a truth of the caller: the command says that it cannot read that truth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import primabench_core as pb


def test_a_result_of_an_own_truth_is_told_from_one_of_a_task(primabench: Callable, tmp_path: Path) -> None:
    run = pb.stream(["accuracy"], truth={"label": ["a", "b"]})
    run.update(label=["a", "a"])
    run.compute().save(tmp_path / "own.json")
    (tmp_path / "p.csv").write_text("ids,label\n0,a\n1,a\n")
    assert primabench("verify", "own.json").code == 0
    ran = primabench("verify", "own.json", "--predictions", "p.csv")
    assert ran.code == 2
    assert "truth of the caller" in ran.err
    assert "Unknown task" not in ran.err
