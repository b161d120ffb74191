"""What was asked for and did not work: exit code 1 or 2, one explanation, no traceback, no file left behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import primabench_core as pb
from primabench_core.cli import main as cli

TASK = "cell_type_annotation"
SYNTHETIC = "primabench_synthetic/cell_type_annotation@1.0.0"
ON_SYNTHETIC = ["--task", TASK, "--dataset", SYNTHETIC]


@pytest.fixture
def answers(store: Path) -> dict[str, str]:
    """A legal prediction for every test cell."""
    _, test_path = pb.fetch_data(task=TASK, dataset=SYNTHETIC, store=str(store))
    test = pb.load(test_path, task=TASK, split="test")
    return dict.fromkeys(test.ids, test.coords["classes"][0])


def write_csv(path: Path, rows: dict[str, str], header: str = "id,label") -> str:
    path.write_text("\n".join([header, *(f"{i},{v}" for i, v in rows.items())]) + "\n", encoding="utf-8")
    return str(path)


def test_a_good_file_is_scored_and_written(primabench: Callable, tmp_path: Path, answers: dict[str, str]) -> None:
    file = write_csv(tmp_path / "p.csv", answers)
    ran = primabench("evaluate", *ON_SYNTHETIC, "--predictions", file, "--ci", "none", "--output", "r.json")
    assert ran.code == 0, ran.err
    result = pb.EvalResult.load(tmp_path / "r.json")
    assert result.scores["accuracy"] is not None
    assert primabench("verify", "r.json", "--predictions", file).code == 0


def test_a_changed_prediction_does_not_verify(primabench: Callable, tmp_path: Path, answers: dict[str, str]) -> None:
    file = write_csv(tmp_path / "p.csv", answers)
    assert primabench("evaluate", *ON_SYNTHETIC, "--predictions", file, "--ci", "none", "--output", "r.json").code == 0
    other = sorted(
        set(pb.load(pb.fetch_data(task=TASK, dataset=SYNTHETIC)[1], task=TASK, split="test").coords["classes"])
    )
    changed = {**answers, next(iter(answers)): other[-1]}
    ran = primabench("verify", "r.json", "--predictions", write_csv(tmp_path / "q.csv", changed))
    assert ran.code == 1
    assert "failed" in ran.out


BAD_ARGUMENTS = [
    (["evaluate", "--task", "cell_type_anotation", "--baseline", "majority"], "cell_type_annotation"),
    (["evaluate", "--task", TASK, "--baseline", "majorit"], "majority"),
    (["evaluate", "--task", TASK], "--predictions"),
    (["evaluate", "--baseline", "majority"], "--task"),
    (["evaluate", "--predictions", "nowhere.csv"], "--task"),
    (["evaluate", "--task", "clustering", "--baseline", f"{TASK}|majority"], TASK),
    (["evaluate", "--baseline", f"{TASK}|majorit"], "majority"),
    (["evaluate", *ON_SYNTHETIC, "--baseline", "majority", "--ci", "2"], "--ci"),
    (["evaluate", *ON_SYNTHETIC, "--baseline", "majority", "--metrics", "acuracy"], "accuracy"),
    (["evaluate", *ON_SYNTHETIC, "--baseline", "majority", "--require", "mcc=1"], "METRIC>=NUMBER"),
    (["evaluate", *ON_SYNTHETIC, "--baseline", "majority", "--require", "auroc>=0", "--ci", "none"], "auroc"),
    (["evaluate", *ON_SYNTHETIC, "--baseline", "majority", "--label", "no-equals-sign"], "KEY=VALUE"),
    (["evaluate", *ON_SYNTHETIC, "--predictions", "nowhere.csv"], "nowhere.csv"),
    (["evaluate", "--task", TASK, "--dataset", "no_such/set@1.0.0", "--baseline", "majority"], "no_such/set@1.0.0"),
    (["evaluate", "--task", TASK, "--dataset", "not a key", "--baseline", "majority"], "publication/slug@version"),
    (["build"], "--all-bundled"),
    (["build", "no_such/set@1.0.0"], "no_such/set@1.0.0"),
    (["build", "../../etc@1.0.0"], "1.0.0"),
    (["build", SYNTHETIC], "1.0.0"),
    (["fetch", "--task", "nothing"], "nothing"),
    (["verify"], "--dataset"),
    (["verify", "nowhere.json"], "nowhere.json"),
    (["verify", "--dataset", "no_such/set@1.0.0"], "no_such/set@1.0.0"),
    (["show", "acuracy"], "accuracy"),
    (["show", "task", "metric", "x"], "KIND"),
    (["list", "task"], "tasks"),
    (["list", "benchmarks", "--task", TASK], "--task"),
    (["evalute"], "evaluate"),
    (["--nonsense"], "--nonsense"),
]


@pytest.mark.parametrize(
    ("arguments", "word"), BAD_ARGUMENTS, ids=lambda v: " ".join(v)[:60] if isinstance(v, list) else ""
)
def test_wrong_use_is_explained(primabench: Callable, tmp_path: Path, arguments: list[str], word: str) -> None:
    ran = primabench(*arguments)
    assert ran.code == 2, ran.out + ran.err
    assert word in ran.err
    assert "Traceback" not in ran.err
    assert list(tmp_path.iterdir()) == []


def corrupt(kind: str, rows: dict[str, str]) -> tuple[dict[str, str], str]:
    first = next(iter(rows))
    if kind == "missing row":
        return {k: v for k, v in rows.items() if k != first}, "id,label"
    if kind == "unknown id":
        return {**rows, "nobody": rows[first]}, "id,label"
    if kind == "empty label":
        return {**rows, first: ""}, "id,label"
    if kind == "misspelt field":
        return rows, "id,lable"
    if kind == "no ids":
        return rows, "label,cell"
    return {}, "id,label"


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("missing row", "id"),
        ("unknown id", "nobody"),
        ("empty label", "label"),
        ("misspelt field", "label"),
        ("no ids", "--map ids=COLUMN"),
        ("no rows", ""),
    ],
)
def test_bad_files_are_explained(
    primabench: Callable, tmp_path: Path, answers: dict[str, str], kind: str, word: str
) -> None:
    rows, header = corrupt(kind, answers)
    file = write_csv(tmp_path / "p.csv", rows, header)
    ran = primabench("evaluate", *ON_SYNTHETIC, "--predictions", file, "--ci", "none", "--output", "r.json")
    assert ran.code == 2, ran.out + ran.err
    assert word in ran.err
    assert "Traceback" not in ran.err
    assert not (tmp_path / "r.json").exists()


def test_pickles_are_never_opened(primabench: Callable, tmp_path: Path, answers: dict[str, str]) -> None:
    file = tmp_path / "p.npz"
    np.savez(file, id=np.array(list(answers), dtype=object), label=np.array(list(answers.values()), dtype=object))
    ran = primabench("evaluate", *ON_SYNTHETIC, "--predictions", str(file), "--ci", "none")
    assert ran.code == 2
    assert "pickle" in ran.err


def test_a_requirement_that_is_not_met_is_exit_1(primabench: Callable) -> None:
    ran = primabench("evaluate", *ON_SYNTHETIC, "--baseline", "majority", "--ci", "none", "--require", "mcc>=0.5")
    assert ran.code == 1
    assert "mcc>=0.5" in ran.err
    met = primabench("evaluate", *ON_SYNTHETIC, "--baseline", "majority", "--ci", "none", "--require", "mcc<=0.5")
    assert met.code == 0


def test_an_existing_output_is_kept_unless_forced(primabench: Callable, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text("mine", encoding="utf-8")
    command = ["evaluate", *ON_SYNTHETIC, "--baseline", "majority", "--ci", "none", "--output", "r.json"]
    assert primabench(*command).code == 2
    assert (tmp_path / "r.json").read_text(encoding="utf-8") == "mine"
    assert primabench(*command, "--force").code == 0
    assert pb.EvalResult.load(tmp_path / "r.json").n_units > 0


def test_faults_of_ours_are_exit_3_and_interrupts_130(
    primabench: Callable, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(arguments: list[str]) -> int:
        raise RuntimeError("wires crossed")

    monkeypatch.setattr(cli, "_run", broken)
    ran = primabench("list", "tasks")
    assert ran.code == 3
    assert "wires crossed" in ran.err
    assert "Traceback" not in ran.err
    assert "Traceback" in primabench("--debug", "list", "tasks").err

    def interrupted(arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_run", interrupted)
    assert primabench("list", "tasks").code == 130
