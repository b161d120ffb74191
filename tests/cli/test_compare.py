"""`primabench compare`: what is real, and what cannot be asked."""

import json
import re

import pytest

from primabench_core.cli.main import main

SYNTHETIC = "primabench_synthetic/cell_type_annotation@1.0.0"


def test_help_names_the_corrections(capsys):
    assert main(["compare", "--help"]) == 0
    assert "holm" in capsys.readouterr().out


def test_tests_and_verdicts(models, capsys):
    files = ["--predictions", models["good.npz"], models["poor.csv"]]
    options = ["--metrics", "accuracy,mcc,macro_f1_truth_labels", "--draws", "200"]
    assert main(["compare", models["good.json"], models["poor.json"], *files, *options]) == 0
    text = capsys.readouterr().out
    assert "good against poor" in text
    assert re.search(r"macro_f1_truth_labels .* good\n", re.sub(r" +\n", "\n", text))
    assert "Holm" in text
    arguments = [models["good.json"], models["poor.json"], *files, *options, "--correction", "bh", "--json"]
    assert main(["compare", *arguments]) == 0
    plain = json.loads(capsys.readouterr().out)
    by_name = {row["metric"]: row for row in plain["differences"]}
    assert list(by_name) == ["accuracy", "mcc", "macro_f1_truth_labels"]
    assert by_name["accuracy"]["test"] == "mcnemar"
    assert by_name["mcc"]["low"] < by_name["mcc"]["difference"] < by_name["mcc"]["high"]
    assert plain["correction"] == "benjamini_hochberg"


def _checkpoints(models, folder, labels):
    """Results of two checkpoints, good and poor, that the command labels so; in folders of their own if unlabelled."""
    found = []
    for name, file, label in zip(("L10", "L15"), ("good.npz", "poor.csv"), labels, strict=True):
        path = str(folder / f"{name}.json")
        always = ["--task", "cell_type_annotation", "--dataset", SYNTHETIC, "--ci", "none", "--output", path]
        options = [part for text in label for part in ("--label", text)]
        assert main(["evaluate", *always, "--predictions", models[file], *options]) == 0
        found.append(path)
    return found


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ((["model_name=step-10"], ["model_name=step-15"]), ("step-10", "step-15")),
        ((["model_name=mynet", "step=10"], ["model_name=mynet", "step=15"]), ("mynet step=10", "mynet step=15")),
        ((["model_name=mynet"], ["model_name=mynet"]), ("mynet (L10)", "mynet (L15)")),
        (([], []), ("L10", "L15")),
    ],
)
def test_checkpoints_are_told_apart_and_the_better_one_can_be_read(
    models, tmp_path, monkeypatch, capsys, labels, names
):
    monkeypatch.setenv("COLUMNS", "80")
    results = _checkpoints(models, tmp_path, labels)
    capsys.readouterr()
    options = ["--predictions", models["good.npz"], models["poor.csv"], "--draws", "200"]
    assert main(["compare", *results, *options]) == 0
    text = capsys.readouterr().out
    title, rows = (
        text.splitlines()[0].strip(),
        [line.split() for line in text.splitlines() if line.startswith("accuracy")],
    )
    assert title in (f"{names[0]} against {names[1]}", f"a: {names[0]} against b: {names[1]}")
    assert re.search(r" better *\n", text)
    assert rows
    assert " ".join(rows[0]).endswith(" a" if title.startswith("a: ") else f" {names[0]}")
    assert main(["compare", *results, *options, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert (plain["a"], plain["b"]) == names


@pytest.mark.parametrize("name", ["holm", "bh", "benjamini_hochberg"])
def test_python_and_the_command_know_the_same_corrections(models, capsys, name):
    import primabench_core as pb

    both = [models["good.json"], models["poor.json"]]
    assert main(["compare", *both, "--correction", name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["correction"] == pb.compare(*both, correction=name).correction


def test_without_predictions_there_are_differences_only(models, capsys):
    assert main(["compare", models["good.json"], models["poor.json"]]) == 0
    out = capsys.readouterr().out
    assert "needs the predictions" in " ".join(out.split())
    assert "--predictions" in out


@pytest.mark.parametrize(
    ("order", "match"),
    [(("poor.csv", "good.npz"), "not the predictions"), (("good.npz", "absent.csv"), "absent.csv")],
)
def test_wrong_files_are_refused(models, capsys, order, match):
    files = [models.get(name, name) for name in order]
    assert main(["compare", models["good.json"], models["poor.json"], "--predictions", *files]) == 2
    assert match in capsys.readouterr().err


def test_a_truth_of_the_caller_cannot_be_read(models, tmp_path, capsys):
    import primabench_core as pb

    run = pb.stream(["accuracy"], truth={"label": [0, 1]})
    run.update(label=[0, 1])
    path = str(run.compute().save(tmp_path / "own.json"))
    assert main(["compare", path, path, "--predictions", models["poor.csv"], models["poor.csv"]]) == 2
    assert "truth of the caller" in capsys.readouterr().err
    assert main(["compare", path, models["good.json"]]) == 2
    assert "not comparable" in capsys.readouterr().err
