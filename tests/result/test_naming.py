"""Names that tell results apart: labels first, then files, then numbers."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from primabench_core.result import EvalResult, MetricResult
from primabench_core.result.naming import names_by_data, names_of, tell_apart


def made(**labels):
    more = {key: labels.pop(key) for key in ("dataset",) if key in labels}
    return EvalResult.make(results=[MetricResult(name="accuracy", value=0.5)], n_units=4, labels=labels, **more)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([{"step": "5"}, {"step": "10"}, {"step": "20"}], ["n step=5", "n step=10", "n step=20"]),
        # one label suffices, and the step is asked before others
        ([{"step": "5", "artifact_id": "x"}, {"step": "10", "artifact_id": "y"}], ["n step=5", "n step=10"]),
        ([{"seed": "0", "step": "5"}, {"seed": "1", "step": "5"}], ["n seed=0", "n seed=1"]),
        # no label alone does
        (
            [{"step": "5", "seed": "0"}, {"step": "5", "seed": "1"}, {"step": "10", "seed": "0"}],
            ["n step=5 seed=0", "n step=5 seed=1", "n step=10 seed=0"],
        ),
        ([{}, {"step": "5"}], ["n", "n step=5"]),
        # labels that leave two alike leave those to their files
        ([{"step": "5"}, {"step": "5"}, {"step": "10"}], ["n step=5 (r0)", "n step=5 (r1)", "n step=10"]),
    ],
)
def test_labels_that_differ_tell_apart(labels, expected):
    results = [made(model_name="n", **found) for found in labels]
    assert names_of(results, [f"r{i}.json" for i in range(len(results))]) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["x/a.json", "x/b.json"], ["n (a)", "n (b)"]),
        (["x/a.json", "x/a.npz"], ["n (a.json)", "n (a.npz)"]),
        (["x/a.json", "y/a.json"], ["n (x/a)", "n (y/a)"]),
        (["1/x/a.json", "2/x/a.json", "1/y/a.json"], ["n (1/x/a)", "n (2/x/a)", "n (1/y/a)"]),
        (["a.json", "a.json"], ["n (a)", "n (a) (2)"]),
        (["a.json", "a.json", "b.json"], ["n (a)", "n (a) (2)", "n (b)"]),
        ([None, "a.json"], ["n", "n (2)"]),
        ([], ["n", "n (2)"]),
    ],
)
def test_files_tell_apart_what_labels_do_not(files, expected):
    names = ["n"] * len(expected)
    assert tell_apart(names, files=files) == expected


def test_a_file_takes_the_place_of_no_name():
    assert names_of([made(), made()], ["L10.json", Path("L15.json")]) == ["L10", "L15"]
    assert names_of([made(), made(model_name="n")], ["L10.json", "L15.json"]) == ["model", "n"]
    assert tell_apart(["p", "p"], files=["x/p.csv", "y/p.csv"]) == ["x/p", "y/p"]
    assert names_of([made(step="1"), made(step="2")]) == ["model step=1", "model step=2"]


def test_on_other_data_a_name_may_return():
    here, there = made(model_name="n"), made(model_name="n", dataset="x/y@1.0.0")
    assert names_by_data([here, there, here], ["a.json", "b.json", "c.json"]) == ["n (a)", "n", "n (c)"]


WORDS = st.sampled_from(["n", "n (2)", "n step=5", "n (a)", "m", "a"])
LABELS = st.dictionaries(st.sampled_from(["step", "seed", "model_name"]), st.sampled_from(["5", "6"]))
FILES = st.one_of(st.none(), st.sampled_from(["a.json", "a.csv", "x/a.json", "/a.json", "b.json"]))


@given(st.lists(st.tuples(WORDS, LABELS, FILES), max_size=7))
@example([("n", {}, None), ("n", {"step": "5"}, None), ("n step=5", {}, None)])
@example([("n", {}, "a.json"), ("n", {"step": "5"}, "b.json"), ("n step=5", {}, "c.json")])
def test_no_two_names_are_the_same_and_lone_ones_stay(given_):
    names, labels, files = ([entry[i] for entry in given_] for i in range(3))
    found = tell_apart(names, labels=labels, files=files)
    assert len(set(found)) == len(names)
    for name, told in zip(names, found, strict=True):
        assert names.count(name) > 1 or told == name
    assert tell_apart(found) == found  # what is told apart stays so
