"""One identity for every spelling of a metric."""

from __future__ import annotations

import enum
import json
import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primabench_core.discovery import names
from primabench_core.discovery.metric_text import parse, write
from primabench_core.discovery.metrics import resolve_metric
from primabench_core.discovery.parameters import full_parameters
from primabench_core.errors import ParameterError, PluginError, UnknownNameError, UsageError
from primabench_core.spec import Field, MetricSpec, Parameter

SPECS = """
from primabench_core.spec import Field, MetricSpec, Parameter
LABEL = Field("label", "label")
RECALL = MetricSpec(
    name="fake_recall", summary="", compute="fake_run:f", prediction=(LABEL,), truth=(LABEL,),
    parameters=(
        Parameter("average", "binary", choices=("binary", "macro", "micro")),
        Parameter("labels", "union", choices=("union", "truth")),
        Parameter("positive", None, kinds=(int, str)),
        Parameter("beta", 1.0, kinds=(float,), low=0.0, high=10.0),
        Parameter("k", 5, kinds=(int,), low=1),
        Parameter("adjusted", False, kinds=(bool,)),
        Parameter("cut", (1, 2), kinds=(tuple,)),
    ),
    canonical={
        "fake_macro": {"average": "macro"},
        "fake_macro_truth": {"average": "macro", "labels": "truth"},
        "fake_top_10": {"k": 10},
        "fake_plain_truth": {"labels": "truth"},
    },
)
MACRO = RECALL.variant("fake_macro", summary="own words")
MACRO_TRUTH = RECALL.variant("fake_macro_truth")
TOP = RECALL.variant("fake_top_10")
PLAIN_TRUTH = RECALL.variant("fake_plain_truth")
PLAIN = MetricSpec(name="fake_plain", summary="", compute="fake_run:f", prediction=(LABEL,), truth=(LABEL,))
"""
POINTS = {
    "fake_recall": "fake_specs:RECALL",
    "fake_macro": "fake_specs:MACRO",
    "fake_macro_truth": "fake_specs:MACRO_TRUTH",
    "fake_top_10": "fake_specs:TOP",
    "fake_plain_truth": "fake_specs:PLAIN_TRUTH",
    "fake_plain": "fake_specs:PLAIN",
}


@pytest.fixture
def metrics(site):
    site.module("fake_specs", SPECS)
    site.distribution("fake-metrics", {"metrics": POINTS}, version="4.0")
    return site


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("fake_macro", {}),
        ("fake_recall", {"average": "macro"}),
        ("fake_recall{average: macro}", {}),
        ("fake_recall{average:macro}", {"labels": "union"}),
        (" fake_recall { average : 'macro' , } ", {}),
        ('fake_recall{average: "macro", k: 5, beta: 1, adjusted: false, positive: null, cut: [1, 2]}', {}),
        ("fake_macro", {"average": "macro", "beta": 1, "k": np.int64(5)}),
        ("fake-metrics:fake_macro", {}),
        ("Fake.Metrics:fake_recall{average: macro}", {}),
        ("fake_recall", {"average": np.str_("macro"), "cut": [1, 2]}),
    ],
)
def test_spellings_of_one_metric(metrics, name, params):
    found = resolve_metric(name, params)
    assert found == resolve_metric("fake_macro")
    assert hash(found) == hash(resolve_metric("fake_macro"))
    assert (found.name, found.base, found.distribution, found.version) == (
        "fake_macro",
        "fake_recall",
        "fake-metrics",
        "4.0",
    )
    assert dict(found.params) == {
        "average": "macro",
        "labels": "union",
        "positive": None,
        "beta": 1.0,
        "k": 5,
        "adjusted": False,
        "cut": (1, 2),
    }
    assert list(found.params) == [p.name for p in found.spec.parameters]
    assert found.spec.summary == "own words"  # the variant's own card, whichever way it was asked for
    assert found.text == "fake_macro"
    assert found.qualified == "fake-metrics:fake_macro"
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize(
    ("text", "name", "written"),
    [
        ("fake_recall", "fake_recall", "fake_recall"),
        ("fake_recall{positive: b}", "fake_recall", "fake_recall{positive: b}"),
        ("fake_recall{positive: T cell (CD4+)}", "fake_recall", "fake_recall{positive: T cell (CD4+)}"),
        ("fake_recall{positive: '1'}", "fake_recall", 'fake_recall{positive: "1"}'),
        ("fake_recall{positive: 1}", "fake_recall", "fake_recall{positive: 1}"),
        # the most specific name wins, from wherever one comes
        ("fake_recall{labels: truth, average: macro}", "fake_macro_truth", "fake_macro_truth"),
        ("fake_macro{labels: truth}", "fake_macro_truth", "fake_macro_truth"),
        ("fake_recall{labels: truth}", "fake_plain_truth", "fake_plain_truth"),
        ("fake_recall{k: 10}", "fake_top_10", "fake_top_10"),
        # more parameters than the name fixes
        ("fake_macro{beta: 2}", "fake_macro", "fake_macro{beta: 2.0}"),
        ("fake_recall{average: macro, beta: 2}", "fake_macro", "fake_macro{beta: 2.0}"),
        ("fake_plain{}", "fake_plain", "fake_plain"),
    ],
)
def test_canonical_names_and_text(metrics, text, name, written):
    found = resolve_metric(text)
    assert (found.name, found.text) == (name, written)
    assert resolve_metric(found.text) == found
    assert found.spec.name == name


