"""`primabench compare`: what is real, and what cannot be asked."""

import json
import re

import pytest

from primabench_core.cli.main import main


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
