import copy
import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primabench_core.errors import ResultError
from primabench_core.result import EvalResult, from_json, to_json
from primabench_core.result.json import SCHEMA_VERSION, upgrade

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def bits(value):
    return struct.pack("<d", value)


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_floats_come_back_bit_for_bit(value):
    assert bits(from_json(to_json(value))) == bits(value)


@given(value=plain)
def test_plain_values_come_back_and_the_bytes_repeat(value):
    text = to_json(value)
    assert from_json(text) == value
    assert to_json(from_json(text)) == text
    assert from_json(text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")) == value


def test_the_order_of_keys_does_not_matter():
    assert to_json({"b": 1, "a": {"d": 2, "c": 3}}) == to_json({"a": {"c": 3, "d": 2}, "b": 1})


@pytest.mark.parametrize(
    "value", [float("nan"), [float("inf")], {"a": np.float32("nan")}, {1: 2}, {"a": {None: 1}}, object(), {1, 2}, b"x"]
)
def test_what_json_would_change_is_refused(value):
    with pytest.raises(ResultError, match="value"):
        to_json(value)


def test_numpy_becomes_plain():
    assert from_json(to_json({"a": np.arange(3), "b": np.float64(0.1), "c": np.bool_(True)})) == {
        "a": [0, 1, 2],
        "b": 0.1,
        "c": True,
    }


def test_a_result_comes_back_whole(result):
    text = to_json(result)
    assert from_json(text) == result
    assert from_json(text.encode()) == result
    assert to_json(from_json(text)) == text
    assert bits(from_json(text)["macro_f1"].per_unit["-0"]) == bits(-0.0)
    alone = to_json(result["auroc"])
    assert from_json(alone) == result["auroc"]
    parsed = json.loads(alone)
    assert parsed["value"] is None
    assert parsed["reason"] == "single_class"


CHANGES = [
    (("results", 0, "value"), "0.5", 'results[0].value: expected a number, found "0.5"'),
    (("results", 0, "value"), True, "results[0].value"),
    (("results", 0, "value"), None, "results[0]"),
    (("results", 0, "value"), [0.5], "results[0].value"),
    (("results", 0, "n"), 1.0, "results[0].n: expected an integer"),
    (("results", 0, "n"), -1, "results[0]"),
    (("results", 0, "n"), True, "results[0].n"),
    (("results", 0, "status"), "great", "results[0].status"),
    (("results", 0, "interval", "low"), 2.0, "results[0].interval"),
    (("results", 0, "interval"), 0.5, "results[0].interval: expected an object"),
    (("results", 1, "per_unit", "B"), "x", "results[1].per_unit['B']"),
    (("results", 1, "flags"), [1], "results[1].flags[0]"),
    (("results", 1, "params"), 1, "results[1].params"),
    (("results", 2, "value"), 0.5, "results[2]"),
    (("results", 2, "reason"), "no idea", "results[2]"),
    (("results", 2), None, "results[2]: expected an object, found null"),
    (("results",), [], "at least one metric"),
    (("results",), {}, "results: expected a list, found {}"),
    (("results",), "abc", "results: expected a list"),
    (("results", 0, "flags"), "abc", "results[0].flags: expected a list"),
    (("labels",), [["a", "b"]], "labels: expected an object"),
    (("labels", "model_name"), 3, "labels['model_name']: expected text"),
    (("seeds", "bootstrap"), "0", "seeds['bootstrap']"),
    (("coverage",), 1.5, "coverage"),
    (("n_units",), -1, "n_units"),
    (("synthetic",), 0, "synthetic: expected true or false"),
    (("task",), None, "task: expected text"),
    (("surprise",), 1, "unknown: surprise"),
    (("results", 0, "surprise"), 1, "results[0]: unknown: surprise"),
    (("schema_version",), SCHEMA_VERSION + 1, "newer"),
    (("schema_version",), 0, "not one that this version can read"),
    (("schema_version",), "1", "schema_version: expected an integer"),
    (("schema_version",), True, "schema_version: expected an integer"),
    (("kind",), "Pickle", "kind"),
    (("kind",), None, "kind"),
]


@pytest.mark.parametrize(("path", "value", "message"), CHANGES)
def test_strict_reading_names_the_place(result, path, value, message):
    document = json.loads(to_json(result))
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    with pytest.raises(ResultError) as caught:
        from_json(json.dumps(document), source="run.json")
    assert message in str(caught.value)
    assert "run.json" in str(caught.value)


def test_every_field_must_be_there(result):
    whole = json.loads(to_json(result))
    for name in whole:
        if name in ("kind", "schema_version"):
            continue
        document = copy.deepcopy(whole)
        del document[name]
        with pytest.raises(ResultError, match=f"absent: {name}"):
            from_json(json.dumps(document))
    for name in whole["results"][0]:
        document = copy.deepcopy(whole)
        del document["results"][0][name]
        with pytest.raises(ResultError, match=rf"results\[0\]: absent: {name}"):
            from_json(json.dumps(document))


def test_all_faults_are_told_at_once(result):
    document = json.loads(to_json(result))
    document["results"][0]["n"] = "4"
    document["results"][3]["version"] = 1
    with pytest.raises(ResultError) as caught:
        from_json(json.dumps(document))
    assert "results[0].n" in str(caught.value)
    assert "results[3].version" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": 1e999}', "too large"),
        ('{"a": 1, "a": 2}', "'a' occurs twice"),
        ('{"a": {"b": 1, "b": 1}}', "'b' occurs twice"),
        ('{"a": 1', "cut off"),
        ('{"a": "x', "not JSON"),
        ("", "cut off"),
        ("[" * 100_000, "nested too deeply"),
        (b"\xff\xfe", "UTF-8"),
        ("{'a': 1}", "line 1, column 2"),
        ("1" * 5000, "."),
        ("[1,]", "not JSON"),
    ],
)
def test_what_is_not_strict_json_is_refused(text, message):
    with pytest.raises(ResultError, match=message):
        from_json(text, source="x.json")


