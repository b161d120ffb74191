from __future__ import annotations

import pytest
from primabench_metrics.aggregate import mean_of_units

import primabench_core as pb
from primabench_core.errors import ParameterError
from primabench_core.spec import Outcome

OK = Outcome(0.5)
NO_TRUTH = Outcome.undefined("constant_truth")
NO_PREDICTION = Outcome.undefined("constant_prediction")
FAILED = Outcome.undefined("numerical_failure")


def test_all_defined_is_the_plain_mean_under_every_policy():
    for policy in ("strict", "defined_only", "penalise_constant_prediction"):
        result = mean_of_units({"a": Outcome(1.0), "b": Outcome(0.0)}, policy)
        assert (result.value, result.n_undefined, result.coverage) == (0.5, 0, 1.0)


def test_one_undefined_part_makes_the_strict_mean_undefined():
    result = mean_of_units({"a": OK, "b": NO_TRUTH})
    assert (result.value, result.reason) == (None, "component_undefined")
    assert (result.mean_over_defined, result.n_undefined, result.coverage) == (0.5, 1, 0.5)
    assert "constant_truth" in result.detail
    assert dict(result.per_unit) == {"a": 0.5, "b": None}


@pytest.mark.parametrize(
    ("units", "value"),
    [
        ({"a": OK, "b": NO_PREDICTION}, 0.25),
        ({"a": OK, "b": NO_TRUTH}, 0.5),
        ({"a": OK, "b": NO_TRUTH, "c": NO_PREDICTION}, 0.25),
        ({"a": NO_PREDICTION}, 0.0),
        ({"a": NO_TRUTH}, None),
        ({"a": OK, "b": FAILED}, None),
    ],
)
def test_constant_predictions_count_zero_and_constant_truths_are_dropped(units, value):
    assert mean_of_units(units, "penalise_constant_prediction").value == value


def test_an_undefined_part_never_lifts_the_penalised_mean():
    without = mean_of_units({"a": Outcome(0.9), "b": Outcome(0.1)}, "penalise_constant_prediction").value
    with_constant = mean_of_units({"a": Outcome(0.9), "b": NO_PREDICTION}, "penalise_constant_prediction").value
    assert with_constant < without


def test_only_undefined_parts_have_no_mean():
    result = mean_of_units({"a": NO_TRUTH}, "defined_only")
    assert (result.value, result.mean_over_defined, result.coverage) == (None, None, 0.0)


def test_no_parts_and_unknown_policies():
    assert mean_of_units({}).reason == "too_few_items"
    with pytest.raises(ParameterError, match="policy"):
        mean_of_units({"a": OK}, "lenient")


def test_coverage_of_a_result_counts_units_and_never_parts():
    truth = {"ids": list("abcdef"), "value": [[1.0, 7.0], [2.0, 7.0], [4.0, 7.0], [8.0, 7.0], [3.0, 7.0], [5.0, 7.0]]}
    run = pb.stream([("pearson", {"per": "feature", "policy": "defined_only"})], truth=truth, partial=True)
    run.update(ids=list("abcd"), value=[[1.0, 1.0], [2.0, 3.0], [4.0, 2.0], [8.0, 9.0]])
    result = run.compute().results[0]
    assert (result.value, result.coverage, result.values["parts_coverage"]) == (1.0, 4 / 6, 0.5)
    assert (result.n_undefined, result.mean_over_defined) == (1, 1.0)


def test_the_policies_are_those_of_core():
    units = {"a": Outcome(0.3), "b": NO_PREDICTION, "c": NO_TRUTH, "d": Outcome(0.1)}
    for policy in ("strict", "defined_only", "penalise_constant_prediction"):
        core = pb.statistics.aggregate_mean(
            value=[u.value for u in units.values()], policy=policy, reason=[u.reason for u in units.values()]
        )
        found = mean_of_units(units, policy)
        assert (found.value, found.reason, found.flags) == (core.value, core.reason, core.flags)