def test_one_and_the_word_one_are_two_classes(metrics):
    assert resolve_metric("fake_recall", {"positive": 1}) != resolve_metric("fake_recall", {"positive": "1"})
    assert resolve_metric("fake_recall", {"positive": "1"}).params["positive"] == "1"


@pytest.mark.parametrize(
    ("name", "params", "says"),
    [
        ("fake_recall", {"averag": "macro"}, "did you mean 'average'"),
        ("fake_recall", {"nothing": 1}, "it has 'average', 'labels'"),
        ("fake_plain", {"average": "macro"}, "it has no parameters"),
        ("fake_recall", {"seed": 1}, "an argument of the evaluation"),
        ("fake_recall", {3: 1}, "unknown parameter 3"),
        ("fake_recall", {"average": "makro"}, "did you mean 'macro'"),
        ("fake_recall", {"average": True}, "must be one of 'binary', 'macro', 'micro', got True"),
        ("fake_recall", {"average": None}, "must be one of"),
        ("fake_recall", {"k": True}, "'k' must be int, got True"),
        ("fake_recall", {"k": np.bool_(True)}, "'k' must be int, got True"),
        ("fake_recall", {"k": 5.5}, "'k' must be int, got 5.5"),
        ("fake_recall", {"k": 0}, "at least 1"),
        ("fake_recall", {"k": "five"}, "'k' must be int, got 'five'"),
        ("fake_recall", {"k": None}, "'k' must be int, got None"),
        ("fake_recall", {"beta": 10.5}, "from 0.0 to 10.0"),
        ("fake_recall", {"beta": float("nan")}, "finite"),
        ("fake_recall", {"beta": np.float32("inf")}, "finite"),
        ("fake_recall", {"beta": False}, "'beta' must be float, got False"),
        ("fake_recall", {"beta": 10**400}, "'beta' must be float"),
        ("fake_recall", {"adjusted": 0}, "'adjusted' must be bool, got 0"),
        ("fake_recall", {"positive": 1.5}, "'positive' must be int or str"),
        ("fake_recall", {"positive": True}, "got True"),
        ("fake_recall", {"positive": ["a"]}, "got a tuple"),
        ("fake_recall", {"cut": [{}]}, "'cut' must be tuple, got a tuple"),
        ("fake_recall", {"cut": [float("nan")]}, "finite"),
        ("fake_recall", {"k": np.arange(3)}, "got a ndarray"),
        ("fake_macro", {"average": "micro"}, "stands for average = 'macro'"),
        ("fake_macro_truth{labels: union}", {}, "stands for labels = 'truth'"),
        ("fake_recall{k: 3}", {"k": 3}, "gives 'k' in its text and again"),
    ],
)
def test_parameters_that_are_refused(metrics, name, params, says):
    with pytest.raises(ParameterError) as caught:
        resolve_metric(name, params)
    assert says in str(caught.value)
    assert "fake_" in str(caught.value)


def test_all_problems_are_told_at_once(metrics):
    with pytest.raises(ParameterError) as caught:
        resolve_metric("fake_recall", {"avg": 1, "k": 0, "beta": "x"})
    assert [line.strip()[:4] for line in caught.value.message.splitlines()[1:]] == ["- un", "- 'b", "- 'k"]


def test_a_contradiction_names_the_spelling_that_works(metrics):
    with pytest.raises(ParameterError) as caught:
        resolve_metric("fake_macro", {"average": "micro", "k": 7})
    assert caught.value.remedy == "ask for fake_recall{average: micro, k: 7}"


@pytest.mark.parametrize(
    "text",
    ["", " ", "fake recall", "fake_recall{", "fake_recall}", "fake_recall{average}", "fake_recall{average=macro}",
     "fake_recall{average: }", "fake_recall{: macro}", "fake_recall{average: macro; k: 3}", "fake_recall{cut: [1, }",
     "fake_recall{k: 1, k: 1}", "fake_recall{average: macro}x", '{average: macro}', 'fake_recall{positive: "\\x"}'],
)  # fmt: skip
def test_text_of_another_form_is_refused(metrics, text):
    with pytest.raises(UsageError):
        resolve_metric(text)


@pytest.mark.parametrize("name", [None, 3, ["accuracy"], b"accuracy"])
def test_names_are_text(name):
    with pytest.raises(UsageError, match="named by text"):
        resolve_metric(name)
    with pytest.raises(UsageError, match="mapping"):
        resolve_metric("accuracy", [("k", 3)])


def test_unknown_metrics_are_answered_with_close_ones(metrics):
    with pytest.raises(UnknownNameError, match="fake_macro_truth"):
        resolve_metric("fake_macro_truht{k: 3}")


