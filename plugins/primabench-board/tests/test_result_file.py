"""Strict reading of result files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from primabench_board.ledger import Ledger
from primabench_board.result_file import parse_result, read_result, to_document

from primabench_core.errors import ResultError

from .conftest import ALL, document

EXAMPLE = Path(__file__).parents[2] / "primabench-task-patient" / "examples" / "scores.json"


def refused(made):
    with pytest.raises(ResultError) as caught:
        parse_result(made if isinstance(made, str) else json.dumps(made))
    return str(caught.value)


@pytest.fixture
def made(registry):
    return document(registry, "One", ALL | {"t5": "not_finite"})


def test_the_example_of_the_probe_is_read():
    if not EXAMPLE.exists():
        pytest.skip("the folder of primabench-task-patient is not beside this one")
    found = read_result(EXAMPLE)
    assert [s.task for s in found.scores] == ["t_endotype", "t_response", "t_severity"]
    assert found.scores[0].value == 0.8125
    assert found.scores[1].reason == "dataset_not_covered"


def test_a_document_has_no_owner(made):
    made["model"]["owner"] = "secret owner"
    text = to_document(parse_result(json.dumps(made)))
    assert "secret owner" not in text
    assert json.loads(text)["model"]["name"] == "One"


ABSENT = object()
KINDS = {
    ("model",): ["text", 5, [], True, None],
    ("model", "is_baseline"): ["text", 5, 0, [], {}, None],
    ("model", "name"): [5, [], {}, True, None],
    ("scores",): ["text", 5, {}, True, None],
    ("scores", 0, "value"): ["text", "0.8", [], {}, True],
    ("scores", 0, "flags"): ["text", 5, {}, True, None, [5]],
    ("scores", 0, "per_fold"): ["text", 5, [], None, {"0": "0.5"}],
    ("scores", 0, "interval", "low"): ["text", [], {}, True],
    ("scores", 0, "interval", "draws"): ["text", 2000.5, True, None],
    ("scores", 0, "probe", "sha256"): [5, [], {}, True, "short"],
    ("scores", 0, "folds", "n"): ["5", 5.5, True, None],
    ("submission", "warnings"): ["text", 5, {}, None, ["text"]],
    ("versions",): ["text", 5, [], None, {"numpy": 2}],
}


@pytest.mark.parametrize(("path", "value"), [(path, v) for path, values in KINDS.items() for v in [*values, ABSENT]])
def test_wrong_kinds_are_refused_with_their_path(made, path, value):
    place = made
    for key in path[:-1]:
        place = place[key]
    if value is ABSENT:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    assert str(path[-1]) in refused(made)


def test_where_nothing_was_fitted_no_probe_is_named(made, registry):
    made["scores"][4]["probe"] = {"id": None, "sha256": None, "chosen": {}}
    with Ledger(":memory:") as ledger:
        ledger.add(parse_result(json.dumps(made)), registry)
        assert [r.status for r in ledger.entries()[0].rows] == ["scored"] * 4 + ["skipped"]


def test_an_interval_may_have_no_ends(made, registry):
    made["scores"][0]["interval"].update(low=None, high=None)
    with Ledger(":memory:") as ledger:
        ledger.add(parse_result(json.dumps(made)), registry)
        assert [r.low is None for r in ledger.entries()[0].rows] == [True, False, False, False, True]


def test_unknown_keys_are_refused(made):
    made["extra"] = 1
    made["scores"][0]["oof_predictions"] = [0.1]
    text = refused(made)
    assert "extra" in text
    assert "oof_predictions" in text


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda d: d["scores"][0].update(value=1.5, pooled=1.5), "lies outside 0.0 to 1.0"),
        (lambda d: d["scores"][0].update(value=0.5), "not equal to pooled"),
        (lambda d: d["scores"][0].update(value=None, pooled=None), "value: None beside the status scored"),
        (lambda d: d["scores"][4].update(value=0.5, pooled=0.5), "beside the status skipped"),
        (lambda d: d["scores"][4].update(reason=None), "reason"),
        (lambda d: d["scores"][0].update(reason="x"), "reason"),
        (lambda d: d["scores"][0]["interval"].update(low=0.9, high=0.1), "lower end lies above"),
        (lambda d: d["scores"][0]["interval"].update(level=95), "level"),
        (lambda d: d["scores"][0]["interval"].update(level=0.5), "level"),
        (lambda d: d["scores"][0]["interval"].update(low=None), "one end"),
        (lambda d: d["scores"][0].update(chance=0.9), "chance: 0.9, that of auroc is 0.5"),
        (lambda d: d["scores"][0].update(n=-1), "count from 0"),
        (lambda d: d["scores"][0].update(n=10**30), "count from 0"),
        (lambda d: d["scores"][0].update(class_counts={"A": -1}), "count from 0"),
        (lambda d: d["submission"].update(bytes=-1), "count from 0"),
        (lambda d: d["scores"][0].update(flags=["\ud800"]), "half a character"),
        (lambda d: d["scores"][0]["per_fold"].update({"\ud800": 0.5}), "half a character"),
        (lambda d: d["versions"].update({"numpy": "2\0"}), "zero byte"),
        (lambda d: d["scores"][4].update(detail="\udfff"), "half a character"),
        (lambda d: d.update(submitted_at="2026-1-9T1:2:3Z"), "submitted_at"),
        (lambda d: d.update(submitted_at="２０２６-11-29T19:30:00Z"), "submitted_at"),
        (lambda d: d["scores"][0].update(status="done"), "unknown 'done'"),
        (lambda d: d["scores"][0].update(metric="f1"), "unknown 'f1'"),
        (lambda d: d["scores"][0].update(n=None), "n: missing"),
        (lambda d: d["scores"][0]["hashes"].update(labels_sha256="x"), "64 hexadecimal"),
        (lambda d: d["scores"][0]["hashes"].update(labels_sha256=None), "missing beside a score"),
        (lambda d: d["scores"][0]["folds"].update(kind="loo"), "folds.kind"),
        (lambda d: d["scores"][0]["probe"].update(id=None), "probe.id: missing"),
        (lambda d: d["scores"][0]["probe"].update(sha256=None), "probe.sha256: missing"),
        (lambda d: d["scores"].reverse(), "not sorted"),
        (lambda d: d["scores"].append(d["scores"][0]), "stands twice"),
        (lambda d: d.update(scores=[], counts={}, complete=True), "scores: empty"),
        (lambda d: d.update(complete=True), "complete"),
        (lambda d: d["counts"].update(scored=9), "counts"),
        (lambda d: d.update(submitted_at="yesterday"), "submitted_at"),
        (lambda d: d.update(submitted_at="2026-11-29T19:30:00+02:00"), "submitted_at"),
        (lambda d: d.update(submission_sha256="A" * 64), "submission_sha256"),
        (lambda d: d.update(format="other"), "no result of patient embeddings"),
        (lambda d: d.update(schema_version=2), "schema version 2"),
        (lambda d: d.update(schema_version=True), "schema version True"),
        (lambda d: d.pop("schema_version"), "schema version None"),
    ],
)  # fmt: skip
def test_contradictions_are_refused(made, edit, words):
    edit(made)
    assert words in refused(made)


def test_all_faults_are_told_at_once(made):
    made["submitted_at"] = "x"
    made["scores"][0].update(value=2.0, pooled=2.0)
    made["scores"][1].update(n=None)
    text = refused(made)
    assert all(words in text for words in ("submitted_at", "scores[0] (t1): value", "scores[1] (t2): n"))


def test_text_that_is_no_result(made):
    whole = json.dumps(made)
    assert "cut off" in refused(whole[:-20])
    assert "NaN is no JSON number" in refused(whole.replace("0.8", "NaN", 1))
    assert "Infinity" in refused(whole.replace("0.8", "Infinity", 1))
    assert "stands twice" in refused('{"format": 1, "format": 2}')
    assert "no result" in refused("[]")
    assert "not JSON" in refused("[" * 100_000)
    for key in ("fold_mean", "chance", "low", "level"):
        assert "not finite" in refused(re.sub(rf'"{key}": [-0-9.]+', f'"{key}": 1e999', whole, count=1)), key
    assert "not finite" in refused(whole.replace('"chosen": {"0": 0.01', '"chosen": {"0": -1e999', 1))
    assert "not JSON" in refused(whole.replace('"n": 80', f'"n": {"9" * 5000}', 1))


def test_reading_files(tmp_path, made):
    path = tmp_path / "r.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    assert read_result(path).model.name == "One"
    with pytest.raises(ResultError, match="cannot be read"):
        read_result(tmp_path / "none.json")
    with pytest.raises(ResultError, match="cannot be read"):
        read_result(tmp_path)
    path.write_bytes(b"\xff")
    with pytest.raises(ResultError, match="UTF-8"):
        read_result(path)
    with path.open("wb") as out:
        out.truncate(65_000_000)
    with pytest.raises(ResultError, match="at most"):
        read_result(path)
