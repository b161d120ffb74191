"""Files of an export: the same bytes, inert names, nothing private."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from html.parser import HTMLParser

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from primabench_board.export import MANIFEST, export, export_files
from primabench_board.ledger import Ledger
from primabench_board.standings import compute
from primabench_board.tabular import disarmed, to_csv

from primabench_core.errors import StoreError, UsageError

from .conftest import ALL, submission

EVIL = "<script>alert(1)</script>&'\""
FORMULA = '=HYPERLINK("http://evil.example","x")'


@pytest.fixture
def standings(tmp_path, registry):
    with Ledger(str(tmp_path / "ledger.sqlite")) as ledger:
        for number, name in enumerate((EVIL, FORMULA, "-1", "@SUM(A1)", "+x", "ＰＣＡ", "plain")):
            scores = {t: v - number / 50 for t, v in ALL.items()} | {"t5": "sample_missing"}
            made = submission(
                registry, name, scores, organisation="=1+1", owner="secret-owner", is_baseline=name == "plain"
            )
            ledger.add(made, registry)
        ledger.add(submission(registry, "part", {"t1": 0.5, "t2": "sample_missing"}), registry)
        return compute(registry, ledger.entries())


def test_twice_the_same_bytes(tmp_path, standings, registry):
    for folder in ("one", "two"):
        export(standings, tmp_path / folder)
    one, two = (
        {p.relative_to(tmp_path / f): p.read_bytes() for p in sorted((tmp_path / f).rglob("*")) if p.is_file()}
        for f in ("one", "two")
    )
    assert one == two
    manifest = json.loads(one.pop(next(p for p in one if p.name == MANIFEST)))
    assert manifest["files"] == {p.as_posix(): hashlib.sha256(b).hexdigest() for p, b in one.items()}
    expected = {"index.html", "boards.json", "results.csv"}
    expected |= {f"boards/{b.board.id}.{kind}" for b in standings.boards for kind in ("csv", "json")}
    expected |= {f"tasks/{t}.{kind}" for t in registry.tasks for kind in ("csv", "json")}
    assert set(manifest["files"]) == expected


def test_what_is_private_is_in_no_file(standings):
    for name, text in export_files(standings):
        assert "secret-owner" not in text, name
        assert "ann" not in re.findall(r"\w+", text), name
        for private in ("s99", "s77", "detail", "owner"):  # samples that messages to submitters name
            assert f'"{private}' not in text, (name, private)
            assert "sample s99" not in text


def test_tables_of_boards(standings):
    files = dict(export_files(standings))
    rows = list(csv.DictReader(io.StringIO(files["boards/bulk-rna.csv"])))
    assert [r["rank"] for r in rows] == ["1", "2", "3", "4", "5", "6", "7", ""]
    assert rows[0]["model"] == EVIL
    assert rows[1]["model"] == f"'{FORMULA}"
    assert rows[6]["model"] == "plain (baseline)"
    assert rows[0]["organisation"] == "'=1+1"
    board = json.loads(files["boards/bulk-rna.json"])
    assert [
        float(rows[0][f"{c} ({m})"]) for c, m in (("treatment-outcome", "auroc"), ("clinical-scores", "pearson"))
    ] == [cell["value"] for cell in board["ranked"][0]["families"][:2]]
    assert "mean (ordering only)" in rows[0]
    assert (rows[7]["model"], rows[7]["tasks covered"], rows[7]["mean (ordering only)"]) == ("part", "1", "")
    long = list(csv.DictReader(io.StringIO(files["results.csv"])))
    assert len(long) == 7 * 5 + 2
    blank = [r for r in long if r["status"] != "scored"]
    assert all(r["score"] == r["rank"] == "" and r["reason"] == "sample_missing" for r in blank)
    assert {r["model_name"] for r in blank if r["task_id"] == "t2"} == {"part"}


def test_json_says_what_the_mean_is(standings):
    boards = json.loads(dict(export_files(standings))["boards.json"])
    whole, single = (next(b for b in boards["boards"] if b["id"] == i) for i in ("bulk-rna", "endotype-bulk-rna"))
    assert "orders the rows only" in whole["mean"]
    assert single["mean"] is None
    assert single["ranked"][0]["mean"] is None
    assert boards["skill"] is None
    assert [o["id"] for o in boards["open"]] == ["oncology-bulk-rna", "single-cell"]


def test_minimum_n_marks_what_cannot_be_resolved(standings, registry):
    task = attrs.evolve(registry.tasks["t1"], minimum_n=79)  # 78 patients
    stricter = attrs.evolve(registry, tasks={**registry.tasks, "t1": task})
    lines = json.loads(dict(export_files(compute(stricter, standings.models)))["tasks/t1.json"])["lines"]
    assert {line["resolvable"] for line in lines} == {False}
    families = json.loads(dict(export_files(compute(stricter, standings.models)))["boards/bulk-rna.json"])["families"]
    assert [f["not_resolvable"] for f in families] == [["t1"], [], []]
    before = json.loads(dict(export_files(standings))["tasks/t1.json"])["lines"]
    assert {line["resolvable"] for line in before} == {True}


@pytest.mark.parametrize(
    "text", ["=1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", " =1", "＝1", "＋1", "－1", "＠x", "|x", "%x"]
)
def test_formulas_are_disarmed(text):
    assert disarmed(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "model-1", "1", "é", "'x", "x@y"])
def test_other_texts_stay(text):
    assert disarmed(text) == text


@given(st.lists(st.one_of(st.text(), st.floats(allow_nan=False), st.integers(), st.booleans(), st.none()), min_size=1))
@settings(deadline=None)
def test_csv_is_read_back(row):
    text = to_csv(["h"] * len(row), [row])
    _, back = csv.reader(io.StringIO(text, newline=""))
    for given_cell, cell in zip(row, back, strict=True):
        if isinstance(given_cell, str):
            assert cell in (given_cell, f"'{given_cell}")
            assert cell[:1] not in ("=", "+", "-", "@", "\t", "\r")
        elif isinstance(given_cell, float):
            assert float(cell) == given_cell


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.handlers = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.links += [value for name, value in attrs if name in ("src", "href", "srcset", "action", "data")]


def test_the_page_is_alone(standings):
    text = dict(export_files(standings))["index.html"]
    page = Page(text)
    assert page.tags.count("script") == 2  # the data and the script: a name that opens one opens none
    assert not set(page.tags) & {"link", "iframe", "object", "embed", "img", "base", "form"}
    assert page.handlers == []
    assert all(not re.match(r"\w+:|//", link) for link in page.links), page.links
    assert "@import" not in text
    assert "url(" not in text
    assert "fetch(" not in text
    assert "XMLHttpRequest" not in text
    assert "innerHTML" not in text
    data, script = re.findall(r"<script[^>]*>(.*?)</script>", text, flags=re.DOTALL)
    assert EVIL in {m[0] for m in json.loads(data)["models"]}
    assert "<" not in data
    assert "&" not in data
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    import base64

    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy.replace("&#39;", "'")
    assert policy.startswith("default-src 'none'")


def test_writing_over_an_earlier_export(tmp_path, standings, registry):
    folder = tmp_path / "site"
    export(standings, folder)
    (folder / "notes.txt").write_text("mine")
    less = attrs.evolve(registry, tasks={k: t for k, t in registry.tasks.items() if k != "t5"})
    export(compute(less, standings.models), folder)
    assert not (folder / "tasks" / "t5.csv").exists()
    assert not (folder / "boards" / "proteomics.json").exists()
    assert (folder / "boards" / "bulk-rna.json").exists()
    assert (folder / "notes.txt").read_text() == "mine"
    assert not [p for p in folder.rglob("*") if p.name.startswith(".")]


def test_folders_of_others_are_left_alone(tmp_path, standings):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(UsageError, match="no export"):
        export(standings, tmp_path / "mine")
    (tmp_path / "mine" / MANIFEST).write_text('{"format": "other", "files": {}}')
    with pytest.raises(UsageError, match="no export"):
        export(standings, tmp_path / "mine")
    with pytest.raises(UsageError, match="is a file"):
        export(standings, tmp_path / "mine" / "thesis.txt")
    # a manifest that somebody changed makes us delete nothing outside
    (tmp_path / "victim.txt").write_text("x")
    folder = tmp_path / "site"
    export(standings, folder)
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["files"] |= {"../victim.txt": "x", "boards/../../victim.txt": "x", str(tmp_path / "victim.txt"): "x"}
    (folder / MANIFEST).write_text(json.dumps(manifest))
    export(standings, folder)
    assert (tmp_path / "victim.txt").exists()


def test_a_broken_export_is_written_again(tmp_path, standings, monkeypatch):
    from primabench_board import export as module

    folder, write = tmp_path / "site", module._write
    count = iter(range(100))

    def breaks(path, data):
        if next(count) == 5:
            raise OSError(28, "No space left on device", str(path))
        write(path, data)

    monkeypatch.setattr(module, "_write", breaks)
    with pytest.raises(StoreError, match="No space left"):
        export(standings, folder)
    monkeypatch.setattr(module, "_write", write)
    export(standings, folder)
    assert (folder / "index.html").exists()
