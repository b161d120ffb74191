import pytest
from hypothesis import given
from hypothesis import strategies as st

from primabench_core.errors import ParameterError, UsageError
from primabench_core.statistics import aggregate_mean

parts = st.lists(st.none() | st.floats(-1e6, 1e6), max_size=20)


@given(value=parts, data=st.data())
def test_order_changes_no_bit_and_gaps_never_lift(value, data):
    found = aggregate_mean(value=value)
    shuffled = data.draw(st.permutations(value))
    assert aggregate_mean(value=shuffled).values == found.values
    assert (found.value is None) == (None in value or not value)
    assert found.values["n_defined"] + found.values["n_undefined"] == len(value)
    if any(v is not None for v in value):
        defined = [v for v in value if v is not None]
        slack = 1e-9 * max(map(abs, defined))
        assert min(defined) - slack <= found.values["mean_over_defined"] <= max(defined) + slack


def test_policies():
    value, reason = [0.5, None, None, 0.7], ["", "constant_prediction", "constant_truth", ""]
    assert aggregate_mean(value=value).reason == "component_undefined"
    assert aggregate_mean(value=value, policy="defined_only").value == 0.6
    penalised = aggregate_mean(value=value, policy="penalise_constant_prediction", reason=reason)
    assert penalised.value == pytest.approx(0.4)
    assert penalised.values["mean"] is None
    assert penalised.flags == ("penalised",)
    assert aggregate_mean(value=[0.5], policy="penalise_constant_prediction").flags == ()
    other = aggregate_mean(value=[0.5, None], policy="penalise_constant_prediction", reason=["", "single_class"])
    assert other.value is None
    with pytest.raises(UsageError, match="reason"):
        aggregate_mean(value=value, policy="penalise_constant_prediction")


def test_nothing_has_no_mean():
    assert aggregate_mean(value=[]).reason == "too_few_items"
    assert aggregate_mean(value=[None], policy="defined_only").reason == "component_undefined"


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "0.5", True])
def test_a_bad_part_is_refused(bad):
    with pytest.raises(UsageError, match="value"):
        aggregate_mean(value=[0.1, bad])


def test_an_unknown_policy_is_refused():
    with pytest.raises(ParameterError, match="strict"):
        aggregate_mean(value=[0.1], policy="mean")
