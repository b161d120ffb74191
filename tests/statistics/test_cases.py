"""The acceptance cases of ``statistics.json`` and the aggregates of ``results.json``."""

import json
from pathlib import Path

import pytest

import primabench_core as pb
from primabench_core import statistics

CASES = Path(__file__).parents[1] / "cases"


def cases():
    for family in ("statistics", "results"):
        for case in json.loads((CASES / f"{family}.json").read_text(encoding="utf-8"))["cases"]:
            if hasattr(statistics, case["metric"]):
                yield pytest.param(case, id=case["id"])


def same(found, expected, tolerance):
    if expected is None or isinstance(expected, str | bool):
        return found == expected
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected, [tolerance] * len(expected)))
    return found is not None and abs(found - expected) <= tolerance


@pytest.mark.parametrize("case", list(cases()))
def test_case(case):
    function = getattr(statistics, case["metric"])
    arguments = {**case["prediction"], **case.get("truth", {}), **case["params"]}
    expect = case["expect"]
    if expect.get("refused"):
        with pytest.raises(pb.PrimaBenchError) as caught:
            function(**arguments)
        assert all(word in str(caught.value) for word in expect["mentions"])
        return
    found = function(**arguments)
    if expect.get("undefined"):
        assert found.value is None
        assert found.reason
        assert found.status == "undefined"
        return
    for name, value in expect["values"].items():
        assert same(found.values[name], value, expect["tolerance"]), (name, found.values[name], value)


def test_every_case_of_the_family_has_a_function():
    names = {c["metric"] for c in json.loads((CASES / "statistics.json").read_text(encoding="utf-8"))["cases"]}
    assert names <= set(statistics.__all__)
