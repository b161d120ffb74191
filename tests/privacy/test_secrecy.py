"""What is taken out of words and outcomes, and what stays."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from primabench_core.contract.evaldata import EvalData
from primabench_core.evaluation.secrecy import POOLED, Secrecy
from primabench_core.evaluation.truth import Truth
from primabench_core.evaluation.views import Views
from primabench_core.spec import Contract, Field, Outcome
from primabench_core.state.rows import OnDemand

CONTRACT = Contract(prediction=(), solution=(Field("label", "label"), Field("value", "value", optional=True)))


def secrecy(names, *, told=(), said=(), private=True, **fields):
    data = EvalData({"label": list(names), **fields}, ids=[f"i{i}" for i in range(len(names))])
    return Secrecy(Truth(data, CONTRACT, private=private, told=frozenset(told)), said)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("T cell and B", "… and …"),
        ("a T cells", "a T cells"),
        ("(T cell)", "(…)"),
        ("T cell subset", "… subset"),
        ("xB B_ B", "xB B_ …"),
        ("", ""),
    ],
)
def test_names_are_taken_out_as_whole_words(text, expected):
    assert secrecy(["T cell", "T cell subset x", "B"]).text(text) == expected


def test_the_longest_name_goes_first_and_told_ones_stay():
    found = secrecy(["red", "red cell", "blue"], told=["blue"], said=["red"])
    assert found.text("red cell, red, blue") == "…, red, blue"
    assert not found.hides("red")
    assert found.hides("red cell")


def test_a_truth_of_the_callers_own_is_quoted():
    own = secrecy(["a", "b"], private=False)
    outcome = Outcome(1.0, detail="a", per_unit={"a": 1.0})
    assert own.text("a and b") == "a and b"
    assert own.outcome(outcome) is outcome


def test_numbers_of_the_truth_are_taken_out_and_others_stay():
    found = secrecy(["a", "b"], told=["a", "b"], value=[0.125, 3.0])
    assert found.text("0.125 of 3.0, 0.25, -0.125 and 1.25e-1") == "… of 3.0, 0.25, -0.125 and …"


def test_whole_numbers_are_codes():
    found = secrecy([3, 5])
    assert dict(found.outcome(Outcome(1.0, per_unit={"3": 0.5, "5": 1.0})).per_unit) == {"3": 0.5, "5": 1.0}


def test_pooled_parts_have_the_mean_of_those_that_have_a_value():
    found = secrecy(["a", "b", "c", "d"], told=["a"])
    outcome = found.outcome(Outcome(0.5, per_unit={"a": 1.0, "b": 0.5, "c": None, "d": 0.25}))
    assert dict(outcome.per_unit) == {"a": 1.0, POOLED: 0.375}
    empty = found.outcome(Outcome(0.5, per_unit={"c": None}))
    assert dict(empty.per_unit) == {POOLED: None}


NAMES = st.text("ab -_.", min_size=1, max_size=5).filter(lambda t: re.search(r"\w", t) and t == t.strip())


@settings(max_examples=200, deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=6, unique=True), st.text("ab -_.", max_size=20))
@example(["a", "_."], "_.a")
def test_no_name_is_left_as_a_word_of_its_own(names, text):
    """Against the plain search: one name after another with word boundaries."""
    found = secrecy(names)
    cleaned = found.text(text)
    for name in names:
        assert not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", cleaned)
    touched = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)
    assert (cleaned != text) == touched
    assert found.hides(text) == (touched or text in names)


def test_numbers_that_wait_on_a_device_are_not_fetched_to_look_for_names():
    def fetched():
        raise AssertionError("the rows came home")

    truth = Truth(EvalData({"label": ["a", "b"]}, ids=["i", "j"]), CONTRACT, private=True)
    plan = SimpleNamespace(metric=SimpleNamespace(params={"k": "b"}))
    found = Secrecy.over(Views(truth, OnDemand({"embedding": fetched})), plan)
    assert found.names == {"a"}  # the caller said the other
