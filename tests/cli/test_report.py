"""`primabench report`: one page that asks nothing of the outside, with what predictions add."""

import re
from pathlib import Path

import pytest

import primabench_core as pb
from primabench_core.cli.main import main

SYNTHETIC = "primabench_synthetic/cell_type_annotation@1.0.0"

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


def _headings(page, level):
    return [re.sub(r"\s+", " ", found).strip() for found in re.findall(rf"<{level}[^>]*>(.*?)</{level}>", page, re.S)]


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ((["step=5"], ["step=10"]), ("mynet step=5", "mynet step=10")),
        (([], []), ("mynet (first)", "mynet (second)")),
    ],
)
def test_checkpoints_of_one_model_are_told_apart_everywhere(models, tmp_path, labels, names):
    results = []
    for stem, file, label in zip(("first", "second"), ("good.npz", "poor.csv"), labels, strict=True):
        path = str(tmp_path / f"{stem}.json")
        always = ["--task", "cell_type_annotation", "--dataset", SYNTHETIC, "--ci", "none", "--output", path]
        options = [part for text in ["model_name=mynet", *label] for part in ("--label", text)]
        assert main(["evaluate", *always, "--predictions", models[file], *options]) == 0
        results.append(path)
    page = tmp_path / "r.html"
    files = ["--predictions", models["poor.csv"], models["good.npz"]]
    assert main(["report", *results[::-1], models["majority.json"], *files, "-o", str(page)]) == 0
    text = page.read_text()
    titles = _headings(text, "h3")
    assert len(set(titles)) == len(titles)
    for name in names:
        assert f"{name} against majority (baseline)" in titles or f"{name} against majority" in titles
        assert name in _headings(text, "summary")
    values = {name: float(_row(text, name)[0]) for name in names}
    assert values[names[0]] > values[names[1]]  # the order of the shell does not matter
    for own in re.findall(r"<summary>(.*?)</summary>", text):
        assert "(2)" not in own


def _row(page, name):
    """The values of a model in the table of scores: a row, or a column where metrics go down."""
    table = page.split("</table>")[0]
    heads = re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", table)
    if name in heads:
        place = heads.index(name) - 1
        lines = [re.findall(r"<td.*?</td>", row, re.S) for row in table.split("<tbody>")[1].split("</tr>")[:-1]]
        return [found.group(1) for cells in lines if (found := re.search(r'class="value">([^<]*)<', cells[place]))]
    row = next(row for row in table.split("</tr>") if f">{name}<" in row)
    return re.findall(r'class="value">([^<]*)<', row)


def test_a_file_of_nobody_is_refused(models, tmp_path, capsys):
    page = str(tmp_path / "r.html")
    assert main(["report", models["good.json"], "--predictions", models["poor.csv"], "-o", page]) == 2
    assert "none of these results" in capsys.readouterr().err


def _own_labels(models, folder):
    """A file with a label of its own for each unit, and its result."""
    ids = [line.split(",")[0] for line in Path(models["poor.csv"]).read_text().splitlines()[1:]]
    file, result = folder / "own.csv", folder / "own.json"
    file.write_text("ids,label\n" + "".join(f"{i},own{k:04}x\n" for k, i in enumerate(ids)))
    always = ["--task", "cell_type_annotation", "--dataset", SYNTHETIC, "--ci", "none", "--output", str(result)]
    assert main(["evaluate", *always, "--predictions", str(file), "--label", "model_name=own"]) == 0
    return file, result


def _labels_of_confusions(page):
    """Of each confusion drawn: whether it has a column of unknown classes, and whether it has one of a unit alone."""
    drawn = [part.split("</svg>")[0] for part in page.split("<svg")[1:] if "True against predicted" in part]
    return [("not a class" in svg, bool(re.search(r"own\d{4}x", svg))) for svg in drawn]


def test_a_label_of_its_own_for_each_unit_tells_nothing(models, tmp_path):
    file, result = _own_labels(models, tmp_path)
    page = tmp_path / "r.html"
    assert main(["report", str(result), "--predictions", str(file), "-o", str(page)]) == 0
    assert _labels_of_confusions(page.read_text()) == [(True, False)]


def test_nor_do_the_curves_of_a_demo(models, tmp_path, monkeypatch):
    from primabench_core.evaluation import baselines
    from primabench_core.evaluation.baselines import predict_baseline

    def own(*args, **more):
        found = predict_baseline(*args, **more)
        return pb.EvalData({"label": [f"own{k:04}x" for k in range(found.n)]}, ids=found.ids)

    monkeypatch.setattr(baselines, "predict_baseline", own)
    folder = tmp_path / "shown"
    assert main(["demo", "--dataset", SYNTHETIC, "--output", str(folder)]) == 0
    assert "own0003x" in "".join(p.read_text() for p in folder.glob("*.csv"))
    assert set(_labels_of_confusions((folder / "report.html").read_text())) == {(True, False)}