@given(cut=st.integers(0, 2000), data=st.data())
def test_a_file_cut_off_anywhere_is_refused(cut, data):
    from primabench_core.result import MetricResult

    text = to_json(EvalResult.make(results=[MetricResult(name="a", value=0.5)], n_units=1))
    part = text[: min(cut, len(text) - 2)]  # the last brace is needed, the line feed after it is not
    with pytest.raises(ResultError):
        from_json(part)


def test_an_old_document_is_upgraded_step_by_step(result):
    current = json.loads(to_json(result))
    old = {k: v for k, v in current.items() if k not in ("kind", "primary")}
    old["schema_version"] = -1
    old["model_labels"] = old.pop("labels")

    def from_minus_one(document):
        return {**{k: v for k, v in document.items() if k != "model_labels"}, "labels": document["model_labels"]}

    def from_zero(document):
        return {**document, "primary": "macro_f1"}

    before = copy.deepcopy(old)
    new = upgrade(old, steps={-1: from_minus_one, 0: from_zero}, target=1)
    assert old == before
    assert new == {k: v for k, v in current.items() if k not in ("kind", "schema_version")}
    with pytest.raises(ResultError, match="schema_version 0"):
        upgrade(old, steps={-1: from_minus_one}, target=1)


def test_upgrade_steps_lead_to_the_current_version():
    from primabench_core.result.json import UPGRADES

    assert sorted(UPGRADES) == list(range(min(UPGRADES, default=SCHEMA_VERSION), SCHEMA_VERSION))


@pytest.mark.parametrize("text", ['{"a": "\\ud800"}', '{"\\udc01": 1}', '{"a": "\ud800"}'])
def test_half_a_surrogate_pair_is_refused(text):
    with pytest.raises(ResultError, match="half a surrogate pair"):
        from_json(text)
    assert from_json('{"a": "\\ud83d\\ude00"}') == {"a": "\U0001f600"}
