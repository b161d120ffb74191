"""``primabench new``: what it writes installs, passes its checks and runs; what cannot be meant is refused."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from primabench_core.cli import scaffold
from primabench_core.cli.main import main
from primabench_core.errors import UsageError
from primabench_core.spec import Contract, Field, TaskSpec
from primabench_core.testing import check_distribution

Installer = Callable[[Path], str]


@pytest.fixture
def install(fake_distribution) -> Installer:
    """Install a written folder as its pyproject says, without pip (the tutorial's test does that)."""

    def installer(folder: Path) -> str:
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        groups = {name.removeprefix("primabench."): found for name, found in project["entry-points"].items()}
        root = fake_distribution(project["name"], groups, requires=tuple(project["dependencies"]))
        for package in (folder / "src").iterdir():
            shutil.copytree(package, root / package.name)
        return project["name"]

    return installer


def new(*arguments: str) -> int:
    return main(["new", *arguments])


def passes(distribution: str) -> None:
    report = check_distribution(distribution)
    assert report.is_sound, report.findings
    assert report.count("passed") > 10


def test_a_metric(install, tmp_path, capsys):
    import primabench_core as pb

    assert new("metric", "absolute_gap", "--output", str(tmp_path / "gap")) == 0
    assert "primabench check primabench-metric-absolute-gap" in capsys.readouterr().out
    passes(install(tmp_path / "gap"))
    assert pb.score("absolute_gap", {"value": [1.0, 3.0]}, {"value": [1.5, 3.0]}).value == 0.25


@pytest.mark.parametrize("task", ["cell_type_annotation", "clustering"])
def test_a_dataset_for_somebody_elses_task(install, tmp_path, capsys, task):
    key = "doe_2026_cell_systems/my_cells@1.0.0"
    assert new("dataset", key, "--task", task, "--output", str(tmp_path / "cells")) == 0
    passes(install(tmp_path / "cells"))
    assert main(["list", "datasets", "--task", task]) == 0
    assert key in capsys.readouterr().out


def test_a_task_shows_builds_and_evaluates(install, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PRIMABENCH_STORE", str(tmp_path / "store"))
    assert new("task", "soil_type", "--output", str(tmp_path / "soil")) == 0
    distribution = install(tmp_path / "soil")
    assert distribution == "primabench-task-soil-type"
    assert main(["list", "tasks"]) == 0
    assert "soil_type" in capsys.readouterr().out
    arguments = ["evaluate", "--task", "soil_type", "--build", "--baseline"]
    assert main([*arguments, "nearest_centroid", "--require", "macro_f1>=0.8"]) == 0
    assert main([*arguments, "perfect", "--require", "macro_f1>=1"]) == 0
    assert main([*arguments, "majority", "--require", "macro_f1>=0.8"]) == 1


def test_nothing_is_written_over(tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    assert new("task", "soil_type", "--output", str(tmp_path / "mine")) == 2
    assert "not empty" in capsys.readouterr().err
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["notes.txt"]
    (tmp_path / "empty").mkdir()
    assert new("task", "soil_type", "--output", str(tmp_path / "empty")) == 0
    assert new("task", "soil_type", "--output", str(tmp_path / "empty")) == 2


def test_the_default_folder_is_named_like_the_distribution(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert new("metric", "absolute_gap") == 0
    assert (tmp_path / "primabench-metric-absolute-gap" / "pyproject.toml").is_file()


@pytest.mark.parametrize(
    "name", ["Soil", "soil-type", "soil type", "1soil", "_soil", "soil__type", "class", "soil/..", ""]
)
def test_names_that_cannot_be(tmp_path, name):
    assert new("task", name, "--output", str(tmp_path / "x")) == 2
    assert not (tmp_path / "x").exists()


def test_names_that_are_taken(tmp_path, capsys):
    assert new("task", "clustering", "--output", str(tmp_path / "x")) == 2
    assert "exists already, in primabench-task-singlecell" in capsys.readouterr().err
    key = "primabench_synthetic/clustering@1.0.0"
    assert new("dataset", key, "--task", "clustering", "--output", str(tmp_path / "x")) == 2
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["dataset", "cells"], "not a dataset key"),
        (["dataset", "doe_2026_cell/cells@1.0.0"], "--task TASK"),
        (["dataset", "doe_2026_cell/cells@1.0.0", "--task", "clusterin"], "Did you mean 'clustering'"),
        (["task", "soil", "--task", "clustering"], "goes with `primabench new dataset`"),
        (["benchmark", "x"], "invalid choice"),
    ],
)
def test_usage(tmp_path, capsys, arguments, says):
    assert new(*arguments, "--output", str(tmp_path / "x")) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def _task(*solution: Field) -> TaskSpec:
    return TaskSpec(
        name="t",
        title="T",
        summary="s",
        contract=Contract(prediction=(Field("value", "value"),), solution=solution),
        metrics=("mse",),
        primary="mse",
        default_dataset="a_2020_b/c@1.0.0",
        independent_unit="donor",
    )


def test_answers_follow_the_contract():
    values, split = scaffold.dataset_values(
        _task(Field("value", "value", low=2.0, high=3.0), Field("role", "label", vocabulary=("fit", "score")))
    )
    assert split
    assert '"value": 2.0 + 1.0 * (words % 1001) / 1000,' in values["answers"]
    assert '("fit", "score")' in values["answers"]
    assert '"donor"' in values["answers"]
    assert values["coords"] == '{"classes": ("fit", "score")}'


def test_fields_without_a_template_are_refused():
    with pytest.raises(UsageError, match="'spots' of kind points"):
        scaffold.dataset_values(_task(Field("spots", "points")))
