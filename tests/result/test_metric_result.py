import pickle
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primabench_core.contract.fields import Field
from primabench_core.errors import MetricError
from primabench_core.result import Interval, MetricResult
from primabench_core.result.numeral import span
from primabench_core.spec import MetricSpec, Outcome

LABEL = Field("label", "label")
SPEC = MetricSpec(
    name="accuracy", summary="s", compute="m:f", prediction=(LABEL,), truth=(LABEL,), version="2", high=1.0
)


@pytest.mark.parametrize(
    "fields",
    [
        {"value": nan},
        {"value": inf},
        {"value": 1},  # an integer is no score
        {"value": "0.5"},
        {"value": True},
        {"value": np.float32(0.5)},  # a float32 would be written with other bits than it was computed with
        {"value": None},
        {"value": None, "reason": "because"},
        {"value": None, "status": "ok"},
        {"value": None, "status": "failed"},
        {"value": 0.5, "status": "undefined", "reason": "single_class"},
        {"value": 0.5, "reason": "single_class"},
        {"value": 0.5, "status": "fine"},
        {"value": 0.5, "n": -1},
        {"value": 0.5, "coverage": 1.1},
        {"value": 0.5, "mean_over_defined": nan},
        {"value": 0.5, "per_unit": {"a": nan}},
        {"value": 0.5, "direction": "up"},
        {"value": 0.5, "name": ""},
        {"value": 0.5, "values": {"a": nan}},
        {"value": 0.5, "params": {"a": inf}},
    ],
)
def test_what_is_no_result_cannot_be_built(fields):
    with pytest.raises(ValueError, match=r"."):
        MetricResult(**{"name": "accuracy", **fields})


def test_status_follows_from_the_value():
    assert MetricResult(name="a", value=0.0).status == "ok"
    assert MetricResult(name="a", value=None, reason="both_empty").status == "undefined"
    assert MetricResult.failed(SPEC, "it_raised", "ZeroDivisionError").status == "failed"


def test_a_result_cannot_change():
    found = MetricResult(name="a", value=0.5, values={"x": [1, {"y": [2]}]})
    with pytest.raises(AttributeError):
        found.value = 1.0
    assert found.values["x"] == (1, {"y": (2,)})
    with pytest.raises((TypeError, AttributeError)):
        found.values["x"] = 2
    assert pickle.loads(pickle.dumps(found)) == found
    assert hash(found) == hash(pickle.loads(pickle.dumps(found)))


@pytest.mark.parametrize("value", [0.5, np.float64(0.5), np.float32(0.5), np.float16(0.5), np.array(0.5)])
def test_a_bare_number_is_an_outcome(value):
    found = MetricResult.from_outcome(value, SPEC, n=4, params={"k": np.int64(3)})
    assert (found.value, type(found.value), found.version, found.n) == (0.5, float, "2", 4)
    assert type(found.params["k"]) is int


@pytest.mark.parametrize("value", [nan, inf, -inf, "0.5", None, True, [0.5], 1j, np.float32("nan")])
def test_what_a_metric_must_not_return(value):
    with pytest.raises(MetricError, match="accuracy"):
        MetricResult.from_outcome(value, SPEC)


@pytest.mark.parametrize("part", [{"per_unit": {"a": nan}}, {"values": {"x": nan}}, {"values": {"x": object()}}])
def test_what_an_outcome_must_not_hold(part):
    with pytest.raises(MetricError, match="accuracy"):
        MetricResult.from_outcome(Outcome(0.5, **part), SPEC)


def test_an_outcome_goes_first():
    outcome = Outcome(
        0.5, n=3, coverage=0.5, n_excluded={"x": 1}, per_unit={"a": np.float64(1)}, values={"v": np.arange(2)}
    )
    found = MetricResult.from_outcome(outcome, SPEC, n=9, coverage=1.0, n_excluded={"no_truth": 2})
    assert (found.n, found.coverage, dict(found.n_excluded)) == (3, 1.0, {"no_truth": 2, "x": 1})
    assert dict(found.values) == {"v": (0, 1), "parts_coverage": 0.5}
    undefined = MetricResult.from_outcome(Outcome.undefined("single_class", "only b"), SPEC, n=2)
    assert (undefined.status, undefined.reason, undefined.detail) == ("undefined", "single_class", "only b")


@given(low=st.floats(), high=st.floats(), level=st.floats(), dropped=st.integers(-2, 5))
def test_an_interval_is_in_order_or_has_a_reason(low, high, level, dropped):
    legal = -inf < low <= high < inf and 0 < level < 1 and 0 <= dropped <= 3
    if legal:
        assert str(Interval(low=low, high=high, level=level, draws=3, dropped=dropped)).startswith("[")
    else:
        with pytest.raises(ValueError, match=r"."):
            Interval(low=low, high=high, level=level, draws=3, dropped=dropped)


def test_no_interval_says_why():
    assert "one donor" in str(Interval.absent("one donor"))
    with pytest.raises(ValueError, match="reason"):
        Interval(low=None, high=None)
    with pytest.raises(ValueError, match="two ends"):
        Interval(low=0.5, high=None, reason="x")


def test_text():
    found = MetricResult(name="mcc", value=0.25, n=1200, interval=Interval(low=0.2, high=0.3))
    assert str(found) == "mcc: 0.2500 [0.2000, 0.3000] (n=1,200)"
    assert "single_class" in repr(MetricResult(name="mcc", value=None, reason="single_class"))


def test_an_end_near_zero_is_written_like_the_other():
    assert span(-0.003087, 0.11, digits=3) == "[-0.003, 0.110]"
    assert span(0.0, 0.0) == "[0.0000, 0.0000]"
    assert span(1e-7, 2e-7) == "[1.000e-07, 2.000e-07]"
    assert span(-1e6, 0.5) == "[-1.000e+06, 0.5000]"