def test_enumerations_and_subclasses_become_plain_values(metrics):
    class Average(str, enum.Enum):  # noqa: UP042  (prints as Average.MACRO, which StrEnum does not)
        MACRO = "macro"

    found = resolve_metric("fake_recall", {"average": Average.MACRO, "positive": type("S", (str,), {})("b")})
    assert json.dumps(dict(found.params))
    assert {type(v) for v in found.params.values()} == {str, float, int, bool, tuple}


def test_a_variant_alone_works_without_its_base(make_site, monkeypatch):
    site = make_site("site")
    site.module("fake_specs", SPECS)
    site.distribution("fake-metrics", {"metrics": {k: v for k, v in POINTS.items() if k != "fake_recall"}})
    found = resolve_metric("fake_macro{k: 7}")
    assert (found.name, found.base, found.params["average"]) == ("fake_macro", "fake_recall", "macro")
    assert resolve_metric("fake_macro{labels: truth}").name == "fake_macro_truth"


def test_nobody_else_can_change_the_base_of_a_variant(metrics):
    metrics.module("fake_thief", SPECS.replace('"binary", choices', '"micro", choices'))
    points = {name: target.replace("fake_specs", "fake_thief") for name, target in POINTS.items()}
    metrics.distribution("fake-thief", {"metrics": points}, version="6")
    with pytest.raises(PluginError, match="neither wins"):
        resolve_metric("fake_recall")
    assert resolve_metric("fake-metrics:fake_macro{average: macro}").distribution == "fake-metrics"
    assert resolve_metric("fake-thief:fake_recall").params["average"] == "micro"
    assert resolve_metric("fake-thief:fake_recall{average: macro}").version == "6"


@pytest.mark.parametrize(
    "line",
    [
        "MACRO = MetricSpec(name='fake_macro', summary='', compute='a:b', prediction=(LABEL,), truth=(LABEL,))",
        "from attrs import evolve\nMACRO = evolve(MACRO, fixed={'average': 'micro'})",
        "from attrs import evolve\nMACRO = evolve(MACRO, parameters=RECALL.parameters[:2])",
    ],
)
def test_a_variant_that_does_not_agree_with_its_base_is_refused(site, line):
    site.module("fake_specs", f"{SPECS}\n{line}")
    site.distribution("fake-metrics", {"metrics": POINTS})
    with pytest.raises(PluginError, match="fake-metrics"):
        resolve_metric("fake_recall{average: macro}")


def test_a_disabled_variant_leaves_the_identity_as_it_is(metrics, monkeypatch):
    before = resolve_metric("fake_recall{average: macro}")
    monkeypatch.setenv("PRIMABENCH_DISABLE", "fake_macro")
    after = resolve_metric("fake_recall{average: macro}")
    assert (after.name, after.params) == (before.name, before.params)
    assert "fake_macro" not in names.names("metric")


# -- laws -----------------------------------------------------------------------------------------------------------

LABEL = Field("label", "label")
TOY = MetricSpec(
    name="toy",
    summary="",
    compute="a:b",
    prediction=(LABEL,),
    truth=(LABEL,),
    parameters=(
        Parameter("a", "x", choices=("x", "y", 1, 2.0, True, None)),
        Parameter("b", 0.5, kinds=(float,)),
        Parameter("c", None, kinds=(int, str)),
        Parameter("d", (), kinds=(tuple,)),
        Parameter("e", 3),
    ),
)
values = st.fixed_dictionaries(
    {},
    optional={
        "a": st.sampled_from(["x", "y", 1, 2.0, True, None]),
        "b": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**40), 2**40),
        "c": st.integers() | st.text() | st.none(),
        "d": st.lists(st.integers() | st.booleans() | st.text() | st.none(), max_size=4).map(tuple),
        "e": st.integers(),
    },
)


@given(values)
def test_writing_out_defaults_and_settling_twice_change_nothing(params):
    once = full_parameters(TOY, params)
    assert repr(full_parameters(TOY, once)) == repr(once)
    explicit = {p.name: p.default for p in TOY.parameters} | params
    shuffled = dict(random.Random(0).sample(sorted(explicit.items()), len(explicit)))
    assert repr(full_parameters(TOY, shuffled)) == repr(once)


@given(values)
def test_the_text_form_reads_back(params):
    once = full_parameters(TOY, params)
    name, read = parse(write("toy", once))
    assert name == "toy"
    assert repr(full_parameters(TOY, read)) == repr(once)


@given(st.text())
def test_any_text_is_read_or_refused(text):
    try:
        name, params = parse(text)
    except UsageError:
        return
    assert name
    assert not set(name) & set("{} ")
    assert isinstance(params, dict)


@given(st.integers(-(2**62), 2**62))
def test_numpy_scalars_are_python_numbers(number):
    full = full_parameters(TOY, {"e": np.int64(number), "b": np.float64(number)})
    assert (type(full["e"]), type(full["b"])) == (int, float)
    assert full == full_parameters(TOY, {"e": number, "b": float(number)})
