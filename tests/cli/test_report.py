"""`primabench report`: one page that asks nothing of the outside, with what predictions add."""

import re

import pytest

from primabench_core.cli.main import main

pytest.importorskip("vl_convert", reason="pictures need the extra `report`")
pytest.importorskip("jinja2", reason="pages need the extra `report`")


def test_results_alone(models, tmp_path, capsys):
    page = tmp_path / "r.html"
    assert main(["report", models["good.json"], models["poor.json"], "-o", str(page), "--title", "Two"]) == 0
    assert "written to file://" in capsys.readouterr().out
    text = page.read_text()
    assert "<h1>Two</h1>" in text or ">Two<" in text
    assert "Confusion" not in text
    assert main(["report", models["good.json"], "-o", str(page)]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["report", models["good.json"], "-o", str(page), "--force"]) == 0


def test_predictions_bring_curves_and_a_test_against_the_best_baseline(models, tmp_path, monkeypatch):
    from primabench_core.evaluation import compare as module

    monkeypatch.setattr(module, "DRAWS", 100)
    monkeypatch.setitem(module.compare.__kwdefaults__, "draws", 100)
    page = tmp_path / "r.html"
    results = [models[f"{name}.json"] for name in ("poor", "good", "majority", "knn", "perfect")]
    # files in another order than the results: fingerprints say whose they are
    files = [models["good.npz"], models["poor.csv"]]
    assert main(["report", *results, "--predictions", *files, "-o", str(page)]) == 0
    text = page.read_text()
    assert text.count("against knn (baseline)") == 2
    assert "against perfect" not in text
    assert "Confusion" in text
    assert "ROC" in text
    assert "Reliability" in text
    assert not re.search(r"<script|<link|src=\"http|@import|url\(http", text)


def test_a_file_of_nobody_is_refused(models, tmp_path, capsys):
    page = str(tmp_path / "r.html")
    assert main(["report", models["good.json"], "--predictions", models["poor.csv"], "-o", page]) == 2
    assert "none of these results" in capsys.readouterr().err
