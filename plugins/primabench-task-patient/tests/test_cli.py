"""``primabench patient`` as a user types it, and the quickstart."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest
from primabench_task_patient import quickstart
from primabench_task_patient.cli.main import main as patient
from primabench_task_patient.scoring import read_result

from primabench_core.cli.main import main as primabench


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("quick")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("primabench_task_patient.scoring.result_file.DRAWS", 100)
        list(quickstart.run(folder))
    return folder


def test_quickstart_covers_what_a_submission_can_be(made):
    found = {name: read_result(made / f"{name}.scores.json") for name in ("mine", "hvg", "random", "partial")}
    assert found["mine"]["complete"]
    assert found["mine"]["submission"]["width"] == {"d001": 8, "d002": 4, "d003": 8}  # d002 is padded in the file
    assert not found["partial"]["complete"]
    assert found["hvg"]["model"]["is_baseline"]
    assert found["mine"]["synthetic"]
    assert {s["folds"]["kind"] for s in found["mine"]["scores"]} == {"folds", "split"}
    values = {name: {s["task"]: s["value"] for s in document["scores"]} for name, document in found.items()}
    assert values["mine"]["t_endotype"] > values["random"]["t_endotype"] + 0.2


def test_the_help_of_primabench_names_the_command(capsys):
    assert primabench(["--help"]) == 0
    assert "patient    of primabench-task-patient: primabench patient --help" in capsys.readouterr().out


def test_the_file_that_is_left_behind_is_the_quickstart(made):
    text = (made / "quickstart.py").read_text()
    assert text == Path(quickstart.__file__).read_text()
    found = runpy.run_path(str(made / "quickstart.py"), run_name="a_copy")
    assert callable(found["embed"])


def test_validate_needs_no_label(made, tmp_path, capsys):
    inputs = Path(shutil.copytree(made / "inputs", tmp_path / "inputs"))
    assert primabench(["patient", "validate", str(made / "mine.csv"), "--inputs", str(inputs), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["complete"]
    assert report["datasets"]["d002"]["width"] == 4
    options = ["--inputs", str(inputs), "--tasks", str(made / "truth" / "tasks.yaml")]
    assert patient(["validate", str(made / "partial.csv"), *options]) == 0
    shown = capsys.readouterr().out
    assert "t_response  skipped" in shown
    assert "dataset_absent" in shown
    assert patient(["validate", str(made / "partial.csv"), *options, "--require-complete"]) == 1


def test_score_writes_what_the_library_gives(made, tmp_path, capsys):
    out = tmp_path / "r.json"
    arguments = [
        "patient", "score", str(made / "mine.csv"), "--truth", str(made / "truth"), "--model", "mine", "--owner", "me",
        "--submitted-at", "2026-11-29T19:30:00Z", "--out", str(out),
    ]  # fmt: skip
    assert primabench(arguments) == 0
    assert "t_endotype" in capsys.readouterr().out
    found = read_result(out)
    assert found["model"]["owner"] == "me"
    assert found["submitted_at"] == "2026-11-29T19:30:00Z"
    before = read_result(made / "mine.scores.json")
    assert [s["pooled"] for s in found["scores"]] == [s["pooled"] for s in before["scores"]]
    assert primabench([*arguments[:-2], "--out", str(out), "--json", "--require-complete"]) == 0
    assert json.loads(capsys.readouterr().out) == found


def test_the_quickstart_runs_again_where_it_lies(made, tmp_path, monkeypatch):
    monkeypatch.setattr("primabench_task_patient.scoring.result_file.DRAWS", 100)
    folder = tmp_path / "mine"
    shutil.copytree(made, folder)
    own = (folder / "quickstart.py").read_text().replace("8\n", "6  # mine\n", 1)
    (folder / "quickstart.py").write_text(own)
    for arguments in ([], [str(folder)]):
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["quickstart.py", *arguments])
        (folder / "mine.scores.json").unlink()
        runpy.run_path(str(folder / "quickstart.py"), run_name="__main__")
        assert (folder / "mine.scores.json").exists()
        assert (folder / "quickstart.py").read_text() == own
        assert not (folder / "patient-quickstart").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["score", "absent.csv", "--truth", "{truth}", "--model", "x"], "no such file"),
        (["score", "{file}", "--truth", "absent", "--model", "x"], "cannot be read"),
        (["score", "{file}", "--truth", "{truth}", "--model", "x", "--submitted-at", "noon"], "no time"),
        (["validate", "{file}", "--inputs", "absent"], "cannot be read"),
        (["compare", "{file}", "--truth", "{truth}"], "at least two"),
        (["score", "{file}", "--truth", "{truth}", "--model", "m", "--out", "absent/r.json"], "cannot be written"),
        (["score", "{file}", "--truth", "{truth}", "--model", "m", "--out", "{truth}"], "cannot be written"),
        (["score", "{file}", "--truth", "{truth}", "--model", "m\udcff"], "not UTF-8"),
        (["quickstart", "{file}"], "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said_without_a_traceback(made, capsys, arguments, named):
    filled = [a.format(file=made / "mine.csv", truth=made / "truth") for a in arguments]
    assert primabench(["patient", *filled]) == 2
    shown = capsys.readouterr().err
    assert named in shown
    assert "Traceback" not in shown


def test_a_refused_file_names_its_code(made, tmp_path, capsys):
    (tmp_path / "a.csv").write_text("dataset_id,sample_id,e0\nd001,x,a\n")
    assert primabench(["patient", "validate", str(tmp_path / "a.csv"), "--inputs", str(made / "inputs")]) == 2
    assert "text_column" in capsys.readouterr().err


def test_compare(made, capsys):
    files = [str(made / name) for name in ("mine.csv", "random.csv")]
    assert patient(["compare", *files, "--truth", str(made / "truth"), "--json"]) == 0
    found = {d["task"]: d for d in json.loads(capsys.readouterr().out)}
    assert found["t_endotype"]["difference"] > 0.2
    assert patient(["compare", *files, "--truth", str(made / "truth")]) == 0
    assert "not resolvable" in capsys.readouterr().out


@pytest.mark.parametrize("order", [("mine.csv", "random.csv"), ("random.csv", "mine.csv")])
def test_compare_says_who_is_better_and_no_p_is_zero(made, capsys, order):
    files = [str(made / name) for name in order]
    assert patient(["compare", *files, "--truth", str(made / "truth"), "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    told = [d for d in plain if not d["tied"]]
    assert told
    assert {d["better"] for d in told} == {"mine"}
    assert {d["better"] for d in plain if d["tied"]} <= {None}
    assert patient(["compare", *files, "--truth", str(made / "truth")]) == 0
    shown = capsys.readouterr().out
    for d in plain:
        line = next(line for line in shown.splitlines() if line.startswith(d["task"]))
        cells = re.split(r"  +", line)
        for cell, value in ((cells[6], d["p"]), (cells[7], d["adjusted"])):
            assert cell == ("–" if value is None else "<0.0001" if value < 1e-4 else f"{value:.4f}")
        assert cells[-1] == ("mine better" if d["better"] else "tied" if d["resolvable"] else "not resolvable")


def test_files_of_one_name_are_told_apart(made, tmp_path, capsys):
    paths = []
    for folder, name in (("one", "mine"), ("two", "random")):
        (tmp_path / folder).mkdir()
        paths.append(shutil.copy(made / f"{name}.csv", tmp_path / folder / "model.csv"))
    assert patient(["compare", *map(str, paths), "--truth", str(made / "truth"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {(d["a"], d["b"]) for d in found} == {("one/model", "two/model")}


def test_the_command_is_loaded_when_it_is_asked_for():
    code = "import primabench_task_patient.hooks, sys; print('numpy' in sys.modules, 'sklearn' in sys.modules)"
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
